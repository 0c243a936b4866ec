/* What zeros leave, beside draws of zeros, on random cases: machines, workloads and mappings of the
 * oracle's, given densities, formats and rules. oracle_zeros [--cases N] [--seed S] [--draws D]
 * [--one SEED] [--masked] */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/gen.h"
#include "tests/oracle/zeros.h"

enum { WALK_LIMIT = 3000 };

typedef struct {
  long equal, differ, upper, quick, tiles, told;
  int draws;
  bool print, masked;
} session;

/* ---- densities, formats, rules --------------------------------------------------------------- */

static void *made(size_t n, size_t size) {
  void *p = calloc(n + 1, size);
  if (!p) abort();
  return p;
}

/* Whether each rank is a dim alone wherever the tensor is read, by ops without padding of which the
 * same holds: it is then that its zeros may be known. */
static bool is_plain(const tf_workload *wl, int z) {
  const tf_tensor *t = &wl->tensors[z];
  bool plain = true;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_reads; i++) {
      if (wl->ops[o].reads[i].tensor != z) continue;
      plain = plain && is_plain(wl, wl->ops[o].out);
      for (int k = 0; k < wl->ops[o].n_reads; k++)
        for (int r = 0; r < wl->tensors[wl->ops[o].reads[k].tensor].rank; r++)
          plain = plain && !wl->tensors[wl->ops[o].reads[k].tensor].pad[r];
      for (int r = 0; r < t->rank && wl->ops[o].reads[i].tensor == z; r++) {
        const tf_index *x = wl->ops[o].reads[i].index;
        plain = plain && x[r].n_terms == 1 && x[r].c == 0 && x[r].terms[0].coef == 1 &&
                !t->pad[r] && !t->lo[r] && wl->dims[x[r].terms[0].dim].extent == t->extent[r];
        for (int k = 0; k < r && plain; k++)
          plain = x[k].terms[0].dim != x[r].terms[0].dim;
      }
    }
  return plain;
}

static bool is_masked(const tf_workload *wl) {
  bool masked = false;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_expr; i++)
      masked |= wl->ops[o].expr[i].what == TF_X_CALL && wl->ops[o].expr[i].call == TF_K_SELECT;
  return masked;
}

/* Blocks of divisors, or runs of elements that are known. */
static void give_groups(tf_rng *g, const tf_workload *wl, tf_tensor *t) {
  const int all = (int)tf_tensor_words(t);
  if (rng_chance(g, 2) || is_masked(wl) || !is_plain(wl, (int)(t - wl->tensors))) {
    t->density = (tf_density){.fall = TF_FALL_TILES, .share = rng_between(g, 1, 10) / 10.0};
    t->density.tile = made((size_t)t->rank, sizeof *t->density.tile);
    for (int r = 0; r < t->rank; r++)
      do
        t->density.tile[r] = rng_between(g, 1, (int)t->extent[r]);
      while (t->extent[r] % t->density.tile[r]);
    return;
  }
  tf_density *d = &t->density;
  *d = (tf_density){.fall = TF_FALL_KNOWN, .runs = made((size_t)all, sizeof *d->runs)};
  int nonzero = 0;
  for (int e = rng_between(g, 0, 3); e < all || !d->n_runs; e += rng_between(g, 1, 5)) {
    const int from = e < all ? e : 0,
              to = from + rng_between(g, 1, 4) < all ? from + 1 + (e & 1) : all;
    d->runs[d->n_runs++] = (tf_stretch){from, to};
    nonzero += to - from;
    e = to;
  }
  d->share = (double)nonzero / all;
}

