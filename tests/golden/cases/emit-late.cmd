# A quotient may wait for the product that reads it in a softmax with its maximum subtracted, not of numbers of which
# nothing is known: 1e20 * 1e20 / 1e20 would be infinite.
machine='architecture: {memories: [{name: DRAM}], compute: [{name: u, ops: [mac, add, mul, div, sub, max, exp]}]}'
tail='  - D[m] += P[m,l]
  - Q[m,l] = P[m,l] / D[m]
  - O[m,n] += Q[m,l] * V[l,n]'
maps='      DRAM for m=4 l=40
        op D
      DRAM for m=4 l=40
        op Q
      DRAM for m=4 l=40 n=20
        op O'
head='workload:
  name: w
  dims: {m: 4, l: 40, n: 20}
  ops:'
first='  - M[m] max= S[m,l]
  - P[m,l] = exp(S[m,l] - M[m])'
printf '%s\n' "$machine" "$head" "$tail" 'mapping: |' '  DRAM' '    Seq' "$maps" >$OUT/numbers.yaml
printf '%s\n' "$machine" "$head" "$first" "$tail" 'mapping: |' '  DRAM' '    Seq' '      DRAM for m=4 l=40' '        op M' \
  '      DRAM for m=4 l=40' '        op P' "$maps" >$OUT/softmax.yaml
for what in numbers softmax; do
  echo "$what:"
  tileflow emit $OUT/$what.yaml --target cpu --dump-ir | grep -E 'nest Q|nest O|divide'
done
