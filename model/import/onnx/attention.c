/* Attention, rotary embeddings, and layers that carry a state along a sequence: compositions, as
 * ONNX defines them. */
#include <math.h>
#include <string.h>

#include "model/import/onnx/onnx.h"

/* ---- attention ------------------------------------------------------------------------------ */

typedef struct {
  int64_t batch, heads, groups, rows, keys,
      before;          /* groups: heads of keys; before: keys of the past */
  int64_t left, right; /* how far a row looks; -1: all the way */
  bool flat, causal, masked, truth,
      lengths; /* flat: heads stand beside each other in the last axis */
  bool empty;  /* a row may have no key at all */
} attention;

/* Heads of rank 4 of an input: [batch, heads, rows, elements]. */
static bool split_heads(ox_net *g, size_t k, const char *name, int64_t heads, bool flat) {
  const ox_value *v = ox_input(g, k);
  if (!v) return false;
  if (v->rank != (flat ? 3 : 4))
    return ox_fail(g, TF_E_RANK, "input %zu has %d axes, not %d", k, v->rank, flat ? 3 : 4);
  if (!flat) return ox_run(g, "%s = Identity($%zu)", name, k);
  const int64_t wide = ox_extent(v, 2);
  if (heads < 1 || wide % heads)
    return ox_fail(g, TF_E_SHAPE, "%lld elements in %lld heads", (long long)wide, (long long)heads);
  const int64_t shape[] = {ox_extent(v, 0), ox_extent(v, 1), heads, wide / heads};
  return ox_run(g, "%s.4 = Reshape($%zu, %s)", name, k, ox_list(g, 4, shape)) &&
         ox_run(g, "%s = Transpose(%s.4) perm=0,2,1,3", name, name);
}

/* Keys or values behind those of the past, as the result `k` and under the name. */
static bool behind_past(ox_net *g, size_t past, const char *name, size_t k) {
  const bool wanted = ox_is_wanted(g, k);
  if (!ox_has(g, past))
    return ox_run(g, "%s = Identity(%s.new)", name, name) &&
           (!wanted || ox_run(g, "@%zu = Identity(%s)", k, name));
  if (!ox_run(g, "%s = Concat($%zu, %s.new) axis=2", name, past, name)) return false;
  return !wanted || ox_run(g, "@%zu = Identity(%s)", k, name);
}

/* Heads that several rows of heads share: each again for all of these. */
static bool share_heads(ox_net *g, const attention *a, const char *from, const char *name) {
  const ox_value *v = ox_made(g, from);
  if (!v || a->groups < 1 || v->rank != 4 || ox_extent(v, 1) != a->groups ||
      ox_extent(v, 2) != a->keys)
    return v ? ox_fail(g, TF_E_SHAPE, "keys and values of other heads or lengths") : false;
  const int64_t wide = ox_extent(v, 3), shared = a->heads / a->groups;
  const int64_t each[] = {a->batch, a->groups, shared, a->keys, wide},
                all[] = {a->batch, a->heads, a->keys, wide};
  if (shared == 1) return ox_run(g, "%s = Identity(%s)", name, from);
  return ox_run(g, "%s.1 = Unsqueeze(%s, [2])", name, from) &&
         ox_run(g, "%s.2 = Expand(%s.1, %s)", name, name, ox_list(g, 5, each)) &&
         ox_run(g, "%s = Reshape(%s.2, %s)", name, name, ox_list(g, 4, all));
}

