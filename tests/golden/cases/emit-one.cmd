# Weights of 1 x 1 are read where they stand, and not turned in each call: ranks of one element are no neighbours.
tileflow emit tests/golden/in/conv-one.yaml --target cpu --isa avx2 --dump-ir
