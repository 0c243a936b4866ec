#include "search/common/identity.h"

#include <stdlib.h>
#include <string.h>

#include "search/common/complete.h"
#include "tileflow/search.h"
#include "tileflow/tree.h"

static void mix(uint64_t *h, const void *p, size_t n) { *h = tf_hash(*h, p, n); }
static void mix_int(uint64_t *h, int64_t v) { mix(h, &v, sizeof v); }
static void mix_real(uint64_t *h, double v) { mix(h, &v, sizeof v); }

static void mix_arch(uint64_t *h, const tf_arch *a) {
  mix_real(h, a->clock_hz);
  mix_int(h, a->overlap);
  for (int l = 0; l < a->n_memories; l++) {
    const tf_memory *m = &a->memories[l];
    const int64_t whole[] = {m->mesh[0],  m->mesh[1],   m->capacity_words, m->word_bits,
                             m->one_port, m->multicast, m->reduce,         m->double_buffered};
    const double reals[] = {m->read_bw, m->write_bw, m->read_pj, m->write_pj, m->hop_pj, m->latency, m->issue};
    mix(h, m->name, strlen(m->name));
    mix(h, whole, sizeof whole);
    mix(h, reals, sizeof reals);
  }
  for (int u = 0; u < a->n_units; u++) {
    const tf_unit *n = &a->units[u];
    const int64_t whole[] = {n->kinds, n->below, n->mesh[0], n->mesh[1], n->multicast, n->reduce};
    const double reals[] = {n->rate, n->pj, n->pipeline};
    mix(h, whole, sizeof whole);
    mix(h, reals, sizeof reals);
  }
}

static void mix_ref(uint64_t *h, const tf_workload *wl, const tf_ref *r) {
  mix_int(h, r->tensor);
  for (int i = 0; i < wl->tensors[r->tensor].rank; i++) {
    mix_int(h, r->index[i].c);
    for (int j = 0; j < r->index[i].n_terms; j++) {
      mix_int(h, r->index[i].terms[j].dim);
      mix_int(h, r->index[i].terms[j].coef);
    }
  }
}

static void mix_workload(uint64_t *h, const tf_workload *wl) {
  for (int d = 0; d < wl->n_dims; d++) {
    mix(h, wl->dims[d].name, strlen(wl->dims[d].name));
    mix_int(h, wl->dims[d].extent);
  }
  for (int z = 0; z < wl->n_tensors; z++) {
    mix_int(h, wl->tensors[z].word_bits);
    for (int r = 0; r < wl->tensors[z].rank; r++) {
      mix_int(h, wl->tensors[z].extent[r]);
      mix_int(h, wl->tensors[z].pad[r]);
    }
  }
  for (int o = 0; o < wl->n_ops; o++) {
    mix_int(h, wl->ops[o].out);
    mix_int(h, wl->ops[o].reduce);
    mix_int(h, wl->ops[o].kinds);
    for (int r = 0; r < wl->ops[o].n_reads; r++)
      mix_ref(h, wl, &wl->ops[o].reads[r]);
  }
}

static void mix_tree(uint64_t *h, const tf_tree *t) {
  char *text = tf_tree_text(t);
  if (text) mix(h, text, strlen(text));
  free(text);
}

uint64_t tf_identity(const tf_arch *arch, const tf_workload *wl, const tf_tree *given, const tf_tree *const *starts,
                     int n_starts) {
  uint64_t h = TF_HASH_START;
  mix_arch(&h, arch);
  mix_workload(&h, wl);
  if (given) mix_tree(&h, given);
  for (int i = 0; i < n_starts; i++)
    mix_tree(&h, starts[i]);
  return h;
}
