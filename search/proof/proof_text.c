/* A certificate's problem and mapping. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "search/proof/proof.h"

void tf_p_say(tf_p_text *t, const char *fmt, ...) {
  enum { LONGEST = 1024 };
  va_list list;
  if (!t->bad && t->room < t->len + LONGEST)
    t->bad = !tf_grow_text(&t->text, &t->room, t->len + LONGEST);
  if (t->bad) return;
  va_start(list, fmt);
  const int n = vsnprintf(t->text + t->len, t->room - t->len, fmt, list);
  va_end(list);
  if (n > 0) t->len += (size_t)n;
}

static const char *yes(bool b) { return b ? "yes" : "no"; }

static void put_number(const char *key, double v, tf_p_text *out) {
  if (isinf(v))
    tf_p_say(out, " %s none", key);
  else
    tf_p_say(out, " %s %.15g", key, v);
}

/* Facts that do not affect the objective are left out. */
static bool timed(tf_objective o) { return o == TF_LATENCY || o == TF_EDP; }
static bool powered(tf_objective o) { return o == TF_ENERGY || o == TF_EDP; }

static void put_part(const tf_mem_part *p, tf_p_text *out) {
  static const char *const role[] = {
      [TF_ROLE_LEFT] = "left", [TF_ROLE_RIGHT] = "right", [TF_ROLE_RESULT] = "result"};
  tf_p_say(out, "part %s bits %d capacity %lld twice %s holds", p->name,
           p->word_bits > 1 ? p->word_bits : 1, (long long)p->capacity_words,
           yes(p->double_buffered));
  for (int r = 0; r < TF_N_ROLES; r++)
    if (p->roles >> r & 1) tf_p_say(out, " %s", role[r]);
  tf_p_say(out, "\n");
}

static void put_memory(const tf_memory *m, tf_objective o, tf_p_text *out) {
  tf_p_say(out, "memory %s mesh %lld %lld multicast %s reduce %s bits %d capacity ", m->name,
           (long long)m->mesh[0], (long long)m->mesh[1], yes(m->multicast), yes(m->reduce),
           m->word_bits);
  if (m->capacity_words < 0)
    tf_p_say(out, "none");
  else
    tf_p_say(out, "%lld", (long long)m->capacity_words);
  tf_p_say(out, " twice %s", yes(m->double_buffered));
  if (timed(o)) {
    tf_p_say(out, " ports %s", m->one_port ? "one" : "two");
    put_number("read", m->read_bw, out);
    put_number("write", m->write_bw, out);
    put_number("latency", m->latency, out);
    put_number("issue", m->issue, out);
  }
  if (powered(o)) {
    put_number("read-pj", m->read_pj, out);
    put_number("write-pj", m->write_pj, out);
    put_number("hop-pj", m->hop_pj, out);
  }
  tf_p_say(out, "\n");
  for (int i = 0; i < m->parts.n; i++)
    put_part(&m->parts.list[i], out);
}

static void put_unit(const tf_unit *u, tf_objective o, tf_p_text *out) {
  tf_p_say(out, "unit %s mesh %lld %lld multicast %s reduce %s", u->name, (long long)u->mesh[0],
           (long long)u->mesh[1], yes(u->multicast), yes(u->reduce));
  if (timed(o)) put_number("rate", u->rate, out);
  if (timed(o)) put_number("pipeline", u->pipeline, out);
  if (powered(o)) put_number("pj", u->pj, out);
  tf_p_say(out, "\n");
}

static const tf_dim *dim_of(const tf_single_space *s, int d) {
  return &s->t->facts->wl->dims[s->t->tiles[0].dims[d]];
}

const tf_tensor *tf_p_tensor(const tf_single_space *s, int z) {
  const tf_op *o = &s->t->facts->wl->ops[0];
  return &s->t->facts->wl->tensors[z ? o->reads[z - 1].tensor : o->out];
}

void tf_p_problem(const tf_single_space *s, tf_objective objective, tf_p_text *out) {
  static const char *const overlap[] = {[TF_OVERLAP_PERFECT] = "perfect",
                                        [TF_OVERLAP_DOUBLE_BUFFER] = "double-buffer",
                                        [TF_OVERLAP_NONE] = "none"};
  tf_p_say(out, "tileflow-certificate 2\nobjective %s\n", tf_objective_key((int)objective));
  if (timed(objective)) tf_p_say(out, "overlap %s\n", overlap[s->op.arch->overlap]);
  for (int l = 0; l < s->op.n_tiles; l++)
    put_memory(&s->op.arch->memories[l], objective, out);
  put_unit(s->op.unit, objective, out);
  for (int d = 0; d < s->op.n_dims; d++)
    tf_p_say(out, "dim %s %lld\n", dim_of(s, d)->name, (long long)dim_of(s, d)->extent);
  for (int z = 0; z < s->op.n_tensors; z++) {
    const tf_tensor *t = tf_p_tensor(s, z);
    const int home = s->op.tensor[z].home;
    tf_p_say(out, "%s %s bits %d", s->op.tensor[z].made ? "output" : "input", t->name,
             t->word_bits);
    if (home) tf_p_say(out, " home %s", s->op.arch->memories[home].name);
    tf_p_say(out, " index");
    for (int d = 0; d < s->op.n_dims; d++)
      if (s->op.tensor[z].dims >> d & 1) tf_p_say(out, " %s", dim_of(s, d)->name);
    tf_p_say(out, "\n");
  }
}

/* The trip count of a loop without the steps that would begin beyond the end of the dim, which
 * change nothing. */
static int64_t real_trip(const tf_tree *tree, int node, int k) {
  const int dim = tree->nodes[node].loops[k].dim;
  const int64_t extent = tree->workload->dims[dim].extent, trip = tree->nodes[node].loops[k].trip;
  int64_t step = 1;
  for (int n = tree->n_nodes - 1; n >= node; n--)
    for (int i = tree->nodes[n].kind == TF_TILE ? tree->nodes[n].n_loops : 0;
         i-- > (n == node ? k + 1 : 0);)
      if (tree->nodes[n].loops[i].dim == dim && step < extent) step *= tree->nodes[n].loops[i].trip;
  const int64_t most = step < extent ? (extent + step - 1) / step : 1;
  return trip < most ? trip : most;
}

void tf_p_mapping(const tf_single_space *s, const tf_tree *tree, tf_p_text *out) {
  static const char *const axis[] = {
      [TF_TEMPORAL] = "", [TF_SPATIAL_X] = "@x", [TF_SPATIAL_Y] = "@y"};
  for (int n = 0; n < tree->n_nodes && tree->nodes[n].kind == TF_TILE; n++) {
    const tf_node *t = &tree->nodes[n];
    tf_p_say(out, "tile %s", s->op.arch->memories[t->level].name);
    for (int i = 0; i < t->n_bypass; i++)
      tf_p_say(out, "%s %s", i ? "" : " bypass", tree->workload->tensors[t->bypass[i].tensor].name);
    tf_p_say(out, " for");
    for (int i = 0; i < t->n_loops; i++)
      if (real_trip(tree, n, i) > 1)
        tf_p_say(out, " %s=%lld%s", tree->workload->dims[t->loops[i].dim].name,
                 (long long)real_trip(tree, n, i), axis[t->loops[i].axis]);
    tf_p_say(out, "\n");
  }
}
