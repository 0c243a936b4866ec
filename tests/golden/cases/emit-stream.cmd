# Online softmax as loops: saved, corrected, divided at the end.
tileflow emit arch-specs/edge.yaml workloads/attention/g1.yaml \
  workloads/dataflows/edge/attention-flash-attention.yaml --target cpu --dump-ir
