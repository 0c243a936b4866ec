/* What the formats share: the architecture of version 0.2 and 0.3, projections, permutations. */
#include "model/import/common/writer.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "tileflow/tree.h"

void ex_file(ex_case *x, const char *name, tf_page *page) {
  x->bad |= page->bad || !page->text;
  x->out->file[x->out->n].name = name;
  x->out->file[x->out->n++].text = page->text;
}

/* ---- architecture ------------------------------------------------------------------- */
int ex_n_memories(const ex_case *x) { return x->unit->below + 1; }

int64_t ex_instances(const ex_case *x, int l, int side) {
  int64_t n[2] = {1, 1};
  for (int i = 0; i <= l; i++) {
    const int64_t *mesh = i < ex_n_memories(x) ? x->arch->memories[i].mesh : x->unit->mesh;
    n[0] *= mesh[0];
    n[1] *= mesh[1];
  }
  return side < 0 ? n[0] * n[1] : n[side];
}

static void write_name(const ex_case *x, int l, const char *name, const char *class, tf_page *p) {
  int64_t n = ex_instances(x, l, -1);
  tf_page_add(p, "    - name: %s", name);
  if (n > 1) tf_page_add(p, "[0..%" PRId64 "]", n - 1);
  tf_page_add(p, "\n      class: %s\n      attributes:\n", class);
  if (n > 1)
    tf_page_add(p, "        meshX: %" PRId64 "\n        meshY: %" PRId64 "\n",
                ex_instances(x, l, 0), ex_instances(x, l, 1));
}

double ex_elements(const ex_case *x, int l) {
  return (double)x->arch->memories[l].word_bits / x->arch->word_bits;
}

static void write_bandwidth(const ex_case *x, int l, tf_page *p) {
  const tf_memory *m = &x->arch->memories[l];
  const double k = ex_elements(x, l);
  if (m->one_port && isfinite(m->read_bw)) {
    tf_page_add(p, "        shared_bandwidth: %.17g\n", k * m->read_bw);
    return;
  }
  if (isfinite(m->read_bw)) tf_page_add(p, "        read_bandwidth: %.17g\n", k * m->read_bw);
  if (isfinite(m->write_bw)) tf_page_add(p, "        write_bandwidth: %.17g\n", k * m->write_bw);
}

/* Whole elements that the memory holds; a product past 64 bits is no size that anyone has. */
static int64_t elements_of(const ex_case *x, const tf_memory *m) {
  int64_t bits;
  return tf_mul(m->capacity_words, m->word_bits, &bits) ? bits / x->arch->word_bits
                                                        : m->capacity_words;
}

int64_t ex_block(const ex_case *x, int l) {
  const tf_memory *m = &x->arch->memories[l];
  const double k = ex_elements(x, l), block = (double)m->access * k;
  if (m->access <= 1 || block != floor(block) || block > INT32_MAX) return 1;
  return m->capacity_words < 0 || elements_of(x, m) % (int64_t)block == 0 ? (int64_t)block : 1;
}

static void write_memory(const ex_case *x, int l, bool sized, tf_page *p) {
  const tf_memory *m = &x->arch->memories[l];
  bool small = l == ex_n_memories(x) - 1 && m->capacity_words > 0 && m->capacity_words <= 512;
  write_name(x, l, m->name, l == 0 ? "DRAM" : small ? "regfile" : "SRAM", p);
  const int64_t block = ex_block(x, l);
  tf_page_add(
      p, "        word-bits: %d\n        width: %" PRId64 "\n        block-size: %" PRId64 "\n",
      x->arch->word_bits, block * x->arch->word_bits, block);
  if (m->capacity_words >= 0)
    tf_page_add(p, "        depth: %" PRId64 "\n", elements_of(x, m) / block);
  else if (sized && l == 0)
    tf_page_add(p, "        sizeKB: 1600000000\n"); /* TileFlow wants a size; its own files' */
  write_bandwidth(x, l, p);
}

/* ---- what the formats have no word for, and changes times and energies alone --------- */
/* A comment in the file, and a warning where it was written. */
static void lose(ex_case *x, tf_page *p, tf_loc at, const char *fmt, ...) TF_PRINTF(4, 5);
static void lose(ex_case *x, tf_page *p, tf_loc at, const char *fmt, ...) {
  char what[200];
  va_list ap;
  va_start(ap, fmt);
  vsnprintf(what, sizeof what, fmt, ap);
  va_end(ap);
  tf_page_add(p, "# not expressed: %s\n", what);
  tf_warn(x->diags, at, "not expressed: %s", what);
}

/* Both tools have units of one kind, which run every op. */
static void lose_units(ex_case *x, tf_page *p) {
  const tf_arch *a = x->arch;
  for (int i = 0; i < a->n_units; i++)
    if (&a->units[i] != x->unit)
      lose(x, p, a->units[i].at, "units '%.60s'; the format has one kind, and '%.60s' runs all ops",
           a->units[i].name, x->unit->name);
  if (x->unit->rate < 1 || x->unit->rate > 1)
    lose(x, p, x->unit->at, "rate %g of '%.60s'", x->unit->rate, x->unit->name);
  if (x->unit->pipeline > 0) lose(x, p, x->unit->at, "pipeline of '%.60s'", x->unit->name);
}

