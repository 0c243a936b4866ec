/* Which loops can be matched: those with the same operands, such that no element of a tile stands
 * for two of a tensor. */
#include "model/instr/match.h"

#include <string.h>

#include "base/checked.h"
#include "base/grow.h"
#include "model/input/dims.h"
#include "model/input/kinds.h"

static const tf_op *body_of(const tf_instr *in) { return &in->body->ops[0]; }

/* ---- element expressions --------------------------------------------------------------------- */
static bool same_node(const tf_expr *a, const tf_expr *b) {
  bool same = a->what == b->what && a->n_args == b->n_args;
  if (same && a->what == TF_X_CALL) same = a->call == b->call;
  if (same && a->what == TF_X_READ) same = a->ref == b->ref;
  if (same && a->what == TF_X_DIM) same = false; /* a call knows no coordinates */
  if (same && a->what == TF_X_NUMBER) same = a->number == b->number;
  for (int i = 0; same && i < a->n_args; i++)
    same = a->arg[i] == b->arg[i];
  return same;
}

static bool same_element(const tf_op *a, const tf_op *b) {
  bool same = a->reduce == b->reduce && a->n_expr == b->n_expr && a->n_reads == b->n_reads;
  for (int i = 0; same && i < a->n_expr; i++)
    same = same_node(&a->expr[i], &b->expr[i]);
  return same;
}

/* Whether points beyond a reduced loop's end, whose sources are padded with zeros, add nothing. */
static bool zeros_are_void(const tf_op *op) {
  double value[TF_INSTR_LOOPS * TF_INSTR_OPERANDS];
  static const double neutral[] = {[TF_ASSIGN] = 0, [TF_REDUCE_ADD] = 0, [TF_REDUCE_MUL] = 1};
  if (op->n_expr > TF_INSTR_LOOPS * TF_INSTR_OPERANDS || op->reduce > TF_REDUCE_MUL) return false;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    double arg[3] = {0};
    for (int k = 0; k < e->n_args; k++)
      arg[k] = value[e->arg[k]];
    value[i] = e->what == TF_X_CALL     ? tf_kind_apply(e->call, arg)
               : e->what == TF_X_NUMBER ? e->number
                                        : 0;
  }
  return value[op->n_expr - 1] == neutral[op->reduce];
}

static bool is_product(const tf_op *op) {
  return op->n_reads == 2 && op->n_expr == 3 && op->expr[2].what == TF_X_CALL &&
         op->expr[2].call == TF_K_MUL;
}

/* ---- operands -------------------------------------------------------------------------------- */
const tf_index *tf_instr_index(const tf_workload *wl, const tf_op *op, int o, int x, tf_index *own,
                               tf_term *term) {
  bool made = o == op->n_reads;
  if (x >= (made ? op->n_out_dims : wl->tensors[op->reads[o].tensor].rank)) return NULL;
  if (!made) return &op->reads[o].index[x];
  *term = (tf_term){op->dims[x], 1};
  *own = (tf_index){1, term, 0};
  return own;
}

int64_t tf_instr_coef(const tf_op *op, const tf_index *x, int loop) {
  return tf_index_coef(x, op->dims[loop]);
}

/* Bit 1 << operand for each that the loop occurs in. */
static uint64_t column(const tf_workload *wl, const tf_op *op, int loop) {
  uint64_t in = 0;
  tf_index own;
  tf_term term;
  const tf_index *ix;
  for (int o = 0; o <= op->n_reads; o++)
    for (int x = 0; (ix = tf_instr_index(wl, op, o, x, &own, &term)); x++)
      if (tf_instr_coef(op, ix, loop)) in |= 1ull << o;
  return in;
}

bool tf_instr_match_of(const tf_workload *wl, int op, const tf_instr *in, tf_instr_match *m) {
  *m = (tf_instr_match){.wl = wl, .op = &wl->ops[op], .in = in};
  if (!same_element(m->op, body_of(in))) return false;
  for (int l = 0; l < in->n_loops; l++) {
    uint64_t own = column(in->body, body_of(in), l);
    for (int d = 0; d < m->op->n_dims; d++)
      if (column(wl, m->op, d) == own) m->fits[l] |= 1ull << d;
  }
  return true;
}

