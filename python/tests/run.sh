#!/bin/sh
# The package's tests, with Python's standard library alone.  Exit status 77: there is no python3.
#   python/tests/run.sh BUILD [TEST]      TEST: test_api, test_model; both if none is named
set -u
[ $# -ge 1 ] || { echo "usage: $0 BUILD [TEST]" >&2; exit 2; }
TILEFLOW=$(realpath "$1") || exit 2
cd "$(dirname "$0")/../.." || exit 2
# Debian's own, which stands there whatever else is in PATH
python=$(command -v /usr/bin/python3 || command -v python3) || { echo "SKIP: no python3"; exit 77; }
export TILEFLOW PYTHONPATH="$PWD/python" PYTHONDONTWRITEBYTECODE=1
exec "$python" -W error -m unittest discover -q -s python/tests -p "${2:-test_*}.py"
