#!/bin/sh
# Measures emitted kernels beside libraries on this computer and writes docs/results/cpu-*.csv and docs/RESULTS-cpu.md.
#   bench/results-cpu.sh TILEFLOW [PART...]     PART: kernels (one core), cores (all), chosen, movement, story; all if none is given;
#                                               report: none, the page is written from the CSVs that are there
set -eu
tileflow=$(realpath "${1:?usage: $0 TILEFLOW [PART...]}")
shift
[ $# -gt 0 ] || set -- kernels cores chosen movement story
cd "$(dirname "$0")/.."
results=docs/results
csv=$results/cpu-kernels.csv
page=docs/RESULTS-cpu.md
# into FILE COMMAND...: what it prints, whole or not at all
into() {
  file=$1
  shift
  "$@" >"$file.new"
  mv "$file.new" "$file"
}
for part; do
  case $part in
  kernels) into "$csv" sh bench/kernels/run.sh "$tileflow" ;;
  cores) into $results/cpu-cores.csv env THREADS="$(nproc)" sh bench/kernels/run.sh "$tileflow" ;;
  movement) into $results/cpu-movement.csv sh bench/movement/run.sh "$tileflow" ;;
  chosen) into $results/cpu-chosen.csv sh bench/kernels/chosen.sh "$tileflow" ;;
  story) into $results/cpu-story.csv sh bench/story/run.sh "$tileflow" ;;
  report) ;;
  *) echo "$0: no part '$part'" >&2 && exit 2 ;;
  esac
done
gnuplot plots/cpu-movement.gp
cpu=$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)
flags=$(grep -o -w -m 1 -e avx512f /proc/cpuinfo | head -n 1 || true)
awk -F, -v cpu="$cpu" -v flags="$flags" '
function mean(sum, n) { return n ? sprintf("%.2f", exp(sum / n)) : "-" }
function best(a, b) { return a < b ? a : b }
NR == 1 || $1 !~ /^G/ { next }
{ gf[$1, $2] = $4; share[$1, $2] = $5; slower[$1, $2] = $6; if (!($1 in seen)) { seen[$1] = 1; order[++n] = $1 } }
function table(soft,   i, c, d, x, o, g, k, sd, sx, so, sg) {
  print "| Case | GFLOP/s | share of peak | oneDNN | libxsmm rows | OpenBLAS | gcc -O3 |"
  print "|---|--:|--:|--:|--:|--:|--:|"
  for (i = 1; i <= n; i++) {
    c = order[i]
    if ((c ~ /softmax/) != soft) continue
    d = best(slower[c, "oneDNN"], slower[c, "oneDNN packed"]); x = slower[c, "libxsmm rows"]
    o = slower[c, "openblas"]; g = slower[c, "gcc -O3"]
    printf "| %s | %.0f | %.0f %% | %.2f | %.2f | %.2f | %.0f |\n", c, gf[c, "tileflow"], 100 * share[c, "tileflow"], d, x, o, g
    k++; sd += log(d); sx += log(x); so += log(o); sg += log(g); sp += log(share[c, "tileflow"]); sq += log(share[c, "oneDNN"]); sr += log(share[c, "libxsmm rows"])
  }
  printf "| geometric mean | | %.0f %% | %s | %s | %s | %s |\n\n", 100 * exp(sp / k), mean(sd, k), mean(sx, k), mean(so, k), mean(sg, k)
  printf "On the same cases oneDNN runs at %.0f %% of the peak, libxsmm on row blocks at %.0f %%.\n\n", 100 * exp(sq / k), 100 * exp(sr / k)
  sp = sq = sr = 0
}
END {
  print "# Emitted kernels beside the libraries\n"
  print "Made by `bench/results-cpu.sh build/tileflow` on one core of: " cpu (flags ? " (AVX-512)" : "") ". All figures:"
  print "[results/cpu-kernels.csv](results/cpu-kernels.csv).\n"
  print "Contestants take turns in each of 21 rounds; a column says how many times longer a library takes than our kernel (above 1: we"
  print "are faster), the median over rounds of the ratio in the round. The mapping is the one `tileflow emit` plans by itself from"
  print "`arch-specs/host-template.yaml`: no tuning run. The peak is that of float32 multiply-adds on registers alone, measured in the"
  print "same round. oneDNN (2.6, Debian 12): the better of plain layouts and weights packed beforehand, outside of the"
  print "clock. libxsmm (1.17): both products of 64 rows while they are in the cache, as one writes it by hand. OpenBLAS is 0.3.21.\n"
  print "## Two products (G1 to G12 of thesis Table 3.5)\n"
  table(0)
  print "What limits them: the register-only peak. Nobody can be 1.06 times as fast as a library that runs at that share of it; the"
  print "tiles of 6 x 4 registers (Eq. 3.4) leave loads of C and of partial panels, a few per cent."
  print "\n## Attention: the same with softmax between\n"
  table(1)
  print "Here libxsmm has our exponential between its products; oneDNN runs product, softmax, product. A row costs us a pass"
  print "for the maximum, one for difference and exponential, one for the sum, one for the quotient, on what the first product left in the"
  print "first cache; the transposed K is turned once for each head."
}' "$csv" >"$page.new"
{
  cat bench/kernels/convolutions.md
  awk -F, -f bench/kernels/report.awk "$csv"
  if [ -e $results/cpu-cores.csv ]; then
    printf '\n## All cores\n\n'
    sed "s/CORES/$(nproc)/" bench/kernels/cores.md
    awk -F, -v cores="$(nproc)" -f bench/kernels/report.awk $results/cpu-cores.csv
  fi
  if [ -e $results/cpu-chosen.csv ]; then
    cat bench/kernels/chosen.md
    awk -F, 'NR > 1 { sub(/workloads\//, "", $1); sub(/\.yaml/, "", $1); printf "| %s | %d | %.3g | %.3g | %d | %.2f |\n", $1, $2, 1e3 * $3, 1e3 * $4, $5, $6
      n++; s += log($6) } END { printf "| geometric mean | | | | | %.2f |\n", exp(s / n) }' $results/cpu-chosen.csv
  fi
  cat bench/movement/movement.md
  awk -F, -f bench/movement/report.awk $results/cpu-movement.csv
  cat bench/movement/limits.md
  if [ -e $results/cpu-story.csv ]; then
    cat bench/story/story.md
    awk -F, -f bench/story/report.awk $results/cpu-story.csv
    cat bench/story/limits.md
  fi
} >>"$page.new"
mv "$page.new" "$page"