static bool read_attention(ox_net *g, attention *a) {
  const ox_value *q = ox_input(g, 0), *k = ox_input(g, 1);
  if (!q || !k) return false;
  const ox_value *v = ox_input(g, 2);
  if (!v || !ox_same_type(g, 0, 1)) return false;
  if (v->type && ox_type_kind_of(v->type) != OX_FLOAT_KIND)
    return ox_fail(g, TF_E_TYPE, "values of type %s", ox_type_name(v->type));
  a->flat = q->rank == 3;
  if (q->rank < 3 || q->rank > 4 || k->rank != q->rank)
    return ox_fail(g, TF_E_RANK, "queries of %d axes, keys of %d", q->rank, k->rank);
  a->batch = ox_extent(q, 0);
  a->heads = ox_int(g, "q_num_heads", a->flat ? 0 : ox_extent(q, 1));
  a->groups = ox_int(g, "kv_num_heads", a->flat ? 0 : ox_extent(k, 1));
  a->rows = ox_extent(q, a->flat ? 1 : 2);
  a->keys = ox_extent(k, a->flat ? 1 : 2);
  if (a->heads < 1 || a->groups < 1 || a->heads % a->groups || ox_extent(k, 0) != a->batch ||
      (!a->flat && (a->heads != ox_extent(q, 1) || a->groups != ox_extent(k, 1))))
    return ox_fail(g, TF_E_SHAPE, "%lld heads that share %lld", (long long)a->heads,
                   (long long)a->groups);
  a->causal = ox_int(g, "is_causal", 0) != 0;
  a->left = ox_int(g, "left_window_size", -1), a->right = ox_int(g, "right_window_size", -1);
  a->masked = ox_has(g, 3), a->lengths = ox_has(g, 6);
  if (ox_has(g, 4) != ox_has(g, 5) || (a->lengths && ox_has(g, 4)))
    return ox_fail(g, TF_E_SHAPE, "keys of the past without values, or with lengths");
  const ox_value *past = ox_has(g, 4) ? ox_input(g, 4) : NULL;
  if (past && past->rank != 4)
    return ox_fail(g, TF_E_RANK, "keys of the past of %d axes", past->rank);
  a->before = past ? ox_extent(past, 2) : 0;
  a->keys += a->before;
  a->empty = a->masked || a->lengths || a->left >= 0 || a->right >= 0;
  return true;
}

/* The mask for all keys: those that it does not name are left out. */
static bool widen_mask(ox_net *g, attention *a) {
  const ox_value *m = ox_input(g, 3);
  if (!m || m->rank < 1 || m->rank > 4)
    return m ? ox_fail(g, TF_E_RANK, "a mask of %d axes", m->rank) : false;
  a->truth = m->type == OX_T_BOOL;
  const int64_t more = a->keys - ox_extent(m, m->rank - 1);
  int64_t pads[2 * OX_RANK] = {0};
  pads[2 * m->rank - 1] = more;
  if (more < 0)
    return ox_fail(g, TF_E_SHAPE, "a mask of %lld keys more than there are", (long long)-more);
  if (more == 0 || ox_extent(m, m->rank - 1) == 1) return ox_run(g, "mask = Identity($3)");
  return ox_run(g, "mask = Pad($3, %s, %s) mode=constant", ox_list(g, 2 * m->rank, pads),
                a->truth ? "0" : "-inf");
}

/* Leaves out of `from` what a condition of that name does not allow. */
static bool leave_out(ox_net *g, const char *to, const char *allowed, const char *from) {
  return ox_run(g, "%s = Where(%s, %s, -inf)", to, allowed, from);
}

/* How far a key stands behind the last one that its row sees, which is 0 or less: key - row -
 * offset. */
static bool distance(ox_net *g, const attention *a) {
  if (!ox_run(g, "row = Reshape({%lld,%lld}, [%lld,1])", (long long)a->rows,
              (long long)(a->lengths ? -a->rows : a->before), (long long)a->rows))
    return false;
  if (!a->lengths) return ox_run(g, "place = Identity(row)");
  return ox_run(g, "length = Reshape($6, [%lld,1,1,1])", (long long)a->batch) &&
         ox_run(g, "place = Add(row, length)");
}

/* Which keys a row sees: those up to its own place, those within a window, those of its sequence.
 */
