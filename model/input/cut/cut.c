/* Where dims must be cut: from each index that is divided to cuts of its dims, until every quotient
 * is affine. */
#include "model/input/cut/cut.h"

#include "model/input/cut/divide.h"

static bool stands_on_unused(const tf_cutting *c, const tf_index *x) {
  for (int t = 0; t < x->n_terms; t++)
    if (x->terms[t].dim >= TF_FLOOR && !c->used[x->terms[t].dim - TF_FLOOR]) return true;
  return false;
}

/* A quotient that fails is reported once, and used no more. */
static cut_outcome divide_all(tf_cutting *c) {
  for (int f = 0; f < c->n_floors; f++) {
    const tf_floor *x = &c->floors[f];
    const cut_asker by = {.at = x->at};
    tf_affine e;
    c->used[f] = c->used[f] && !stands_on_unused(c, &x->dividend);
    if (!c->used[f]) continue;
    const bool fits = cut_form(c, &x->dividend, x->at, &e);
    const cut_outcome o = fits ? cut_divide(c, &e, x->divisor, &by, &c->value[f]) : CUT_NEVER;
    if (o == CUT_AGAIN) return o;
    c->used[f] = o == CUT_DONE;
    c->failed = c->failed || o == CUT_NEVER;
  }
  return c->failed ? CUT_NEVER : CUT_DONE;
}

static void use(tf_cutting *c, const tf_index *x) {
  for (int t = 0; t < x->n_terms; t++)
    if (x->terms[t].dim >= TF_FLOOR) c->used[x->terms[t].dim - TF_FLOOR] = true;
}

/* Quotients that stand in an index, or in one that does; others have cancelled out. */
static bool find_used(tf_cutting *c) {
  const tf_workload *wl = c->wl;
  c->used = TF_ARRAY(c->arena, bool, (size_t)c->n_floors);
  if (!c->used) return tf_out_of_memory(c->diags);
  for (int o = 0; o < wl->n_ops; o++) {
    for (int i = 0; i < wl->ops[o].n_reads; i++)
      for (int r = 0; r < wl->tensors[wl->ops[o].reads[i].tensor].rank; r++)
        use(c, &wl->ops[o].reads[i].index[r]);
    for (int r = 0; r < wl->tensors[wl->ops[o].out].rank; r++)
      use(c, &c->left[o].ref.index[r]);
  }
  for (int f = c->n_floors - 1; f >= 0; f--)
    if (c->used[f]) use(c, &c->floors[f].dividend);
  return true;
}

/* ---- tensors in parts --------------------------------------------------------------- */
static const tf_left *left_of(const tf_cutting *c, int tensor) {
  const tf_tensor *z = &c->wl->tensors[tensor];
  return z->producer >= 0 && !z->view_of ? &c->left[z->producer] : NULL;
}

/* The parts of each rank that an op makes. */
static cut_outcome part_left(tf_cutting *c, int op) {
  tf_left *left = &c->left[op];
  bool seen[TF_CUT_DIMS] = {false};
  for (int r = 0; r < c->wl->tensors[left->ref.tensor].rank; r++) {
    tf_term part[TF_FORM_TERMS];
    tf_affine a;
    if (!cut_form(c, &left->ref.index[r], left->at[r], &a)) return CUT_NEVER;
    left->n_parts[r] = cut_rank_parts(c, &a, part);
    if (!left->n_parts[r]) {
      tf_fail(c->diags, left->at[r], TF_E_OUTPUT,
              "this does not count through the rank: on the left are dims, or sums like 2*h + a "
              "with a below 2, which meet each coordinate once");
      return CUT_NEVER;
    }
    for (int i = 0; i < left->n_parts[r]; i++) {
      const int dim = c->part[part[i].dim].dim;
      if (seen[part[i].dim]) {
        tf_fail(c->diags, left->at[r], TF_E_OUTPUT, "dim '%.60s' twice on the left side",
                c->was[dim].name);
        return CUT_NEVER;
      }
      seen[part[i].dim] = true;
    }
  }
  return CUT_DONE;
}

/* Cuts the dims by which tensors that are made in parts are read. */
static cut_outcome part_read(tf_cutting *c, const tf_ref *ref) {
  const tf_left *left = left_of(c, ref->tensor);
  const cut_asker by = {.at = ref->at, .read = ref};
  for (int r = 0; left && r < c->wl->tensors[ref->tensor].rank; r++) {
    tf_term part[TF_FORM_TERMS];
    tf_affine a, e;
    if (left->n_parts[r] < 2) continue;
    if (!cut_form(c, &left->ref.index[r], left->at[r], &a) ||
        !cut_form(c, &ref->index[r], ref->at, &e))
      return CUT_NEVER;
    const cut_outcome o = cut_spread(c, &e, part, cut_rank_parts(c, &a, part), &by, c->spread);
    if (o != CUT_DONE) return o;
  }
  return CUT_DONE;
}

/* One look at everything, up to the first cut. */
static cut_outcome look(tf_cutting *c) {
  const tf_workload *wl = c->wl;
  cut_outcome o = divide_all(c);
  if (o != CUT_DONE) return o;
  for (int i = 0; i < wl->n_ops; i++)
    if (part_left(c, i) != CUT_DONE) o = CUT_NEVER;
  for (int i = 0; i < wl->n_ops && o == CUT_DONE; i++)
    for (int k = 0; k < wl->ops[i].n_reads && o == CUT_DONE; k++)
      o = part_read(c, &wl->ops[i].reads[k]);
  return o;
}

/* Whether every index is affine as it stands, and every left side plain. */
static bool nothing_to_do(const tf_cutting *c) {
  bool plain = c->n_floors == 0;
  for (int o = 0; o < c->wl->n_ops; o++)
    plain = plain && !c->left[o].joined;
  return plain;
}

bool tf_cut_dims(tf_cutting *c) {
  tf_workload *wl = c->wl;
  c->n_was = c->n_parts = wl->n_dims;
  c->was = wl->dims;
  const bool plain = nothing_to_do(c);
  const size_t room = plain ? (size_t)wl->n_dims : TF_CUT_DIMS;
  c->part = TF_ARRAY(c->arena, tf_part, room);
  c->because = TF_ARRAY(c->arena, tf_loc, room);
  if (!c->part || !c->because) return tf_out_of_memory(c->diags);
  for (int d = 0; d < wl->n_dims; d++)
    c->part[d] = (tf_part){d, 1, wl->dims[d].extent};
  for (int o = 0; o < wl->n_ops; o++)
    for (int r = 0; r < TF_CUT_RANK; r++)
      c->left[o].n_parts[r] = 1;
  if (plain) return true;
  c->value = TF_ARRAY(c->arena, tf_affine, (size_t)c->n_floors);
  c->spread = TF_ARRAY(c->arena, tf_affine, room);
  if (!c->value || !c->spread) return tf_out_of_memory(c->diags);
  if (!find_used(c)) return false;
  cut_outcome o = look(c);
  while (o == CUT_AGAIN)
    o = look(c);
  return o == CUT_DONE && cut_apply(c);
}
