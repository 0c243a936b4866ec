/* The workload over the parts of its dims. */
#include <string.h>

#include "base/checked.h"
#include "model/input/cut/divide.h"

static bool fail_limit(const tf_cutting *c, tf_loc at, const char *what, int most) {
  return tf_fail(c->diags, at, TF_E_LIMIT, "%s once dims that are divided are cut, at most %d",
                 what, most);
}

/* ---- dims and ops ------------------------------------------------------------------- */
static bool name_taken(const tf_cutting *c, const tf_dim *dims, int n, const char *name) {
  for (int i = 0; i < n; i++)
    if (!strcmp(dims[i].name, name)) return true;
  for (int i = 0; i < c->n_was; i++)
    if (!strcmp(c->was[i].name, name)) return true;
  return false;
}

static bool write_dims(tf_cutting *c) {
  tf_dim *dims = TF_ARRAY(c->arena, tf_dim, (size_t)c->n_parts);
  if (!dims) return tf_out_of_memory(c->diags);
  for (int p = 0; p < c->n_parts; p++) {
    const tf_part *part = &c->part[p];
    const tf_dim *was = &c->was[part->dim];
    dims[p] = (tf_dim){was->name, was->at, part->extent};
    if (part->extent == was->extent) continue;
    char name[400 + TF_CUT_DIMS]; /* as many names may be taken */
    tf_part_name(c, p, name, sizeof name - TF_CUT_DIMS - 1);
    for (size_t n = strlen(name); name_taken(c, dims, p, name) && n + 1 < sizeof name; n++)
      memcpy(name + n, "_", 2);
    dims[p].name = tf_arena_strndup(c->arena, name, strlen(name));
    if (!dims[p].name) return tf_out_of_memory(c->diags);
  }
  c->wl->dims = dims;
  c->wl->n_dims = c->n_parts;
  return true;
}

static bool write_index(tf_cutting *c, tf_index *x, tf_loc at) {
  tf_affine a;
  return cut_form(c, x, at, &a) && (tf_form_keep(&a, c->arena, x) || tf_out_of_memory(c->diags));
}

/* The output's parts first, in the order of its words, then those of its dims in their order. */
static bool write_op_dims(tf_cutting *c, int no) {
  tf_op *op = &c->wl->ops[no];
  const tf_left *left = &c->left[no];
  int dims[TF_CUT_DIMS], n = 0;
  bool seen[TF_CUT_DIMS] = {false};
  for (int r = 0; r < c->wl->tensors[op->out].rank; r++) {
    tf_affine a;
    tf_term part[TF_FORM_TERMS];
    if (!cut_form(c, &left->ref.index[r], left->at[r], &a)) return false;
    for (int k = cut_rank_parts(c, &a, part); k > 0; k--) {
      dims[n++] = part[k - 1].dim;
      seen[part[k - 1].dim] = true;
    }
  }
  const int n_out = n;
  for (int i = 0; i < op->n_dims; i++)
    for (int p = 0; p < c->n_parts; p++) {
      if (c->part[p].dim != op->dims[i] || seen[p]) continue;
      dims[n++] = p;
      seen[p] = true;
    }
  if (n > TF_CUT_OP_DIMS)
    return tf_fail(c->diags, left->ref.at, TF_E_LIMIT,
                   "%d dims of an op once those that are divided are cut, at most %d", n,
                   TF_CUT_OP_DIMS);
  op->dims = TF_ARRAY(c->arena, int, (size_t)n);
  if (!op->dims) return tf_out_of_memory(c->diags);
  memcpy(op->dims, dims, (size_t)n * sizeof *dims);
  op->n_dims = n;
  op->n_out_dims = n_out;
  if (op->reduce != TF_ASSIGN || n == n_out) return true;
  char name[300];
  tf_part_name(c, dims[n_out], name, sizeof name);
  return tf_fail(c->diags, left->ref.at, TF_E_OUTPUT,
                 "'=' assigns, but '%.80s' is not on the left; += *= max= min= reduce", name);
}

