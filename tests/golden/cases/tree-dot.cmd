# The tree for Graphviz.
tileflow tree tests/golden/in/chain.yaml --dot -
