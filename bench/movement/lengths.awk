# Lengths from which tiles of two products are made, and a draw that is the same everywhere (run.sh, apart.sh).
function larger(a, b) { return a > b ? a : b }
function draw() { seed = (seed * 1103515245 + 12345) % 2147483648; return seed / 2147483648 }
BEGIN {
  nm = split("1 2 3 4 5 6 8 10 12 15 18 24 30 36 48 60 72 96", M, " ")
  nl = split("32 48 64 80 96 128 144", L, " ")
  nk = split("1 2 4 8 12 16 24 32 48 72 96", K, " ")
  nn = split("16 32 48 64 96 144", N, " ")
}