static bool mask_places(ox_net *g, const attention *a) {
  const char *from = "s2", *at = a->lengths ? "place" : "row";
  if ((a->causal || a->left >= 0 || a->right >= 0) &&
      (!distance(g, a) || !ox_run(g, "at = Identity({%lld})", (long long)a->keys)))
    return false;
  if (a->causal) {
    if (!ox_run(g, "past = LessOrEqual(at, %s)", at) || !leave_out(g, "s3", "past", from))
      return false;
    from = "s3";
  }
  if (a->left >= 0) {
    if (!ox_run(g, "far = Sub(%s, at)", at) ||
        !ox_run(g, "near = LessOrEqual(far, %lld)", (long long)a->left) ||
        !leave_out(g, "s4", "near", from))
      return false;
    from = "s4";
  }
  if (a->right >= 0) {
    if (!ox_run(g, "ahead = Sub(at, %s)", at) ||
        !ox_run(g, "close = LessOrEqual(ahead, %lld)", (long long)a->right) ||
        !leave_out(g, "s5", "close", from))
      return false;
    from = "s5";
  }
  if (!a->lengths) return ox_run(g, "scores = Identity(%s)", from);
  return ox_run(g, "all = Reshape($6, [%lld,1,1,1])", (long long)a->batch) &&
         ox_run(g, "own = Less({%lld}, all)", (long long)a->keys) &&
         leave_out(g, "scores", "own", from);
}

/* Softmax; of a row that sees no key zeros. */
static bool normalize(ox_net *g, const attention *a) {
  if (!a->empty && !(a->causal && a->rows > a->keys))
    return ox_run(g, "p = Softmax(scores) axis=-1");
  return ox_run(g, "most = ReduceMax(scores, [-1])") && ox_run(g, "none = Equal(most, -inf)") &&
         ox_run(g, "top = Where(none, 0.0, most)") && ox_run(g, "less = Sub(scores, top)") &&
         ox_run(g, "e = Exp(less)") && ox_run(g, "sum = ReduceSum(e, [-1])") &&
         ox_run(g, "z = Where(none, 1.0, sum)") && ox_run(g, "p = Div(e, z)");
}

static bool score(ox_net *g, attention *a) {
  const int64_t mode = ox_int(g, "qk_matmul_output_mode", 0);
  const double cap = ox_float(g, "softcap", 0);
  const ox_value *q = ox_made(g, "q");
  const double scale = ox_float(g, "scale", q ? 1 / sqrt((double)ox_extent(q, 3)) : 1);
  const bool wanted = ox_is_wanted(g, 3);
  if (mode < 0 || mode > 3)
    return ox_fail(g, TF_E_RANGE, "qk_matmul_output_mode %lld", (long long)mode);
  if (wanted && cap != 0 && mode == 0)
    return ox_fail(g, TF_E_NAME, "products before softcap as a result are not known");
  if (!q || !ox_run(g, "kt = Transpose(k) perm=0,1,3,2") || !ox_run(g, "qk = MatMul(q, kt)") ||
      !ox_run(g, "s0 = Mul(qk, %.17e)", scale))
    return false;
  if (cap > 0 ? !ox_run(g, "c1 = Div(s0, %.17e)", cap) || !ox_run(g, "c2 = Tanh(c1)") ||
                    !ox_run(g, "s1 = Mul(c2, %.17e)", cap)
              : !ox_run(g, "s1 = Identity(s0)"))
    return false;
  if (!a->masked ? !ox_run(g, "s2 = Identity(s1)")
                 : !widen_mask(g, a) || !(a->truth ? leave_out(g, "s2", "mask", "s1")
                                                   : ox_run(g, "s2 = Add(s1, mask)")))
    return false;
  if (!mask_places(g, a) || !normalize(g, a)) return false;
  return !wanted || ox_run(g, "@3 = Identity(%s)", mode == 3 ? "p" : mode == 2 ? "scores" : "s1");
}

static bool attend(ox_net *g) {
  attention a = {0};
  if (!read_attention(g, &a) || !split_heads(g, 0, "q", a.heads, a.flat) ||
      !split_heads(g, 1, "key.new", a.groups, a.flat) ||
      !split_heads(g, 2, "value.new", a.groups, a.flat) || !behind_past(g, 4, "key", 1) ||
      !behind_past(g, 5, "value", 2) || !share_heads(g, &a, "key", "k") ||
      !share_heads(g, &a, "value", "v") || !score(g, &a))
    return false;
  if (!a.flat) return ox_run(g, "@0 = MatMul(p, v)");
  const ox_value *v = ox_made(g, "v");
  const int64_t shape[] = {a.batch, a.rows, v ? a.heads * ox_extent(v, 3) : 1};
  return v && ox_run(g, "out = MatMul(p, v)") &&
         ox_run(g, "turned = Transpose(out) perm=0,2,1,3") &&
         ox_run(g, "@0 = Reshape(turned, %s)", ox_list(g, 3, shape));
}

