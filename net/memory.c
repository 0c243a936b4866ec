/* Placement of the tensors that pass between groups. */
#include <stdlib.h>

#include "base/checked.h"
#include "base/locale.h"
#include "net/net.h"

enum { ALIGN = 64 };

typedef struct {
  tf_arena *a;
  const tf_net_plan *plan;
  const tf_workload *wl;
  int bytes_each, n;
  net_block *block;
  int *tensor; /* [n] tensor of each block */
  int *of;     /* [n_ops] group of each op */
} laying;

/* Bytes of the tensor, rounded up; false if they exceed 2^62. */
static bool size_of(const laying *l, const tf_tensor *z, int64_t *size) {
  int64_t n = 1;
  for (int r = 0; r < z->rank; r++)
    if (!tf_mul(n, z->extent[r], &n)) return false;
  if (!tf_mul(n, l->bytes_each ? 8 * l->bytes_each : z->word_bits, &n) || n > INT64_MAX / 2) return false;
  *size = ((n + 7) / 8 + ALIGN - 1) / ALIGN * ALIGN;
  return true;
}

/* Adds its live range, from the group that produces it to the last that reads it; a tensor that no other group reads
 * gets none. */
static bool add_block(laying *l, int z) {
  const tf_tensor *t = &l->wl->tensors[z];
  if (t->producer < 0 || t->view_of) return true;
  net_block b = {.from = l->of[t->producer], .to = l->of[t->producer]};
  for (int k = 0; k < t->n_consumers; k++)
    if (l->of[t->consumers[k]] > b.to) b.to = l->of[t->consumers[k]];
  if (b.to == b.from) return true;
  if (!size_of(l, t, &b.size)) return false;
  l->tensor[l->n] = z;
  l->block[l->n++] = b;
  return true;
}

static bool sums_fit(const laying *l) {
  int64_t sum = 0;
  for (int i = 0; i < l->n; i++)
    if (!tf_add(sum, l->block[i].size, &sum)) return false;
  return true;
}

static bool lay(laying *l, tf_net_memory *out, tf_diags *d) {
  const size_t n = (size_t)l->wl->n_tensors;
  l->block = TF_ARRAY(l->a, net_block, n);
  l->tensor = TF_ARRAY(l->a, int, n);
  l->of = TF_ARRAY(l->a, int, (size_t)l->wl->n_ops);
  int64_t *offset = TF_ARRAY(l->a, int64_t, n);
  out->offset = calloc(n, sizeof *out->offset);
  if (!l->block || !l->tensor || !l->of || !offset || !out->offset) return tf_out_of_memory(d);
  for (int i = 0; i < l->plan->n; i++)
    for (int o = 0; o < l->plan->groups[i].group->workload->n_ops; o++)
      l->of[l->plan->groups[i].group->op[o]] = i;
  bool fits = true;
  for (int z = 0; z < l->wl->n_tensors; z++) {
    out->offset[z] = -1;
    fits = fits && add_block(l, z);
  }
  if (!fits || !sums_fit(l))
    return tf_fail(d, l->wl->at, TF_E_OVERFLOW, "what passes between groups is past 2^63 - 1 bytes");
  if (!net_place(l->a, l->block, l->n, offset, &out->bytes)) return tf_out_of_memory(d);
  out->least = net_most_alive(l->block, l->n);
  for (int i = 0; i < l->n; i++)
    out->offset[l->tensor[i]] = offset[i];
  for (int z = 0; z < l->wl->n_tensors; z++)
    if (l->wl->tensors[z].view_of) out->offset[z] = out->offset[l->wl->tensors[z].view_of - 1];
  return true;
}

bool tf_net_memory_of(const tf_net_plan *p, const tf_workload *wl, int bytes_each, tf_net_memory *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  laying l = {.a = tf_arena_new(), .plan = p, .wl = wl, .bytes_each = bytes_each};
  *out = (tf_net_memory){0};
  const bool ok = l.a ? lay(&l, out, d) : tf_out_of_memory(d);
  tf_arena_free(l.a);
  if (!ok) tf_net_memory_free(out);
  return ok;
}

void tf_net_memory_free(tf_net_memory *m) {
  free(m->offset);
  *m = (tf_net_memory){0};
}
