# Speed over layerwise of the thesis's dataflows, trip counts completed by the search (compare the
# thesis's figures 3.15 to 3.17), and the words they move.
#   gnuplot plots/search-dataflows.gp          reads docs/results/search-means.csv
set terminal svg size 960,640 font "sans,11"
set output "docs/img/search/dataflows.svg"
set datafile separator ","
set style data histograms
set style histogram clustered gap 2
set style fill solid 0.8 border -1
set boxwidth 0.9
set xtics rotate by -30
set grid ytics
set key outside below horizontal
set multiplot layout 2,2
do for [k in "attention conv-chain"] {
  do for [a in "edge cloud"] {
    set title k . " on " . a . ", geometric mean over shapes"
    set ylabel "times layerwise"
    set yrange [0:*]
    rows = sprintf("< grep '^%s,%s,' docs/results/search-means.csv", a, k)
    plot rows using 4:xtic(3) title "speed", rows using 5 title "DRAM words saved (fraction)"
  }
}
unset multiplot
