# A workload in bfloat16 with its mapping, drawn by seed: awk -v seed=N -f draw.awk.  Products in all orders of their
# operands' dims, chains with what stands between, attention with rows whole and streamed; sums in parts, each another
# block's; sizes of eights and others.  -v groups=1: such as warpgroups may take (sm_90a), blocks of 65 to 128 rows and rows that stand on 16 bytes.
# -v bytes=1: products' operands have neighbours along the sum, which warpgroups must have in bytes.  -v kind=product, chain, gated, attention,
# conv or depth: that one (a third of the chains are gated: products of the same rows, side by side); net: a network, without a mapping.
# The kind is drawn by itself (lot): a remainder of the seed would always meet the same type where callers go through types in turn.
function draw(n) { state = (state * 1103515245 + 12345) % 2147483648; return int(state / 65536) % n }
function size(least, most) { v = least + draw(most - least + 1); return draw(2) ? v : int((v + 7) / 8) * 8 }
function up(a, b) { return int((a + b - 1) / b) }
function turned(name, a, b, before) { return draw(2) ? name "[" before a "," b "]" : name "[" before b "," a "]" }
function few(n) { return draw(5) ? n : 1 + draw(9) } # rows of a step of decoding
function eights(n) { return 8 * (1 + draw(n)) }
# Of blocks that two warpgroups multiply together, or (may: sometimes) have in turn.
function rows(blocks, may) {
  if (may && !draw(3)) return blocks * (40 + 8 * draw(4)) - blocks * draw(7)
  return blocks * eights(7) + blocks * 64 - 8 * draw(2) }
function out(text) { print text }
# Of bytes: half of the time the result is float8 (narrow: it may be), bfloat16 or float32 as its words say.
function words(result, narrow) {
  if (!bytes || draw(2)) return ""
  return "\n  tensors: {A: {word-bits: 8}, " result ": {word-bits: " (narrow && draw(2) ? 8 : draw(3) ? 16 : 32) "}}" }

function product() {
  m = few(size(2, 90)); n = size(2, 90); k = size(2, 140); b = 1 + draw(2)
  if (bytes) { a1 = "A[b,m,k]"; b1 = draw(2) ? "B[b,n,k]" : "B[n,k]"; c1 = turned("C", "m", "n", "b,") }
  else { a1 = turned("A", "m", "k", "b,"); b1 = turned("B", "k", "n", draw(2) ? "b," : ""); c1 = turned("C", "m", "n", "b,") }
  tm = 1 + draw(3); tn = 1 + draw(2); tk = draw(3) ? 1 : 2; tp = draw(3) ? 1 : 2 + draw(3)
  if (groups) { tp = draw(4) ? 1 : 2; m = rows(tm, !bytes); n = tn * eights(16); k = tk > 1 ? 128 * (1 + draw(2)) : eights(24) }
  if (bytes) { n = tn * eights(8) * 2; k = tk > 1 ? 256 * (1 + draw(2)) : 16 * (1 + draw(24)) }
  if (groups && tp > 1) { tk = 1; k = 128 * (1 + draw(4)) }
  if (tp > 1) { tk *= tp; if (draw(3)) k = up(k, tk) * tk }
  out("  dims: {b: " b ", m: " m ", n: " n ", k: " k "}" words("C", 0) "\n  ops:\n  - \"" c1 " += " a1 " * " b1 "\"\nmapping: |")
  out("  HBM for b=" b " m=" tm " n=" tn (tp > 1 ? " spatial" : "") " k=" tk (tp > 1 ? "@x" : ""))
  out("    SMEM for m=" up(m, tm) " n=" up(n, tn) " k=" up(k, tk) "\n      op C")
}

