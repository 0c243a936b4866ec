#!/bin/sh
# What `solve` proves of every problem of the thesis's tables 3.5 and 3.6 on Edge and Cloud: a row of CSV each (stdout).  Bounded by evaluations, so that the
# load of the machine changes the seconds (of the processor) alone.
#   bench/results-proofs.sh TILEFLOW
# EVALS (2000000) of each; ONLY: problems whose "architecture workload" matches; OBJECTIVE (latency).
set -u
. "$(dirname "$0")/lib.sh"
begin "$(dirname "$0")/.." "${1:?usage: $0 TILEFLOW}"

problems() {
  for arch in edge cloud; do
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch attention/g$g; done
    for g in 1 2 3 4 5 6 7 8 9 10 11 12; do echo $arch gemm-chain/g$g; done
    for c in 1 2 3 4 5 6 7 8; do echo $arch conv-chain/c$c; done
  done
}

# ARCHITECTURE WORKLOAD: proved: of all mappings, of a space, or open
row() {
  s=$({ LC_ALL=C bash -c 'TIMEFORMAT=%U; time "$@"' - "$tool" solve "arch-specs/$1.yaml" "workloads/$2.yaml" --objective "${OBJECTIVE:-latency}" \
    --evals "${EVALS:-2000000}" --threads 1 --quiet --json "$scratch/r.json"; } 2>&1 | tail -n 1)
  awk -F '[:,]' -v row="$1,$2" -v s="$s" '/"search": {/ { on = 1 }
    on && /"[a-z_]*": [^{[]/ { gsub(/[ "]/, ""); v[$1] = $2 }
    END { proved = v["proved"] == "true" ? "all" : v["space_proved"] == "true" ? "space" : "open"
          printf "%s,%s,%s,%.4f,%s,%s,%s,%s\n", row, v["value"], v["bound"], v["value"] / v["bound"] - 1, proved, v["space_bound"], v["evaluations"], s }' \
    "$scratch/r.json"
}

echo "architecture,workload,value,bound,gap,proved,space_bound,evaluations,user_s"
problems | grep -E "${ONLY:-.}" | while read -r arch work; do row "$arch" "$work"; done