static void give_density(tf_rng *g, const tf_workload *wl, tf_tensor *t) {
  const int r = t->rank ? rng_between(g, 0, t->rank - 1) : 0, m = rng_between(g, 2, 4);
  if (rng_chance(g, 4) || (t->producer >= 0 && (is_masked(wl) || rng_chance(g, 2)))) return;
  if (is_masked(wl) && !rng_chance(g, 4)) return; /* of full operands bands are made */
  t->density = (tf_density){.fall = TF_FALL_UNIFORM, .share = rng_between(g, 1, 10) / 10.0};
  if (t->rank && t->extent[r] % m == 0 && rng_chance(g, 2)) {
    t->density = (tf_density){.fall = TF_FALL_BLOCKS, .rank = r, .n = rng_between(g, 1, m), .m = m};
    t->density.share = (double)t->density.n / (double)m;
  } else if (rng_chance(g, 2)) {
    give_groups(g, wl, t);
  }
}

/* All that have zeros, or some by name. */
static tf_selection choose(tf_rng *g, const tf_workload *wl) {
  tf_selection s = {0, NULL};
  if (rng_chance(g, 3)) return s;
  s.names = made((size_t)wl->n_tensors, sizeof *s.names);
  for (int z = 0; z < wl->n_tensors; z++)
    if (rng_chance(g, 2)) s.names[s.n++].name = wl->tensors[z].name;
  return s;
}

static tf_formats some_formats(tf_rng *g, const tf_workload *wl) {
  tf_formats f = {rng_chance(g, 2) ? 0 : rng_between(g, 1, 2), made(2, sizeof *f.list)};
  for (int i = 0; i < f.n; i++) {
    tf_format *one = &f.list[i];
    *one = (tf_format){
        .tensors = choose(g, wl), .n_ranks = rng_between(g, 1, 3), .priced = rng_chance(g, 3)};
    one->ranks = made((size_t)one->n_ranks, sizeof *one->ranks);
    one->read_pj = one->priced ? 1.5 : 0, one->write_pj = one->priced ? 2.5 : 0;
    for (int r = 0; r < one->n_ranks; r++) {
      one->ranks[r].pack = (tf_pack)rng_between(g, 0, TF_N_PACKS - 1);
      if (one->priced || rng_chance(g, 2))
        one->ranks[r].bits = one->priced ? 2 : rng_between(g, 1, 3);
      if (one->ranks[r].pack == TF_PACK_NONE && !one->priced) one->ranks[r].bits = 0;
    }
  }
  return f;
}

static tf_rules some_rules(tf_rng *g, const tf_workload *wl, bool memory) {
  tf_rules r = {rng_chance(g, 2) ? 0 : rng_between(g, 1, 2), made(2, sizeof *r.list)};
  for (int i = 0; i < r.n; i++)
    r.list[i] = (tf_rule){
        .target = choose(g, wl), .on = choose(g, wl), .tiles = memory && rng_chance(g, 2)};
  return r;
}

static void free_rules(const tf_rules *r) {
  for (int i = 0; i < r->n; i++) {
    free(r->list[i].target.names);
    free(r->list[i].on.names);
  }
  free(r->list);
}

static void undecorate(const tf_spec *spec) {
  for (int z = 0; z < spec->workload->n_tensors; z++) {
    free(spec->workload->tensors[z].density.tile);
    free(spec->workload->tensors[z].density.runs);
  }
  for (int l = 0; l < spec->arch->n_memories; l++) {
    const tf_memory *m = &spec->arch->memories[l];
    for (int i = 0; i < m->formats.n; i++) {
      free(m->formats.list[i].tensors.names);
      free(m->formats.list[i].ranks);
    }
    free(m->formats.list);
    free_rules(&m->gating);
    free_rules(&m->skipping);
  }
  for (int u = 0; u < spec->arch->n_units; u++) {
    free_rules(&spec->arch->units[u].gating);
    free_rules(&spec->arch->units[u].skipping);
  }
}

