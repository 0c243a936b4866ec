# The node that does not fit is marked; status 3.
tileflow tree tests/golden/in/tight.yaml
