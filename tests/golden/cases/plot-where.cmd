# --where draws the rows of which it holds, of numbers and texts; what is wrong with it, all of it.
try() { tileflow "$@" 2>&1; echo "status $?"; }
mkdir $OUT/bin && printf '#!/bin/sh\nf=$(sed -n "s/^set output .\\(.*\\).$/\\1/p" "$1")\necho "drawn</svg>" >"$f"\n' >$OUT/bin/gnuplot
chmod +x $OUT/bin/gnuplot && PATH=$OUT/bin:$PATH
cd $OUT || exit
printf 'side,kib,state,cycles\n8,4,found,100\n16,4,found,60\n8,8,none,\n16,8,found,50\n32,8,"found",45\n' >rows.csv
for where in 'kib == 8' "kib==8 and state == 'found'" 'cycles < 60' 'side != 8 and cycles >= 50' 'state != "none"'; do
  tileflow plot rows.csv --as points --x side --y cycles --script -o f.svg --where "$where" && echo "$where" && sed 1d f.csv
done
tileflow plot rows.csv --as heat --x side --y kib --z cycles -o h.svg --where "state == 'found'" && echo drawn
echo "{}" >empty.json
try plot rows.csv --as points --x side --y cycles -o f.svg --where 'kib = 8'
try plot rows.csv --as points --x side --y cycles -o f.svg --where "state < 'found'"
try plot rows.csv --as points --x side --y cycles -o f.svg --where 'kib == 8 or side == 8'
try plot rows.csv --as points --x side --y cycles -o f.svg --where 'kb == 8 and states == 1 and state == 1'
try plot rows.csv --as points --x side --y cycles -o f.svg --where 'kib > 8'
try plot rows.csv --as points --x side --y cycles -o f.svg --where "state == 'found"
try plot rows.csv --as points --x side --y cycles -o f.svg --where 'state == 1'
try plot empty.json --as points --x side --y cycles -o f.svg --where 'state == 1'
