/* All mappings of an op onto an instruction. */
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "model/instr/match.h"

/* Every non-empty set of loops that fit and are free, for loop l and those behind it. */
static bool find_all(tf_instr_match *m, int l, uint64_t used, uint64_t set[], tf_instr_maps *out) {
  if (++m->tried > TF_INSTR_TRIES) return false;
  if (l == m->in->n_loops) return !tf_instr_correct(m, set) || tf_instr_keep(out, m, set);
  uint64_t all = m->fits[l] & ~used;
  set[l] = 0;
  while ((set[l] = (set[l] - all) & all) != 0)
    if (!find_all(m, l + 1, used | set[l], set, out)) return false;
  return true;
}

/* ---- how many differ ------------------------------------------------------------------------- */
static int by_sets(const void *a, const void *b) { return memcmp(a, b, sizeof(tf_instr_map)); }

/* The mapping without loops of extent 1; false if it leaves a loop idle that could be filled. */
static bool reduced(const tf_instr_match *m, uint64_t ones, const tf_instr_map *map,
                    tf_instr_map *out) {
  memset(out, 0, sizeof *out);
  for (int l = 0; l < m->in->n_loops; l++) {
    out->set[l] = map->set[l] & ~ones;
    if (!out->set[l] && m->fits[l] & ~ones) return false;
  }
  return true;
}

static bool count_effective(const tf_instr_match *m, tf_instr_maps *out) {
  uint64_t ones = 0;
  for (int d = 0; d < m->op->n_dims; d++)
    if (m->wl->dims[m->op->dims[d]].extent == 1) ones |= 1ull << d;
  out->effective = out->n;
  if (!ones || out->n == 0) return true;
  tf_instr_map *all = calloc((size_t)out->n, sizeof *all);
  int64_t n = 0;
  if (!all) return false;
  for (int64_t i = 0; i < out->n; i++)
    n += reduced(m, ones, &out->maps[i], &all[n]);
  qsort(all, (size_t)n, sizeof *all, by_sets);
  out->effective = n > 0;
  for (int64_t i = 1; i < n; i++)
    out->effective += by_sets(&all[i - 1], &all[i]) != 0;
  free(all);
  return true;
}

bool tf_instr_find(const tf_workload *wl, int op, const tf_instr *in, bool paper,
                   tf_instr_maps *out, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_instr_match m;
  uint64_t set[TF_INSTR_LOOPS] = {0};
  *out = (tf_instr_maps){.reason = TF_INSTR_ELEMENT};
  if (!tf_instr_match_of(wl, op, in, &m)) return true;
  for (out->loop = 0; out->loop < in->n_loops && m.fits[out->loop]; out->loop++) {
  }
  out->reason = TF_INSTR_LOOP;
  if (out->loop < in->n_loops) return true;
  bool ok =
      (paper ? tf_instr_paper(&m, out) : find_all(&m, 0, 0, set, out)) && count_effective(&m, out);
  out->reason = out->n ? TF_INSTR_FITS : TF_INSTR_NONE;
  if (ok) return true;
  return tf_fail(d, wl->ops[op].at, TF_E_LIMIT,
                 "more than %d mappings of op '%.60s' onto '%.60s', or too many for memory",
                 (int)TF_INSTR_MOST, wl->ops[op].name, in->name);
}

void tf_instr_maps_free(tf_instr_maps *m) {
  if (!m) return;
  free(m->maps);
  *m = (tf_instr_maps){0};
}
