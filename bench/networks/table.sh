#!/bin/sh
# The tables of docs/RESULTS-networks.md, of one thread and of two, from docs/results/networks.csv (bench/networks/run.py --csv), and of batch 8
# and bfloat16 from the files beside it, on stdout.
# Dates, loads and commits stay in the CSV.
#   bench/networks/table.sh [FILE.csv]
set -u
rows=$(realpath "${1:-$(dirname "$0")/../../docs/results/networks.csv}") || exit 2

# table THREADS
table() {
  awk -F, -v threads="$1" '
    function of(column) { return $at[column] }
    function digits(x) { return x == "" ? "-" : sprintf("%.3g", x) }
    function whole(x) { return x == "" ? "-" : sprintf("%.0f", x) }
    BEGIN { one = threads == 1 } # PyTorch and memory were measured with one thread alone
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    of("size") == "small" && of("batch") == 1 && of("threads") == threads {
      split("ort openvino eager compile", peers, " ")
      best = ""
      for (i in peers) if ((t = of(peers[i] "_ms")) != "" && (best == "" || t + 0 < best)) best = t + 0
      ours = of("tileflow_ms")
      if (!n) {
        printf "%s:\n\n", threads == 1 ? "One thread" : "Two threads"
        print "| Network | Plan, s | Predicted | tileflow | onnxruntime | OpenVINO |" (one ? " PyTorch eager | `torch.compile` |" : "") " Best / ours | Measured / predicted |" (one ? " MiB held: tileflow, onnxruntime, OpenVINO |" : "")
        print "|---|--:|--:|--:|--:|--:|" (one ? "--:|--:|" : "") "--:|--:|" (one ? "--:|" : "")
      }
      printf "| %s | %.1f | %.3g | %.3g | %s | %s |", of("network"), of("plan_s"), of("predicted_ms"), ours, digits(of("ort_ms")), digits(of("openvino_ms"))
      if (one) printf " %s | %s |", digits(of("eager_ms")), digits(of("compile_ms"))
      printf " %.2f | %.2f |", best / ours, ours / of("predicted_ms")
      if (one) printf " %s, %s, %s |", whole(of("tileflow_mib")), whole(of("ort_mib")), whole(of("openvino_mib"))
      print ""
      sum += log(best / ours); n++
    }
    END { if (n) printf "| geometric mean of %d | | | | | |%s %.2f | |%s\n\n", n, one ? " | |" : "", exp(sum / n), one ? " |" : "" }' "$rows"
}
table 1
table 2

[ -e "$(dirname "$rows")/networks-bf16.csv" ] || exit 0
# With one thread, pictures and sentences eight at a time in float32, and one at a time in bfloat16.
awk -F, '
  function of(column) { return $at[column] }
  FNR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; file++; next }
  { name = of("network"); ours = of("tileflow_ms"); ort = of("ort_ms"); vino = of("openvino_ms"); best = file == 2 || vino + 0 < ort + 0 ? vino : ort
    row[name] = row[name] (file == 1 ? "" : " |") sprintf(" %.3g |", ours) (file == 1 ? sprintf(" %.3g |", ort) : "") sprintf(" %.3g | %.2f", vino, best / ours)
    if (file == 1) order[++n] = name
    sum[file] += log(best / ours) }
  END {
    print "| Network | Batch 8: tileflow | onnxruntime | OpenVINO | Best / ours | bfloat16: tileflow | OpenVINO | OpenVINO / ours |"
    print "|---|--:|--:|--:|--:|--:|--:|--:|"
    for (i = 1; i <= n; i++) printf "| %s |%s |\n", order[i], row[order[i]]
    printf "| geometric mean of %d | | | | %.2f | | | %.2f |\n", n, exp(sum[1] / n), exp(sum[2] / n)
  }' "$(dirname "$rows")/networks-batch.csv" "$(dirname "$rows")/networks-bf16.csv"
