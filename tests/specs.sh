#!/bin/sh
# Every YAML file that users may copy is read: architectures, workloads, and dataflows with theirs.
cli=$1
cd "$(dirname "$0")/.." || exit 1
status=0
count=0
try() {
  count=$((count + 1))
  "$cli" check "$@" > /dev/null || { echo "specs: check $* failed"; status=1; }
}
for f in arch-specs/*.yaml; do try "$f"; done
for f in $(find workloads -name '*.yaml' ! -path '*/dataflows/*'); do try arch-specs/edge.yaml "$f"; done
for f in workloads/dataflows/*/*.yaml; do
  [ -f "$f" ] || continue
  arch=$(basename "$(dirname "$f")")
  workload=$(sed -n 's/^# workload: *//p' "$f")
  try "arch-specs/$arch.yaml" "$workload" "$f"
done
echo "specs: $count read"
exit $status
