# By the objective: where the energy goes, and that no word passes twice; a proof is said as one.
for objective in energy traffic edp; do
  tileflow best arch-specs/edge.yaml workloads/gemm-chain/g5.yaml --evals 2500 --objective $objective | sed '/^mapping/,/^$/d'
done
