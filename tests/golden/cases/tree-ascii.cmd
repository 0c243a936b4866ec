# The tree in a locale that is not UTF-8.
tileflow tree tests/golden/in/softmax.yaml
