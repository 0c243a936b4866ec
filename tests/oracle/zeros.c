#include "tests/oracle/zeros.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- rules ----------------------------------------------------------------------------------- */

static bool has_zeros(const oracle *o, const tf_kept *k, int z) {
  return o->wl->tensors[z].density.fall != TF_FALL_GUESSED || k->share[z] < 1;
}

static bool names(const tf_selection *s, const oracle *o, int z) {
  for (int i = 0; i < s->n; i++)
    if (!strcmp(s->names[i].name, o->wl->tensors[z].name)) return true;
  return false;
}

/* Whether it is known which elements of z are not zero. */
static bool is_told(const oracle *o, const tf_kept *k, int z) {
  const tf_tensor *t = &o->wl->tensors[z];
  bool in[MAX_ELEMENTS];
  if (t->density.fall != TF_FALL_GUESSED) return t->density.fall == TF_FALL_KNOWN;
  const double share = (double)places_of(o, z, in) / size_of(o, z);
  return share < 1 && fabs(k->share[z] - share) < 1e-12;
}

/* The same, by a mask that may leave steps out: no format and no rule of tiles is about it. */
static bool is_masked(const oracle *o, const tf_kept *k, int z) {
  return tf_workload_masked(o->wl) && is_told(o, k, z);
}

/* Whether a zero in read r makes the op's point zero: followed forwards through its expression. */
static bool voids(const oracle *o, const tf_kept *k, const tf_op *op, int r) {
  bool zero[512];
  int times = 0;
  for (int i = 0; i < op->n_reads; i++)
    times += op->reads[i].tensor == op->reads[r].tensor;
  if (op->reduce != TF_REDUCE_ADD || times != 1 || k->share[op->reads[r].tensor] >= 1) return false;
  (void)o;
  for (int i = 0; i < op->n_expr; i++) {
    const tf_expr *e = &op->expr[i];
    const bool a = e->what == TF_X_CALL && zero[e->arg[0]],
               b = e->what == TF_X_CALL && e->n_args > 1 && zero[e->arg[1]];
    zero[i] = (e->what == TF_X_READ && e->ref == r) ||
              (e->what == TF_X_CALL &&
               ((e->call == TF_K_MUL && (a || b)) ||
                ((e->call == TF_K_DIV || e->call == TF_K_NEG || e->call == TF_K_COPY) && a)));
  }
  return zero[op->n_expr - 1];
}

/* Whether one of the rules leaves out what is asked for (target -1: the point) where read r is
 * zero. */
static bool listens_to(const oracle *o, const tf_kept *k, const tf_rules *rules, int op, int target,
                       int r, bool tiles) {
  const int cause = o->wl->ops[op].reads[r].tensor;
  if (cause == target || stream_scope(o, op) >= 0 || (tiles && is_masked(o, k, cause)) ||
      !voids(o, k, &o->wl->ops[op], r))
    return false;
  for (int i = 0; i < rules->n; i++) {
    const tf_rule *rule = &rules->list[i];
    const bool aims = target < 0 || !rule->target.n || names(&rule->target, o, target);
    const bool on = rule->on.n ? names(&rule->on, o, cause) : has_zeros(o, k, cause);
    if (aims && on && rule->tiles == tiles) return true;
  }
  return false;
}

static bool listens(const oracle *o, const tf_kept *k, const tf_rules *rules, int op, int target,
                    int r) {
  return listens_to(o, k, rules, op, target, r, false);
}

/* [0]: skipped; [1]: skipped or gated. */
typedef struct {
  bool read[MAX_OPS][MAX_READS + 1][2]
           [MAX_READS]; /* [op][operand, output last][][read] zeros that leave it out */
  bool point[MAX_OPS][2][MAX_READS];
  bool tile[MAX_LEVELS][MAX_OPS][MAX_TENSORS][2]
           [MAX_READS]; /* [serving level][op][tensor] of its tiles */
} reactions;