static void lose_memory(ex_case *x, tf_page *p, int i) {
  const tf_memory *m = &x->arch->memories[i];
  if (i >= ex_n_memories(x)) lose(x, p, m->at, "memory '%.60s', below the units", m->name);
  if (m->latency > 0 || m->issue > 0) lose(x, p, m->at, "latency and issue of '%.60s'", m->name);
  if (m->access > 1 && ex_block(x, i) == 1) lose(x, p, m->at, "access of '%.60s'", m->name);
  if (m->topology != TF_NO_TOPOLOGY)
    lose(x, p, m->at, "topology of the network of '%.60s'", m->name);
  if (m->peers) lose(x, p, m->at, "peers of the network of '%.60s'", m->name);
  if (m->hop_pj > 0) lose(x, p, m->at, "energy-per-hop of '%.60s'", m->name);
}

static void say_losses(ex_case *x, tf_page *p) {
  static const char *const overlap[] = {
      [TF_OVERLAP_DOUBLE_BUFFER] = "double-buffer", [TF_OVERLAP_NONE] = "none"};
  const tf_arch *a = x->arch;
  if (a->overlap != TF_OVERLAP_PERFECT) lose(x, p, a->at, "overlap: %s", overlap[a->overlap]);
  lose_units(x, p);
  for (int i = 0; i < a->n_memories; i++)
    lose_memory(x, p, i);
}

void ex_architecture(ex_case *x, const char *version, tf_page *p) {
  tf_page_add(p, "# Written by tileflow export: architecture %s.\n", x->arch->name);
  say_losses(x, p);
  tf_page_add(p, "architecture:\n  version: %s\n  subtree:\n  - name: system\n    local:\n",
              version);
  for (int l = 0; l < ex_n_memories(x); l++)
    write_memory(x, l, !strcmp(version, "0.2"), p);
  write_name(x, ex_n_memories(x), x->unit->name, "intmac", p);
  tf_page_add(p, "        word-bits: %d\n", x->arch->word_bits);
}

/* ---- indices and loops -------------------------------------------------------------- */
static bool check_index(ex_case *x, const tf_tensor *t, const tf_ref *ref, int r) {
  const tf_index *index = &ref->index[r];
  if (t->lo[r] && !t->pad[r])
    return tf_fail(x->diags, ref->at, TF_E_INDEX,
                   "rank %d of '%.60s' begins at coordinate %lld: the format begins at 0", r,
                   t->name, (long long)t->lo[r]);
  if (t->pad[r])
    return tf_fail(x->diags, ref->at, TF_E_INDEX,
                   "'%.60s' is read outside its extents: the format has no padding", t->name);
  if (index->c)
    return tf_fail(x->diags, ref->at, TF_E_INDEX,
                   "rank %d of '%.60s' is indexed with a constant: the format has none", r,
                   t->name);
  if (index->n_terms < 1 || index->n_terms > EX_MOST_TERMS)
    return tf_fail(x->diags, ref->at, TF_E_INDEX,
                   "rank %d of '%.60s' is indexed with %d dims: the format has 1 to %d", r, t->name,
                   index->n_terms, EX_MOST_TERMS);
  for (int i = 0; i < index->n_terms; i++)
    if (index->terms[i].coef < 1)
      return tf_fail(x->diags, ref->at, TF_E_INDEX,
                     "rank %d of '%.60s' has a negative coefficient: the format has none", r,
                     t->name);
  return true;
}

bool ex_projection(ex_case *x, const tf_tensor *t, const tf_ref *ref, const char *indent,
                   tf_page *p) {
  bool ok = true;
  tf_page_add(p, "%sprojection:%s\n", indent, t->rank ? "" : " []");
  for (int r = 0; r < t->rank; r++) {
    const tf_index *index = &ref->index[r];
    ok &= check_index(x, t, ref, r);
    tf_page_add(p, "%s- [", indent);
    for (int i = 0; i < index->n_terms; i++) {
      tf_page_add(p, "%s[%s", i ? ", " : "", x->wl->dims[index->terms[i].dim].name);
      if (index->terms[i].coef != 1) tf_page_add(p, ", times%" PRId64, index->terms[i].coef);
      tf_page_add(p, "]");
    }
    tf_page_add(p, "]\n");
  }
  return ok;
}

void ex_coefficients(const ex_case *x, const tf_op *op, const char *indent, tf_page *p) {
  int64_t done[64];
  int n = 0;
  for (int i = 0; i < op->n_reads; i++)
    for (int r = 0; r < x->wl->tensors[op->reads[i].tensor].rank; r++)
      for (int t = 0; t < op->reads[i].index[r].n_terms; t++) {
        int64_t coef = op->reads[i].index[r].terms[t].coef;
        bool seen = coef == 1;
        for (int k = 0; k < n; k++)
          seen |= done[k] == coef;
        if (seen || n == 64) continue;
        if (n == 0) tf_page_add(p, "%scoefficients:\n", indent);
        tf_page_add(p, "%s- {name: times%" PRId64 ", default: %" PRId64 "}\n", indent, coef, coef);
        done[n++] = coef;
      }
}

void ex_permutation(const ex_case *x, const tf_loop *loops, int n, const int *dims, int n_dims,
                    tf_page *p) {
  bool letters = true;
  int written = 0;
  for (int i = 0; i < n_dims; i++)
    letters &= strlen(x->wl->dims[dims[i]].name) == 1;
  tf_page_add(p, letters ? "" : "[");
  for (int i = n - 1; i >= 0; i--)
    tf_page_add(p, "%s%s", written++ && !letters ? ", " : "", x->wl->dims[loops[i].dim].name);
  for (int i = 0; i < n_dims; i++) {
    bool there = false;
    for (int k = 0; k < n; k++)
      there |= loops[k].dim == dims[i];
    if (!there)
      tf_page_add(p, "%s%s", written++ && !letters ? ", " : "", x->wl->dims[dims[i]].name);
  }
  tf_page_add(p, letters ? "" : "]");
}
