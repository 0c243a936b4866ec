# Tiles of inputs copied into a memory with two halves: the next one begins to come while one is worked on.
tileflow emit tests/golden/in/halves.yaml --target staged --dump-ir