/* Scores and probabilities as subgraphs change them. */
static bool flex(ox_net *g) {
  attention a = {0};
  if (!read_attention(g, &a) || !split_heads(g, 0, "q", a.heads, false) ||
      !split_heads(g, 1, "key", a.groups, false) || !split_heads(g, 2, "value", a.groups, false) ||
      !share_heads(g, &a, "key", "k") || !share_heads(g, &a, "value", "v"))
    return false;
  const ox_value *q = ox_made(g, "q");
  if (!q || !ox_run(g, "kt = Transpose(k) perm=0,1,3,2") || !ox_run(g, "qk = MatMul(q, kt)") ||
      !ox_run(g, "s0 = Mul(qk, %.17e)", ox_float(g, "scale", 1 / sqrt((double)ox_extent(q, 3)))))
    return false;
  if (ox_attribute(g, "score_mod") ? !ox_apply(g, "score_mod", "s1", "s0")
                                   : !ox_run(g, "s1 = Identity(s0)"))
    return false;
  if (!ox_run(g, "p0 = Softmax(s1) axis=-1")) return false;
  if (ox_attribute(g, "prob_mod") ? !ox_apply(g, "prob_mod", "p1", "p0")
                                  : !ox_run(g, "p1 = Identity(p0)"))
    return false;
  return ox_run(g, "@0 = MatMul(p1, v)");
}

/* ---- rotary embedding ----------------------------------------------------------------------- */

/* Cosines or sines of each place: [batch, places, 1, half]. */
static bool angles(ox_net *g, size_t k, const char *name, int64_t half) {
  const bool chosen = ox_has(g, 3);
  if (chosen ? !ox_run(g, "%s.at = Gather($%zu, $3) axis=0", name, k)
             : !ox_run(g, "%s.at = Identity($%zu)", name, k))
    return false;
  char from[24];
  snprintf(from, sizeof from, "%s.at", name);
  const ox_value *v = ox_made(g, from);
  if (!v || v->rank != 3 || ox_extent(v, 2) != half)
    return v ? ox_fail(g, TF_E_SHAPE, "input %zu is not of %lld angles of each place", k,
                       (long long)half)
             : false;
  return ox_run(g, "%s = Unsqueeze(%s.at, [2])", name, name);
}

static bool rotate(ox_net *g, int64_t rotated, int64_t wide) {
  const bool mixed = ox_int(g, "interleaved", 0) != 0;
  const int64_t half = rotated / 2, from = mixed ? 1 : half, step = mixed ? 2 : 1;
  if (!ox_run(g, "a = Slice(x, [0], [%lld], [3], [%lld])", (long long)(mixed ? rotated : half),
              (long long)step) ||
      !ox_run(g, "b = Slice(x, [%lld], [%lld], [3], [%lld])", (long long)from, (long long)rotated,
              (long long)step) ||
      !angles(g, 1, "cos", half) || !angles(g, 2, "sin", half) || !ox_run(g, "ca = Mul(a, cos)") ||
      !ox_run(g, "sb = Mul(b, sin)") || !ox_run(g, "sa = Mul(a, sin)") ||
      !ox_run(g, "cb = Mul(b, cos)") || !ox_run(g, "real = Sub(ca, sb)") ||
      !ox_run(g, "imag = Add(sa, cb)"))
    return false;
  if (mixed) {
    const ox_value *v = ox_made(g, "x");
    const int64_t shape[] = {ox_extent(v, 0), ox_extent(v, 1), ox_extent(v, 2), rotated};
    if (!ox_run(g, "re = Unsqueeze(real, [4])") || !ox_run(g, "im = Unsqueeze(imag, [4])") ||
        !ox_run(g, "pairs = Concat(re, im) axis=4") ||
        !ox_run(g, "both = Reshape(pairs, %s)", ox_list(g, 4, shape)))
      return false;
  } else if (!ox_run(g, "both = Concat(real, imag) axis=3")) {
    return false;
  }
  if (rotated == wide) return ox_run(g, "all = Identity(both)");
  return ox_run(g, "rest = Slice(x, [%lld], [%lld], [3])", (long long)rotated, (long long)wide) &&
         ox_run(g, "all = Concat(both, rest) axis=3");
}