/* Rules of tiles alone, and few elements of inputs that are not zero, so that tiles are empty. */
static void decorate_tiles(tf_rng *g, const tf_spec *spec) {
  const tf_workload *wl = spec->workload;
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].producer < 0) {
      tf_density *d = &wl->tensors[z].density;
      give_density(g, wl, &wl->tensors[z]);
      if (d->fall == TF_FALL_UNIFORM || d->fall == TF_FALL_TILES)
        d->share = rng_between(g, 1, 3) / 20.0;
    }
  for (int l = 0; l < spec->arch->n_memories; l++) {
    tf_memory *m = &spec->arch->memories[l];
    m->topology = TF_NO_TOPOLOGY;
    for (int w = 0; w < 2; w++) {
      tf_rules *rules = w ? &m->skipping : &m->gating;
      *rules = (tf_rules){rng_chance(g, 2), made(1, sizeof *rules->list)};
      if (rules->n)
        rules->list[0] = (tf_rule){.target = choose(g, wl), .on = choose(g, wl), .tiles = true};
    }
  }
}

static void decorate(tf_rng *g, const tf_spec *spec) {
  const tf_workload *wl = spec->workload;
  if (rng_chance(g, 3)) {
    decorate_tiles(g, spec);
    return;
  }
  for (int z = 0; z < wl->n_tensors; z++)
    give_density(g, wl, &wl->tensors[z]);
  for (int l = 0; l < spec->arch->n_memories; l++) {
    tf_memory *m = &spec->arch->memories[l];
    m->formats = some_formats(g, wl);
    m->topology = TF_NO_TOPOLOGY; /* links count all words: oracle/network.c */
    m->gating = some_rules(g, wl, true);
    m->skipping = some_rules(g, wl, true);
  }
  for (int u = 0; u < spec->arch->n_units; u++) {
    spec->arch->units[u].gating = rng_chance(g, 3) ? some_rules(g, wl, false) : (tf_rules){0, NULL};
    spec->arch->units[u].skipping =
        rng_chance(g, 3) ? some_rules(g, wl, false) : (tf_rules){0, NULL};
  }
}

static void print_decoration(const tf_spec *spec) {
  for (int z = 0; z < spec->workload->n_tensors; z++) {
    const tf_tensor *t = &spec->workload->tensors[z];
    printf("# %s: %d share %g, %d:%d of rank %d", t->name, t->density.fall, t->density.share,
           (int)t->density.n, (int)t->density.m, t->density.rank);
    for (int r = 0; r < t->rank && t->density.tile; r++)
      printf(" %d", (int)t->density.tile[r]);
    for (int i = 0; i < t->density.n_runs; i++)
      printf(" %d..%d", (int)t->density.runs[i].from, (int)t->density.runs[i].to);
    printf("\n");
  }
  for (int l = 0; l < spec->arch->n_memories; l++) {
    const tf_memory *m = &spec->arch->memories[l];
    for (int i = 0; i < m->formats.n; i++) {
      printf("# %s format of", m->name);
      for (int k = 0; k < m->formats.list[i].tensors.n; k++)
        printf(" %s", m->formats.list[i].tensors.names[k].name);
      for (int r = 0; r < m->formats.list[i].n_ranks; r++)
        printf(", rank %d bits %d", m->formats.list[i].ranks[r].pack,
               m->formats.list[i].ranks[r].bits);
      printf("\n");
    }
    for (int w = 0; w < 2; w++) {
      const tf_rules *rules = w ? &m->skipping : &m->gating;
      for (int i = 0; i < rules->n; i++) {
        printf("# %s %s%s target", m->name, w ? "skips" : "gates",
               rules->list[i].tiles ? " tiles" : "");
        for (int k = 0; k < rules->list[i].target.n; k++)
          printf(" %s", rules->list[i].target.names[k].name);
        printf(" on");
        for (int k = 0; k < rules->list[i].on.n; k++)
          printf(" %s", rules->list[i].on.names[k].name);
        printf("\n");
      }
    }
  }
}

/* ---- one case -------------------------------------------------------------------------------- */

static void say(note *n, const char *fmt, double a, double b) {
  if (n->len < sizeof n->text - 200)
    n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len, fmt, a, b);
}

