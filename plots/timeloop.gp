# Our counters over Timeloop's, 75 mappings: equal ones lie on 1, the documented exceptions below.
#   gnuplot plots/timeloop.gp        reads docs/results/timeloop.csv
set datafile separator ","
set xlabel "words, Timeloop 3.0.3"
set ylabel "words, this tool / Timeloop"
set logscale x
set grid ytics
set key outside top center horizontal
set xrange [50:500000]
set yrange [0:2]
file = "docs/results/timeloop.csv"
of(why) = strcol(7) eq why && $5 > 0 ? $6 / $5 : NaN
draw = "plot 1 with lines lc 'gray' notitle, \
  file using 5:(of('equal')) skip 1 with points pt 7 ps 0.35 lc rgb '#1b6ca8' title 'equal', \
  file using 5:(of('partial sums')) skip 1 with points pt 6 ps 0.7 lc rgb '#d95f02' title 'partial sums filled once', \
  file using 5:(of('windows')) skip 1 with points pt 2 ps 0.7 lc rgb '#1b9e77' title 'windows in two ranks', \
  file using 5:(of('links')) skip 1 with points pt 4 ps 0.7 lc rgb '#7570b3' title 'links (case061)'"
set terminal svg size 760,360 font "sans,11"
set output "docs/img/validation/timeloop.svg"
eval draw
set terminal pngcairo size 1140,540 font "sans,14"
set output "docs/img/validation/timeloop.png"
eval draw
