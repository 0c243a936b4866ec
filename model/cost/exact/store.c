/* Contents of memories during the exact walk: which slice left them, and which events drop them. */
#include "model/cost/exact/store.h"

#include <string.h>

#include "model/flow/layout.h"
#include "model/flow/plan_class.h"
#include "model/input/dims.h"

static int64_t n_kinds(const tf_eval *ev, const tf_kinds *kinds, int l) {
  return tf_kind_count(&kinds[l], ev->trip[l]);
}

int64_t tf_store_index(const tf_store *s, int n, const int64_t *cur) {
  const tf_path *path = &s->plan->path[n];
  int64_t index = 0;
  for (int k = 0; k < path->n; k++)
    if (s->plan->loops[path->loops[k]].axis != TF_TEMPORAL)
      index = index * n_kinds(s->ev, s->kinds, path->loops[k]) +
              tf_kind_of(&s->kinds[path->loops[k]], cur[path->loops[k]]);
  return index;
}

static int64_t n_instances(const tf_plan *p, const tf_eval *ev, const tf_kinds *kinds, int n) {
  int64_t count = 1;
  for (int k = 0; k < p->path[n].n; k++)
    if (p->loops[p->path[n].loops[k]].axis != TF_TEMPORAL &&
        __builtin_mul_overflow(count, n_kinds(ev, kinds, p->path[n].loops[k]), &count))
      return INT64_MAX / (int64_t)sizeof(tf_held);
  return count;
}

static bool new_bank(tf_store *s, tf_bank *b, int tensor, int64_t n) {
  *b = (tf_bank){.tensor = tensor, .last = -1, .n = (int)n};
  b->copies = n < 1 << 24 ? TF_ARRAY(s->arena, tf_held, (size_t)n) : NULL;
  for (int64_t i = 0; b->copies && i < n; i++)
    b->copies[i].owner = -1;
  return b->copies != NULL;
}

static bool add_banks(tf_store *s) {
  const tf_plan *p = s->plan;
  for (int i = 0; i < p->n_tile_slices; i++) {
    const tf_slice *a = &p->slices[i];
    int64_t most = 0;
    s->bank_of[i] = -1;
    for (int j = 0; j < p->n_tile_slices; j++) {
      const tf_slice *b = &p->slices[j];
      if (a->tensor != b->tensor || a->level != b->level ||
          !tf_plan_same_split(p, a->node, b->node))
        continue;
      int64_t n = n_instances(p, s->ev, s->kinds, b->node);
      most = n > most ? n : most;
      if (j < i) s->bank_of[i] = s->bank_of[j];
    }
    if (s->bank_of[i] >= 0) continue;
    s->bank_of[i] = s->n_banks;
    tf_bank *bank = &s->banks[s->n_banks++];
    if (!new_bank(s, bank, a->tensor, most)) return false;
    bank->neighbours = p->arch->memories[a->level].peers;
  }
  return true;
}

static bool add_homes(tf_store *s) {
  const tf_plan *p = s->plan;
  for (int z = 0; z < p->wl->n_tensors; z++) {
    s->homes[z] = (tf_bank){.tensor = z, .last = -1};
    if (!p->retained[z]) continue;
    int64_t n = n_instances(p, s->ev, s->kinds, p->home_scope[z]);
    if (!new_bank(s, &s->homes[z], z, n)) return false;
    s->made_all[p->wl->tensors[z].producer] = TF_ARRAY(s->arena, tf_ival, (size_t)n * TF_MAX_RANK);
    if (!s->made_all[p->wl->tensors[z].producer]) return false;
  }
  return true;
}

int64_t tf_store_instances(const tf_plan *p, const tf_eval *ev, const tf_kinds *kinds) {
  int64_t most = 1;
  for (int n = 0; n < p->tree->n_nodes; n++) {
    int64_t c = n_instances(p, ev, kinds, n);
    most = c > most ? c : most;
  }
  return most;
}

static bool add_rows(tf_store *s) {
  const int64_t most = tf_store_instances(s->plan, s->ev, s->kinds);
  for (s->n_slots = 16; s->n_slots < 2 * most && s->n_slots < 1 << 24;)
    s->n_slots *= 2;
  s->rows = TF_ARRAY(s->arena, int64_t, (size_t)s->n_slots * TF_ROW_WORDS);
  s->stamp = TF_ARRAY(s->arena, int, (size_t)s->n_slots);
  return s->rows && s->stamp && most < 1 << 23;
}

