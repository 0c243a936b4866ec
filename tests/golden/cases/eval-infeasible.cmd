# A mapping that does not fit: what, where, by how much, on stdout and in place on stderr; status 3.
tileflow eval tests/golden/in/tight.yaml
