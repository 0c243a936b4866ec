#!/bin/sh
# The table of docs/RESULTS-networks.md from docs/results/networks.csv (bench/networks/run.py --csv), on stdout.
#   bench/networks/table.sh
set -u
cd "$(dirname "$0")/../.." || exit 2
awk -F, '
  NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i
    print "| Network | Groups (kernels) | Plan, s | Predicted | tileflow | onnxruntime | OpenVINO | PyTorch eager | Best / ours | Measured / predicted | Load | Commit |"
    print "|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|"
    next }
  $at["size"] == "small" && $at["batch"] == 1 && (!("threads" in at) || $at["threads"] == 1) {
    best = $at["ort_ms"] < $at["openvino_ms"] ? $at["ort_ms"] : $at["openvino_ms"]
    if ($at["eager_ms"] != "" && $at["eager_ms"] + 0 < best + 0) best = $at["eager_ms"]
    ours = $at["tileflow_ms"]
    printf "| %s | %s (%s) | %.0f | %.3g | %.3g | %.3g | %.3g | %.3g | %.2f | %.2f | %.1f | %s |\n", $at["network"], $at["groups"], $at["kernels"], $at["plan_s"],
      $at["predicted_ms"], ours, $at["ort_ms"], $at["openvino_ms"], $at["eager_ms"], best / ours, ours / $at["predicted_ms"], $at["load"], $at["commit"]
    sum += log(best / ours); n++; won += best >= ours
  }
  END { printf "| geometric mean of %d | | | | | | | | %.2f | | | |\n", n, exp(sum / n) }' docs/results/networks.csv