tf_store *tf_store_new(const tf_plan *p, const tf_eval *ev, const tf_kinds *kinds) {
  tf_arena *a = tf_arena_new();
  tf_store *s = a ? TF_NEW(a, tf_store) : NULL;
  if (s) {
    s->arena = a;
    s->plan = p;
    s->ev = ev;
    s->kinds = kinds;
    s->bank_of = TF_ARRAY(a, int, (size_t)p->n_tile_slices + 1);
    s->banks = TF_ARRAY(a, tf_bank, (size_t)p->n_tile_slices + 1);
    s->homes = TF_ARRAY(a, tf_bank, (size_t)p->wl->n_tensors);
    s->runs = TF_ARRAY(a, bool, (size_t)p->tree->n_nodes);
    s->made = TF_ARRAY(a, tf_ival *, (size_t)p->wl->n_ops);
    s->made_all = TF_ARRAY(a, tf_ival *, (size_t)p->wl->n_ops);
    if (s->bank_of && s->banks && s->homes && s->runs && s->made && s->made_all && add_banks(s) &&
        add_homes(s) && add_rows(s))
      return s;
  }
  tf_arena_free(a);
  return NULL;
}

void tf_store_free(tf_store *s) {
  if (s) tf_arena_free(s->arena);
}

tf_held *tf_store_at(tf_store *s, int slice, int64_t index) {
  return &s->banks[s->bank_of[slice]].copies[index];
}

tf_held *tf_store_home(tf_store *s, int tensor, int64_t index) {
  return &s->homes[tensor].copies[index];
}

void tf_store_clear_rows(tf_store *s) { s->moment++; }

bool tf_store_new_row(tf_store *s, const int64_t *row, int n) {
  uint64_t h = UINT64_C(1469598103934665603);
  for (int i = 0; i < n; i++)
    h = (h ^ (uint64_t)row[i]) * UINT64_C(1099511628211);
  int slot = (int)((h ^ h >> 32) & (uint64_t)(s->n_slots - 1));
  while (s->stamp[slot] == s->moment) {
    if (!memcmp(s->rows + (size_t)slot * TF_ROW_WORDS, row, (size_t)n * sizeof *row)) return false;
    slot = (slot + 1) & (s->n_slots - 1);
  }
  s->stamp[slot] = s->moment;
  memcpy(s->rows + (size_t)slot * TF_ROW_WORDS, row, (size_t)n * sizeof *row);
  return true;
}

static void forget_all(tf_bank *b) {
  for (int i = 0; i < b->n; i++)
    b->copies[i].owner = -1;
}

void tf_store_layout(tf_store *s, tf_eval *ev, tf_scratch *w, int i) {
  tf_bank *b = &s->banks[s->bank_of[i]];
  if (b->last < 0 || b->last == i) return;
  if (!tf_layouts_agree(ev, w, i, b->last)) forget_all(b);
}

void tf_store_last(tf_store *s, int i) { s->banks[s->bank_of[i]].last = i; }

void tf_store_forget(tf_store *s, int tensor) {
  for (int i = 0; i < s->n_banks; i++)
    if (s->banks[i].tensor == tensor) forget_all(&s->banks[i]);
}

/* The instance of scope n that contains instance k of node m below it. */
static int64_t scope_instance(const tf_store *s, int n, int m, int64_t k) {
  const tf_path *path = &s->plan->path[m];
  for (int i = s->plan->path[n].n; i < path->n; i++)
    if (s->plan->loops[path->loops[i]].axis != TF_TEMPORAL)
      k /= n_kinds(s->ev, s->kinds, path->loops[i]);
  return k;
}

void tf_store_pass(tf_store *s, int n, int child, int64_t instance) {
  const tf_plan *p = s->plan;
  for (int i = 0; i < s->n_banks; i++)
    for (int k = 0; k < s->banks[i].n && !tf_node_touches(p->facts, child, s->banks[i].tensor);
         k++) {
      tf_held *held = &s->banks[i].copies[k];
      if (held->owner >= 0 && tf_plan_above(p, n, p->slices[held->owner].node) &&
          scope_instance(s, n, p->slices[held->owner].node, k) == instance)
        held->owner = -1;
    }
  for (int z = 0; z < p->wl->n_tensors; z++)
    for (int k = 0; k < s->homes[z].n; k++)
      if (p->home_scope[z] != n && tf_plan_above(p, n, p->home_scope[z]) &&
          !tf_node_touches(p->facts, child, z) &&
          scope_instance(s, n, p->home_scope[z], k) == instance)
        s->homes[z].copies[k].owner = -1;
}

