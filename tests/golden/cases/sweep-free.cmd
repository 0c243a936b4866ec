# Energies of 0: their geometric mean is 0, and a bound of 0 excludes nothing (they were no number, and -nan % was not excluded).
{ printf 'params: {l1: 1, side: 1}\narchitecture:\n  name: free\n  memories:\n  - {name: D, bandwidth: 4, energy: {read: 0 pJ, write: 0 pJ}}\n' &&
  printf '  - {name: L, capacity: 64, bandwidth: 8, mesh: [side, 1], energy: {read: l1 pJ, write: l1 pJ}}\n' &&
  printf '  compute:\n  - {name: u, ops: [mac], below: L, energy: 0 pJ}\n' &&
  printf 'workload:\n  name: w\n  dims: {i: 8, j: 6, k: 4}\n  ops: ["C[i,j] += A[i,k] * B[k,j]"]\n' &&
  printf 'sweep:\n  name: free\n  method: search\n  budget: {evals: 50}\n  objectives: [energy, cycles]\n  score: geometric-mean\n  over: {l1: [0, 1], side: [1, 2]}\n'; } >"$OUT/s.yaml"
tileflow sweep "$OUT/s.yaml" --store "$OUT/s.tfdb"
sed -i 's/l1: \[0, 1\], //' "$OUT/s.yaml" && tileflow sweep "$OUT/s.yaml" --store "$OUT/t.tfdb"
