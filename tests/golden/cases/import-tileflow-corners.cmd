# What TileFlow's own files do not use: coefficients, one-way networks, residuals, tables of energies, any letter case, a bypass.
tileflow import tests/data/import/tileflow-corners.yaml
