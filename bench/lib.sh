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

# host CORES: $host, a file that describes so many cores of this computer: $ARCH, or what tileflow measures of it.
host() {
  host=${ARCH:-${KERNELS:-$scratch}/host-$1.yaml}
  if [ -n "${ARCH:-}" ] || [ -e "$host" ]; then return 0; fi # one file for all that KERNELS keeps
  mkdir -p "$(dirname "$host")" && "$tool" import --host --cores "$1" -o "$host" --quiet || exit 1
}

# flags_of FOLDER: what its Makefile compiles the kernel there with, one word a flag
flags_of() {
  grep -q '^ALL = .*\$(ANY)$' "$1/Makefile" || { echo "$0: $1/Makefile does not say what it compiles with" >&2; return 1; }
  sed -n 's/^ALL = \(.*\)\$(ANY)$/\1/p' "$1/Makefile"
}

# emitted ARCHITECTURE WORKLOAD ARGUMENT...: a kernel for the CPU, planned by tileflow itself, in $scratch/k; $flags, what its Makefile compiles it with.
# KERNELS=DIR keeps what was planned from one script to the next.
emitted() {
  emitted_from="$1 $2"
  shift 2
  # shellcheck disable=SC2086 # two files
  kept=${KERNELS:-$scratch/kernels}/$({ cat "$tool" $emitted_from && echo "$@"; } | sha256sum | cut -c 1-16)
  mkdir -p "$(dirname "$kept")" && rm -rf "$scratch/k"
  # shellcheck disable=SC2086
  [ -d "$kept" ] || "$tool" emit $emitted_from "$@" --seed 1 --target cpu -o "$kept" --quiet --no-test || return 1
  cp -r "$kept" "$scratch/k"
  flags=$(flags_of "$scratch/k")
}

# this_cpu: the processor's name as it gives it, and by family and model what it is where the name says little.
this_cpu() {
  awk -F ': ' '/^model name/ { name = $2 } /^cpu family/ { family = $2 } /^model\t/ { model = $2 } /^$/ { exit }
    END { gsub(",", "", name); printf "%s (family %s model %s)", name, family, model }' /proc/cpuinfo
}

# stamp WHAT LOAD: its row of docs/results/runs.csv, in the place of the old one: when, where and from which commit it was measured.
# LOAD: the machine's before it began.
stamp() {
  [ -e docs/results/runs.csv ] || echo "what,ended,load_before,cpu,cores,compiler,commit" >docs/results/runs.csv
  into docs/results/runs.csv awk -F, -v what="$1" \
    -v row="$1,$(date -u '+%Y-%m-%d %H:%M'),$2,$(this_cpu),$(nproc),gcc $(gcc -dumpfullversion),$(commit_now)" \
    '$1 != what { print } END { print row }' docs/results/runs.csv
}

# stamped WHAT: where, as a line of a page; when, the load and the commit stay in the row.
stamped() {
  awk -F, -v what="$1" '$1 == what { printf "*%s, %s cores, %s ([runs.csv](results/runs.csv)).*\n", $4, $5, $6 }' docs/results/runs.csv
}

# commit_now: what the tool was built from: COMMIT where that is not the sources at hand.
commit_now() { echo "${COMMIT:-$(git rev-parse --short HEAD)}"; }

# load_now: the machine's, of the last minute.
load_now() { cut -d ' ' -f 1 /proc/loadavg; }
