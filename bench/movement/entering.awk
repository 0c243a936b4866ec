# From what `tileflow eval --csv` says of a mapping on three.yaml: lines of a cache, a tensor, and its words that enter: what is read, and
# room for results.  C that neither comes nor goes is kept there: its room enters once, and is used again.  Nothing where the mapping
# does not fit.
$4 == "total" { fits = $3 }
$4 == "tensor" && $5 ~ /^L[123]$/ {
  enter[$5 " " $6] += ($6 == "E" ? 0 : $10) + ($6 ~ /[CE]/ ? $13 : 0)
  if ($6 == "C" && $10 + $13 == 0 && $9 > 0)
    for (l = substr($5, 2) + 0; l <= 3; l++) enter["L" l " C"] += $9 # from DRAM through all caches further out
}
END { if (fits == "true") for (which in enter) printf "%s %.0f\n", which, enter[which] }