/* Swaps the trip counts of two loops of one dim. */
static void swap(tf_rng *g, const tf_tree *tree, int loops, int64_t *trips) {
  int dim[MAX_NODES], n = 0;
  for (int i = 0; i < tree->n_nodes; i++)
    for (int k = 0; tree->nodes[i].kind == TF_TILE && k < tree->nodes[i].n_loops; k++)
      dim[n++] = tree->nodes[i].loops[k].dim;
  const int a = rng_between(g, 0, loops - 1), b = rng_between(g, 0, loops - 1);
  const int64_t trip = trips[a];
  if (dim[a] == dim[b]) trips[a] = trips[b], trips[b] = trip;
}

/* A model that has counted other trip counts before says the same as a new one. */
static void check_again(note *n, tf_rng *g, const tf_tree *tree, tf_model *m, int loops,
                        const int64_t *trips) {
  int64_t other[MAX_NODES];
  tf_diags *d = tf_diags_new();
  memcpy(other, trips, (size_t)loops * sizeof *trips);
  for (int i = 0; i < 4 && loops; i++) {
    tf_result r, fresh;
    swap(g, tree, loops, other);
    tf_model *anew = tf_model_new(tree, d);
    const bool ok = tf_model_eval(m, other, &r),
               as_well = anew && tf_model_eval(anew, other, &fresh);
    if (ok != as_well) say(n, "# counted: %g, by a new model %g\n", ok, as_well);
    if (ok && as_well &&
        (fabs(r.cycles - fresh.cycles) > 0 || fabs(r.energy_pj - fresh.energy_pj) > 0))
      say(n, "# after other trip counts: %.17g pJ, by a new model %.17g\n", r.energy_pj,
          fresh.energy_pj);
    tf_model_free(anew);
  }
  tf_diags_free(d);
}

/* Where a memory packs nothing, zeros make no difference to its room; elsewhere what it holds but
 * for a doubt is no less than what is expected (but a word, of what hardly ever is not zero). */
static void check_room(note *n, const tf_arch *arch, tf_model *m, const tf_result *r) {
  tf_fit *fit = calloc((size_t)arch->n_memories, sizeof *fit);
  if (!fit || !tf_model_fits(m, 0.999, fit)) abort();
  for (int l = 0; l < arch->n_memories; l++) {
    const int64_t peak = r->levels[l].peak, held = r->kept->held[l], most = r->kept->most[l];
    if (arch->memories[l].formats.n > 0 ? held <= fit[l].words + 1
                                        : held == peak && most == peak && fit[l].words == peak)
      continue;
    say(n, "# room of %g words: expected %g", (double)peak, (double)held);
    say(n, ", but for a doubt %g, at most %g\n", (double)fit[l].words, (double)most);
  }
  free(fit);
}

/* The same figures in lanes, bit for bit, and after others; none below the bounds. */
static bool check_others(note *n, tf_rng *g, const oracle *o, tf_model *m, const tf_result *r) {
  int64_t trips[MAX_NODES];
  int loops = 0;
  tf_brief brief;
  tf_bounds b;
  const tf_result kept = *r;
  for (int i = 0; i < o->tree->n_nodes; i++)
    for (int k = 0; o->tree->nodes[i].kind == TF_TILE && k < o->tree->nodes[i].n_loops; k++)
      trips[loops++] = o->tree->nodes[i].loops[k].trip;
  tf_model_eval_batch(m, trips, 1, &brief);
  if (fabs(brief.cycles - kept.cycles) > 0)
    say(n, "# cycles: %.17g, in lanes %.17g\n", kept.cycles, brief.cycles);
  if (fabs(brief.energy_pj - kept.energy_pj) > 0)
    say(n, "# energy: %.17g, in lanes %.17g\n", kept.energy_pj, brief.energy_pj);
  if (brief.feasible != kept.feasible)
    say(n, "# feasible: %g, in lanes %g\n", kept.feasible, brief.feasible);
  check_room(n, o->arch, m, &kept);
  if (!tf_bounds_of(o->arch, o->wl, &b)) return false;
  if (kept.feasible && kept.energy_pj < b.energy_pj * (1 - 1e-9))
    say(n, "# energy %.17g below the bound %.17g\n", kept.energy_pj, b.energy_pj);
  if (kept.feasible && kept.cycles < b.cycles * (1 - 1e-9))
    say(n, "# cycles %.17g below the bound %.17g\n", kept.cycles, b.cycles);
  check_again(n, g, o->tree, m, loops, trips);
  return true;
}

