/* The mappings that the thesis counts: unions of matches of one loop each. */
#include <stdlib.h>

#include "model/instr/match.h"

/* A match gives every loop of the instruction one of the op's. */
enum {
  TOO_MANY = 15,
  MOST = 4096
}; /* beyond TOO_MANY, unions are not formed; more than MOST are an error */
typedef struct {
  tf_instr_match *m;
  int n, n_exact, pick[TF_INSTR_LOOPS];
  int found[MOST][TF_INSTR_LOOPS];
  bool exact[MOST]; /* its extents are the instruction's sizes */
} matches;

/* Whether what the picked loops leave of the op's index is, but for a positive factor, the
 * instruction's; *none: they leave nothing of it. */
static bool same_index(const matches *s, const tf_index *op, const tf_index *in, bool *none) {
  const tf_op *body = &s->m->in->body->ops[0];
  int64_t num = 0, den = 0;
  bool same = true;
  *none = true;
  for (int l = 0; l < s->m->in->n_loops; l++) {
    int64_t a = tf_instr_coef(s->m->op, op, s->pick[l]), b = tf_instr_coef(body, in, l);
    if (a) *none = false;
    if (!a && !b) continue;
    if (a <= 0 || b <= 0) same = false;
    if (same && den && (double)a * (double)den != (double)b * (double)num) same = false;
    num = a;
    den = b;
  }
  return same && !*none;
}

/* Every index of the operand that is left must correspond to one of the instruction's, and all of
 * these must be covered. */
static bool same_operand(const matches *s, int o) {
  const tf_instr_match *m = s->m;
  const tf_op *body = &m->in->body->ops[0];
  tf_index own[2];
  tf_term term[2];
  const tf_index *x, *y;
  uint32_t taken = 0;
  for (int i = 0; (x = tf_instr_index(m->wl, m->op, o, i, &own[0], &term[0])); i++) {
    bool none = true, found = false;
    for (int l = 0; l < m->in->n_loops; l++)
      none = none && tf_instr_coef(m->op, x, s->pick[l]) == 0;
    for (int k = 0;
         !none && !found && (y = tf_instr_index(m->in->body, body, o, k, &own[1], &term[1])); k++) {
      bool nothing;
      found = !(taken & (1u << k)) && same_index(s, x, y, &nothing);
      if (found) taken |= 1u << k;
    }
    if (!none && !found) return false;
  }
  for (int k = 0; (y = tf_instr_index(m->in->body, body, o, k, &own[1], &term[1])); k++)
    if (y->n_terms && !(taken & (1u << k))) return false;
  return true;
}

static bool keep_match(matches *s) {
  const tf_instr_match *m = s->m;
  for (int o = 0; o <= m->op->n_reads; o++)
    if (!same_operand(s, o)) return true;
  if (s->n == MOST) return false;
  s->exact[s->n] = true;
  for (int l = 0; l < m->in->n_loops; l++) {
    s->found[s->n][l] = s->pick[l];
    if (m->wl->dims[m->op->dims[s->pick[l]]].extent != m->in->size[l]) s->exact[s->n] = false;
  }
  s->n_exact += s->exact[s->n];
  s->n++;
  return true;
}

static bool find_matches(matches *s, int l, uint64_t used) {
  if (++s->m->tried > TF_INSTR_TRIES) return false;
  if (l == s->m->in->n_loops) return keep_match(s);
  for (uint64_t left = s->m->fits[l] & ~used; left; left &= left - 1) {
    s->pick[l] = __builtin_ctzll(left);
    if (!find_matches(s, l + 1, used | 1ull << s->pick[l])) return false;
  }
  return true;
}

/* The union of the matches that lie within `within`. */
static void unite(const matches *s, const uint64_t within[], uint64_t out[]) {
  for (int l = 0; l < s->m->in->n_loops; l++)
    out[l] = 0;
  for (int k = 0; k < s->n; k++) {
    bool in = true;
    for (int l = 0; l < s->m->in->n_loops; l++)
      in = in && (!within || within[l] >> s->found[k][l] & 1);
    for (int l = 0; in && l < s->m->in->n_loops; l++)
      out[l] |= 1ull << s->found[k][l];
  }
}

/* Every choice of sets that is the union of the matches within it. */
static bool find_unions(matches *s, int l, const uint64_t all[], uint64_t set[],
                        tf_instr_maps *out) {
  const int n = s->m->in->n_loops;
  if (++s->m->tried > TF_INSTR_TRIES) return false;
  if (l == n) {
    uint64_t reached[TF_INSTR_LOOPS];
    unite(s, set, reached);
    for (int k = 0; k < n; k++)
      if (reached[k] != set[k]) return true;
    return tf_instr_keep(out, s->m, set);
  }
  set[l] = 0;
  while ((set[l] = (set[l] - all[l]) & all[l]) != 0)
    if (!find_unions(s, l + 1, all, set, out)) return false;
  return true;
}

/* Each match alone, and all together. */
static bool keep_few(const matches *s, const uint64_t all[], tf_instr_maps *out) {
  for (int k = 0; k < s->n; k++) {
    uint64_t set[TF_INSTR_LOOPS] = {0};
    for (int l = 0; l < s->m->in->n_loops; l++)
      set[l] = 1ull << s->found[k][l];
    if ((s->exact[k] || !s->n_exact) && !tf_instr_keep(out, s->m, set)) return false;
  }
  return tf_instr_keep(out, s->m, all);
}

bool tf_instr_paper(tf_instr_match *m, tf_instr_maps *out) {
  matches *s = calloc(1, sizeof *s);
  if (!s) return false;
  uint64_t all[TF_INSTR_LOOPS], set[TF_INSTR_LOOPS] = {0};
  s->m = m;
  bool ok = find_matches(s, 0, 0);
  unite(s, NULL, all);
  ok = ok &&
       (s->n == 0 || (s->n > TOO_MANY ? keep_few(s, all, out) : find_unions(s, 0, all, set, out)));
  free(s);
  return ok;
}