/* ---- composite indices ---------------------------------------------------------------------- */
static int lowest(uint64_t set) { return __builtin_ctzll(set); }

/* The only loop of the op that moves within a tile of loop l; -1 if others may move, too.  The last
 * of the set is fastest, and moves alone if its extent is a multiple of the tile's. */
static int moving(const tf_instr_match *m, int l, uint64_t set) {
  if (!set) return -1;
  int last = 63 - __builtin_clzll(set);
  bool alone = set == 1ull << last || m->wl->dims[m->op->dims[last]].extent % m->in->size[l] == 0;
  return alone ? last : -1;
}

/* Checks an index that is a sum of loops a and b, so that several settings of these reach one
 * element: the op's operand must have one element there, too, hence each of its indices must move
 * with both loops as the instruction's does. */
static bool in_step(const tf_instr_match *m, int o, int a, int b, const tf_index *sum,
                    const uint64_t set[]) {
  tf_index own;
  tf_term term;
  const tf_index *ix;
  const int moves_a = moving(m, a, set[a]), moves_b = moving(m, b, set[b]);
  if (moves_a < 0 || moves_b < 0) return false;
  for (int x = 0; (ix = tf_instr_index(m->wl, m->op, o, x, &own, &term)); x++) {
    int64_t left, right, of_a = tf_instr_coef(m->op, ix, moves_a),
                         of_b = tf_instr_coef(m->op, ix, moves_b);
    bool fit = tf_mul(of_a, tf_instr_coef(body_of(m->in), sum, b), &left);
    fit = fit && tf_mul(of_b, tf_instr_coef(body_of(m->in), sum, a), &right);
    if (!fit || left != right) return false;
  }
  return true;
}

static bool sums_in_step(const tf_instr_match *m, const uint64_t set[], bool *any) {
  const tf_op *body = body_of(m->in);
  tf_index own;
  tf_term term;
  const tf_index *ix;
  *any = false;
  for (int o = 0; o <= body->n_reads; o++)
    for (int x = 0; (ix = tf_instr_index(m->in->body, body, o, x, &own, &term)); x++)
      for (int a = 0, first = -1; a < m->in->n_loops; a++) {
        if (!tf_instr_coef(body, ix, a)) continue;
        if (first < 0) {
          first = a;
          continue;
        }
        *any = true;
        if (!in_step(m, o, first, a, ix, set)) return false;
      }
  return true;
}

/* ---- padding --------------------------------------------------------------------------------- */
/* Whether the extent of the fused loops is a multiple of the instruction's. */
static bool even(const tf_instr_match *m, int l, uint64_t set) {
  int64_t rest = 1 % m->in->size[l];
  for (; set; set &= set - 1) {
    int64_t e = m->wl->dims[m->op->dims[lowest(set)]].extent % m->in->size[l];
    if (!tf_mul(rest, e, &rest)) return false;
    rest %= m->in->size[l];
  }
  return rest == 0;
}

bool tf_instr_correct(const tf_instr_match *m, const uint64_t set[]) {
  const tf_op *body = body_of(m->in);
  uint64_t used = 0;
  bool sums, filled = true;
  for (int l = 0; l < m->in->n_loops; l++) {
    if (set[l] & used) return false;
    used |= set[l];
    if (l >= body->n_out_dims) filled = filled && even(m, l, set[l]);
  }
  if (!sums_in_step(m, set, &sums)) return false;
  return filled || is_product(body) || (!sums && zeros_are_void(body));
}

bool tf_instr_keep(tf_instr_maps *out, const tf_instr_match *m, const uint64_t set[]) {
  if (out->n >= TF_INSTR_MOST || !TF_GROW(out->maps, out->n)) return false;
  tf_instr_map *map = &out->maps[out->n++];
  *map = (tf_instr_map){.executable = tf_instr_correct(m, set)};
  memcpy(map->set, set, (size_t)m->in->n_loops * sizeof *set);
  return true;
}
