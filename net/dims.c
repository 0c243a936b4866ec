/* Finds the dims of a group's ops that are the same. Names do not tell: importers name dims by
 * their extents, so that the channels that one op reduces have the name of those that another
 * produces. */
#include "net/net.h"

/* Equivalence classes of slots (a slot is a dim of an op); no class may have two slots of one
 * op. */
typedef struct {
  const tf_workload *wl;
  const int *ops, *first;
  int n_ops;
  int *class_of; /* [n_slots] class, identified by its first slot */
  int *next;     /* [n_slots] the next slot of the class, in a ring */
  int *owner;
} classes;

static int slot_of(const classes *c, int i, int dim) {
  const tf_op *op = &c->wl->ops[c->ops[i]];
  for (int k = 0; k < op->n_dims; k++)
    if (op->dims[k] == dim) return c->first[i] + k;
  return -1;
}

static int64_t extent_of(const classes *c, int slot) {
  const int i = c->owner[slot];
  return c->wl->dims[c->wl->ops[c->ops[i]].dims[slot - c->first[i]]].extent;
}

/* Whether an op has slots in both classes. */
static bool clash(const classes *c, int a, int b) {
  int x = a;
  do {
    int y = b;
    do {
      if (c->owner[x] == c->owner[y]) return true;
      y = c->next[y];
    } while (y != b);
    x = c->next[x];
  } while (x != a);
  return false;
}

static void join_classes(classes *c, int a, int b) {
  if (a < 0 || b < 0 || c->class_of[a] == c->class_of[b] || extent_of(c, a) != extent_of(c, b) ||
      clash(c, a, b))
    return;
  const int name = c->class_of[a] < c->class_of[b] ? c->class_of[a] : c->class_of[b];
  const int after = c->next[a];
  c->next[a] = c->next[b];
  c->next[b] = after;
  for (int x = c->next[a]; x != a; x = c->next[x])
    c->class_of[x] = name;
  c->class_of[a] = name;
}

/* The slot of op i that is the whole index of rank r; -1: none. */
static int plain_slot(const classes *c, int i, const tf_ref *ref, int r) {
  const tf_index *x = &ref->index[r];
  return x->n_terms == 1 && x->terms[0].coef == 1 && x->c == 0 ? slot_of(c, i, x->terms[0].dim)
                                                               : -1;
}

static int place_of_op(const classes *c, int op) {
  for (int i = 0; i < c->n_ops; i++)
    if (c->ops[i] == op) return i;
  return -1;
}

/* Joins the dims of op i with those of the ops in the group whose outputs it reads. */
static void join_made(classes *c, int i) {
  const tf_op *op = &c->wl->ops[c->ops[i]];
  for (int k = 0; k < op->n_reads; k++) {
    const tf_tensor *z = &c->wl->tensors[op->reads[k].tensor];
    const int maker = z->producer < 0 ? -1 : place_of_op(c, z->producer);
    for (int r = 0; maker >= 0 && r < z->rank; r++)
      join_classes(c, c->first[maker] + r, plain_slot(c, i, &op->reads[k], r));
  }
}

/* Joins the dims of op i and an earlier op that read the same tensor, also from outside the
 * group. */
static void join_read(classes *c, int i) {
  const tf_op *op = &c->wl->ops[c->ops[i]];
  for (int k = 0; k < op->n_reads; k++)
    for (int j = 0; j < i; j++) {
      const tf_op *other = &c->wl->ops[c->ops[j]];
      for (int m = 0; m < other->n_reads; m++)
        for (int r = 0; other->reads[m].tensor == op->reads[k].tensor &&
                        r < c->wl->tensors[op->reads[k].tensor].rank;
             r++)
          join_classes(c, plain_slot(c, j, &other->reads[m], r),
                       plain_slot(c, i, &op->reads[k], r));
    }
}

bool net_join_dims(tf_arena *a, const tf_workload *wl, const int *ops, int n, const int *first,
                   int *dim, int *n_dims) {
  const int slots = first[n];
  classes c = {.wl = wl, .ops = ops, .first = first, .n_ops = n};
  c.class_of = TF_ARRAY(a, int, (size_t)slots);
  c.next = TF_ARRAY(a, int, (size_t)slots);
  c.owner = TF_ARRAY(a, int, (size_t)slots);
  if (slots && (!c.class_of || !c.next || !c.owner)) return false;
  for (int i = 0; i < n; i++)
    for (int s = first[i]; s < first[i + 1]; s++)
      c.class_of[s] = c.next[s] = s, c.owner[s] = i;
  for (int i = 0; i < n; i++)
    join_made(&c, i);
  for (int i = 0; i < n; i++)
    join_read(&c, i);
  *n_dims = 0;
  for (int s = 0; s < slots; s++)
    dim[s] = c.class_of[s] == s ? (*n_dims)++ : dim[c.class_of[s]];
  return true;
}
