#include "tests/oracle/gen.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const gen_feature_name[GEN_N] = {"spatial loops",
                                             "partial tiles",
                                             "bypass",
                                             "keep",
                                             "retain",
                                             "stream",
                                             "nested scopes",
                                             "padding",
                                             "Para",
                                             "Pipe",
                                             "Shar",
                                             "Seq",
                                             "networks off",
                                             "overlap perfect",
                                             "double-buffer",
                                             "overlap none",
                                             "latency, issue",
                                             "pipeline",
                                             "kinds of unit",
                                             "meshes of one",
                                             "scope at the root",
                                             "other word-bits",
                                             "masks",
                                             "free",
                                             "spelled",
                                             "indices that divide",
                                             "energies given",
                                             "energy per hop",
                                             "outermost bounded",
                                             "homes",
                                             "parts",
                                             "peers"};

void page_say(page *p, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(p->text + p->len, sizeof p->text - p->len, fmt, ap);
  va_end(ap);
  p->len += n > 0 ? (size_t)n : 0;
}

int rng_between(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

bool rng_chance(tf_rng *g, int n) { return tf_rng_below(g, (uint32_t)n) == 0; }

bool gen_wide;

int gen_extent(tf_rng *g, int most) {
  if (!gen_wide) return rng_between(g, 1, most);
  return rng_chance(g, 3) ? rng_between(g, 15, 21) : rng_between(g, 1, most < 3 ? most : 3);
}

/* ---- mappings ------------------------------------------------------------------------------- */

enum { MAX_OPS = 16, MAX_DIMS = 12 };

typedef struct {
  tf_rng *g;
  page *p;
  const tf_arch *arch;
  const tf_workload *wl;
  unsigned *features;
  int64_t len[MAX_OPS][MAX_DIMS]; /* what is left of each op's dims */
  int must[MAX_OPS];              /* a level that the op's Tiles must pass, 0: none */
  bool stream, far, masked;
} maker;

static bool op_has(const tf_op *op, int dim) {
  for (int i = 0; i < op->n_dims; i++)
    if (op->dims[i] == dim) return true;
  return false;
}

static bool reads(const tf_op *op, int z) {
  for (int i = 0; i < op->n_reads; i++)
    if (op->reads[i].tensor == z) return true;
  return false;
}

static bool leads_in(const maker *k, int op, const int *ops, int n) {
  for (int i = 0; i < n; i++)
    if (reads(&k->wl->ops[ops[i]], k->wl->ops[op].out)) return false;
  return true;
}

/* Whether a loop on dim may stand above these ops: all that lead have it.  Now and then anything
 * goes; the tree's own rules refuse it, or not. */
static bool may_loop(const maker *k, int dim, const int *ops, int n) {
  bool any = false;
  for (int i = 0; i < n; i++) {
    if (!leads_in(k, ops[i], ops, n)) continue;
    if (!op_has(&k->wl->ops[ops[i]], dim)) return false;
    any = true;
  }
  return any;
}

/* What an index reaches while its op's lengths are len, from 0 on; all of both where they turn
 * differently. */
static void reach(const tf_index *ix, const int64_t *len, const tf_index **first, int64_t *lo,
                  int64_t *hi) {
  int64_t from = ix->c, to = ix->c;
  bool alike = !*first || (*first)->n_terms == ix->n_terms;
  for (int t = 0; t < ix->n_terms; t++) {
    int64_t far = ix->terms[t].coef * (len[ix->terms[t].dim] - 1);
    *(far < 0 ? &from : &to) += far;
    alike = alike && (!*first || (*first)->terms[t].coef == ix->terms[t].coef);
  }
  *lo = !*first || from < *lo ? from : *lo;
  *hi = !*first || to > *hi ? to : *hi;
  *hi += alike ? 0 : 1000;
  *first = ix;
}

/* Lengths of what producers make for consumers whose lengths are set. */
static void infer(maker *k, const int *ops, int n) {
  for (int i = n - 1; i >= 0; i--) {
    const tf_op *op = &k->wl->ops[ops[i]];
    for (int d = 0; d < op->n_out_dims; d++) {
      const tf_index *first = NULL;
      int64_t lo = 0, hi = 0, *len = &k->len[ops[i]][op->dims[d]];
      for (int c = 0; c < n; c++)
        for (int r = 0; r < k->wl->ops[ops[c]].n_reads; r++)
          if (k->wl->ops[ops[c]].reads[r].tensor == op->out)
            reach(&k->wl->ops[ops[c]].reads[r].index[d], k->len[ops[c]], &first, &lo, &hi);
      if (first && hi - lo + 1 < *len) *len = hi - lo + 1;
    }
  }
}

/* A trip count for what is left of a range: `all` of it, or some; now and then past it. */
static int64_t trip_for(maker *k, int64_t len, bool all) {
  if (len <= 1) return all || !rng_chance(k->g, 12) ? 1 : 2;
  if (gen_wide && len > 16 && rng_chance(k->g, 2)) return len;
  int64_t t = all ? len : rng_between(k->g, 1, (int)len);
  if (!all && rng_chance(k->g, 2))
    while (len % t)
      t--;
  return all && rng_chance(k->g, 12) ? t + 1 : t;
}

static int64_t up(int64_t a, int64_t b) { return (a + b - 1) / b; }

/* One Tile over ops, which takes `all` that is left or a part of it; `first`: the first of its
 * level. */
static void tile(maker *k, int indent, int level, bool first, const int *ops, int n, bool all) {
  char spatial[256] = "";
  bool any = false;
  page_say(k->p, "  %*sL%d", indent, "", level);
  bool streamed = k->stream && n == k->wl->n_ops;
  int turn = streamed ? 0 : rng_between(k->g, 0, k->wl->n_dims - 1);
  for (int i = 0; i < k->wl->n_dims; i++) {
    int d = (turn + i) % k->wl->n_dims;
    int64_t len = 0;
    if (!may_loop(k, d, ops, n) || (streamed && *k->wl->dims[d].name == 'n') ||
        (!all && rng_chance(k->g, 3)))
      continue;
    for (int o = 0; o < n; o++)
      if (leads_in(k, ops[o], ops, n) && k->len[ops[o]][d] > len) len = k->len[ops[o]][d];
    int64_t trip = trip_for(k, len, all);
    if (trip == 1 && !rng_chance(k->g, 8)) continue;
    *k->features |= len % trip ? 1u << GEN_PARTIAL : 0;
    for (int o = 0; o < n; o++)
      if (leads_in(k, ops[o], ops, n)) k->len[ops[o]][d] = up(k->len[ops[o]][d], trip);
    const bool handing = *k->features >> GEN_PEERS & 1;
    if (trip > 1 && (gen_wide || trip <= (handing ? 6 : 4)) &&
        rng_chance(k->g, handing || gen_wide ? 2 : 3)) {
      size_t at = strlen(spatial);
      snprintf(spatial + at, sizeof spatial - at, " %s=%d@%c", k->wl->dims[d].name, (int)trip,
               rng_chance(k->g, 2) ? 'x' : 'y');
      *k->features |= 1u << GEN_SPATIAL;
    } else {
      page_say(k->p, "%s %s=%d", any ? "" : " for", k->wl->dims[d].name, (int)trip);
      any = true;
    }
  }
  page_say(k->p, "%s%s", *spatial ? " spatial" : "", spatial);
  if (level && first && rng_chance(k->g, 6)) {
    const tf_op *op = &k->wl->ops[ops[rng_between(k->g, 0, n - 1)]];
    int z = rng_chance(k->g, 2) && op->n_reads
                ? op->reads[rng_between(k->g, 0, op->n_reads - 1)].tensor
                : op->out;
    page_say(k->p, " bypass %s", k->wl->tensors[z].name);
    *k->features |= 1u << GEN_BYPASS;
  }
  page_say(k->p, "\n");
  infer(k, ops, n);
}

/* The memory above the first unit that runs the op; or the furthest in of all that do. */
static int deepest(const maker *k, int op) {
  int last = -1;
  for (int u = 0; u < k->arch->n_units && k->far; u++)
    if (!(k->wl->ops[op].kinds & ~k->arch->units[u].kinds) && k->arch->units[u].below > last)
      last = k->arch->units[u].below;
  for (int u = 0; last < 0 && u < k->arch->n_units; u++)
    if (!(k->wl->ops[op].kinds & ~k->arch->units[u].kinds)) last = k->arch->units[u].below;
  return last < 0 ? k->arch->n_memories - 1 : last;
}

/* One op's own Tiles from `level` inwards; `above`: the last level that a Tile above has, -1. */
static void nest(maker *k, int indent, int level, int above, int op) {
  int last = deepest(k, op), n = rng_between(k->g, 1, 3), levels[4], at = level;
  for (int i = 0; i < n; i++)
    levels[i] = at = at < last ? rng_between(k->g, at, last) : at;
  if (k->must[op] > level && k->must[op] <= last) {
    int i = 0;
    while (i < n && levels[i] < k->must[op])
      i++;
    memmove(&levels[i + 1], &levels[i], (size_t)(n - i) * sizeof levels[0]);
    levels[i] = k->must[op];
    n++;
  }
  for (int i = 0; i < n; above = levels[i], i++, indent += 2)
    tile(k, indent, levels[i], levels[i] != above, &op, 1, i == n - 1);
  page_say(k->p, "  %*sop %s\n", indent, "", k->wl->ops[op].name);
}

/* Children of a scope: ops [at[i], at[i + 1]). */
typedef struct {
  int n, at[MAX_OPS + 1];
} parts;

static parts cut(maker *k, int n) {
  parts c = {.n = 0};
  bool apart = rng_chance(k->g, 2) || n == 2 || (k->stream && n == k->wl->n_ops);
  for (int from = 0; from < n;) {
    int most = from == 0 ? n - 1 : n - from;
    c.at[c.n++] = from;
    from += apart ? 1 : rng_between(k->g, 1, most);
  }
  c.at[c.n] = n;
  return c;
}

/* Whether op ops[i]'s output is read in another child than its own, and in no other scope. */
static bool at_home(const maker *k, const int *ops, const parts *c, int i) {
  int z = k->wl->ops[ops[i]].out, readers = 0;
  bool other = false;
  for (int part = 0; part < c->n; part++)
    for (int j = c->at[part]; j < c->at[part + 1]; j++)
      if (reads(&k->wl->ops[ops[j]], z)) {
        readers++;
        other |= i < c->at[part] || i >= c->at[part + 1];
      }
  return other && readers == k->wl->tensors[z].n_consumers;
}

static bool independent(const maker *k, const int *ops, const parts *c) {
  for (int i = 0; i < c->at[c->n]; i++)
    if (!leads_in(k, ops[i], ops, c->at[c->n])) return false;
  return true;
}

/* All reductions over the keys. */
static void say_streamed(const maker *k) {
  for (int o = 0; o < k->wl->n_ops; o++) {
    const tf_op *op = &k->wl->ops[o];
    for (int d = op->n_out_dims; d < op->n_dims; d++)
      if (!strcmp(k->wl->dims[op->dims[d]].name, "l"))
        page_say(k->p, " %s", k->wl->tensors[op->out].name);
  }
}

/* What the scope over these ops says of its intermediates. */
static void scope_line(maker *k, int indent, int level, const int *ops, const parts *c, bool top) {
  static const char *const name[] = {"Seq", "Shar", "Pipe", "Para"};
  static const gen_feature feature[] = {GEN_SEQ, GEN_SHAR, GEN_PIPE, GEN_PARA};
  char keep[128] = "", retain[128] = "";
  int kind = independent(k, ops, c) && rng_chance(k->g, 2) ? 3 : rng_between(k->g, 0, 4);
  kind = (k->stream && top) || kind == 4 || (kind == 3 && !independent(k, ops, c)) ? 0 : kind;
  *k->features |= 1u << feature[kind];
  for (int i = 0; i < c->at[c->n]; i++) {
    int z = k->wl->ops[ops[i]].out;
    if (!at_home(k, ops, c, i)) continue;
    if (rng_chance(k->g, kind == 2 ? 2 : 5) && level + 1 < k->arch->n_memories) {
      int to = rng_between(k->g, level + 1, k->arch->n_memories - 1);
      snprintf(keep + strlen(keep), sizeof keep - strlen(keep), " %s@L%d", k->wl->tensors[z].name,
               to);
      for (int j = 0; j < c->at[c->n]; j++)
        if (ops[j] == ops[i] || reads(&k->wl->ops[ops[j]], z)) k->must[ops[j]] = to;
      *k->features |= 1u << GEN_KEEP;
    }
    const bool streams = k->stream && top && k->wl->ops[ops[i]].reduce != TF_ASSIGN;
    /* seldom: what retains leaves no step out, and must not be streamed */
    if (rng_chance(k->g, k->masked ? 30 : streams ? 24 : 3)) {
      snprintf(retain + strlen(retain), sizeof retain - strlen(retain), " %s",
               k->wl->tensors[z].name);
      *k->features |= 1u << GEN_RETAIN;
    }
  }
  page_say(k->p, "  %*s%s%s%s%s%s%s", indent, "", name[kind], *keep ? " keep" : "", keep,
           *retain ? " retain" : "", retain, k->stream && top ? " stream" : "");
  if (k->stream && top) say_streamed(k);
  page_say(k->p, "\n");
  if (k->stream && top) *k->features |= 1u << GEN_STREAM;
}

static void group(maker *k, int indent, int level, int above, const int *ops, int n, int depth) {
  if (n == 1) {
    nest(k, indent, level, above, ops[0]);
    return;
  }
  int tiles = rng_between(k->g, depth || rng_chance(k->g, 4) ? 0 : 1, 2),
      last = k->arch->n_memories - 1;
  for (int i = 0; i < n; i++)
    last = deepest(k, ops[i]) < last ? deepest(k, ops[i]) : last;
  for (int i = 0; i < tiles; i++, indent += 2) {
    level = rng_between(k->g, level, level + 1 < last ? level + 1 : last);
    tile(k, indent, level, level != above, ops, n, false);
    above = level;
  }
  parts c = cut(k, n);
  *k->features |= above < 0 ? 1u << GEN_ROOT : 0;
  scope_line(k, indent, level, ops, &c, depth == 0);
  *k->features |= depth ? 1u << GEN_NESTED : 0;
  int64_t saved[MAX_OPS][MAX_DIMS];
  memcpy(saved, k->len, sizeof saved);
  for (int i = 0; i < c.n; i++) {
    memcpy(k->len, saved, sizeof saved);
    group(k, indent + 2, level, above, ops + c.at[i], c.at[i + 1] - c.at[i], depth + 1);
  }
}

static void mapping(maker *k) {
  int ops[MAX_OPS];
  for (int i = 0; i < k->wl->n_ops; i++) {
    ops[i] = k->wl->topo[i];
    for (int d = 0; d < k->wl->n_dims; d++)
      k->len[i][d] = k->wl->dims[d].extent;
  }
  page_say(k->p, "mapping: |\n");
  if (k->wl->n_ops == 1 || !rng_chance(k->g, 12))
    group(k, 0, 0, -1, ops, k->wl->n_ops, 0);
  else
    group(k, 0, 0, -1, ops, k->wl->n_ops, 1);
}

/* What of the machine was drawn. */
static void note_machine(const tf_arch *a, unsigned *features) {
  *features |= 1u << (GEN_PERFECT + (int)a->overlap);
  *features |= a->memories[0].capacity_words >= 0 ? 1u << GEN_OUTER_CAPACITY : 0;
  for (int l = 0; l < a->n_memories; l++) {
    const tf_memory *m = &a->memories[l];
    *features |= m->multicast && m->reduce ? 0 : 1u << GEN_NO_NETWORK;
    *features |= l && m->latency + m->issue > 0 ? 1u << GEN_LATENCY : 0;
    *features |= m->word_bits != a->word_bits ? 1u << GEN_BITS : 0;
    *features |= m->energy_from_table ? 0 : 1u << GEN_ENERGY;
    *features |= m->hop_pj > 0 ? 1u << GEN_HOPS : 0;
  }
  for (int u = 0; u < a->n_units; u++)
    *features |= a->units[u].pipeline > 0 ? 1u << GEN_PIPELINE : 0;
}

/* Gives inputs and outputs homes further in: one in two, each in any memory. */
static void draw_homes(tf_rng *g, page *p, const tf_arch *arch, const tf_workload *wl) {
  bool any = false;
  for (int z = 0; z < wl->n_tensors && arch->n_memories > 1; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if ((t->producer >= 0 && t->n_consumers) || rng_chance(g, 2)) continue;
    page_say(p, "%s  %s: L%d\n", any ? "" : "home:\n", t->name,
             rng_between(g, 1, arch->n_memories - 1));
    any = true;
  }
}

/* The ranks of a tensor in any order, some of them cut in two. */
static void draw_layout(tf_rng *g, page *p, const tf_tensor *t) {
  struct {
    int rank, by;
    char how;
  } part[2 * 16];
  int n = 0;
  for (int r = 0; r < t->rank; r++) {
    const int by = rng_chance(g, 3) ? rng_between(g, 1, 5) : 0;
    part[n].rank = r, part[n].by = by, part[n++].how = by ? '/' : 0;
    if (by) part[n].rank = r, part[n].by = by, part[n++].how = '%';
  }
  page_say(p, "%s: [", t->name);
  for (int i = 0; i < n; i++) {
    const int k = rng_between(g, i, n - 1);
    page_say(p, part[k].how ? "%s%d%c%d" : "%s%d", i ? ", " : "", part[k].rank, part[k].how,
             part[k].by);
    part[k] = part[i];
  }
  page_say(p, "]");
}

/* Says how tensors lie in memories with lines: one in two. */
static void draw_layouts(tf_rng *g, page *p, const tf_arch *arch, const tf_workload *wl) {
  bool any = false;
  for (int l = 0; l < arch->n_memories; l++) {
    if (!arch->memories[l].line) continue;
    page_say(p, "%s  L%d: {", any ? "" : "layout:\n", l);
    any = true;
    bool some = false;
    for (int z = 0; z < wl->n_tensors; z++) {
      if (rng_chance(g, 2) || !wl->tensors[z].rank) continue;
      page_say(p, "%s", some ? ", " : "");
      draw_layout(g, p, &wl->tensors[z]);
      some = true;
    }
    page_say(p, "}\n");
  }
}

static tf_spec *read_page(const page *p, tf_diags *d) {
  const tf_text t = {"case", p->text, p->len};
  return tf_spec_read_texts(&t, 1, NULL, 0, d);
}

/* ---- numbers -------------------------------------------------------------------------------- */

enum { MOST_NUMBERS = 4 };

int gen_numbers_in;

static void say_output(page *p, const tf_workload *wl, const tf_op *op) {
  page_say(p, "[");
  for (int d = 0; d < op->n_out_dims; d++)
    page_say(p, d ? ",%s" : "%s", wl->dims[op->dims[d]].name);
  page_say(p, "]");
}

/* A read of a number: one made by an op before the i-th, or an input. */
static void read_number(tf_rng *g, page *p, int i) {
  if (i && !rng_chance(g, 3))
    page_say(p, "Num%d[]", rng_between(g, 0, i - 1));
  else
    page_say(p, "Giv%d[]", rng_between(g, 0, 1));
}

/* The i-th op with numbers: makes one of others or of what some op makes, or reads one. */
static void number_op(tf_rng *g, page *p, const tf_workload *wl, int i, bool last) {
  const tf_op *op = &wl->ops[rng_between(g, 0, wl->n_ops - 1)];
  for (int n = 0; n < wl->n_ops && wl->tensors[op->out].n_consumers && !rng_chance(g, 4); n++)
    op = &wl->ops[rng_between(g, 0, wl->n_ops - 1)];
  const int what = rng_between(g, 0, last ? 4 : 2);
  const char *dim = wl->dims[rng_between(g, 0, wl->n_dims - 1)].name;
  page_say(p, what > 2 ? "  - \"Val%d" : "  - \"Num%d", i);
  if (what == 3) say_output(p, wl, op);
  if (what == 4) page_say(p, "[%s]", dim);
  if (what <= 2) page_say(p, "[]");
  page_say(p, what == 2 ? rng_chance(g, 2) ? " += " : " max= " : " = ");
  if (what == 1) page_say(p, "max(");
  if (what == 4) page_say(p, "Row%d[%s] + ", i, dim);
  if (what == 2 || what == 3) {
    page_say(p, "%s", wl->tensors[op->out].name);
    say_output(p, wl, op);
    page_say(p, what == 3 ? " * " : "");
  }
  if (what != 2) read_number(g, p, i);
  page_say(p, what == 0 ? " * 2" : what == 1 ? ", 0)" : "");
  page_say(p, "\"\n");
}

/* One op also multiplies by a number: what selects stays as it is. */
static void times_number(tf_rng *g, page *p, int n_ops) {
  page tail = {.len = 0};
  char *at = strstr(p->text, "  ops:\n");
  for (int n = rng_between(g, 0, n_ops - 1); at && n >= 0; n--)
    at = strstr(at + 1, "\n  - \"");
  char *end = at ? strchr(at + 1, '\n') : NULL;
  if (!end || end[-1] != '"' || (strstr(at, "select") && strstr(at, "select") < end)) return;
  page_say(&tail, "%s", end - 1);
  p->len = (size_t)(end - 1 - p->text);
  page_say(p, " * %s[]%s", rng_chance(g, 2) ? "Num0" : "Giv0", tail.text);
}

/* Adds ops without dims, and reads of numbers, unless the workload is refused with them. */
static void draw_numbers(tf_rng *g, page *p, const tf_workload *wl) {
  const page before = *p;
  const int n = rng_between(g, 1, MOST_NUMBERS);
  for (int i = 0, ended = 0; i < n && !ended; i++) {
    ended = i + 1 == n;
    number_op(g, p, wl, i, ended);
  }
  if (rng_chance(g, 3)) times_number(g, p, wl->n_ops);
  tf_diags *d = tf_diags_new();
  tf_spec *spec = read_page(p, d);
  if (!spec || !spec->workload) *p = before;
  tf_spec_free(spec);
  tf_diags_free(d);
}

/* ---- cases ---------------------------------------------------------------------------------- */

void gen_layouts(tf_rng *g, page *p) {
  tf_diags *d = tf_diags_new();
  tf_spec *spec = read_page(p, d);
  if (spec && spec->arch && spec->workload) draw_layouts(g, p, spec->arch, spec->workload);
  tf_spec_free(spec);
  tf_diags_free(d);
}

/* Ops that touch what lives in a memory pass a Tile of it. */
static void must_pass(maker *k) {
  for (int o = 0; o < k->wl->n_ops; o++)
    for (int z = 0; z < k->wl->n_tensors; z++)
      if (k->wl->ops[o].out == z || reads(&k->wl->ops[o], z)) {
        const int home = tf_arch_home(k->arch, &k->wl->tensors[z]);
        if (home > k->must[o]) k->must[o] = home;
      }
}

bool gen_mapping(tf_rng *g, page *p, unsigned *features) {
  tf_diags *d = tf_diags_new();
  tf_spec *spec = read_page(p, d);
  const bool ok = spec && spec->workload && spec->arch;
  if (ok) {
    maker k = {.g = g,
               .p = p,
               .arch = spec->arch,
               .wl = spec->workload,
               .features = features,
               .far = rng_chance(g, 2)};
    k.stream = spec->workload->n_ops > 4 && !rng_chance(g, 3);
    k.masked = *features >> GEN_MASK & 1;
    mapping(&k);
  }
  tf_spec_free(spec);
  tf_diags_free(d);
  return ok;
}

static void complain(const tf_diags *d) {
  char *why = tf_diags_text(d);
  fputs(why ? why : "?", stderr);
  free(why);
}

bool gen_case(uint64_t seed, page *p, unsigned *features, const char **kind) {
  tf_rng g = tf_rng_new(seed, 7);
  *p = (page){.len = 0};
  const unsigned asked = *features;
  bool homes = asked >> GEN_HOME & 1;
  *features = 0;
  *kind = gen_input(&g, p, features, asked & ~(1u << GEN_HOME));
  tf_diags *d = tf_diags_new();
  tf_spec *spec = read_page(p, d);
  tf_rng numbers = tf_rng_new(seed, 13); /* the other draws stay what they are */
  const bool with = gen_numbers_in && rng_chance(&numbers, gen_numbers_in) && spec &&
                    spec->workload && *kind != gen_many_name && *kind != gen_peers_name;
  if (with) {
    draw_numbers(&numbers, p, spec->workload);
    tf_spec_free(spec);
    spec = read_page(p, d);
  }
  homes = homes && spec && spec->arch && spec->workload && *kind != gen_many_name &&
          *kind != gen_peers_name;
  if (homes) {
    draw_homes(&g, p, spec->arch, spec->workload);
    tf_spec_free(spec);
    spec = read_page(p, d);
  }
  if (gen_with_lines) {
    gen_layouts(&g, p);
    tf_spec_free(spec);
    spec = read_page(p, d);
  }
  bool ok = spec && spec->workload && spec->arch;
  if (ok) {
    maker k = {.g = &g,
               .p = p,
               .arch = spec->arch,
               .wl = spec->workload,
               .features = features,
               .stream = (!strncmp(*kind, "attention", 9) || !strncmp(*kind, "masked", 6)) &&
                         !rng_chance(&g, 3),
               .far = rng_chance(&g, 2),
               .masked = *features >> GEN_MASK & 1};
    note_machine(spec->arch, features);
    *features |= tf_arch_homes(spec->arch, spec->workload) ? 1u << GEN_HOME : 0;
    if (homes) must_pass(&k);
    if (*kind == gen_many_name) {
      page_say(p, "mapping: |\n");
      gen_many_mapping(&g, p, spec->arch, spec->workload);
    } else if (*kind == gen_peers_name) {
      page_say(p, "mapping: |\n");
      gen_peers_mapping(&g, p, spec->arch, spec->workload);
    } else {
      mapping(&k);
    }
    if (with) *kind = "with numbers";
  } else {
    complain(d);
  }
  tf_spec_free(spec);
  tf_diags_free(d);
  return ok;
}
