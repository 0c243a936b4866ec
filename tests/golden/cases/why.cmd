# What a code means: its cause, an example with its message, the repair; a line for each; names that are none, all of them.
try() { tileflow "$@" 2>&1; echo "status $?"; }
try why E_CAPACITY
try why keep IO | sed -n '1,5p;/IO/,$p'
try why
try why E_KEP caapcity nonsense -o a.yaml
try why USAGE -o a.yaml
try why keep -o - --set a=1
