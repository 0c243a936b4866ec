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
set key top left
set multiplot layout 2,2
do for [k in "attention conv-chain"] {
  do for [a in "edge cloud"] {
    set title k . " on " . a . ", geometric mean over shapes"
    set ylabel "times layerwise"
    set yrange [0:*]
    plot "docs/results/search-means.csv" \
      using ((stringcolumn(1) eq a && stringcolumn(2) eq k) ? $4 : NaN):xtic((stringcolumn(1) eq a && stringcolumn(2) eq k) ? stringcolumn(3) : "") title "speed", \
      "" using ((stringcolumn(1) eq a && stringcolumn(2) eq k) ? $5 : NaN) title "DRAM words saved (fraction)"
  }
}
unset multiplot
