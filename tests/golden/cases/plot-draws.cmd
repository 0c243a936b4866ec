# gnuplot, where it is there, draws every figure in every format; where it is not, plot says so and leaves nothing.
tileflow eval tests/golden/in/chain.yaml --quiet --json $OUT/kept.json
sed '/^mapping/,$d' tests/golden/in/chain.yaml >$OUT/common.yaml
tileflow diff tests/golden/in/chain-apart.yaml $OUT/common.yaml -- tests/golden/in/chain.yaml --quiet --json $OUT/d.json
cd $OUT
printf 'kib,side,cycles\n64,8,100\n64,16,50\n128,8,90\n128,16,45\n' >grid.csv
printf 'workload,on_chip_words,proved_words,found_words\ng,16,1000,2000\ng,32,800,\n' >slope.csv
printf 'kind,resource,what,begin,end,words\nhold,DRAM,C,0,3072,4096\n' >one.csv # one value on a logarithmic axis
printf 'evaluations,best\n48,900\n96,100\n' >log.csv
draw() {
  command -v gnuplot >/dev/null || { echo "$3 ok" && return; }
  tileflow plot "$@" && [ -s "${fig}" ] && echo "$3 ok"
}
for e in svg png pdf; do fig=b.$e && draw kept.json --as bars -o b.$e; done
fig=r.svg && draw kept.json --as roofline -o $fig
fig=s.svg && draw slope.csv --as slope -o $fig
fig=c.svg && draw log.csv --as convergence -o $fig
fig=p.svg && draw grid.csv --as pareto --x cycles --y side -o $fig
fig=h.svg && draw grid.csv --as heat --x kib --y side --z cycles -o $fig
fig=l.svg && draw grid.csv --as lines --x side --y cycles --by kib -o $fig
fig=n.svg && draw grid.csv --as points --x side --y cycles --by kib -o $fig
fig=g.svg && draw grid.csv --as bars --x side --y cycles --by kib -o $fig
fig=m.svg && draw slope.csv kept.json --as slope -o $fig
fig=o.svg && draw one.csv --as occupancy -o $fig
fig=d.svg && draw d.json --as diff -o $fig
tool=$(command -v tileflow)
PATH=/nowhere "$tool" plot log.csv --as lines --x evaluations --y best -o none.svg
echo "status $?" && ls | grep -c none
mkdir bin && printf '#!/bin/sh\nset -- $(sed -n "s/^set output .\\(.*\\).$/\\1/p" "$1")\nprintf "<svg>" >"$1"\n' >bin/gnuplot && chmod +x bin/gnuplot
PATH=$OUT/bin:$PATH tileflow plot log.csv --as lines --x evaluations --y best -o half.svg 2>said # as on a full disk
echo status $?
sed 's/ in .*//' said
ls half.svg 2>/dev/null
true
