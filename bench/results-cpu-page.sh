#!/bin/sh
# docs/RESULTS-cpu.md from docs/results/cpu-*.csv, on stdout; results-cpu.sh calls it.
set -u
cd "$(dirname "$0")/.." || exit 2
results=docs/results
said=bench/kernels/page
beside="chains softmax exponent conv conv-relu yolo resnet bf16 bf16-softmax int8 int8-softmax int8-product"
torch="torch torch-bf16 models models-bf16"
titles="chains=Two products (G1 to G12);softmax=Attention (G1 to G12);exponent=Product, exp, product;conv=Two convolutions (C1 to C8);\
conv-relu=Two convolutions, ReLU between;yolo=Layers of YOLO, batch 1;resnet=Layers of ResNet-18, batch 16;bf16=Two products, bfloat16;\
bf16-softmax=Attention, bfloat16;int8=Two products, int8;int8-softmax=Attention from int8;int8-product=One product, int8;\
torch=Two products and attention;torch-bf16=The same, bfloat16;models=Shapes of current models;models-bf16=The same shapes, bfloat16"

has() { [ -s "$results/cpu-$1.csv" ]; }
files() { for g; do if has "$g"; then echo "$results/cpu-$g.csv"; fi; done; }
# when GROUP...: with what their figures were taken, and where they are; when, the load and the commit are in cpu-runs.csv
when() {
  awk -F, -v groups="$*" '
    { cpu[$1] = $6; with[$1] = $8 }
    END {
      n = split(groups, group, " ")
      for (i = 1; i <= n; i++) if (group[i] in cpu) {
        g = group[i]
        line = line (line == "" ? "" : ", ") "[" g "](results/cpu-" g ".csv)"
        if (with[g] != "" && !(with[g] in told)) { told[with[g]]; tools = tools ", " with[g] }
        machine = cpu[g]
      }
      printf "*%s%s; %s ([runs](results/cpu-runs.csv)).*\n\n", machine, tools, line
    }' $results/cpu-runs.csv
}
# table MODE GROUP...
table() {
  mode=$1 && shift
  # shellcheck disable=SC2046 # files
  awk -v titles="$titles" -v mode="$mode" -f bench/kernels/tables.awk $(files "$@")
}
# section TITLE TEXT GROUP...: heading, where the figures are, text
section() {
  printf '\n## %s\n\n' "$1"
  text=$2 && shift 2
  when "$@"
  cat "$text"
}

echo "# Emitted kernels beside the libraries"
printf '\n`bench/results-cpu.sh build/tileflow [GROUP...]` measures and writes this page. '
cat $results/cpu-machine.txt
echo
cat $said/head.md
printf '## Where we stand\n\nOne core. Each library takes the best of its ways case by case; *least* names the worst case.\n\n'
# shellcheck disable=SC2086 # groups
table summary $beside $torch
echo
when $beside
cat $said/ways.md
table ways $beside
cat $said/limits.md
section "Beside PyTorch, way by way" $said/torch.md $torch
table ways torch torch-bf16
cores=$(for g in $beside; do if has "$g-cores"; then echo "$g-cores"; fi; done)
# shellcheck disable=SC2086 # groups
section "All cores" $said/cores.md $cores
# shellcheck disable=SC2086
table summary $cores
section "Does the time hang on the data?" $said/data.md data
awk -F, '
  NR > 1 && $2 != "tileflow" { n++; if (!at || $6 + 0 > most) { most = $6 + 0; at = $1 " at " $2 } if (n == 1 || $6 + 0 < least) least = $6 + 0 }
  END { printf "Of %d ratios the largest is %.2f (%s), the least %.2f.\n", n, most, at, least }' $results/cpu-data.csv
printf '\n## Convolutions drawn at random\n\n'
cat $said/convs.md
awk -F, -f bench/convolutions/table.awk $results/cpu-convs.csv
echo
cat $said/convs-limits.md
section "The model's first choice and the best of those timed" $said/chosen.md chosen
awk -F, '
  $1 != "case" && NF == 6 { n++; s += log($6); if (n == 1 || $6 < low) low = $6; if ($6 > high) high = $6; first += $5 == 1; if ($5 > rank) rank = $5 }
  END {
    printf "Over %d workloads the geometric mean is %.2f, the least %.2f, the most %.2f.\n", n, exp(s / n), low, high
    printf "The fastest of those timed is the first choice in %d of them, and number %d of the model'"'"'s order at most.\n", first, rank
  }' $results/cpu-chosen.csv
section "What planning takes" $said/planning.md planning
sort -t, -k 2 -g $results/cpu-planning.csv | awk -F, '
  $1 != "workload" { n++; took[n] = $2; if ($2 > 0.5) over = over (over == "" ? "" : ", ") sprintf("%s takes %.2f s", $1, $2) }
  END { printf "Of %d workloads the median takes %.2f s; %s.\n", n, took[int((n + 1) / 2)], over }'
printf '\n## Prediction against measurement (thesis Fig. 3.11 d and e)\n\n'
cat bench/movement/movement.md
awk -F, -f bench/movement/report.awk $results/cpu-movement.csv
cat bench/movement/limits.md
section "What enters the caches, unfused and beside libraries (thesis Fig. 3.11 a to c, f)" bench/movement/beside.md apart beside whose
awk -F, -f bench/movement/beside.awk $results/cpu-apart.csv $results/cpu-beside.csv $results/cpu-whose.csv
cat bench/movement/beside-limits.md
section "The seed's story" bench/story/story.md story
awk -F, -f bench/story/report.awk $results/cpu-story.csv
cat bench/story/limits.md