static void find_tile_reactions(const oracle *o, const tf_kept *k, reactions *all) {
  for (int l = 0; l < o->arch->n_memories; l++)
    for (int op = 0; op < o->wl->n_ops; op++)
      for (int z = 0; z < o->wl->n_tensors; z++)
        for (int r = 0; r < o->wl->ops[op].n_reads; r++) {
          const tf_memory *mem = &o->arch->memories[l];
          bool(*t)[MAX_READS] = all->tile[l][op][z];
          t[0][r] = listens_to(o, k, &mem->skipping, op, z, r, true);
          t[1][r] = t[0][r] || listens_to(o, k, &mem->gating, op, z, r, true);
        }
}

static void find_reactions(const oracle *o, const tf_kept *k, reactions *all) {
  memset(all, 0, sizeof *all);
  if (o->log->by_tiles) find_tile_reactions(o, k, all);
  for (int op = 0; op < o->wl->n_ops; op++) {
    const tf_op *p = &o->wl->ops[op];
    const tf_unit *unit = &o->arch->units[o->unit[op]];
    for (int r = 0; r < p->n_reads; r++) {
      for (int of = 0; of <= p->n_reads; of++) {
        const int z = of < p->n_reads ? p->reads[of].tensor : p->out;
        const tf_memory *mem = &o->arch->memories[leaf_server(o, op, z)];
        bool *skip = &all->read[op][of][0][r], *any = &all->read[op][of][1][r];
        *skip = listens(o, k, &mem->skipping, op, z, r);
        *any = *skip || listens(o, k, &mem->gating, op, z, r);
        if (of == p->n_reads) continue;
        all->point[op][0][r] |= *skip;
        all->point[op][1][r] |= *any;
      }
      all->point[op][0][r] |= listens(o, k, &unit->skipping, op, -1, r);
      all->point[op][1][r] |= all->point[op][0][r] || listens(o, k, &unit->gating, op, -1, r);
    }
  }
}

/* ---- one draw -------------------------------------------------------------------------------- */

static double chance(tf_rng *g) { return (double)tf_rng_below(g, 1u << 30) / (1 << 30); }

/* `nonzero` of the n elements listed are not zero, every choice as likely. */
static void choose(tf_rng *g, bool *in, const int *list, int n, int nonzero) {
  for (int i = 0; i < n; i++) {
    in[list[i]] = (int)tf_rng_below(g, (uint32_t)(n - i)) < nonzero;
    nonzero -= in[list[i]];
  }
}

static void draw_blocks(tf_rng *g, const tf_tensor *t, bool *in) {
  int stride = 1, n = (int)tf_tensor_words(t), list[MAX_ELEMENTS];
  const int length = (int)t->extent[t->density.rank], m = (int)t->density.m;
  for (int r = t->density.rank + 1; r < t->rank; r++)
    stride *= (int)t->extent[r];
  for (int e = 0; e < n; e++) {
    if (e / stride % length % m) continue; /* the first of a block */
    for (int i = 0; i < m; i++)
      list[i] = e + i * stride;
    choose(g, in, list, m, (int)t->density.n);
  }
}

/* Which block of a tensor element e is in. */
static int block_of(const tf_tensor *t, int e) {
  int block = 0, stride = 1;
  for (int r = t->rank - 1; r >= 0; r--) {
    const int extent = (int)t->extent[r], side = (int)t->density.tile[r];
    block += e % extent / side * stride;
    stride *= extent / side;
    e /= extent;
  }
  return block;
}

/* So many blocks that are not zero, or one more, so that the mean is right. */
static int some(tf_rng *g, double mean) {
  return (int)floor(mean + 1e-9) + (chance(g) < mean - floor(mean + 1e-9));
}

static void draw_tiles(tf_rng *g, const tf_tensor *t, bool *in) {
  int blocks = 0, list[MAX_ELEMENTS];
  bool of[MAX_ELEMENTS];
  for (int e = 0; e < (int)tf_tensor_words(t); e++)
    blocks = block_of(t, e) >= blocks ? block_of(t, e) + 1 : blocks;
  for (int i = 0; i < blocks; i++)
    list[i] = i;
  choose(g, of, list, blocks, some(g, t->density.share * blocks));
  for (int e = 0; e < (int)tf_tensor_words(t); e++)
    in[e] = of[block_of(t, e)];
}

