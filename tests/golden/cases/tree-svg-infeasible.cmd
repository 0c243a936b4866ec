# The node that does not fit has a red frame and says so.
tileflow tree tests/golden/in/tight.yaml --svg - 2>/dev/null | grep -n 'b00020" stroke\|does not fit'
