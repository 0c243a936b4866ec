# Read by the scripts of this folder: . "$(dirname "$0")/lib.sh"

# begin ROOT TILEFLOW: $tool, its whole name; $scratch, a folder that goes when the script ends; and works in ROOT from here on.
begin() {
  tool=$(realpath "$2") && [ -x "$tool" ] || { echo "$0: no program $2" >&2; exit 2; }
  cd "$1" || exit 2
  scratch=$(mktemp -d) || exit 2
  trap 'rm -rf "$scratch"' EXIT
}

# into FILE COMMAND...: what it prints, whole or not at all.
into() {
  into_file=$1
  shift
  "$@" >"$into_file.new" && mv "$into_file.new" "$into_file"
}

# value FILE NAME: a parameter of a workload file.
value() { sed -n "s/^params:.*[{ ]$2: \([0-9]*\).*/\1/p" "$1"; }

# emitted ARGUMENT...: a kernel for the CPU, planned by tileflow itself, in $scratch/k; $flags, what its Makefile compiles it with.
emitted() {
  rm -rf "$scratch/k"
  "$tool" emit "$@" --evals 100000 --time-limit 60 --seed 1 --target cpu -o "$scratch/k" --quiet || return 1
  flags=$(sed -n 's/^ALL = -std=c17 \(.*\) \$(CFLAGS).*/\1/p' "$scratch/k/Makefile")
}
