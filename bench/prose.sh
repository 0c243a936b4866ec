#!/bin/sh
# Sentences with figures of docs/results: prints FILE, in which what stands between lines "<!-- figures: NAME -->" and
# "<!-- end -->" is written anew; NAME is networks or rtl.  tests/pages.sh compares.
#   bench/prose.sh FILE
set -u
file=$(realpath "${1:?usage: $0 FILE}") || exit 2
cd "$(dirname "$0")/../docs/results" || exit 2

# Whole networks beside the fastest of the other runtimes: one thread, two.
networks() {
  awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["size"] == "small" && $at["batch"] == 1 {
      t = $at["threads"]
      best = ""
      n_peers = split("ort openvino eager compile", peers, " ")
      for (i = 1; i <= n_peers; i++) if ((ms = $at[peers[i] "_ms"]) != "" && (best == "" || ms + 0 < best)) best = ms + 0
      ratio = best / $at["tileflow_ms"]
      if (!n[t] || ratio < least[t]) { least[t] = ratio; least_of[t] = $at["network"] }
      if (!n[t] || ratio > most[t]) { most[t] = ratio; most_of[t] = $at["network"] }
      n[t]++; sum[t] += log(ratio); slower[t] += ratio < 1
    }
    function said(t) {
      return sprintf("%.2f (%s) to %.2f (%s)", least[t], least_of[t], most[t], most_of[t])
    }
    function mean(t) { return sprintf("The geometric mean of %d is %.2f, and %s below 1", n[t], exp(sum[t] / n[t]), slower[t] == 0 ? "none is" : slower[t] == 1 ? "one is" : slower[t] " of them are") }
    END {
      print "Whole networks in float32 on an AMD EPYC (Zen 5), beside the fastest of onnxruntime, OpenVINO and PyTorch, run at " said(1) " of its speed on one thread."
      print mean(1) ". On two threads (without PyTorch) they run at " said(2) "."
      print mean(2) " ([docs/RESULTS-networks.md](docs/RESULTS-networks.md))."
    }' networks.csv
}

# Cycles of fused products beside those of RTL.
rtl() {
  awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    function error(of,  e) { e = $at[of]; e = e < 0 ? -e : e; sum[of] += e; if (e > worst[of]) worst[of] = e }
    { error("shared_error"); error("error"); n++ }
    function said(of) { return sprintf("%.1f %% on average (%.1f %% at most)", 100 * sum[of] / n, 100 * worst[of]) }
    END {
      printf "%d pairs of fused matrix products were simulated in RTL (one TPU-like core, published with TileFlow by Zheng et al.). DRAM words match exactly.\n", n
      print "Cycles are off by " said("shared_error") " with the one shared DRAM port that is documented. With a port each way, which was inferred"
      print "from these runs, they are off by " said("error") " ([docs/VALIDATION.md](docs/VALIDATION.md))."
    }' rtl.csv
}

while IFS= read -r line; do
  case $line in
  '<!-- end -->') within= ;;
  '<!-- figures: networks -->' | '<!-- figures: rtl -->')
    within=1
    line=${line#*: }
    printf '<!-- figures: %s\n' "$line"
    "${line%% *}"
    continue
    ;;
  '<!-- figures:'*) echo "$0: $line: networks and rtl are known" >&2 && exit 1 ;;
  esac
  [ -n "${within:-}" ] || printf '%s\n' "$line"
done <"$file"
