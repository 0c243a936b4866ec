# Rows kept from step to step: what is left to make is found out as the kernel runs, or the instance begins.
tileflow emit arch-specs/host-template.yaml workloads/conv-chain/c6.yaml \
  workloads/dataflows/cpu/conv-chain-rows.yaml --target cpu --dump-ir
