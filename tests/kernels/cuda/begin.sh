# Read by the scripts of this folder that compile kernels as C++, with their arguments: $tileflow is the command, $work a folder that
# goes when the script ends.  Ends it with status 77 where there is no C++ compiler.
tileflow=$1
command -v g++ >/dev/null || { echo "SKIP: no g++"; exit 77; }
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT
. "$(dirname "$0")/workloads.sh"