/* ---- values ------------------------------------------------------------------------- */
typedef struct {
  tf_expr *list;
  int n;
} exprs;

static int append(exprs *to, tf_expr x) {
  if (to->n < TF_CUT_EXPR) to->list[to->n] = x;
  return to->n++;
}

static int append_call(exprs *to, tf_kind call, int a, int b) {
  return append(to, (tf_expr){.what = TF_X_CALL, .call = call, .n_args = 2, .arg = {a, b}});
}

/* The dim's coordinate: the sum of its parts, each times its weight. */
static int append_place(const tf_cutting *c, exprs *to, int dim) {
  int sum = -1;
  for (int p = 0; p < c->n_parts; p++) {
    if (c->part[p].dim != dim) continue;
    int one = append(to, (tf_expr){.what = TF_X_DIM, .dim = p});
    if (c->part[p].weight > 1)
      one = append_call(
          to, TF_K_MUL,
          append(to, (tf_expr){.what = TF_X_NUMBER, .number = (double)c->part[p].weight}), one);
    sum = sum < 0 ? one : append_call(to, TF_K_ADD, sum, one);
  }
  return sum;
}

static bool write_values(tf_cutting *c, tf_op *op) {
  int at[TF_CUT_EXPR];
  exprs to = {.list = TF_ARRAY(c->arena, tf_expr, TF_CUT_EXPR)};
  if (!to.list) return tf_out_of_memory(c->diags);
  for (int i = 0; i < op->n_expr; i++) {
    tf_expr x = op->expr[i];
    for (int k = 0; k < x.n_args; k++)
      x.arg[k] = at[x.arg[k]];
    at[i] = x.what == TF_X_DIM ? append_place(c, &to, x.dim) : append(&to, x);
  }
  if (to.n > TF_CUT_EXPR) return fail_limit(c, op->at, "an expression of more nodes", TF_CUT_EXPR);
  op->expr = to.list;
  op->n_expr = to.n;
  return true;
}

bool cut_apply(tf_cutting *c) {
  for (int o = 0; o < c->wl->n_ops; o++) {
    tf_op *op = &c->wl->ops[o];
    if (!write_op_dims(c, o) || !write_values(c, op)) return false;
    for (int i = 0; i < op->n_reads; i++)
      for (int r = 0; r < c->wl->tensors[op->reads[i].tensor].rank; r++)
        if (!write_index(c, &op->reads[i].index[r], op->reads[i].at)) return false;
  }
  for (int o = 0; o < c->wl->n_ops; o++)
    for (int r = 0; r < c->wl->tensors[c->wl->ops[o].out].rank; r++)
      if (!write_index(c, &c->left[o].ref.index[r], c->left[o].at[r])) return false;
  return write_dims(c);
}

/* ---- what is known of tensors ------------------------------------------------------- */
static tf_affine over_parts(const tf_index *x) {
  tf_affine a = {.n = x->n_terms, .c = x->c};
  memcpy(a.term, x->terms, (size_t)x->n_terms * sizeof *x->terms);
  return a;
}

int64_t tf_cut_extent(const tf_cutting *c, int op, int rank) {
  int64_t n = 1;
  const tf_index *x = &c->left[op].ref.index[rank];
  for (int t = 0; t < x->n_terms; t++)
    n *= c->wl->dims[x->terms[t].dim].extent;
  return n;
}

int tf_cut_whole(const tf_cutting *c, const tf_index *x) {
  if (x->n_terms == 0 || x->c) return -1;
  const int dim = c->part[x->terms[0].dim].dim;
  int n = 0;
  for (int p = 0; p < c->n_parts; p++) {
    if (c->part[p].dim != dim) continue;
    n++;
    for (int t = 0; t < x->n_terms; t++)
      if (x->terms[t].dim == p && x->terms[t].coef != c->part[p].weight) return -1;
  }
  for (int t = 0; t < x->n_terms; t++)
    if (c->part[x->terms[t].dim].dim != dim) return -1;
  return n == x->n_terms ? dim : -1;
}