static void set_known(const tf_tensor *t, bool *in) {
  memset(in, 0, (size_t)tf_tensor_words(t) * sizeof *in);
  for (int i = 0; i < t->density.n_runs; i++)
    for (int64_t e = t->density.runs[i].from; e < t->density.runs[i].to; e++)
      in[e] = true;
}

static void draw(const oracle *o, const tf_kept *k, tf_rng *g, int z, bool *in) {
  const tf_tensor *t = &o->wl->tensors[z];
  const int n = size_of(o, z);
  int list[MAX_ELEMENTS];
  for (int e = 0; e < n; e++)
    list[e] = e, in[e] = chance(g) < k->share[z];
  if (t->density.fall == TF_FALL_BLOCKS) draw_blocks(g, t, in);
  if (t->density.fall == TF_FALL_TILES) draw_tiles(g, t, in);
  if (t->density.fall == TF_FALL_KNOWN) set_known(t, in);
  if (t->density.fall == TF_FALL_GUESSED && is_told(o, k, z)) places_of(o, z, in);
  if (t->density.fall == TF_FALL_UNIFORM) choose(g, in, list, n, some(g, t->density.share * n));
}

/* A tensor as a memory stores it: which elements; words besides; bits of metadata. */
typedef struct {
  bool element[MAX_ELEMENTS];
  double words, bits;
} stored;

typedef struct {
  const tf_format *f;
  const bool *in;
  int length[MAX_RANK], all; /* [format rank] children of a fiber */
} encoder;

static int bits_of(const encoder *c, int i) {
  const tf_packing *p = &c->f->ranks[i];
  const int values = p->pack == TF_PACK_OFFSETS ? c->all + 1 : c->length[i];
  int bits = 1;
  while (1 << bits < values)
    bits++;
  return p->bits ? p->bits : p->pack == TF_PACK_BITMASK || p->pack == TF_PACK_FLAGS ? 1 : bits;
}

/* The fiber of format rank i whose elements begin at `from`. */
static void encode(const encoder *c, int i, int from, int size, stored *out) {
  const tf_pack how = c->f->ranks[i].pack;
  const int child = size / c->length[i], bits = bits_of(c, i);
  const bool all = how == TF_PACK_NONE || how == TF_PACK_OFFSETS || how == TF_PACK_FLAGS,
             last = i + 1 == c->f->n_ranks;
  int zeros = 0;
  if (how == TF_PACK_BITMASK || how == TF_PACK_FLAGS) out->bits += bits * c->length[i];
  if (how == TF_PACK_OFFSETS) out->bits += (c->length[i] + 1) * bits;
  for (int k = 0; k < c->length[i]; k++) {
    bool any = false;
    for (int e = 0; e < child; e++)
      any |= c->in[from + k * child + e];
    zeros = any ? 0 : zeros + 1;
    if (how == TF_PACK_RUNS && (any || zeros == 1 << bits)) {
      out->bits += bits;
      out->words += last && !any;
      zeros = 0;
    }
    if (how == TF_PACK_COORDINATE && any) out->bits += bits;
    if (!any && !all) continue;
    if (last)
      out->element[from + k] = true;
    else
      encode(c, i + 1, from + k * child, child, out);
  }
}

static const tf_format *format_of(const oracle *o, const tf_kept *k, int level, int z) {
  const tf_formats *all = &o->arch->memories[level].formats;
  const tf_format *rest = NULL;
  if (!has_zeros(o, k, z) || is_masked(o, k, z)) return NULL;
  for (int i = all->n - 1; i >= 0; i--)
    if (!all->list[i].tensors.n) rest = &all->list[i];
  for (int i = all->n - 1; i >= 0; i--)
    if (names(&all->list[i].tensors, o, z)) rest = &all->list[i];
  return rest;
}

static void store(const oracle *o, const tf_kept *k, int level, int z, const bool *in,
                  stored *out) {
  const tf_tensor *t = &o->wl->tensors[z];
  encoder c = {.f = format_of(o, k, level, z), .in = in, .all = size_of(o, z)};
  out->words = out->bits = 0;
  memset(out->element, !c.f, sizeof out->element);
  if (!c.f) return;
  for (int i = 0; i < c.f->n_ranks; i++) {
    const int rank = t->rank - c.f->n_ranks + i;
    c.length[i] = 1;
    for (int r = i ? rank : 0; r <= rank; r++)
      if (r >= 0) c.length[i] *= (int)t->extent[r];
  }
  encode(&c, 0, 0, c.all, out);
}