/* Pairs of elements rotated by an angle of their place. */
static bool rotary(ox_net *g) {
  const ox_value *v = ox_input(g, 0);
  if (!v) return false;
  const int rank = v->rank;
  const int64_t heads = ox_int(g, "num_heads", 0);
  if (rank < 3 || rank > 4 || (rank == 3 && (heads < 1 || ox_extent(v, 2) % heads)))
    return ox_fail(g, TF_E_SHAPE, "%d axes in %lld heads", rank, (long long)heads);
  const int64_t shape[] = {ox_extent(v, 0), ox_extent(v, 1), rank == 3 ? heads : 1,
                           rank == 3 ? ox_extent(v, 2) / heads : 1};
  if (rank == 4 ? !ox_run(g, "x = Transpose($0) perm=0,2,1,3")
                : !ox_run(g, "x = Reshape($0, %s)", ox_list(g, 4, shape)))
    return false;
  const int64_t wide = ox_extent(ox_made(g, "x"), 3), some = ox_int(g, "rotary_embedding_dim", 0);
  const int64_t rotated = some ? some : wide;
  if (rotated < 2 || rotated > wide || rotated % 2)
    return ox_fail(g, TF_E_SHAPE, "%lld of %lld elements in pairs", (long long)rotated,
                   (long long)wide);
  if (!rotate(g, rotated, wide)) return false;
  if (rank == 4) return ox_run(g, "@0 = Transpose(all) perm=0,2,1,3");
  const int64_t flat[] = {shape[0], shape[1], shape[2] * shape[3]};
  return ox_run(g, "@0 = Reshape(all, %s)", ox_list(g, 3, flat));
}

/* ---- states along a sequence ---------------------------------------------------------------- */

/* A convolution of each channel over itself and what came before. */
static bool causal_conv(ox_net *g) {
  const ox_value *x = ox_input(g, 0), *w = ox_input(g, 1);
  if (!x || !w) return false;
  if (x->rank != 3 || w->rank != 3 || ox_extent(w, 1) != 1 || ox_extent(w, 0) != ox_extent(x, 1))
    return ox_fail(g, TF_E_SHAPE, "three axes are needed, and a window for each channel");
  const int64_t taps = ox_extent(w, 2), channels = ox_extent(x, 1), length = ox_extent(x, 2);
  const char *how = ox_text(g, "activation", "none");
  const bool silu = !strcmp(how, "silu") || !strcmp(how, "swish");
  if (!silu && strcmp(how, "none") != 0)
    return ox_fail(g, TF_E_NAME, "activation '%.40s'; known: none, silu, swish", how);
  if (taps > 1 && ox_has(g, 3)
          ? !ox_run(g, "all = Concat($3, $0) axis=2")
          : !ox_run(g, "all = Pad($0, [0,0,%lld,0,0,0]) mode=constant", (long long)(taps - 1)))
    return false;
  const ox_value *all = ox_made(g, "all");
  if (!all || ox_extent(all, 2) != length + taps - 1)
    return all ? ox_fail(g, TF_E_SHAPE, "a state of another length than %lld",
                         (long long)(taps - 1))
               : false;
  if (!ox_run(g, "%s = Conv(all, $1, $2) group=%lld", silu ? "conv" : "@0", (long long)channels))
    return false;
  if (silu && !ox_run(g, "@0 = Swish(conv)")) return false;
  if (!ox_is_wanted(g, 1)) return true;
  if (taps == 1) return ox_fail(g, TF_E_RANGE, "a state of no element: empty tensors are refused");
  return ox_run(g, "@1 = Slice(all, [%lld], [%lld], [2])", (long long)length,
                (long long)(length + taps - 1));
}

typedef struct {
  int64_t batch, length, heads, groups, wide, deep; /* wide: elements of a key; deep: of a value */
  bool gated, delta;
} recurrence;

