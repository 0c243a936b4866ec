#!/bin/sh
# docs/RESULTS-cpu.md from docs/results/cpu-*.csv, on stdout; results-cpu.sh calls it.
set -u
cd "$(dirname "$0")/.." || exit 2
results=docs/results
said=bench/kernels/page
beside="chains softmax exponent conv conv-relu yolo resnet bf16 bf16-softmax int8 int8-softmax int8-product"
titles="chains=Two products (G1 to G12 of thesis Table 3.5);softmax=Attention: the same with softmax between;exponent=Product, exp, product;\
conv=Two convolutions (C1 to C8 of thesis Table 3.6);conv-relu=Two convolutions with a ReLU between;yolo=Layers of YOLO, batch 1;\
resnet=Layers of ResNet-18, batch 16;bf16=Two products of bfloat16;bf16-softmax=Attention in bfloat16;int8=Two products, int8;\
int8-softmax=Attention from int8;int8-product=One product of int8;torch=Beside PyTorch, float32;torch-bf16=Beside PyTorch, bfloat16;\
models=Shapes of current models beside PyTorch, float32;models-bf16=Shapes of current models beside PyTorch, bfloat16;data=Does the time hang on the data?"
goals="chains=oneDNN 1.06, libxsmm 1.00;softmax=oneDNN 1.25, libxsmm 1.00;exponent=best library 0.97;conv=oneDNN 1.05, none below 0.97;\
conv-relu=oneDNN 1.05, none below 0.97;bf16=oneDNN 1.3 with AMX;bf16-softmax=oneDNN 2 with AMX"

# when GROUP: a line that says where its figures were taken; when, the load and the commit are in cpu-runs.csv, where a row without
# seconds is of several runs, joined
when() {
  awk -F, -v group="$1" '$1 == group { printf "*%s%s%s; [figures](results/cpu-%s.csv), [runs](results/cpu-runs.csv).*\n\n", $6, $3 == "" ? ", several runs" : "", $8 == "" ? "" : ", " $8, group }' $results/cpu-runs.csv
}
title() { echo "$titles" | tr ';' '\n' | sed -n "s/^$1=//p"; }
has() { [ -s "$results/cpu-$1.csv" ]; }
text() { [ ! -e "$said/$1.md" ] || { cat "$said/$1.md" && echo; }; }
files() { for g; do if has "$g"; then echo "$results/cpu-$g.csv"; fi; done; }
summary() { awk -v titles="$titles" -v goals="$goals" -v mode=summary -f bench/kernels/tables.awk $(files "$@"); }

# section GROUP: heading, text, table, and what limits it
section() {
  has "$1" || return 0
  printf '\n## %s\n\n' "$(title "$1")"
  when "$1"
  text "$1"
  awk -v mode=table -f bench/kernels/tables.awk "$results/cpu-$1.csv"
  [ ! -e "$said/$1-limits.md" ] || { echo && cat "$said/$1-limits.md"; }
}

echo "# Emitted kernels beside the libraries"
printf '\nHow fast are the emitted kernels beside libraries? `bench/results-cpu.sh build/tileflow` measures and writes this page; it takes groups by name (`chains`). '
cat $results/cpu-machine.txt
echo
text head
printf '## Where we stand\n\nGeometric means, one core. *its best*: the best of its ways in each case.\n\n'
summary $beside torch torch-bf16 models models-bf16
for g in $beside torch torch-bf16 models models-bf16; do section "$g"; done
cores=$(for g in $beside models models-bf16; do echo "$g-cores"; done)
if [ -n "$(files $cores)" ]; then
  printf '\n## All cores\n\n'
  text cores
  summary $cores
  echo
  printf 'Figures: '
  for g in $cores; do has "$g" && echo "[$g](results/cpu-$g.csv)"; done | paste -s -d ' ' | sed 's/) /), /g; s/$/./'
fi
printf '\n## On another processor, by others\n\n'
cat $said/others.md
section data
if has convs; then
  printf '\n## Convolutions drawn at random\n\n'
  text convs
  awk -F, -f bench/convolutions/table.awk $results/cpu-convs.csv
  echo
  cat $said/convs-limits.md
fi
if has chosen; then
  printf '\n## The model'"'"'s first choice and the best of those timed\n\n'
  when chosen
  text chosen
  printf '| Workload | kernels | the model'"'"'s first, ms | best, ms | its rank | best / first |\n|---|--:|--:|--:|--:|--:|\n'
  sort $results/cpu-chosen.csv | awk -F, '$1 != "case" && NF == 6 {
    sub(/workloads\//, "", $1); sub(/\.yaml/, "", $1)
    printf "| %s | %d | %.3g | %.3g | %d | %.2f |\n", $1, $2, 1e3 * $3, 1e3 * $4, $5, $6
    n++; s += log($6) } END { if (n) printf "| geometric mean | | | | | %.2f |\n", exp(s / n) }'
fi
if has planning; then
  printf '\n## What planning takes\n\n'
  when planning
  text planning
  printf '| Workload | seconds |\n|---|--:|\n'
  awk -F, '$1 != "workload" { printf "| %s | %.2f |\n", $1, $2 }' $results/cpu-planning.csv
fi
cat bench/movement/movement.md
when movement
awk -F, -f bench/movement/report.awk $results/cpu-movement.csv
cat bench/movement/limits.md
if has apart && has beside; then
  cat bench/movement/beside.md
  when apart
  when beside
  awk -F, -f bench/movement/beside.awk $results/cpu-apart.csv $results/cpu-beside.csv
  cat bench/movement/beside-limits.md
fi
if has story; then
  cat bench/story/story.md
  when story
  awk -F, -f bench/story/report.awk $results/cpu-story.csv
  cat bench/story/limits.md
fi
