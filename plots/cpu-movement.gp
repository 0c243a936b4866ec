# Words into the first cache and time, predicted against measured, for tiles of a chain of two products (thesis Fig. 3.11 d, e).
#   gnuplot plots/cpu-movement.gp        reads docs/results/cpu-movement.csv
set datafile separator ","
file = "docs/results/cpu-movement.csv"
pick(kind, order) = sprintf("< grep '^%s,%s' %s", kind, order, file)
do for [kind in "svg png"] {
  if (kind eq "svg") { set terminal svg size 900,420 font "sans,11" } else { set terminal pngcairo size 1350,630 font "sans,14" }
  set output "docs/img/cpu/movement." . kind
  set multiplot layout 1,2
  set grid
  set logscale xy
  set format "10^{%T}"
  set key top left
  set xlabel "predicted words into the first cache"
  set ylabel "counted by Cachegrind"
  set xrange [7e5:1e8]
  set yrange [7e5:1e8]
  plot x with lines lc "gray" title "y = x", \
    pick("fits", "ml") using 8:9 with points pt 7 ps 0.4 lc rgb "#1b6ca8" title "order mlkn", \
    pick("fits", "lm") using 8:9 with points pt 6 ps 0.5 lc rgb "#d95f02" title "order lmkn", \
    pick("tight", "") using 8:9 with points pt 2 ps 0.5 lc rgb "#666666" title "tight"
  set format "%g"
  set xlabel "predicted, million cycles"
  set ylabel "measured, times that of the FMA peak"
  set xrange [3.5:15]
  set yrange [0.95:4.5]
  set xtics (4, 5, 6, 8, 10, 15)
  set ytics (1, 1.5, 2, 3, 4)
  plot pick("fits", "ml") using ($11 / 1e6):(1 / $13) with points pt 7 ps 0.4 lc rgb "#1b6ca8" title "order mlkn", \
    pick("fits", "lm") using ($11 / 1e6):(1 / $13) with points pt 6 ps 0.5 lc rgb "#d95f02" title "order lmkn", \
    pick("tight", "") using ($11 / 1e6):(1 / $13) with points pt 2 ps 0.5 lc rgb "#666666" title "tight"
  unset multiplot
  unset logscale
  unset format
  set xtics auto
  set ytics auto
  set output
}
