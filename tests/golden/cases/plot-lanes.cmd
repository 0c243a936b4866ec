# What works at the same time shares its row, shares of capacities end at 100, parts of a bar add up to its total.
mkdir $OUT/bin && printf '#!/bin/sh\nf=$(sed -n "s/^set output .\\(.*\\).$/\\1/p" "$1")\necho "drawn</svg>" >"$f"\n' >$OUT/bin/gnuplot
chmod +x $OUT/bin/gnuplot && PATH=$OUT/bin:$PATH
sed 's/capacity: 8 KiB/&, leakage: 1 nJ/' examples/matmul.yaml >$OUT/leaks.yaml
cp examples/matmul.yaml $OUT && cd $OUT
printf 'kind,resource,what,begin,end,words\nwork,matrix,S,0,40,9\nwork,matrix,O,10,50,9\nwork,matrix,X,50,60,9\nwork,vector,S,0,5,1\n' >pipe.csv
printf 'hold,L1,A,0,60,32\ncapacity,L1,,0,60,64\nhold,DRAM,A,0,60,64\n' | cat pipe.csv - >held.csv
tileflow plot pipe.csv --as timeline -o timeline.svg --script --quiet && cat timeline.csv
tileflow plot held.csv --as occupancy -o occupancy.svg --script --quiet && cat occupancy.csv
for of in matmul leaks; do
  tileflow eval $of.yaml --json one.json --quiet
  tileflow plot one.json --as bars --y energy -o bars.svg --script --quiet
  awk -F, 'NR == 2 { for (i = 2; i <= NF; i++) sum += $i; printf "%.6g\n", sum * 1e12 }' bars.csv
  sed -n 's/^  "energy_pj": \(.*\),$/\1/p' one.json | awk '{ printf "%.6g\n", $1 }'
done
grep -c "rowstacked" bars.gp
