# Read by scripts of these folders, with their arguments: . "$(dirname "$0")/lib.sh".  $tool is the command, $root the sources, $dir a
# folder that goes when the script ends, and $failed counts.
[ $# -ge 1 ] || { echo "usage: $0 TILEFLOW" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
root=$(realpath "$(dirname "$0")") && root=${root%/tests*}
dir=$(mktemp -d) || exit 2
trap 'chmod -R u+w "$dir"; rm -rf "$dir"' EXIT
failed=0