/* ---- figures --------------------------------------------------------------------------------- */

enum { FILL, READ, UPDATE, DRAIN, METADATA, PORT_READ, PORT_WRITE, N_OF_CELL };
enum { COMPUTED, GATED, SKIPPED, N_OF_OP };
enum { MAX_CELLS = MAX_LEVELS * MAX_TENSORS };

/* A figure of one draw: words of a tensor at a level; PORT_*: words of the level, accesses that are
 * only gated among them. */
typedef struct {
  double cell[MAX_CELLS][N_OF_CELL], op[MAX_OPS][N_OF_OP], pj;
} figures;

typedef struct {
  const oracle *o;
  const tf_kept *k;
  const reactions *react;
  bool in[MAX_TENSORS][MAX_ELEMENTS];
  stored *at;                  /* [level * n_tensors + tensor] */
  bool left_out[2][MAX_NOTES]; /* [][tile] by what takes time, and by what takes energy */
  figures f;
} world;

/* `times` accesses to element e, by which all of it that is stored moves. */
static void access_to(world *w, int level, int z, int what, int e, double times) {
  const int cell = level * w->o->wl->n_tensors + z;
  const tf_memory *mem = &w->o->arch->memories[level];
  const stored *s = &w->at[cell];
  const tf_format *f = format_of(w->o, w->k, level, z);
  const double share = 1.0 / size_of(w->o, z), moved = times * (s->element[e] + s->words * share),
               bits = times * s->bits * share;
  const bool reads = what == READ || what == DRAIN;
  const double drained = mem->drain_given ? mem->drain_pj : mem->read_pj;
  const double bits_pj = what == DRAIN ? drained : reads ? mem->read_pj : mem->write_pj;
  const double ratio = (double)w->o->wl->tensors[z].word_bits / mem->word_bits;
  w->f.cell[cell][what] += moved;
  w->f.cell[cell][METADATA] += bits;
  w->f.pj += moved * ratio * bits_pj;
  if (f && f->priced) { /* by entries, which all have as many bits */
    w->f.pj += bits / f->ranks[0].bits * (reads ? f->read_pj : f->write_pj);
  } else {
    w->f.pj += bits / mem->word_bits * bits_pj;
  }
  if (what == FILL || what == DRAIN)
    w->f.pj += (moved * ratio + bits / mem->word_bits) * mem->hop_pj *
               (double)(mem->mesh[0] + mem->mesh[1] - 2) / 2;
}

static void port(world *w, int level, int z, bool write, int e, double times) {
  const int cell = level * w->o->wl->n_tensors + z;
  const stored *s = &w->at[cell];
  const double share = 1.0 / size_of(w->o, z), bits = w->o->wl->tensors[z].word_bits;
  w->f.cell[cell][write ? PORT_WRITE : PORT_READ] +=
      times * ((s->element[e] + s->words * share) * bits + s->bits * share) /
      w->o->arch->memories[level].word_bits;
}

static void run_tiles(world *w) {
  const int nt = w->o->wl->n_tensors;
  for (int cell = 0; cell < w->o->arch->n_memories * nt; cell++) {
    const passes *p = &w->o->log->tiles[cell];
    for (int e = 0; e < size_of(w->o, cell % nt); e++) {
      const int times[] = {
          [FILL] = p->fill[e], [READ] = p->read[e], [UPDATE] = p->update[e], [DRAIN] = p->drain[e]};
      for (int what = FILL; what <= DRAIN; what++) {
        if (!times[what]) continue;
        access_to(w, cell / nt, cell % nt, what, e, times[what]);
        port(w, cell / nt, cell % nt, what == FILL || what == UPDATE, e, times[what]);
      }
    }
  }
}

/* Whether the uses of a tile have none of which an operand that matters is there: for each op that
 * uses it there is one whose elements are zero in all of its uses.  What nobody uses is fetched. */
