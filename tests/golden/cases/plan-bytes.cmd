# forty ops on bytes, each of which reads the one before twice: how each is held is asked once
{
  echo 'workload:
  dims: {m: 16}
  tensors:
    T0: {word-bits: 8}'
  for i in $(seq 40); do echo "    T$i: {word-bits: 8}"; done
  echo '  ops:'
  for i in $(seq 40); do echo "  - T$i[m] = max(T$((i - 1))[m], T$((i - 1))[m])"; done
} >"$OUT/deep.yaml"
tileflow plan arch-specs/edge.yaml "$OUT/deep.yaml" --evals 10 --threads 1 --json - | grep -c '"like"'
