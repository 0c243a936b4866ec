/* Writes a certificate: the problem, the mapping with its value, and branches that bound all
 * mappings of the space. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/locale.h"
#include "model/cost/access.h"
#include "model/sparse/sparse.h"
#include "search/common/objective.h"
#include "search/proof/proof.h"

/* Gaps between the mapping's value and the bound to prove, tried in turn where neither the value
 * itself nor the known bound can be proved.  The last one needs no branch. */
static const double gaps[] = {1e-2, 5e-2, 0.2, INFINITY};
enum { BOXES_MOST = 4000000 };
/* Branches are to prove the value less this share, which allows for rounding. */
#define NEARLY 1e-9

typedef struct {
  tf_single_space space;
  double value;
  tf_p_text text;
} proof;

/* Whether the machine has features that certificates do not state. */
static bool has_unstated(const tf_arch *a, const tf_workload *wl) {
  bool beyond = tf_sparse_applies(a, wl);
  for (int l = 0; l < a->n_memories; l++) {
    const tf_memory *mem = &a->memories[l];
    beyond |=
        !tf_plain_access(mem) || mem->line || mem->leak_pj > 0 || mem->topology != TF_NO_TOPOLOGY;
  }
  for (int u = 0; u < a->n_units; u++)
    beyond |= a->units[u].leak_pj > 0;
  return beyond;
}

/* The space of the op; NULL with an error in d. */
static tf_x_template *space_of(const tf_arch *arch, const tf_workload *wl, tf_objective o,
                               tf_single_space *s, tf_diags *d) {
  const tf_x_shape alone = {.kind = TF_SEQ};
  if (has_unstated(arch, wl)) {
    tf_fail(d, wl->at, TF_E_LIMIT,
            "no certificate states leakage, whole accesses, energies of drains, networks with a "
            "topology or zeros: this  machine or workload has some");
    return NULL;
  }
  tf_x_template *t = wl->n_ops == 1 ? tf_x_template_new(arch, wl, &alone, d) : NULL;
  if (t && tf_single_space_of(t, o, s) && s->op.n_dims > 0) return t;
  if (!tf_diags_errors(d))
    tf_fail(d, wl->at, TF_E_LIMIT,
            "a certificate is of one op whose inputs differ and have plain indices, without mask "
            "or padding, with 1 to %d dims longer than 1, on 2 to %d memories: this is none",
            TF_SINGLE_DIMS, TF_SINGLE_TILES);
  tf_x_template_free(t);
  return NULL;
}

bool tf_certifiable(const tf_arch *arch, const tf_workload *wl, tf_diags *d) {
  TF_IN_C_LOCALE;
  tf_single_space s;
  tf_x_template *t = tf_no_views(wl, d) ? space_of(arch, wl, TF_LATENCY, &s, d) : NULL;
  tf_x_template_free(t);
  return t != NULL;
}

/* Evaluates the mapping; it must run on the unit of the space. */
static bool count(proof *p, const tf_tree *tree, tf_objective o, tf_diags *d) {
  tf_model *m = tf_model_new(tree, d);
  tf_result r;
  const bool ok = m && tf_model_eval(m, NULL, &r) && r.feasible &&
                  &p->space.op.arch->units[r.ops[0].unit] == p->space.op.unit;
  if (ok) {
    const tf_figures f = tf_figures_of(p->space.op.arch, p->space.t->facts->wl, &r);
    p->value = tf_p_value(o, f.cycles, f.energy_pj, f.traffic_words);
  } else if (!tf_diags_errors(d)) {
    tf_fail(d, (tf_loc){0}, TF_E_LIMIT,
            "the mapping does not fit, or runs on another unit than those of the space");
  }
  tf_model_free(m);
  return ok;
}

/* A lower bound without branches: each element passes one instance of the memory in which it lives
 * once, and each point takes a unit. */
static double trivial_bound(const tf_single_op *op, tf_objective o) {
  double units = 1, words = 0, pj = 0, cycles = 0;
  for (int l = 0; l < op->n_tiles; l++) {
    const tf_memory *m = &op->arch->memories[l];
    double read = 0, write = 0;
    for (int z = 0; z < op->n_tensors; z++) {
      if (op->tensor[z].home != l) continue;
      words += l ? 0 : op->tensor[z].words;
      *(op->tensor[z].made ? &write : &read) +=
          op->tensor[z].words * op->tensor[z].bits / m->word_bits;
    }
    units *= l ? (double)m->mesh[0] * (double)m->mesh[1] : 1;
    const double in = read / units / m->read_bw, out = write / units / m->write_bw;
    cycles = fmax(cycles, m->one_port ? in + out : fmax(in, out));
    pj += read * m->read_pj + write * m->write_pj;
  }
  units *= (double)op->unit->mesh[0] * (double)op->unit->mesh[1];
  return tf_p_value(o, fmax(op->points / units / op->unit->rate, cycles),
                    op->points * op->unit->pj + pj, words);
}

