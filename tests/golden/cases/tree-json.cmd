# tree --json adds what each node holds and moves.
tileflow tree tests/golden/in/chain.yaml --json - | sed -n '/"nodes"/,$p'
