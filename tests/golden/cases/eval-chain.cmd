# The report: two ops, one keep, given energies, a bound that is far away.
tileflow eval tests/golden/in/chain.yaml