static bool is_left_out(const world *w, const tile_note *t, int what) {
  const access_log *log = w->o->log;
  for (int u = t->uses; u >= 0; u = log->uses[u].next) {
    const tile_use *use = &log->uses[u];
    const bool *matters = w->react->tile[t->above][use->op][t->tensor][what];
    bool out = false;
    for (int r = 0; r < w->o->wl->ops[use->op].n_reads && !out; r++) {
      out = matters[r];
      for (int v = t->uses; v >= 0 && out; v = log->uses[v].next) {
        const int e = log->uses[v].who.element[r];
        out = log->uses[v].op != use->op || e < 0 ||
              !w->in[w->o->wl->ops[use->op].reads[r].tensor][e];
      }
    }
    if (!out) return false;
  }
  return t->uses >= 0;
}

/* Whether element e of the tile has come, from all memories further out. */
static bool has_come(const world *w, int entry, int e, int what) {
  for (; entry >= 0; entry = outer_of(w->o->log, entry, e))
    if (w->left_out[what][entry]) return false;
  return true;
}

/* The same for one at least of those that take it together. */
static bool has_come_to_some(const world *w, int entry, int e, int what) {
  const access_log *log = w->o->log;
  bool some = has_come(w, entry, e, what);
  const tile_note *t = &log->tile[entry];
  if (!w->o->arch->memories[t->level].multicast) return some;
  for (int step = -1; step <= 1; step += 2)
    for (int i = entry + step;
         i >= 0 && i < log->n_tile && log->tile[i].group / 4096 == t->group / 4096; i += step)
      some = some || (log->tile[i].group == t->group && has_come(w, i, e, what));
  return some;
}

/* Takes what is left out of tiles from what has been counted of them. */
static void take_tiles(world *w) {
  const access_log *log = w->o->log;
  for (int i = 0; i < log->n_tile; i++)
    for (int what = 0; what < 2; what++)
      w->left_out[what][i] = is_left_out(w, &log->tile[i], what);
  for (int i = 0; i < log->n_tile; i++) {
    const tile_note *t = &log->tile[i];
    for (int k = t->from; k < t->to; k++) {
      const int e = log->words[k].element;
      if (!has_come(w, i, e, 1)) access_to(w, t->level, t->tensor, FILL, e, -1);
      if (!has_come(w, i, e, 0)) port(w, t->level, t->tensor, true, e, -1);
      if (t->reads && !has_come_to_some(w, i, e, 1)) access_to(w, t->above, t->tensor, READ, e, -1);
      if (t->reads && !has_come_to_some(w, i, e, 0)) port(w, t->above, t->tensor, false, e, -1);
    }
  }
}

/* Whether none of the reads that matter is zero at the point, as all in the padding are. */
static bool runs(const world *w, const tf_op *op, const bool *matters, const needer *at) {
  for (int r = 0; r < op->n_reads; r++)
    if (matters[r] && (at->element[r] < 0 || !w->in[op->reads[r].tensor][at->element[r]]))
      return false;
  return true;
}

/* Whether a tile of each operand has come. */
static bool is_served(const world *w, const tf_op *op, const needer *at, int what) {
  bool all = true;
  for (int r = 0; r < op->n_reads && all; r++)
    all = at->tile[r] < 0 || has_come(w, at->tile[r], at->element[r], what);
  return all;
}

static bool anyone(const world *w, const access_note *a, const bool *matters, int what) {
  bool any = false;
  for (int i = a->from; i < a->to && !any; i++) {
    const needer *at = &w->o->log->needers[i];
    any = runs(w, &w->o->wl->ops[a->op], matters, at) &&
          (a->ref < 0 || at->tile[a->ref] < 0 || has_come(w, at->tile[a->ref], a->element, what));
  }
  return any;
}

static void run_points(world *w, const access_note *a) {
  const tf_op *op = &w->o->wl->ops[a->op];
  for (int i = a->from; i < a->to; i++) {
    const needer *at = &w->o->log->needers[i];
    const bool timed = runs(w, op, w->react->point[a->op][0], at) && is_served(w, op, at, 0),
               done = runs(w, op, w->react->point[a->op][1], at) && is_served(w, op, at, 1);
    w->f.op[a->op][done ? COMPUTED : timed ? GATED : SKIPPED]++;
  }
}

