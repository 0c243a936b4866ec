# Reads the text of kernels for sm_90a (kernel.cu), and tells where boxes or products, which go by the asynchronous proxy, may come behind a
# thread's own write to shared memory with no fence.proxy.async by that thread, and no barrier behind it, in between: on any way through loops and
# conditions, without running anything.  Exit 1: there is such a place.      awk -f lint.awk kernel.cu
# The text is as tileflow prints it: a statement a line, blocks by indentation.
function worse(a, b) { return rank[a] > rank[b] ? a : b }
function inner(i) { match(line[i], /^ */); return RLENGTH }
# The first line behind the statement that begins in line i: its block, and what hangs on an else.
function behind(i, k) {
  k = i + 1
  if (line[i] ~ /\{[^}]*$/ || (line[i] ~ /^ *(if|for|while|else)/ && line[i] !~ /;[^)]*$/))
    while (k <= n && inner(k) > inner(i)) k++
  return k
}
function told(i, what) { if (!((i, what) in seen)) { seen[i, what] = 1; print "line " i ": " what ":" line[i]; bad = 1 } }
# What a line does by itself, in the state s; `some`: it may not be done.
function does(i, s, some) {
  if (line[i] ~ /store_box\(|multiply_(tiles|rows)<|load_box/ && s != "clean")
    told(i, s == "written" ? "no fence of the asynchronous proxy behind a write" : "no barrier behind the fence")
  if (line[i] ~ /put_staged\(/) s = "written"
  if (some) return s
  if (line[i] ~ /proxy_fence\(\)/ && s == "written") s = "fenced"
  if (line[i] ~ /group_meet\(|__syncthreads\(|cluster_meet\(/ && s == "fenced") s = "clean"
  return s
}
function walk(i, last, s, some, k, begun, other) {
  while (i <= last) {
    k = behind(i)
    begun = s
    if (line[i] ~ /^ *(for|while) *\(/) {
      s = does(i, s, 1)
      s = worse(begun, walk(i + 1, k - 1, s, some))
      s = worse(begun, walk(i + 1, k - 1, s, some)) # once more, behind itself
    } else if (line[i] ~ /^ *if *\(/) {
      s = walk(i + 1, k - 1, does(i, s, 1), some)
      other = begun
      while (line[k] ~ /^ *\} else/ && inner(k) == inner(i)) { # which closes the block, and opens another
        i = k; k = behind(i)
        other = walk(i + 1, k - 1, begun, some)
      }
      s = worse(s, other)
    } else {
      s = does(i, s, some)
      s = walk(i + 1, k - 1, s, some)
    }
    i = k
  }
  return s
}
BEGIN { rank["clean"] = 0; rank["fenced"] = 1; rank["written"] = 2 }
{ sub(/\/\/.*/, ""); gsub(/\/\*[^*]*\*\//, ""); line[++n] = $0 }
END {
  for (i = 1; i <= n; i++)
    if (line[i] ~ /^static __global__/) {
      for (k = i + 1; k <= n && line[k] !~ /^}/; k++);
      walk(i + 1, k - 1, "clean", 0)
      kernels++
    }
  if (!kernels) { print "no kernels"; bad = 1 }
  exit bad
}
