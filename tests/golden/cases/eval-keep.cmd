# An intermediate that is written out and read by nobody there: where keep would leave it; followed, the words are gone and the hint, too.
tileflow eval tests/golden/in/columns-apart.yaml | grep -E '^(DRAM words|A is)'
sed '17s/$/ keep A@L1/' tests/golden/in/columns-apart.yaml | tileflow eval - | grep -E '^(DRAM words|A is)'
tileflow explain tests/golden/in/columns-apart.yaml | grep -E '^A is'
tileflow eval tests/golden/in/chain.yaml | grep -c 'nothing reads it' || true