/* Elements of results that have been updated: by note of their instance and production. */
typedef struct {
  int n;
  where_made key[MAX_NOTES];
  int op[MAX_NOTES], element[MAX_NOTES];
} updates;

/* Whether the element was updated before; notes it. */
static bool again(updates *u, const access_note *a) {
  for (int i = u->n - 1; i >= 0; i--)
    if (same_made(u->key[i], a->key) && u->op[i] == a->op && u->element[i] == a->element)
      return true;
  u->key[u->n] = a->key;
  u->op[u->n] = a->op;
  u->element[u->n++] = a->element;
  return false;
}

/* A production begins: what was updated in the one before is none of its. */
static void begin(updates *u, const access_note *a) {
  for (int i = 0; i < u->n; i++)
    if (same_made(u->key[i], a->key) && u->op[i] == a->op && u->element[i] == a->element)
      u->element[i] = -1;
}

static void run_notes(world *w) {
  static updates seen[2]; /* by what takes time, and by what takes energy */
  const access_log *log = w->o->log;
  seen[0].n = seen[1].n = 0;
  for (int i = 0; i < log->n_notes; i++) {
    const access_note *a = &log->notes[i];
    const tf_op *op = &w->o->wl->ops[a->op];
    const int of = a->ref < 0 ? op->n_reads : a->ref,
              z = a->ref < 0 ? op->out : op->reads[a->ref].tensor;
    const int level = leaf_server(w->o, a->op, z);
    const bool timed = anyone(w, a, w->react->read[a->op][of][0], 0),
               done = anyone(w, a, w->react->read[a->op][of][1], 1);
    if (a->ref >= 0) {
      if (timed) port(w, level, z, false, a->element, 1);
      if (done) access_to(w, level, z, READ, a->element, 1);
      continue;
    }
    run_points(w, a);
    if (a->begins) begin(&seen[0], a), begin(&seen[1], a);
    if (timed && again(&seen[0], a)) port(w, level, z, false, a->element, 1);
    if (done && again(&seen[1], a)) access_to(w, level, z, READ, a->element, 1);
    if (timed) port(w, level, z, true, a->element, 1);
    if (done) access_to(w, level, z, UPDATE, a->element, 1);
  }
}

static void run_draw(world *w, tf_rng *g) {
  const int nt = w->o->wl->n_tensors;
  memset(&w->f, 0, sizeof w->f);
  for (int z = 0; z < nt; z++)
    draw(w->o, w->k, g, z, w->in[z]);
  for (int cell = 0; cell < w->o->arch->n_memories * nt; cell++)
    store(w->o, w->k, cell / nt, cell % nt, w->in[cell % nt], &w->at[cell]);
  run_tiles(w);
  if (w->o->log->by_tiles) take_tiles(w);
  run_notes(w);
  for (int op = 0; op < w->o->wl->n_ops; op++)
    w->f.pj += w->f.op[op][COMPUTED] * w->o->arch->units[w->o->unit[op]].pj;
}

/* ---- beside the model ------------------------------------------------------------------------ */

enum { N_FIGURES = sizeof(figures) / sizeof(double), TRIES = 3 };

/* What the model says of each figure; NAN: nothing. */
/* Whether elements of a tensor whose zeros are known pass the memory unlike often: then the
 * tensor's mean is told. */
static bool is_uneven(const oracle *o, const tf_kept *k, int cell) {
  const int z = cell % o->wl->n_tensors;
  const passes *p = &o->log->tiles[cell];
  bool uneven = false;
  for (int e = 1; e < size_of(o, z) && is_told(o, k, z); e++)
    uneven |= p->fill[e] != p->fill[0] || p->read[e] != p->read[0] ||
              p->update[e] != p->update[0] || p->drain[e] != p->drain[0];
  return uneven;
}

