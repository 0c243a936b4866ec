# Bad usage: all of it is told, with the nearest name; status 2.
f=tests/golden/in/chain.yaml
try() { tileflow "$@" 2>&1; echo "status $?"; }
try
try evla $f
try simulate $f
try solve $f
try import $f
try --json $f
try eval
try eval $f --jsno a --svg b --seed x --threads 0 --time-limit -1 --objective latancy --set seq
try eval $f --json
try eval $f --json a --json b --quiet=yes
try tree $f --svg - --dot -
try check $f --csv -
try eval -- --help
try eval - 
try help simulate
