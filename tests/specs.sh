#!/bin/sh
# Every YAML file that we ship is read without a complaint, and every mapping is evaluated as the
# comment in its file says:
#   # tileflow eval ARCH WORKLOAD MAPPING
#   tests/specs.sh TILEFLOW
set -u
[ $# -eq 1 ] || { echo "usage: $0 TILEFLOW" >&2; exit 2; }
tool=$(realpath "$1") || exit 2
cd "$(dirname "$0")/.." || exit 2
said=$(mktemp) || exit 2
trap 'rm -f "$said" "$said.files"' EXIT
read_files=0
evaluated=0
failed=0

complain() {
  echo "$*"
  cat "$said"
  failed=$((failed + 1))
}

# A minute is far more than any should take.  An infeasible mapping (exit 3) is a result, too:
# baselines of the literature need not fit.
evaluate() {
  # shellcheck disable=SC2086 # the arguments are meant to split
  timeout 60 "$tool" eval $1 >"$said" 2>&1 </dev/null
  status=$?
  [ $status -eq 0 ] || [ $status -eq 3 ] || complain "tileflow eval $1: exit status $status"
  evaluated=$((evaluated + 1))
}

find arch-specs workloads examples docs -name '*.yaml' | LC_ALL=C sort >"$said.files"
while read -r f; do
  read_files=$((read_files + 1))
  timeout 60 "$tool" check "$f" >"$said" 2>&1 </dev/null || complain "tileflow check $f: exit status $?"
  grep -q '^mapping:' "$f" || continue
  grep -q '^sweep:' "$f" && continue # its mapping is open, or one of many
  if grep -q '^architecture:' "$f" && grep -q '^workload:' "$f"; then
    evaluate "$f"
    continue
  fi
  arguments=$(sed -n 's/^# tileflow eval //p' "$f" | head -n 1)
  case " $arguments " in
  *" $f "*) evaluate "$arguments" ;;
  *) : >"$said" && complain "$f: no comment '# tileflow eval ARCH WORKLOAD $f'" ;;
  esac
done <"$said.files"

echo "specs: $read_files files read, $evaluated mappings evaluated, $failed failed"
[ $failed -eq 0 ] && [ $read_files -gt 0 ]