static bool streams(const oracle *o) {
  for (int op = 0; op < o->wl->n_ops; op++)
    if (stream_scope(o, op) >= 0) return true;
  return false;
}

static void compare(session *s, uint64_t seed, const page *p, const tf_tree *tree, tf_diags *d) {
  access_log *log = log_new(tree);
  oracle *o = log->full ? NULL : oracle_run_noting(tree, WALK_LIMIT, log);
  tf_model *m = tf_model_new(tree, d);
  tf_result r;
  note n = {.len = 0};
  tf_rng g = tf_rng_new(seed, 77);
  if (o && !o->gave_up && !log->full && !streams(o) && m && tf_model_eval(m, NULL, &r) && r.kept) {
    s->upper += r.kept->upper;
    s->quick += tf_model_quick(m);
    const bool out = compare_zeros(&n, o, &r, &g, s->draws);
    s->tiles += out;
    s->told += out && !r.kept->upper;
    check_others(&n, &g, o, m, &r);
    s->differ += n.len > 0;
    s->equal += n.len == 0;
    if (n.len) printf("# seed %" PRIu64 "\n%s%s\n", seed, n.text, p->text);
  }
  tf_model_free(m);
  if (o) oracle_free(o);
  log_free(log);
}

static void one(session *s, uint64_t seed) {
  page p;
  unsigned features = s->masked ? 1u << GEN_MASK : 0;
  const char *kind;
  tf_rng g = tf_rng_new(seed, 7);
  if (!gen_case(seed, &p, &features, &kind)) abort();
  tf_diags *d = tf_diags_new();
  tf_text t = {"case", p.text, p.len};
  tf_spec *spec = tf_spec_read_texts(&t, 1, NULL, 0, d);
  if (spec) decorate(&g, spec);
  if (spec && s->print) print_decoration(spec);
  tf_tree *tree =
      spec ? tf_tree_parse(spec->mapping_text, spec->mapping_at, spec->arch, spec->workload, d)
           : NULL;
  if (tree) compare(s, seed, &p, tree, d);
  tf_tree_free(tree);
  if (spec) undecorate(spec);
  tf_spec_free(spec);
  tf_diags_free(d);
}

int main(int argc, char **argv) {
  session s = {.draws = 200};
  long cases = 1000;
  uint64_t seed = 1, only = 0;
  s.masked = argc > 1 && !strcmp(argv[argc - 1], "--masked");
  for (int i = 1; i + 1 < argc; i += 2) {
    if (!strcmp(argv[i], "--cases"))
      cases = strtol(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "--seed"))
      seed = strtoull(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "--draws"))
      s.draws = (int)strtol(argv[i + 1], NULL, 10);
    else if (!strcmp(argv[i], "--one"))
      only = strtoull(argv[i + 1], NULL, 10);
    else
      return fprintf(stderr, "oracle_zeros: what is '%s'?\n", argv[i]), 2;
  }
  s.print = only != 0;
  if (only) one(&s, only);
  for (uint64_t i = 0; !only && s.equal + s.differ < cases; i++)
    one(&s, seed * 1000000000 + i);
  printf("zeros: %ld cases within three standard errors, %ld not; %ld with upper bounds, %ld by "
         "the quick way, %ld left tiles out in the last draw, %ld of them without upper bounds\n",
         s.equal, s.differ, s.upper, s.quick, s.tiles, s.told);
  return s.differ > 0;
}