function chain() {
  m = size(2, 90); n = size(2, 70); k = size(2, 70); l = draw(4) ? size(2, 70) : 260 + draw(9)
  if (!draw(4)) { l = 200 + draw(57); n = 90 + draw(60) } # together more than a lane's registers hold
  if (groups) { tm = 1 + draw(2); tl = 1 + draw(2); m = rows(tm, tl == 1); l = tl * 16 * (1 + draw(8)); k = eights(16); n = eights(12) }
  split("relu gelu", f, " "); fn = f[1 + draw(2)]
  out("  dims: {m: " m ", l: " l ", k: " k ", n: " n "}\n  ops:")
  out("  - \"C[m,l] += " turned("A", "m", "k", "") " * " turned("B", "k", "l", "") "\"")
  bare = draw(4) == 0; from = bare ? "C" : "R"
  if (!bare) out("  - \"R[m,l] = " fn "(C[m,l] + V[l])\"")
  out("  - \"E[m,n] += " from "[m,l] * " turned("D", "l", "n", "") "\"\nmapping: |")
  if (!groups) { tm = 1 + draw(3); tl = draw(2) ? 1 : 1 + draw(3) }
  r = up(m, tm); w = up(l, tl)
  out("  HBM for m=" tm " l=" tl "\n    Seq keep C@SMEM" (bare ? "" : " R@SMEM"))
  out("      SMEM for m=" r " l=" w " k=" k "\n        op C" (bare ? "" : "\n      SMEM for m=" r " l=" w "\n        op R"))
  out("      SMEM for m=" r " n=" n " l=" w "\n        op E")
}

# Two or three products of the same rows, of which a map makes one output.
function beside() {
  m = size(2, 90); l = size(2, 70); k = draw(3) ? size(70, 300) : size(2, 70); tm = 1 + draw(3); tl = 1 + draw(2); n = 2 + !draw(3)
  if (groups) { m = rows(tm, 1); l = tl * 16 * (1 + draw(n > 2 ? 4 : 8)); k = eights(40) }
  if (bytes) { k = 16 * (1 + draw(40)); if (l > 128 * tl) l = 128 * tl }
  a1 = turned("A", "m", "k", ""); if (bytes) a1 = "A[m,k]"
  added[1] = ""; added[2] = " + V[l]"; added[3] = " + R[m,l]"
  out("  dims: {m: " m ", l: " l ", k: " k "}" words("G", 1) "\n  ops:")
  for (i = 1; i <= n; i++) out("  - \"C" i "[m,l] += " a1 " * " (bytes ? "B" i "[l,k]" : turned("B" i, "k", "l", "")) "\"")
  out("  - \"G[m,l] = C1[m,l] * sigmoid(C1[m,l]) * C2[m,l]" (n > 2 ? " + C3[m,l]" : "") added[1 + draw(3)] "\"\nmapping: |")
  r = up(m, tm); w = up(l, tl)
  out("  HBM for m=" tm " l=" tl "\n    Seq keep C1@SMEM C2@SMEM" (n > 2 ? " C3@SMEM" : ""))
  for (i = 1; i <= n; i++) out("      SMEM for m=" r " l=" w " k=" k "\n        op C" i)
  out("      SMEM for m=" r " l=" w "\n        op G")
}

function ops() {
  out("  - \"S[h,m,l] += Q[h,m,a] * K[h,l,a]\"")
  out(causal ? "  - \"T[h,m,l] = select(l <= m, S[h,m,l] * 0.25, -inf)\"" : "  - \"T[h,m,l] = S[h,m,l] * 0.125 + B[m,l]\"")
  out("  - \"X[h,m] max= T[h,m,l]\"\n  - \"E[h,m,l] = exp(T[h,m,l] - X[h,m])\"\n  - \"Z[h,m] += E[h,m,l]\"")
  out("  - \"P[h,m,l] = E[h,m,l] / Z[h,m]\"\n  - \"O[h,m,n] += P[h,m,l] * " turned("V", "l", "n", "h,") "\"\nmapping: |")
}

