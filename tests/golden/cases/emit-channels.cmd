# What is left to be copied once where steps come back to the same rows: all rows of an image, not of all images.
tileflow emit tests/golden/in/conv-channels.yaml --target cpu --isa avx512 --dump-ir
