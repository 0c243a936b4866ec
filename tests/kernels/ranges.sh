#!/bin/sh
# Products of bytes within drawn ranges, whose numbers are the ranges' ends half of the time: kernels for AVX2 (or in plain C), held bit by bit against
# sums in double.  Fours of bytes by vpmaddubsw are in the text of a product where no two products leave an int16, and nowhere else.
#   tests/kernels/ranges.sh TILEFLOW CC [CASES [SEED]]
tool=$(realpath "${1:?usage: $0 TILEFLOW CC [CASES [SEED]]}") || exit 2
cc=${2:-cc}
cd "$(dirname "$0")/../.." || exit 2
grep -q avx2 /proc/cpuinfo && isa=avx2 || isa=portable
work=$(mktemp -d) || exit 2
trap 'rm -rf "$work"' EXIT

# Lines FORM M N K A_UNSIGNED A_LO A_HI B_UNSIGNED B_LO B_HI FOURS: 1 if the rule, in other words than the generator's, has fours for
# a product of A by B; -1: either form may be.
awk -v cases="${3:-6}" -v seed="${4:-1}" '
function between(lo, hi) { return lo + int(rand() * (hi - lo + 1)) }
function worst(u_hi, lo, hi, w) { w = u_hi * hi * 2 > 32767 || u_hi * lo * 2 < -32768; return w }
function pick(list, n, a) { n = split(list, a, " "); return a[between(1, n)] }
BEGIN {
  srand(seed)
  for (i = 0; i < cases; i++) {
    form = pick("product product turned batch points window")
    au = between(0, 1); bu = between(0, 2) == 0
    r = pick(au ? "0,255 0,127 0,128 1,63 100,255" : "-128,127 0,127 -64,63 -128,0 -1,1 -127,5"); split(r, a, ",")
    r = pick(bu ? "0,255 0,127 0,64 0,65" : "-64,64 -65,64 -64,65 -64,63 -128,127 -127,127 0,127 -128,-1 -85,85"); split(r, b, ",")
    alo = a[1] < 0 ? a[1] : 0; ahi = a[2] > 0 ? a[2] : 0; blo = b[1] < 0 ? b[1] : 0; bhi = b[2] > 0 ? b[2] : 0
    if (au && bu) fours = 0
    else if (au) fours = !worst(ahi, blo, bhi)
    else if (bu) fours = !worst(bhi, alo, ahi)
    else fours = (alo == 0 && !worst(ahi, blo, bhi)) || (blo == 0 && !worst(bhi, alo, ahi)) || !worst(ahi + 128, blo, bhi)
    print form, between(1, 40), between(1, 70), between(1, 90), au, a[1], a[2], bu, b[1], b[2], form == "product" || form == "turned" ? fours : -1
  }
}' >"$work/cases"

# tensor NAME UNSIGNED LO HI MORE
tensor() {
  printf '%s: {word-bits: 8, range: [%s, %s]%s%s}' "$1" "$3" "$4" "$5" "$([ "$2" = 1 ] && echo ', unsigned: true')"
}
bad=0 equal=0 fours=0
while read -r form m n k au alo ahi bu blo bhi want; do
  pad=
  case $form in
  product) dims="m: $m, n: $n, k: $k" op='S[m,n] += A[m,k] * B[k,n]' ;;
  turned) dims="m: $m, n: $n, k: $k" op='S[m,n] += A[m,k] * B[n,k]' ;;
  batch) dims="h: 3, m: $m, n: $n, k: $k" op='S[h,m,n] += A[h,m,k] * B[h,k,n]' ;;
  points) dims="c: $k, f: $m, y: 5, x: $n" op='S[f,y,x] += A[c,y,x] * B[f,c]' ;;
  window) dims="c: $(((k + 3) / 4)), f: $m, y: 6, x: $n, r: 3, s: 3" op='S[f,y,x] += A[c,y+r-1,x+s-1] * B[f,c,r,s]' pad=', pad: [0, 1, 1]' ;;
  esac
  printf 'workload:\n  dims: {%s}\n  tensors:\n    %s\n    %s\n  ops:\n  - "%s"\n' "$dims" \
    "$(tensor A "$au" "$alo" "$ahi" "$pad")" "$(tensor B "$bu" "$blo" "$bhi" '')" "$op" >"$work/w.yaml"
  rm -rf "$work/code"
  CC=$cc "$tool" emit arch-specs/xeon-gold-6240.yaml "$work/w.yaml" --dtype int8 --isa $isa -o "$work/code" >"$work/said" 2>&1 ||
    { echo "fails:"; cat "$work/w.yaml" "$work/said"; bad=$((bad + 1)); continue; }
  grep -q 'fours_.._add(x' "$work/code/kernel.c" && has=1 || has=0
  [ $isa = avx2 ] || want=0
  [ "$want" = -1 ] || [ "$k" = 1 ] || [ "$has" = "$want" ] ||
    { echo "fours: $has, where the ranges have $want:"; cat "$work/w.yaml"; bad=$((bad + 1)); continue; }
  equal=$((equal + 1)) fours=$((fours + has))
done <"$work/cases"
echo "ranges: $equal kernels equal their references, $fours by fours of bytes; $bad wrong"
[ $bad = 0 ] && { [ $fours -gt 0 ] || [ $isa = portable ]; }
