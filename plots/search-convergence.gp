# Best cycles found over mappings evaluated, each strategy (compare the thesis's figure 3.14).
#   gnuplot plots/search-convergence.gp        reads docs/results/search-convergence.csv
set terminal svg size 960,300 font "sans,11"
set output "docs/img/search/convergence.svg"
set datafile separator ","
set logscale xy
set xlabel "mappings evaluated"
set ylabel "best cycles"
set key top right
set grid ytics
set multiplot layout 1,3
do for [w in "gemm-chain/g1 attention/g1 conv-chain/c3"] {
  set title w . " on edge"
  plot for [s in "ga-mcts mcts ga random"] sprintf("< grep '^%s,%s,' docs/results/search-convergence.csv", w, s) \
    using 3:4 with steps lw 2 title s
}
unset multiplot