static bool read_recurrence(ox_net *g, recurrence *r) {
  const ox_value *q = ox_input(g, 0), *v = ox_input(g, 2);
  const char *rule = ox_text(g, "update_rule", "gated_delta");
  r->heads = ox_int(g, "q_num_heads", 0), r->groups = ox_int(g, "kv_num_heads", 0);
  r->gated = !strncmp(rule, "gated", 5), r->delta = strstr(rule, "delta") != NULL;
  if (!r->gated && !r->delta && strcmp(rule, "linear") != 0)
    return ox_fail(g, TF_E_NAME, "update_rule '%.40s'", rule);
  if (!q || !v) return false;
  if (r->gated != ox_has(g, 4) || r->delta != ox_has(g, 5))
    return ox_fail(g, TF_E_SHAPE,
                   "decay or beta where the rule takes none, or the other way round");
  if (q->rank != 3 || v->rank != 3 || r->heads < 1 || r->groups < 1 || r->heads % r->groups ||
      ox_extent(q, 2) % r->heads || ox_extent(v, 2) % r->groups)
    return ox_fail(g, TF_E_SHAPE, "%lld heads that share %lld", (long long)r->heads,
                   (long long)r->groups);
  r->batch = ox_extent(q, 0), r->length = ox_extent(q, 1);
  r->wide = ox_extent(q, 2) / r->heads, r->deep = ox_extent(v, 2) / r->groups;
  return true;
}

/* A factor of each step: of each head, of one for all, or of each element of a key; [batch, heads,
 * steps, elements]. */
static bool factor_of_steps(ox_net *g, const recurrence *r, size_t k, const char *name) {
  const ox_value *v = ox_input(g, k);
  if (!v) return false;
  const int64_t n = v->rank == 3 ? ox_extent(v, 2) : 0;
  const int64_t shape[] = {r->batch, r->length, n == 1 ? 1 : r->groups,
                           n == r->groups || n == 1 ? 1 : r->wide};
  if (n != shape[2] * shape[3] || (n == 1 && k == 4 && r->groups != 1))
    return ox_fail(g, TF_E_SHAPE, "input %zu has %lld elements of a step", k, (long long)n);
  return ox_run(g, "%s.4 = Reshape($%zu, %s)", name, k, ox_list(g, 4, shape)) &&
         ox_run(g, "%s = Transpose(%s.4) perm=0,2,1,3", name, name);
}

/* One step: the state decays, takes in a key and a value, and is read by the query. */
static bool step(ox_net *g, const recurrence *r, int64_t i, double scale) {
  const int64_t shared = r->heads / r->groups;
  const int64_t each[] = {r->batch, r->groups, shared, r->wide, r->deep},
                all[] = {r->batch, r->heads, r->wide, r->deep};
  const int n = (int)i, m = n + 1;
  bool ok = ox_run(g, "q%d = Slice(q, [%d], [%d], [2])", n, n, m) &&
            ox_run(g, "k%d = Slice(k, [%d], [%d], [2])", n, n, m) &&
            ox_run(g, "v%d = Slice(v, [%d], [%d], [2])", n, n, m) &&
            ox_run(g, "kt%d = Transpose(k%d) perm=0,1,3,2", n, n);
  if (ok && r->gated)
    ok = ox_run(g, "g%d = Slice(decay, [%d], [%d], [2])", n, n, m) &&
         ox_run(g, "gt%d = Transpose(g%d) perm=0,1,3,2", n, n) &&
         ox_run(g, "eg%d = Exp(gt%d)", n, n) && ox_run(g, "old%d = Mul(state%d, eg%d)", n, n, n);
  else if (ok)
    ok = ox_run(g, "old%d = Identity(state%d)", n, n);
  if (ok && r->delta)
    ok = ox_run(g, "b%d = Slice(beta, [%d], [%d], [2])", n, n, m) &&
         ox_run(g, "have%d = MatMul(k%d, old%d)", n, n, n) &&
         ox_run(g, "miss%d = Sub(v%d, have%d)", n, n, n) &&
         ox_run(g, "new%d = Mul(miss%d, b%d)", n, n, n);
  else if (ok)
    ok = ox_run(g, "new%d = Identity(v%d)", n, n);
  ok = ok && ox_run(g, "more%d = Mul(kt%d, new%d)", n, n, n) &&
       ox_run(g, "state%d = Add(old%d, more%d)", m, n, n);
  if (ok && shared > 1)
    ok = ox_run(g, "s%d = Unsqueeze(state%d, [2])", n, m) &&
         ox_run(g, "se%d = Expand(s%d, %s)", n, n, ox_list(g, 5, each)) &&
         ox_run(g, "read%d = Reshape(se%d, %s)", n, n, ox_list(g, 4, all));
  else if (ok)
    ok = ox_run(g, "read%d = Identity(state%d)", n, m);
  return ok && ox_run(g, "o%d = MatMul(q%d, read%d)", n, n, n) &&
         ox_run(g, "out%d = Mul(o%d, %.17e)", n, n, scale);
}

