# The ski-slope: words through the outermost memory by the words on chip, proved and found.
#   tileflow bound ARCH WORKLOAD --csv slope.csv --quiet
#   gnuplot -e "csv='slope.csv'; out='slope'" plots/ski-slope.gp        writes slope.svg and slope.png
# A file may hold the rows of several workloads.
if (!exists("csv")) csv = "docs/results/slope.csv"
if (!exists("out")) out = "docs/img/bound/ski-slope"
set datafile separator ","
set xlabel "words on chip"
set ylabel "words through the outermost memory"
set logscale xy 2
set format x "2^{%L}"
set format y "2^{%L}"
set grid
set key outside right top
names = system("tail -n +2 ".csv." | cut -d, -f2 | awk '!seen[$0]++'")
draw = "plot for [i=1:words(names)] csv using 3:(strcol(2) eq word(names, i) ? $4 : NaN) skip 1 \
    with lines lw 2 lc i title word(names, i).', proved', \
  for [i=1:words(names)] csv using 3:(strcol(2) eq word(names, i) ? $5 : NaN) skip 1 \
    with points pt 7 ps 0.6 lc i title word(names, i).', found'"
set terminal svg size 860,420 font "sans,11"
set output out.".svg"
eval draw
set terminal pngcairo size 1290,630 font "sans,14"
set output out.".png"
eval draw
