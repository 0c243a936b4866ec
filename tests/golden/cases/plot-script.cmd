# The script and the data of each figure, as --script leaves them; gnuplot is not needed for them to be right.
mkdir $OUT/bin && printf '#!/bin/sh\nf=$(sed -n "s/^set output .\\(.*\\).$/\\1/p" "$1")\necho "drawn</svg>" >"$f"\n' >$OUT/bin/gnuplot
chmod +x $OUT/bin/gnuplot && PATH=$OUT/bin:$PATH
tileflow eval tests/golden/in/chain.yaml --quiet --json $OUT/kept.json
sed '/^mapping/,$d' tests/golden/in/chain.yaml >$OUT/common.yaml
tileflow eval tests/golden/in/chain-apart.yaml $OUT/common.yaml --quiet --json $OUT/apart.json
tileflow diff tests/golden/in/chain-apart.yaml $OUT/common.yaml -- tests/golden/in/chain.yaml --quiet --json $OUT/d.json
cd $OUT
printf 'kib,side,cycles\n64,8,100\n64,16,50\n128,8,90\n128,16,45\n' >grid.csv
printf 'x,cycles,energy_pj,proved\n1,100,5e9,true\n2,200,3e9,false\n3,300,4e9,false\n' >front.csv
printf 'workload,on_chip_words,proved_words,found_words\ng,16,1000,2000\ng,32,800,\ng,64,500,500\n' >slope.csv
printf 'strategy,evaluations,best\nga,48,900\nga,96,100\nmcts,48,5000\n' >log.csv
printf 'kind,resource,what,begin,end,words\nhold,DRAM,A,0,40,100\nhold,L1,A,2,10,6\nhold,L1,A,10,30,9\nload,DRAM,C,0,2,6\n' >t.csv
printf 'load,DRAM,C+E,2,5,6\nwork,u,C,2,30,50\nstore,DRAM,E,30,40,4\n' >>t.csv
draw() { tileflow plot "$@" --script && cat "${fig%.svg}.gp" "${fig%.svg}.csv" $fig; }
fig=bars.svg && draw apart.json kept.json --as bars -o $fig
fig=roofline.svg && draw apart.json kept.json --as roofline -o $fig --width two
fig=s.svg && draw slope.csv --as slope -o $fig
fig=c.svg && draw log.csv --as convergence -o $fig --title "It's mine"
fig=p.svg && draw front.csv --as pareto -o $fig
fig=h.svg && draw grid.csv --as heat --x kib --y side --z cycles -o $fig
fig=l.svg && draw grid.csv --as lines --x side --y cycles --by kib -o $fig
fig=diff.svg && draw d.json --as diff -o $fig
fig=t.svg && draw t.csv --as timeline -o $fig
fig=o.svg && draw t.csv --as occupancy -o $fig
fig=b.svg && draw grid.csv --as bars --x kib --y cycles --by side -o $fig
fig=n.svg && draw grid.csv --as points --x side --y cycles --by kib -o $fig
fig=m.svg && draw slope.csv kept.json --as slope -o $fig
printf 'cycles,area_um2,front,proved\n100,5e6,1,1\n90,6e6,1,0\n200,5e6,0,0\n,5e6,0,0\n' >machines.csv
fig=f.svg && draw machines.csv --as pareto -o $fig
