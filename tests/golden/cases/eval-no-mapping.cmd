# Without a mapping: says so and shows one that works.
tileflow eval arch-specs/edge.yaml workloads/attention/g1.yaml
