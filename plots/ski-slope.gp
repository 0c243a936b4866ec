# The ski-slope: words through the outermost memory by the words on chip, proved and found.
#   tileflow bound ARCH WORKLOAD --csv slope.csv --quiet
#   gnuplot -e "csv='slope.csv'; out='slope'" plots/ski-slope.gp        writes slope.svg and slope.png
# A file may hold the rows of several workloads.  Each is named at the end of its line; those that end on the same words
# have their names below each other.  Later lines are thinner and dashed, so that one that lies upon another shows both.
if (!exists("csv")) csv = "docs/results/slope.csv"
if (!exists("out")) out = "docs/img/bound/ski-slope"
set datafile separator ","
set title "Least words through the outermost memory, for one compute unit, by the words on chip\n{/*0.85 line: proved, no mapping passes fewer; points: a mapping found}"
set xlabel "words on chip, of all memories inside the outermost together"
set ylabel "words read from and written to the outermost memory"
set logscale xy 2
set format x "2^{%L}"
set format y "2^{%L}"
set grid lc rgb "#dddddd"
unset key
set rmargin 16
set border 3
set tics nomirror
names = system("tail -n +2 '".csv."' | cut -d, -f2 | awk '!seen[$0]++'")
array colour[6] = ["#1b6ca8", "#d95f02", "#2a7f3f", "#8e44ad", "#b8860b", "#c0271f"]
width(i) = words(names) > 1 ? 6.0 - 4.5 * (i - 1) / (words(names) - 1) : 2.0
# Ends of the lines: x, y, how many names stand there already, name; lines that end together start their names together.
ends = system("tail -n +2 '".csv."' | awk -F, '{ if (!($2 in y)) name[++n] = $2; x[$2] = $3; y[$2] = $4 } \
  END { for (i = 1; i <= n; i++) if (x[name[i]] > far[y[name[i]]]) far[y[name[i]]] = x[name[i]]; \
    for (i = 1; i <= n; i++) { at = y[name[i]]; printf \"%s %s %d %s \", far[at], at, there[at]++, name[i] } }'")
do for [i=1:words(ends)/4] {
  set label i word(ends, 4*i) at real(word(ends, 4*i-3)), real(word(ends, 4*i-2)) left \
    offset 1, 0.4 - 1.1 * real(word(ends, 4*i-1)) noenhanced tc rgb colour[(i-1)%6+1]
}
do for [i=1:6] {
  eval sprintf("set linetype %d lc rgb \"%s\" dt %d", 100 + i, colour[i], i > 1 && i % 2 ? 2 : 1)
}
draw = "plot for [i=1:words(names)] csv using 3:(strcol(2) eq word(names, i) ? $4 : NaN) skip 1 \
    with lines lt 100+(i-1)%6+1 lw width(i) notitle, \
  for [i=1:words(names)] csv using 3:(strcol(2) eq word(names, i) ? $5 : NaN) skip 1 \
    with points lt 100+(i-1)%6+1 pt 6 + i ps 0.8 notitle"
set terminal svg size 860,480 font "sans,11"
set output out.".svg"
eval draw
set terminal pngcairo size 1290,720 font "sans,14"
set output out.".png"
eval draw
