# DRAM words of 206 random attention mappings, ours over TileFlow's: below 1 by first touches and by what stays in a memory,
# above 1 only where an intermediate cannot stay (docs/VALIDATION.md).
#   gnuplot plots/tileflow.gp        reads docs/results/tileflow-dram.csv
set datafile separator ","
set xlabel "DRAM words read and written, TileFlow"
set ylabel "this tool / TileFlow"
set logscale x
set format x "10^{%T}"
set grid ytics
set key outside top center horizontal
set yrange [0:1.8]
file = "docs/results/tileflow-dram.csv"
of(pipe, link) = (strcol(1) eq 'pipeline') == pipe && $5 == link ? $4 / $3 : NaN
draw = "plot 1 with lines lc 'gray' notitle, \
  file using 3:(of(0, 0)) skip 1 with points pt 7 ps 0.7 lc rgb '#1b6ca8' title 'Seq', \
  file using 3:(of(1, 0)) skip 1 with points pt 7 ps 0.7 lc rgb '#1b9e77' title 'Pipe', \
  file using 3:(of(0, 1)) skip 1 with points pt 6 ps 0.8 lc rgb '#d95f02' title 'Seq, C between instances', \
  file using 3:(of(1, 1)) skip 1 with points pt 4 ps 0.8 lc rgb '#7570b3' title 'Pipe, C between instances'"
set terminal svg size 760,360 font "sans,11"
set output "docs/img/validation/tileflow.svg"
eval draw
set terminal pngcairo size 1140,540 font "sans,14"
set output "docs/img/validation/tileflow.png"
eval draw
