# A row a type from docs/results/cpu-convs.csv: how many times longer PyTorch takes than ours with weights as they are, and the best of all
# than ours with weights packed.  Columns by their names.
function least_of(names, k, n, part, v) {
  v = 0
  n = split(names, part, " ")
  for (k = 1; k <= n; k++)
    if ($at[part[k]] != "" && (!v || $at[part[k]] + 0 < v)) v = $at[part[k]] + 0
  return v
}
function take(key, v) {
  sum[key] += log(v)
  below[key] += v < 1
  if (!(key in worst) || v < worst[key]) worst[key] = v
}
NR == 1 { for (k = 1; k <= NF; k++) at[$k] = k; next }
{
  what = $at["dtype"] == "bf16" ? "bfloat16" : "float32"
  n[what]++
  take(what " plain", least_of("torch_us channels_last_us") / $at["ours_us"])
  take(what " packed", least_of("torch_us channels_last_us channels_last_laid_out_us blocked_us") / least_of($at["packed_us"] == "" ? "ours_us" : "packed_us"))
}
END {
  print "| Type | cases | beside PyTorch, weights as they are | least | below 1 | beside the best of all, laid out | least | below 1 |"
  print "|---|--:|--:|--:|--:|--:|--:|--:|"
  for (k = 1; k <= 2; k++) {
    what = k == 1 ? "float32" : "bfloat16"
    if (!(what in n)) continue
    printf "| %s | %d ", what, n[what]
    split("plain packed", way, " ")
    for (w = 1; w <= 2; w++)
      printf "| %.2f | %.2f | %d ", exp(sum[what " " way[w]] / n[what]), worst[what " " way[w]], below[what " " way[w]]
    print "|"
  }
}