/* ---- ranks -------------------------------------------------------------------------- */
static int ranks_of(const tf_cutting *c, const tf_left *left) {
  int n = 0;
  for (int r = 0; r < c->wl->tensors[left->ref.tensor].rank; r++)
    n += left->n_parts[r];
  return n;
}

/* The read with an index for each part of each rank. */
static bool spread_read(tf_cutting *c, tf_ref *ref) {
  const tf_tensor *z = &c->wl->tensors[ref->tensor];
  const tf_left *left = &c->left[z->producer];
  const cut_asker by = {.at = ref->at, .read = ref};
  tf_index *index = TF_ARRAY(c->arena, tf_index, (size_t)ranks_of(c, left));
  int n = 0;
  if (!index) return tf_out_of_memory(c->diags);
  for (int r = 0; r < z->rank; r++) {
    tf_term part[TF_FORM_TERMS];
    const tf_affine a = over_parts(&left->ref.index[r]), e = over_parts(&ref->index[r]);
    const int k = cut_rank_parts(c, &a, part);
    if (cut_spread(c, &e, part, k, &by, c->spread) != CUT_DONE) return false;
    for (int i = 0; i < k; i++)
      if (!tf_form_keep(&c->spread[i], c->arena, &index[n++])) return tf_out_of_memory(c->diags);
  }
  ref->index = index;
  return true;
}

static bool spread_tensor(tf_cutting *c, const tf_op *op, tf_tensor *z) {
  const int n = op->n_out_dims;
  const size_t room = (size_t)n;
  int64_t *lo = TF_ARRAY(c->arena, int64_t, room), *extent = TF_ARRAY(c->arena, int64_t, room),
          *pad = TF_ARRAY(c->arena, int64_t, room);
  if (!lo || !extent || !pad) return tf_out_of_memory(c->diags);
  const tf_left *left = &c->left[op - c->wl->ops];
  for (int r = 0, k = 0; r < z->rank; r++)
    for (int i = 0; i < left->n_parts[r]; i++, k++) {
      extent[k] = c->wl->dims[op->dims[k]].extent;
      lo[k] = z->lo[r];
      pad[k] = z->pad[r];
    }
  if (z->density.fall == TF_FALL_TILES || z->density.fall == TF_FALL_KNOWN)
    return tf_fail(c->diags, z->at, TF_E_SHAPE,
                   "'%.60s' is made in parts: its density is a share, or n of m along a dim",
                   z->name);
  if (z->density.fall == TF_FALL_BLOCKS) {
    for (int r = z->density.rank; r >= 0; r--) /* blocks lie in the innermost part */
      z->density.rank += left->n_parts[r] - 1;
    if (extent[z->density.rank] % z->density.m)
      return tf_fail(
          c->diags, z->at, TF_E_RANGE,
          "'%.60s' is made in parts, and %lld steps of '%.80s' hold no whole blocks of %lld",
          z->name, (long long)extent[z->density.rank], c->wl->dims[op->dims[z->density.rank]].name,
          (long long)z->density.m);
  }
  z->lo = lo;
  z->extent = extent;
  z->pad = pad;
  z->rank = n;
  return true;
}

bool tf_cut_ranks(tf_cutting *c) {
  tf_workload *wl = c->wl;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++) {
      const tf_tensor *z = &wl->tensors[wl->ops[o].reads[i].tensor];
      const bool made = z->producer >= 0 && !z->view_of;
      if (made && ranks_of(c, &c->left[z->producer]) > z->rank &&
          !spread_read(c, &wl->ops[o].reads[i]))
        return false;
    }
  for (int o = 0; o < wl->n_ops; o++) {
    tf_tensor *z = &wl->tensors[wl->ops[o].out];
    if (wl->ops[o].n_out_dims > TF_CUT_RANK)
      return fail_limit(c, z->at, "a tensor of more ranks", TF_CUT_RANK);
    if (wl->ops[o].n_out_dims > z->rank && !spread_tensor(c, &wl->ops[o], z)) return false;
  }
  return true;
}
