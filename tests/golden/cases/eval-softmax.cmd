# The report: three levels, two kinds of unit, recomputed points, energies of the table.
tileflow eval tests/golden/in/softmax.yaml
