# Markdown from docs/results/cpu-story.csv.
NR == 1 { next }
NR == 2 {
  print "| Step | predicted, ms | gains | words into L1 | words of DRAM | measured, ms | gains | share of peak |"
  print "|---|--:|--:|--:|--:|--:|--:|--:|"
}
{
  predicted = $2 / 2.6e6; measured = $5 * 1e3
  printf "| %s | %.0f | %s | %.0f M | %.1f M | %.0f | %s | %.1f %% |\n", $1, predicted, (NR > 2 ? sprintf("%.2f", before_p / predicted) : ""), $3 / 1e6, $4 / 1e6,
    measured, (NR > 2 ? sprintf("%.2f", before_m / measured) : ""), 100 * $6
  before_p = predicted; before_m = measured
  if (NR == 2) { first_p = predicted; first_m = measured }
}
END { printf "| all steps | | %.0f | | | | %.0f | |\n", first_p / before_p, first_m / before_m }