function attention() {
  m = few(size(2, 70)); l = size(9, 70); a = size(2, 40); n = size(2, 40); tl = draw(3) ? 2 + draw(3) : 1
  w = up(l, tl); tl = up(l, w); tm = 1 + draw(2); r = up(m, tm); causal = draw(2)
  if (groups) { m = rows(tm); r = up(m, tm); w = 16 * (1 + draw(8)); l = tl * w; a = eights(12); n = eights(12) }
  parts = tl > 1 && !causal && draw(2) ? 2 + draw(groups ? 1 : 3) : 1
  if (parts > 1) l = w * tl * parts - (groups ? 0 : draw(2) * draw(w))
  out("  dims: {h: 2, m: " m ", l: " l ", a: " a ", n: " n "}\n  ops:")
  ops()
  out("  HBM for h=2 m=" tm (parts > 1 ? " l=" parts "\n    HBM for" : "") " l=" tl)
  in_ = parts > 1 ? "      " : "    "
  out(in_ "Seq keep S@SMEM T@SMEM X@SMEM E@SMEM Z@SMEM P@SMEM" (tl > 1 ? " stream X Z O" : ""))
  split("S T X E Z P", op, " ")
  for (i = 1; i <= 6; i++) out(in_ "  SMEM for m=" r " l=" w (i == 1 ? " a=" a : "") "\n" in_ "    op " op[i])
  out(in_ "  SMEM for m=" r " n=" n " l=" w "\n" in_ "    op O")
}

# Rows of a block along `dims` dims behind the batch, `images` of which a block has: so many for warpgroups, half of the time all of them in
# halves that are boxes; else few.
function sides(dims, images) {
  whole = groups && draw(2); left = int((whole ? 128 : groups ? 34 + draw(95) : 2 + draw(60)) / images)
  for (i = 1; i <= dims; i++) {
    side[i] = i == dims ? left : whole ? 2 ^ draw(4) : 1 + draw(dims == 2 ? 10 : 4)
    if (side[i] > left) side[i] = left
    if (side[i] < 1) side[i] = 1
    left = int(left / side[i])
  }
}

# Of one to three dims, each with a stride, a dilation, a window and a padding of its own; channels last or first, sometimes in groups.
function conv() {
  dims = draw(2) ? 2 : 1 + draw(3); last = groups || draw(2); g = draw(4) ? 1 : 2 + draw(2); split("p q o", point, " ")
  k = size(2, 40); c = draw(4) ? size(2, 40) : 65 + draw(70); tk = 1 + draw(2); images = 1 + draw(2); tn = 1 + draw(2)
  if (groups) { k = tk * eights(6); c = eights(draw(4) ? 6 : 17) } else if (!draw(4)) c = 1 + draw(7)
  tail = draw(3) == 0; parts = tail || draw(4) ? 1 : 2 + draw(2)
  if (groups && parts > 1) c = 64 * (1 + draw(2)); c *= parts
  sides(dims, images)
  at = pts = win = pads = shape = ext = trips = box = ""
  for (i = 1; i <= dims; i++) {
    x = point[i]; r = 1 + draw(dims > 2 ? 2 : 3); st = 1 + draw(2); dil = 1 + draw(2); pad = draw(int((r - 1) * dil / 2) + 1)
    t = 1 + draw(3 - (dims > 2)); e = t * side[i] - (draw(2) ? 0 : draw(side[i])); t = up(e, side[i]); side[i] = up(e, t)
    at = at ", " x "*" st " + " x "r*" dil " - " pad; pts = pts "," x; win = win "," x "r"; pads = pads ", " pad
    shape = shape ", " (e - 1) * st + (r - 1) * dil + 1 - 2 * pad + draw(st); ext = ext ", " x ": " e ", " x "r: " r
    trips = trips " " x "=" t; box = box " " x "=" side[i] " " x "r=" r
  }
  n = tn * images - (tn > 1 ? draw(images) : 0); gr = g > 1 ? "g," : ""; gs = g > 1 ? ", " g : ""; gp = g > 1 ? ", 0" : ""
  out("  dims: {n: " n ext (g > 1 ? ", g: " g : "") ", k: " k ", c: " c "}")
  out("  tensors: {I: {pad: [0" (last ? pads gp ", 0" : gp ", 0" pads) "], shape: [" n (last ? shape gs ", " c : gs ", " c shape) "]}}\n  ops:")
  o = last ? "[n" pts "," gr "k]" : "[n," gr "k" pts "]"
  out("  - \"O" o " += I[n" (last ? at ", " gr "c]" : ", " gr "c" at "]") " * W[" (last ? gr "k" win ",c" : gr "k,c" win) "]\"")
  if (tail) out("  - \"B" o " = O" o " * S[" gr "k] + V[" gr "k]\"\n  - \"A" o " = " (draw(2) ? "relu" : "gelu") "(B" o ")\"")
  out("mapping: |\n  HBM for n=" up(n, images) trips (g > 1 ? " g=" g : "") " k=" tk (parts > 1 ? " spatial c=" parts "@x" : "") (tail ? "\n    Seq keep O@SMEM B@SMEM" : ""))
  kk = up(k, tk); in_ = tail ? "  " : ""; row = box; gsub(/ [a-z]r=[0-9]*/, "", row)
  out(in_ "    SMEM for n=" images box " k=" kk " c=" c / parts "\n" in_ "      op O")
  if (tail) out("      SMEM for n=" images row " k=" kk "\n        op B\n      SMEM for n=" images row " k=" kk "\n        op A")
}

