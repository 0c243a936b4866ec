# What an intermediate takes at home where its rows do not divide over instances: T has 10 words in L3 (found by the oracle).
tileflow eval tests/golden/in/home-uneven.yaml --csv - --quiet 2>/dev/null | grep -e "tensor,L3,T" -e "level,L3"
