# `-` is stdin, its errors are in <stdin>; a foreign file's warnings go to stderr.
tileflow check - <examples/matmul.yaml
printf 'architecture:\n  memoris: []\n' | tileflow check -
tileflow eval tests/data/import/conv-03.yaml --json /dev/null --quiet
tileflow check tests/data/import/conv-03.yaml