# Depthwise: each channel by itself, sometimes with several outputs a channel (m), the channels last or first; what leaves may be mapped.
function depth() {
  dims = draw(3) ? 2 : 1 + draw(3); last = draw(4); m = draw(6) ? 0 : 2 + draw(2); c = size(1, m && draw(2) ? 16 : 150); n = 1 + draw(3); split("p q o", point, " ")
  at = pts = win = pads = shape = ext = trips = box = row = ""; tail = draw(3) == 0; tc = 1 + draw(2)
  for (i = 1; i <= dims; i++) {
    x = point[i]; r = 1 + draw(dims > 2 ? 3 : 5); st = 1 + draw(2); dil = 1 + (draw(3) == 0); pad = draw(int((r - 1) * dil / 2) + 1)
    e = 1 + draw(dims > 2 ? 6 : dims > 1 ? 20 : 90); t = 1 + draw(2); b = up(e, t); t = up(e, b)
    at = at ", " x "*" st " + " x "r*" dil " - " pad; pts = pts "," x; win = win "," x "r"; pads = pads ", " pad
    shape = shape ", " (e - 1) * st + (r - 1) * dil + 1 - 2 * pad + draw(st); ext = ext ", " x ": " e ", " x "r: " r
    trips = trips " " x "=" t; box = box " " x "=" b " " x "r=" r; row = row " " x "=" b
  }
  ms = m ? ",m" : ""; mb = m ? " m=" m : ""; w = draw(2) ? "W[" substr(win, 2) ",c" ms "]" : "W[c" ms win "]"
  out("  dims: {n: " n ext ", c: " c (m ? ", m: " m : "") "}\n  tensors: {I: {pad: [0" (last ? pads ", 0" : ", 0" pads) "], shape: [" n (last ? shape ", " c : ", " c shape) "]}}\n  ops:")
  o = last ? "[n" pts ",c" ms "]" : "[n,c" ms pts "]"
  out("  - \"O" o " += I[n" (last ? at ", c]" : ", c" at "]") " * " w "\"")
  if (tail) out("  - \"B" o " = O" o " * S[c" ms "] + V[c" ms "]\"\n  - \"A" o " = " (draw(2) ? "relu" : "silu") "(B" o ")\"")
  out("mapping: |\n  HBM for n=" n trips " c=" tc (tail ? "\n    Seq keep O@SMEM B@SMEM" : ""))
  cc = " c=" up(c, tc); in_ = tail ? "  " : ""
  out(in_ "    SMEM for" box cc mb "\n" in_ "      op O")
  if (tail) out("      SMEM for" row cc mb "\n        op B\n      SMEM for" row cc mb "\n        op A")
}

