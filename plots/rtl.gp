# Predicted over measured cycles of 66 fused products in RTL, sorted by what was measured.
#   gnuplot plots/rtl.gp        reads docs/results/rtl.csv
set datafile separator ","
set xlabel "measured cycles"
set ylabel "predicted / measured"
set logscale x
set grid ytics
set key outside top center horizontal
set xrange [30000:1e6]
set yrange [0:1.4]
file = "docs/results/rtl.csv"
draw = "plot 1 with lines lc 'gray' notitle, \
  file using 8:(1 + $14) skip 1 with points pt 2 ps 0.6 lc rgb '#999999' title 'graph-based', \
  file using 8:(1 + $12) skip 1 with points pt 6 ps 0.6 lc rgb '#d95f02' title 'TileFlow', \
  file using 8:(1 + $10) skip 1 with points pt 7 ps 0.6 lc rgb '#1b6ca8' title 'this tool, port each way', \
  file using 8:(1 + $16) skip 1 with points pt 4 ps 0.6 lc rgb '#2a7f3f' title 'one shared port, as documented'"
set terminal svg size 760,360 font "sans,11"
set output "docs/img/validation/rtl.svg"
eval draw
set terminal pngcairo size 1140,540 font "sans,14"
set output "docs/img/validation/rtl.png"
eval draw