/* What all steps read, concatenated: pairwise, as a line has few operands. */
static bool join_steps(ox_net *g, int64_t n) {
  if (!ox_run(g, "sofar0 = Identity(out0)")) return false;
  for (int i = 1; i < (int)n; i++)
    if (!ox_run(g, "sofar%d = Concat(sofar%d, out%d) axis=2", i, i - 1, i)) return false;
  return ox_run(g, "outs = Identity(sofar%d)", (int)n - 1);
}

static bool linear_attention(ox_net *g) {
  enum { MOST = 1024 };
  recurrence r = {0};
  if (!read_recurrence(g, &r) || !split_heads(g, 0, "q", r.heads, true) ||
      !split_heads(g, 1, "k", r.groups, true) || !split_heads(g, 2, "v", r.groups, true))
    return false;
  if (r.length > MOST)
    return ox_fail(g, TF_E_LIMIT, "%lld steps; up to %d are known", (long long)r.length, MOST);
  if ((r.gated && !factor_of_steps(g, &r, 4, "decay")) ||
      (r.delta && !factor_of_steps(g, &r, 5, "beta")))
    return false;
  const int64_t state[] = {r.batch, r.groups, r.wide, r.deep},
                shape[] = {r.batch, r.length, r.heads * r.deep};
  const double given = ox_float(g, "scale", 0),
               scale = given != 0 ? given : 1 / sqrt((double)r.wide);
  if (ox_has(g, 3) ? !ox_run(g, "state0 = Identity($3)")
                   : !ox_run(g, "state0 = ConstantOfShape(%s)", ox_list(g, 4, state)))
    return false;
  const ox_value *first = ox_made(g, "state0");
  for (int k = 0; k < 4; k++)
    if (!first || first->rank != 4 || ox_extent(first, k) != state[k])
      return first ? ox_fail(g, TF_E_SHAPE, "a state of another shape") : false;
  for (int64_t i = 0; i < r.length; i++)
    if (!step(g, &r, i, scale)) return false;
  return join_steps(g, r.length) && ox_run(g, "turned = Transpose(outs) perm=0,2,1,3") &&
         ox_run(g, "@0 = Reshape(turned, %s)", ox_list(g, 3, shape)) &&
         (!ox_is_wanted(g, 1) || ox_run(g, "@1 = Identity(state%d)", (int)r.length));
}

static bool swiglu(ox_net *g) {
  const ox_value *a = ox_input(g, 0), *b = ox_input(g, 1);
  if (!a || !b) return false;
  bool same = a->rank == b->rank;
  for (int k = 0; k < a->rank && same; k++)
    same = ox_extent(a, k) == ox_extent(b, k);
  if (!same) return ox_fail(g, TF_E_SHAPE, "operands of other shapes");
  return ox_run(g, "swish = Swish($0) alpha=%.17e", ox_float(g, "alpha", 1)) &&
         ox_run(g, "@0 = Mul(swish, $1)");
}

const ox_kind ox_attentions[] = {
    {"Attention", attend, NULL},
    {"FlexAttention", flex, NULL},
    {"RotaryEmbedding", rotary, NULL},
    {"CausalConvWithState", causal_conv, NULL},
    {"LinearAttention", linear_attention, NULL},
    {"SwiGLU", swiglu, NULL},
    {NULL, NULL, NULL},
};