static void modelled(const oracle *o, const tf_result *r, figures *f) {
  double *all = (double *)f;
  bool single = true;
  for (int i = 0; i < (int)N_FIGURES; i++)
    all[i] = NAN;
  for (int cell = 0; cell < o->arch->n_memories * o->wl->n_tensors; cell++) {
    const tf_kept_counts *c = &r->kept->counts[cell];
    const double of[] = {c->fill, c->read, c->update, c->drain, c->metadata};
    memcpy(f->cell[cell], of, sizeof of);
  }
  for (int l = 0; l < o->arch->n_memories; l++)
    single &= r->levels[l].instances == 1;
  for (int l = 0; l < o->arch->n_memories && single; l++)
    f->cell[l * o->wl->n_tensors][PORT_READ] = r->levels[l].cycles;
  for (int op = 0; op < o->wl->n_ops; op++) {
    const tf_kept_points *p = &r->kept->ops[op];
    const double of[] = {p->points, p->gated, p->skipped};
    memcpy(f->op[op], of, sizeof of);
  }
  f->pj = r->energy_pj - r->leakage_pj;
  for (int cell = 0; cell < o->arch->n_memories * o->wl->n_tensors; cell++) {
    if (!is_uneven(o, r->kept, cell)) continue;
    for (int i = 0; i < N_OF_CELL; i++)
      f->cell[cell][i] = NAN;
    f->cell[cell - cell % o->wl->n_tensors][PORT_READ] = f->pj = NAN;
  }
}

/* The two ports of a level, both of all tensors, as sums over draws: only their means make its
 * time. */
static void port_time(const oracle *o, double *mean) {
  const int nt = o->wl->n_tensors;
  for (int l = 0; l < o->arch->n_memories; l++) {
    const tf_memory *mem = &o->arch->memories[l];
    double read = 0, write = 0;
    for (int z = 0; z < nt; z++) {
      read += mean[(l * nt + z) * N_OF_CELL + PORT_READ];
      write += mean[(l * nt + z) * N_OF_CELL + PORT_WRITE];
    }
    read /= mem->read_bw, write /= mem->write_bw;
    mean[l * nt * N_OF_CELL + PORT_READ] = mem->one_port ? read + write : fmax(read, write);
  }
}

static void name_of(const oracle *o, int i, char *out, size_t room) {
  static const char *const cell[] = {"fill", "read", "update", "drain", "metadata", "port", "port"};
  static const char *const op[] = {"computed", "gated", "skipped"};
  const int nt = o->wl->n_tensors, at = i / N_OF_CELL, k = i - MAX_CELLS * N_OF_CELL;
  if (i < MAX_CELLS * N_OF_CELL)
    snprintf(out, room, "%s of %s in %s", cell[i % N_OF_CELL], o->wl->tensors[at % nt].name,
             o->arch->memories[at / nt].name);
  else if (k < MAX_OPS * N_OF_OP)
    snprintf(out, room, "%s points of %s", op[k % N_OF_OP], o->wl->ops[k / N_OF_OP].name);
  else
    snprintf(out, room, "energy");
}

typedef struct {
  double sum[N_FIGURES], squares[N_FIGURES], raw[N_FIGURES]; /* raw: ports in words, not in time */
} sums;

static void add_draw(world *w, tf_rng *g, sums *s) {
  double *drew = (double *)&w->f;
  run_draw(w, g);
  for (int i = 0; i < (int)N_FIGURES; i++)
    s->raw[i] += drew[i];
  port_time(w->o, drew);
  for (int i = 0; i < (int)N_FIGURES; i++)
    s->sum[i] += drew[i], s->squares[i] += drew[i] * drew[i];
}

/* How many figures lie beyond three standard errors of the mean. */
static int try_draws(world *w, const figures *model, bool upper, tf_rng *g, int draws, note *n) {
  static sums s;
  const double *says = (const double *)model;
  int beyond = 0;
  memset(&s, 0, sizeof s);
  for (int d = 0; d < draws; d++)
    add_draw(w, g, &s);
  for (int i = 0; i < (int)N_FIGURES; i++)
    s.raw[i] /= draws;
  port_time(w->o, s.raw); /* the time of the means, which is what the model tells */
  for (int i = 0; i < (int)N_FIGURES; i++) {
    const double mean = s.sum[i] / draws, variance = fmax(0, s.squares[i] / draws - mean * mean);
    /* what happens once in 10^5 draws is not seen in these */
    const int op = i - MAX_CELLS * N_OF_CELL;
    const bool points = op >= 0 && op < w->o->wl->n_ops * N_OF_OP;
    const double all = points ? (double)w->o->points[op / N_OF_OP] : fabs(mean),
                 room = 3 * sqrt(variance / (draws - 1)) + 1e-9 + 1e-4 * all;
    char of[200];
    /* where zeros are left out of the count, more is saved than the model tells */
    if (upper && points && op % N_OF_OP != COMPUTED) continue;
    if (isnan(says[i]) || (s.raw[i] <= says[i] + room && (upper || s.raw[i] >= says[i] - room)))
      continue;
    beyond++;
    name_of(w->o, i, of, sizeof of);
    if (n->len < sizeof n->text - 300)
      n->len +=
          (size_t)snprintf(n->text + n->len, sizeof n->text - n->len,
                           "# %s: model %.10g, mean of %d draws %.10g +- %.3g%s\n", of, says[i],
                           draws, s.raw[i], room / 3, upper ? " (upper bounds)" : "");
  }
  return beyond;
}