/* Whether spatial loops between scope n and slice q spread the reduction that computes q. */
static bool spreads(const tf_plan *p, const tf_eval *ev, int n, const tf_slice *q) {
  const tf_path *path = &p->path[q->node];
  const tf_op *maker = &p->wl->ops[p->wl->tensors[q->tensor].producer];
  for (int k = 0; k < path->n; k++) {
    const tf_ploop *l = &p->loops[path->loops[k]];
    if (l->axis != TF_TEMPORAL && tf_plan_above(p, n, l->node) && tf_out_rank(maker, l->dim) < 0 &&
        ev->trip[path->loops[k]] > 1)
      return true;
  }
  return false;
}

void tf_store_leave(tf_store *s, const tf_eval *ev, int n, int child) {
  const tf_plan *p = s->plan;
  for (int i = 0; i < s->n_banks; i++)
    for (int k = 0; k < s->banks[i].n; k++) {
      int owner = s->banks[i].copies[k].owner;
      if (owner >= 0 && p->slices[owner].makes && tf_plan_above(p, child, p->slices[owner].node) &&
          spreads(p, ev, n, &p->slices[owner]))
        s->banks[i].copies[k].owner = -1;
    }
}

/* ---- for fast-forwarding
 * ------------------------------------------------------------------------------ */

static int n_banks(const tf_store *s) { return s->n_banks + s->plan->wl->n_tensors; }

static tf_bank *bank_at(const tf_store *s, int b) {
  return b < s->n_banks ? &s->banks[b] : &s->homes[b - s->n_banks];
}

/* How far an iteration moves the box of this copy in bank b. */
static const int64_t *shift_of(const tf_store *s, int b, const tf_held *held, tf_store_shift by) {
  return b < s->n_banks ? by.slice + (size_t)held->owner * TF_MAX_RANK
                        : by.home + (size_t)s->homes[b - s->n_banks].tensor * TF_MAX_RANK;
}

size_t tf_store_words(const tf_store *s) {
  size_t words = 0;
  for (int b = 0; b < n_banks(s); b++)
    words += 1 + (size_t)bank_at(s, b)->n *
                     (1 + 2 * (size_t)s->plan->wl->tensors[bank_at(s, b)->tensor].rank);
  return words;
}

void tf_store_keep(const tf_store *s, int64_t *kept) {
  for (int b = 0; b < n_banks(s); b++) {
    const tf_bank *bank = bank_at(s, b);
    const int rank = s->plan->wl->tensors[bank->tensor].rank;
    *kept++ = bank->last;
    for (int k = 0; k < bank->n; k++) {
      *kept++ = bank->copies[k].owner;
      for (int r = 0; r < rank; r++)
        *kept++ = bank->copies[k].box[r].lo, *kept++ = bank->copies[k].box[r].len;
    }
  }
}

/* Whether an iteration moves all copies of bank b equally. */
static bool all_alike(const tf_store *s, int b, int64_t since, tf_store_shift by) {
  static const int64_t still[TF_MAX_RANK] = {0};
  const tf_bank *bank = bank_at(s, b);
  const int64_t *first = NULL;
  for (int k = 0; k < bank->n; k++) {
    const tf_held *held = &bank->copies[k];
    if (held->owner < 0) continue;
    const int64_t *shift = held->touched >= since ? shift_of(s, b, held, by) : still;
    if (!first) first = shift;
    if (memcmp(first, shift, TF_MAX_RANK * sizeof *shift) != 0) return false;
  }
  return true;
}

bool tf_store_moved(const tf_store *s, const int64_t *kept, int64_t since, tf_store_shift by) {
  for (int b = 0; b < n_banks(s); b++) {
    const tf_bank *bank = bank_at(s, b);
    const int rank = s->plan->wl->tensors[bank->tensor].rank;
    if (*kept++ != bank->last || (bank->neighbours && !all_alike(s, b, since, by))) return false;
    for (int k = 0; k < bank->n; k++, kept += 1 + 2 * rank) {
      const tf_held *held = &bank->copies[k];
      if (held->owner != kept[0]) return false;
      if (held->owner < 0) continue;
      const int64_t *shift = held->touched >= since ? shift_of(s, b, held, by) : NULL;
      for (int r = 0; r < rank; r++)
        if (held->box[r].len != kept[2 + 2 * r] ||
            held->box[r].lo - kept[1 + 2 * r] != (shift ? shift[r] : 0))
          return false;
    }
  }
  return true;
}

void tf_store_move(tf_store *s, int64_t since, tf_store_shift by, int64_t times) {
  for (int b = 0; b < n_banks(s); b++)
    for (int k = 0; k < bank_at(s, b)->n; k++) {
      tf_held *held = &bank_at(s, b)->copies[k];
      if (held->owner < 0 || held->touched < since) continue;
      const int64_t *shift = shift_of(s, b, held, by);
      for (int r = 0; r < s->plan->wl->tensors[bank_at(s, b)->tensor].rank; r++)
        held->box[r].lo += times * shift[r];
    }
}