# A transposed convolution with strides, in phases of few channels, of one to three dims, without a mapping: all phases together may be rows of a product.
function phases() {
  dims = 1 + draw(3); k = size(8, 72); c = 1 + draw(7); n = 1 + draw(2); split("i j h", point, " ")
  at = pts = win = two = pads = shape = wpads = wshape = ext = ""
  for (i = 1; i <= dims; i++) {
    x = point[i]; st = 1 + draw(dims > 2 ? 2 : 4); t = 1 + draw(dims > 1 ? 2 : 4); e = i == dims ? 8 + draw(70) : 1 + draw(5)
    pad = draw(t); cut = draw(st); edge = pad > t - 1 - pad ? pad : t - 1 - pad
    at = at ", " x " + " pad " - " x "t"; pts = pts "," x; win = win ", " st "*" x "t + " x "f"; phase = phase "," x "f"; two = two "," x "," x "f"
    pads = pads ", " edge; shape = shape ", " e; wpads = wpads ", " cut; wshape = wshape ", " st * t - cut
    ext = ext ", " x ": " e ", " x "f: " st ", " x "t: " t
  }
  out("  dims: {n: " n ", c: " c ", k: " k ext "}")
  out("  tensors: {I: {pad: [0, 0" pads "], shape: [" n ", " k shape "]}, W: {pad: [0, 0" wpads "], shape: [" k ", " c wshape "]}}\n  ops:")
  out("  - \"P[n" phase ",c" pts "] += I[n, k" at "] * W[k, c" win "]\"")
  if (draw(3)) out("  - \"O[n,c" two "] = P[n" phase ",c" pts "]\"")
}

# ---- networks: from two to five layers, each drawn by itself, of rows of a sequence or of an image ----

function does(text) { all_ops = all_ops "\n  - \"" text "\"" }
function dim(name, extent) { all_dims = all_dims ", " name ": " extent; return name }
function width() { return groups ? eights(8) : size(3, 40) }

function linear(i, x, d) {
  if (draw(3)) { does("A" i "[t," d "] += " x " * W" i "[" from "," d "]") } else does("A" i "[t," d "] += " x " * W" i "[" d "," from "]")
  split("relu gelu silu tanh", f, " ")
  if (!draw(5)) return "A" i
  fn = f[1 + draw(4)]; mean = fn == "tanh" ? " / " n_from : "" # else all are 1 but for rounding, and a norm magnifies that
  does("R" i "[t," d "] = " fn "(A" i "[t," d "]" mean " + b" i "[" d "])")
  return "R" i
}

function gated(i, x, d) {
  does("U" i "[t," d "] += " x " * Wu" i "[" from "," d "]"); does("V" i "[t," d "] += " x " * Wv" i "[" from "," d "]")
  does("G" i "[t," d "] = silu(U" i "[t," d "]) * V" i "[t," d "]")
  return "G" i
}

function norm(i, x) {
  does("M" i "[t] += " x); does("D" i "[t] += (" x " - M" i "[t] / " n_from ") * (" x " - M" i "[t] / " n_from ")")
  does("N" i "[t," from "] = (" x " - M" i "[t] / " n_from ") / sqrt(D" i "[t] / " n_from " + 0.01) * g" i "[" from "]")
  return "N" i
}

function heads(i, x, d) {
  h = dim("h" i, 1 + draw(3)); a = dim("a" i, groups ? eights(4) : size(2, 20)); c = dim("c" i, groups ? eights(4) : size(2, 20)); l = dim("l" i, n_t)
  y = x; sub("\\[t", "[" l, y)
  does("Q" i "[" h ",t," a "] += " x " * Wq" i "[" h "," from "," a "]"); does("K" i "[" h "," l "," a "] += " y " * Wk" i "[" h "," from "," a "]")
  does("V" i "[" h "," l "," c "] += " y " * Wv" i "[" h "," from "," c "]"); does("S" i "[" h ",t," l "] += Q" i "[" h ",t," a "] * K" i "[" h "," l "," a "]")
  does("T" i "[" h ",t," l "] = " (draw(2) ? "S" i "[" h ",t," l "] * 0.25 / " 16 * n_from * n_from : "select(" l " <= t, S" i "[" h ",t," l "] * 0.25 / " 16 * n_from * n_from ", -inf)"))
  does("X" i "[" h ",t] max= T" i "[" h ",t," l "]"); does("E" i "[" h ",t," l "] = exp(T" i "[" h ",t," l "] - X" i "[" h ",t])")
  does("Z" i "[" h ",t] += E" i "[" h ",t," l "]"); does("P" i "[" h ",t," l "] = E" i "[" h ",t," l "] / Z" i "[" h ",t]")
  does("O" i "[" h ",t," c "] += P" i "[" h ",t," l "] * V" i "[" h "," l "," c "]"); does("B" i "[t," d "] += O" i "[" h ",t," c "] * Wo" i "[" h "," c "," d "]")
  return "B" i
}