/* The notes must be of what the walk counts. */
static void check_notes(note *n, const oracle *o) {
  const access_log *log = o->log;
  const int nt = o->wl->n_tensors;
  for (int cell = 0; cell < o->arch->n_memories * nt; cell++) {
    int64_t all[4] = {0};
    for (int e = 0; e < size_of(o, cell % nt); e++) {
      all[FILL] += log->tiles[cell].fill[e], all[READ] += log->tiles[cell].read[e];
      all[UPDATE] += log->tiles[cell].update[e], all[DRAIN] += log->tiles[cell].drain[e];
    }
    for (int i = 0; i < log->n_notes; i++) {
      const access_note *a = &log->notes[i];
      const tf_op *op = &o->wl->ops[a->op];
      const int z = a->ref < 0 ? op->out : op->reads[a->ref].tensor;
      if (leaf_server(o, a->op, z) * nt + z == cell) all[a->ref < 0 ? UPDATE : READ]++;
    }
    const words *w = &o->moved[cell];
    if (all[FILL] != w->fill || all[UPDATE] != w->update || all[DRAIN] != w->drain ||
        all[READ] > w->read)
      n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len,
                                 "# notes of %s in %s are not what was walked\n",
                                 o->wl->tensors[cell % nt].name, o->arch->memories[cell / nt].name);
  }
}

/* Zeros leave no more than what is walked without them, bounds included. */
static void check_no_more(note *n, const oracle *o, const tf_kept *k) {
  const int nt = o->wl->n_tensors;
  for (int cell = 0; cell < o->arch->n_memories * nt; cell++) {
    const tf_kept_counts *c = &k->counts[cell];
    const words *w = &o->moved[cell];
    const double left[] = {c->fill, c->read, c->update, c->drain};
    const int64_t all[] = {w->fill, w->read, w->update, w->drain};
    for (int i = 0; i < 4; i++)
      if (left[i] > (double)all[i] * (1 + 1e-9) && n->len < sizeof n->text - 300)
        n->len += (size_t)snprintf(n->text + n->len, sizeof n->text - n->len,
                                   "# %s in %s: zeros leave %.10g of %lld\n",
                                   o->wl->tensors[cell % nt].name,
                                   o->arch->memories[cell / nt].name, left[i], (long long)all[i]);
  }
}

bool compare_zeros(note *n, const oracle *o, const tf_result *r, tf_rng *g, int draws) {
  static reactions react;
  static figures model;
  world *w = calloc(1, sizeof *w);
  if (!w || !(w->at = calloc((size_t)(o->arch->n_memories * o->wl->n_tensors), sizeof *w->at)))
    abort();
  w->o = o;
  w->k = r->kept;
  w->react = &react;
  find_reactions(o, r->kept, &react);
  modelled(o, r, &model);
  int beyond = 1;
  for (int i = 0; i < TRIES && beyond; i++, draws *= 16) {
    n->len = 0;
    n->text[0] = 0;
    beyond = try_draws(w, &model, r->kept->upper, g, draws, n);
  }
  check_notes(n, o);
  check_no_more(n, o, r->kept);
  bool out = false;
  for (int i = 0; i < o->log->n_tile; i++)
    out |= w->left_out[1][i];
  free(w->at);
  free(w);
  return out;
}