/* Writes a bound rounded down, so that the stated digits are not above it.  Where all tensors live
 * in inner memories, no words need pass the outermost one. */
static void put_bound(double bound, tf_p_text *out) {
  enum { DIGITS = 11 };
  if (bound <= 0) {
    tf_p_say(out, "bound 0\n");
    return;
  }
  const double up = bound * (1 + 1e-12), unit = pow(10, floor(log10(up)) + 1 - DIGITS);
  tf_p_say(out, "bound %.*g\n", DIGITS + 1, floor(up / unit) * unit);
}

/* Whether a permitted number of boxes proves that no mapping of the space is below the target. */
static bool reach(proof *p, const tf_certificate_opts *o, double target, tf_certificate *c,
                  tf_p_text *out) {
  tf_p_branches b = {.space = &p->space,
                     .objective = o->objective,
                     .budget = &o->budget,
                     .target = target * (1 - NEARLY),
                     .most = o->budget.max_evals ? o->budget.max_evals : BOXES_MOST,
                     .out = out};
  out->len = 0;
  tf_p_branch(&b);
  c->boxes += b.boxes;
  c->bound = b.least;
  return !b.failed || out->bad;
}

static void find_branches(proof *p, const tf_certificate_opts *o, tf_certificate *c,
                          tf_p_text *out) {
  const bool less = o->known > 0 && o->known < p->value * (1 - NEARLY);
  bool done = reach(p, o, less ? o->known : p->value, c, out);
  for (size_t i = 0; !done && i < sizeof gaps / sizeof *gaps; i++)
    if (!less || p->value / (1 + gaps[i]) < o->known)
      done = reach(p, o, p->value / (1 + gaps[i]), c, out);
}

static uint64_t digest(const tf_p_text *t) {
  uint64_t h = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < t->len; i++)
    h = (h ^ (unsigned char)t->text[i]) * UINT64_C(0x100000001b3);
  return h;
}

static bool write_certificate(proof *p, const tf_tree *tree, const tf_certificate_opts *opts,
                              tf_certificate *c) {
  const tf_objective o = opts->objective;
  tf_p_text branches = {0};
  find_branches(p, opts, c, &branches);
  tf_p_problem(&p->space, o, &p->text);
  tf_p_mapping(&p->space, tree, &p->text);
  tf_p_say(&p->text, "value %.10g\n", p->value);
  c->floor = trivial_bound(&p->space.op, o);
  tf_p_say(&p->text, "floor %.9g\n", c->floor);
  put_bound(c->bound, &p->text);
  const size_t len = p->text.len + branches.len;
  if (!p->text.bad && !branches.bad && p->text.room <= len)
    p->text.bad = !tf_grow_text(&p->text.text, &p->text.room, len + 1);
  if (!p->text.bad && !branches.bad && branches.len) {
    memcpy(p->text.text + p->text.len, branches.text, branches.len + 1);
    p->text.len = len;
  }
  p->text.bad |= branches.bad;
  free(branches.text);
  const uint64_t sum = digest(&p->text);
  tf_p_say(&p->text, "end %016llx\n", (unsigned long long)sum);
  return !p->text.bad;
}

bool tf_certify(const tf_tree *tree, const tf_certificate_opts *opts, tf_certificate *out,
                tf_diags *d) {
  TF_IN_C_LOCALE;
  proof p = {.value = 0};
  *out = (tf_certificate){0};
  tf_x_template *t = space_of(tree->arch, tree->workload, opts->objective, &p.space, d);
  bool ok = t && count(&p, tree, opts->objective, d);
  if (ok && !write_certificate(&p, tree, opts, out)) ok = tf_out_of_memory(d);
  tf_x_template_free(t);
  out->text = p.text.text;
  out->len = p.text.len;
  out->value = p.value;
  if (!ok) tf_certificate_free(out);
  return ok;
}

void tf_certificate_free(tf_certificate *c) {
  free(c->text);
  *c = (tf_certificate){0};
}