function sequence() {
  n_t = few(size(4, 70)); all_dims = "t: " n_t; layers = 2 + draw(3); at_layer = "x"
  n_from = width(); from = dim("d0", n_from)
  for (i = 1; i <= layers; i++) {
    x = at_layer "[t," from "]"; to = draw(2) || i == 1 ? width() : n_from
    what = draw(5)
    if (what == 2) { at_layer = norm(i, x); continue }
    d = dim("d" i, to); was = at_layer; was_wide = n_from; was_from = from
    at_layer = what == 0 ? gated(i, x, d) : what == 1 ? heads(i, x, d) : linear(i, x, d)
    from = d; n_from = to
    if (to == was_wide && draw(2)) { does("Y" i "[t," d "] = " at_layer "[t," d "] + " was "[t," d "]"); at_layer = "Y" i }
  }
}

function image() {
  last = draw(2); n_from = draw(4) ? width() : 3; from = dim("c0", n_from); hh = 3 + draw(8); ww = 3 + draw(8)
  all_dims = "n: " 1 + draw(2) all_dims; at_layer = "x"; layers = 2 + draw(2); tensors = ""
  for (i = 1; i <= layers; i++) {
    r = draw(2) ? 3 : 1; st = draw(3) ? 1 : 2; pad = int(r / 2); to = draw(2) ? eights(5) : width(); k = dim("c" i, to)
    if (r > 1) { dim("r" i, r); dim("s" i, r) }
    hh = int((hh + 2 * pad - r) / st) + 1; ww = int((ww + 2 * pad - r) / st) + 1
    u = dim("p" i, hh); v = dim("q" i, ww)
    py = st "*" u (r > 1 ? "+r" i "-" pad : ""); px = st "*" v (r > 1 ? "+s" i "-" pad : ""); win = r > 1 ? ",r" i ",s" i : ""
    spot = u "," v; o = last ? "[n," spot "," k "]" : "[n," k "," spot "]"
    does("A" i o " += " at_layer "[n," (last ? py "," px "," from : from "," py "," px) "] * W" i "[" k (last ? win "," from : "," from win) "]")
    if (r > 1) tensors = tensors (tensors == "" ? "" : ", ") at_layer ": {pad: [0, " (last ? pad ", " pad ", 0" : "0, " pad ", " pad) "]" "}"
    does("R" i o " = relu(A" i o " * g" i "[" k "] + b" i "[" k "])")
    at_layer = "R" i; from = k; n_from = to
  }
  if (tensors != "") tensors = "  tensors: {" tensors "}\n"
}

function net() {
  all_ops = all_dims = tensors = ""
  if (draw(3)) sequence(); else image()
  out("  dims: {" all_dims "}\n" tensors "  ops:" all_ops)
}

# 0 .. n - 1, squared and squared again, so that neighbouring seeds have nothing in common; below 2^26, so that squares are exact
function lot(what, n) {
  v = (seed * 7919 + what * 104729 + 12345) % 67108859
  for (j = 0; j < 8; j++) v = (v * v + 7001 + j) % 67108859
  return v % n
}

BEGIN {
  state = (seed * 7919 + 17) % 2147483648
  for (i = 0; i < 4; i++) draw(2)
  split("product chain attention conv", kinds, " ")
  if (kind == "") kind = kinds[1 + lot(1, 4)]
  print "# " kind "\nworkload:\n  name: case" seed
  if (kind == "depth" || (kind == "conv" && !groups && !lot(5, 4))) depth(); else if (kind == "product") product(); else if (kind == "chain" && lot(4, 3)) chain(); else if (kind == "chain" || kind == "gated") beside(); else if (kind == "conv" && !lot(8, 6)) phases(); else if (kind == "conv") conv(); else if (kind == "net") net(); else attention()
}
