# The thesis's figures 3.14 to 3.17 from our runs (bench/thesis-figures.py measure, report).
#   gnuplot plots/thesis.gp
set datafile separator ","
set style fill solid 0.8 border -1
set grid ytics
set key outside below horizontal

# 3.14: a) trip counts alone, each dataflow; b), c) the whole space.  Best of all over best so far.
set terminal svg size 1180,380 font "sans,11" background "white"
set output "docs/img/search/thesis-3-14.svg"
set multiplot layout 1,3
set logscale x
set format x "10^{%L}"
set key inside bottom right vertical samplen 2
set xlabel "mappings evaluated"
set ylabel "best of the curve / best so far"
set yrange [0:1.05]
in = "docs/results/thesis-convergence.csv"
last(part, name) = system(sprintf("awk -F, '$1 == \"%s\" && $2 == \"%s\" { v = $4 } END { print v }' %s", part, name, in)) + 0
rows(part, name) = sprintf("< grep '^%s,%s,' %s", part, name, in)
flows = "layerwise uni-pipe flat-hgran flat-rgran chimera tileflow flash-attention"
set title "a) trip counts of each dataflow, Edge"
plot for [f in flows] rows("a", f) using 3:(last("a", f) / $4) with steps lw 2 title f
set title "b) the whole space, Edge"
plot rows("b", "edge") using 3:(last("b", "edge") / $4) with steps lw 2 title "GA + MCTS"
set title "c) the whole space, Cloud"
plot rows("c", "cloud") using 3:(last("c", "cloud") / $4) with steps lw 2 title "GA + MCTS"
unset multiplot
unset logscale x
unset title
set format x
set key outside below horizontal
set yrange [0:*]

# 3.15, 3.16, 3.17: per shape, everything over layerwise.
set terminal svg size 1080,900 font "sans,11" background "white"
set style data histograms
set style histogram clustered gap 1
set boxwidth 0.9
set xlabel ""
of(arch, kind, flow, column) = sprintf("< awk -F, '$1 == \"%s\" && $2 == \"%s\" { if ($4 == \"layerwise\") base[$3] = $%d; if ($4 == \"%s\") print $3 \",\" (base[$3] > 0 && $%d > 0 ? $%d / base[$3] : \"nan\") }' docs/results/thesis-dataflows.csv", arch, kind, column, flow, column, column)
do for [job in "15:edge:attention 16:cloud:attention 17:cloud:conv-chain"] {
  number = job[1:2]
  arch = job[4:strstrt(job[4:], ":") + 2]
  kind = job[strstrt(job, arch) + strlen(arch) + 1:]
  flows = kind eq "attention" ? "layerwise uni-pipe flat-hgran flat-rgran chimera tileflow flash-attention found" : "layerwise fused-layer isos tileflow found"
  set output sprintf("docs/img/search/thesis-3-%s.svg", number)
  set multiplot layout 3,1 title sprintf("%s on %s, layerwise = 1", kind, arch)
  set ylabel "cycles"
  plot for [f in flows] of(arch, kind, f, 5) using 2:xtic(1) title f
  set ylabel "DRAM words"
  plot for [f in flows] of(arch, kind, f, 7) using 2:xtic(1) title f
  set ylabel "on-chip words"
  set yrange [0:6]
  plot for [f in flows] of(arch, kind, f, 8) using 2:xtic(1) title f
  set yrange [0:*]
  unset multiplot
}

# 3.15 d): what the words of L1 are, Bert-Base on Edge.
set terminal svg size 720,340 font "sans,11" background "white"
set output "docs/img/search/thesis-3-15-d.svg"
set style histogram rowstacked
set boxwidth 0.7
set ylabel "L1 words, million"
set title "L1 of Edge, attention of Bert-Base (G2)"
part = "< grep '^edge,attention,g2,' docs/results/thesis-dataflows.csv"
plot part using ($10 / 1e6):xtic(4) title "read", part using ($11 / 1e6) title "update", part using ($9 / 1e6) title "fill"
