# Words of several sizes: each row counts the words of its memory, the report says which, and so does the tree; JSON and CSV have
# the tensors' own words with their sizes, and bits.
tileflow eval tests/golden/in/words.yaml
tileflow tree tests/golden/in/words.yaml
tileflow tree tests/golden/in/words.yaml --svg - | grep words
tileflow eval tests/golden/in/words.yaml --json - | grep -A 8 '"word_bits": 32,$'
