/* Arguments in the order of ranks in which the section `layout` has them lie: the workload with
 * these ranks exchanged, so that every generator and its tests follow. */
#include <string.h>

#include "base/arena.h"
#include "tileflow/emit.h"

typedef struct {
  tf_handed out;
  tf_arena *arena;
  tf_arch *arch;
  tf_workload *wl;
} handing;

static void *copied(tf_arena *a, const void *from, size_t n, size_t each) {
  void *all = tf_arena_alloc(a, (n + 1) * each);
  if (all && n) memcpy(all, from, n * each);
  return all;
}
#define COPIED(a, from, n) copied(a, from, (size_t)(n), sizeof *(from))

/* Rank i becomes what was rank order[i]. */
static bool exchange(tf_arena *a, int64_t **list, const int *order, int n) {
  const int64_t *old = *list;
  int64_t *all = old ? COPIED(a, old, n) : NULL;
  for (int i = 0; i < n && all; i++)
    all[i] = old[order[i]];
  *list = all;
  return all || !old;
}

static int new_rank(const int *order, int rank) {
  int i = 0;
  while (order[i] != rank)
    i++;
  return i;
}

/* What a memory's list says of the tensor.  Where it says nothing, that ranks lie in their old
 * order, at no place of any file.  NULL: no memory. */
static tf_laid *said_of(handing *h, tf_laids *laid, const tf_tensor *z) {
  for (int i = 0; i < laid->n; i++)
    if (!strcmp(laid->list[i].tensor.name, z->known_as ? z->known_as : z->name))
      return &laid->list[i];
  tf_laid *one = &laid->list[laid->n++];
  *one = (tf_laid){.tensor = {.name = z->known_as ? z->known_as : z->name}, .n = z->rank};
  one->parts = TF_ARRAY(h->arena, tf_laid_part, (size_t)z->rank + 1);
  for (int r = 0; r < z->rank && one->parts; r++)
    one->parts[r] = (tf_laid_part){r, TF_LAYOUT_WHOLE, 1};
  return one->parts ? one : NULL;
}

/* Tells the tensor's ranks by their new numbers, in all memories with lines. */
static bool move_laid(handing *h, const tf_tensor *z, const int *order) {
  for (int l = 0; l < h->arch->n_memories; l++) {
    tf_memory *mem = &h->arch->memories[l];
    if (!mem->line && !mem->laid.n) continue;
    tf_laid *one = said_of(h, &mem->laid, z);
    tf_laid_part *parts = one ? COPIED(h->arena, one->parts, one->n) : NULL;
    if (!parts) return false;
    for (int k = 0; k < one->n; k++)
      parts[k].rank = new_rank(order, one->parts[k].rank);
    one->parts = parts;
  }
  return true;
}

static bool move_op(tf_arena *a, tf_op *op, int z, const int *order, int rank) {
  if (op->out == z) {
    int *dims = COPIED(a, op->dims, op->n_dims);
    for (int r = 0; r < rank && dims; r++)
      dims[r] = op->dims[order[r]];
    op->dims = dims;
    if (!dims) return false;
  }
  for (int i = 0; i < op->n_reads; i++) {
    tf_ref *ref = &op->reads[i];
    if (ref->tensor != z) continue;
    const tf_index *old = ref->index;
    tf_index *all = COPIED(a, old, rank);
    for (int r = 0; r < rank && all; r++)
      all[r] = old[order[r]];
    ref->index = all;
    if (!all) return false;
  }
  return true;
}

static bool move(handing *h, int z, const int *order) {
  tf_tensor *t = &h->wl->tensors[z];
  tf_density *d = &t->density;
  bool ok = exchange(h->arena, &t->lo, order, t->rank) &&
            exchange(h->arena, &t->extent, order, t->rank) &&
            exchange(h->arena, &t->pad, order, t->rank) &&
            exchange(h->arena, &d->tile, order, t->rank) && move_laid(h, t, order);
  if (d->fall == TF_FALL_BLOCKS) d->rank = new_rank(order, d->rank);
  for (int o = 0; o < h->wl->n_ops && ok; o++)
    ok = move_op(h->arena, &h->wl->ops[o], z, order, t->rank);
  h->out.n++;
  return ok;
}

/* Copies of all that may change. */
static bool copy_all(handing *h, const tf_arch *a, const tf_workload *wl) {
  h->arch = copied(h->arena, a, 1, sizeof *a);
  h->wl = copied(h->arena, wl, 1, sizeof *wl);
  if (!h->arch || !h->wl) return false;
  h->arch->memories = COPIED(h->arena, a->memories, a->n_memories);
  h->wl->tensors = COPIED(h->arena, wl->tensors, wl->n_tensors);
  h->wl->ops = COPIED(h->arena, wl->ops, wl->n_ops);
  bool ok = h->arch->memories && h->wl->tensors && h->wl->ops;
  for (int l = 0; l < a->n_memories && ok; l++) {
    tf_laids *laid = &h->arch->memories[l].laid;
    const tf_laid *old = laid->list;
    laid->list = TF_ARRAY(h->arena, tf_laid, (size_t)laid->n + (size_t)wl->n_tensors + 1);
    ok = laid->list != NULL;
    if (ok && laid->n) memcpy(laid->list, old, (size_t)laid->n * sizeof *old);
  }
  for (int o = 0; o < wl->n_ops && ok; o++) {
    h->wl->ops[o].reads = COPIED(h->arena, wl->ops[o].reads, wl->ops[o].n_reads);
    ok = h->wl->ops[o].reads != NULL;
  }
  h->out.arch = h->arch;
  h->out.workload = h->wl;
  return ok;
}

tf_handed *tf_handed_new(const tf_arch *a, const tf_workload *wl) {
  tf_arena *arena = tf_arena_new();
  handing *h = arena ? tf_arena_alloc(arena, sizeof *h) : NULL;
  if (!h) {
    tf_arena_free(arena);
    return NULL;
  }
  *h = (handing){.arena = arena};
  bool ok = copy_all(h, a, wl);
  for (int z = 0; z < wl->n_tensors && ok; z++) {
    const tf_laid *l = tf_layout_of(h->arch, &h->wl->tensors[z]);
    const bool cut = l && l->n > h->wl->tensors[z].rank; /* the kernel's files see to it */
    h->out.n_cut += cut;
    if (cut) l = NULL;
    int *order = l ? tf_arena_alloc(arena, ((size_t)l->n + 1) * sizeof *order) : NULL;
    for (int r = 0; order && r < l->n; r++)
      order[r] = l->parts[r].rank;
    ok = !l || (order && move(h, z, order));
  }
  if (ok) return &h->out;
  tf_arena_free(arena);
  return NULL;
}

void tf_handed_free(tf_handed *h) {
  if (h) tf_arena_free(((handing *)h)->arena);
}
