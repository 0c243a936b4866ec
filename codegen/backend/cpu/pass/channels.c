/* Products with lanes along channels and the output's rows down the tile, where the mapping spreads
 * channels over the units. */
#include <math.h>

#include "codegen/backend/cpu/pass/cost.h"
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"

/* Limits: words of packed panels (1 GiB); uses of an argument's element up to which it is read in
 * place; steps of k that take as long as transposing a tile's sums (arch-specs/cores/fitted.csv).
 */
enum { PANELS_MOST = 1 << 28, COPY_USES = 16, FEW = 64 };

static int64_t parts(int64_t n, int64_t by) { return (n + by - 1) / by; }

/* Settings of the reduced dims, in groups of the kernel. */
static double depth_of(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  double k = 1;
  for (int i = op->n_out_dims; i < op->n_dims; i++)
    k *= (double)parts(nest->range[i].most, i == p->channels.groups ? p->kernel->group : 1);
  return k;
}

/* The panel width of least cost for the nest's rows. */
static int panel_of(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const ir_machine *t = &w->p->machine;
  const tf_core *core = &w->plan->arch->core;
  const int64_t n = nest->range[p->n].most, row = nest->range[p->m].most,
                joined = p->channels.joined ? nest->range[p->m - 1].most : 1;
  const bool part = n < w->plan->wl->dims[op->dims[p->n]]
                            .extent; /* each nest has a part of n, which must end with a panel */
  const tf_transposed transposed = {
      t->registers, t->lanes,           row,
      row * joined, parts(n, t->lanes), cpu_output_pitch(w->plan->wl, op, p->n)};
  const int chosen = tf_micro_across(&t->choices);
  const double all = depth_of(w, nest, p), depth = all / ceil(all / TF_MICRO_PART);
  double least = INFINITY;
  int best = 1;
  if (chosen && (!part || n % (chosen * t->lanes) == 0)) return chosen * t->lanes;
  for (int across = 1; across <= 4; across++) {
    if (across > 1 && part && n % (across * t->lanes)) continue;
    const double cycles = tf_cost_channels(core, &transposed, depth, across);
    if (cycles >= least) continue;
    least = cycles;
    best = across;
  }
  return best * t->lanes;
}

/* Whether rows are joined in pairs: they are so short that a tile has room for two, and so few in
 * the nest that a tile can be printed for each pair. */
static bool joins_rows(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  enum { JOINED_MOST = 128, PAIR_WIDE = 2 };
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const ir_range *m = &nest->range[p->m], *above = p->m > 0 ? &nest->range[p->m - 1] : NULL;
  if (!above || p->m - 1 == p->n || !m->exact || !above->exact || above->most < 2) return false;
  const tf_ref *a = &op->reads[p->a];
  if (!lower_reads_dim(a, w->plan->wl->tensors[a->tensor].rank, op->dims[p->m - 1]) ||
      cpu_is_group(w->plan->wl, op, p, p->m - 1))
    return false;
  return 2 * m->most <= tf_micro_rows(w->p->machine.registers, PAIR_WIDE) &&
         m->most * above->most <= JOINED_MOST;
}

/* The number of units over which the mapping spreads a dim of op o. */
static int64_t over_units(const lowering *w, int o, int dim) {
  const tf_plan *p = w->plan;
  int64_t n = 1;
  for (int l = 0; l < p->n_loops; l++) {
    const tf_ploop *pl = &p->loops[l];
    bool leads = false;
    for (int i = 0; i < pl->n_leader; i++)
      leads |= pl->leaders[i] == o;
    const bool units =
        pl->axis != TF_TEMPORAL && p->tree->nodes[pl->node].level + 1 == p->arch->n_memories;
    if (leads && units && pl->dim == dim) n *= w->run.trip[l];
  }
  return n;
}

static bool in_read(const lowering *w, const tf_op *op, int read, int k) {
  return lower_reads_dim(&op->reads[read], w->plan->wl->tensors[op->reads[read].tensor].rank,
                         op->dims[k]);
}

/* The rows' dim must be along the last rank of a, and nowhere else in it. */
static bool rows_of(const lowering *w, const tf_op *op, cpu_product *p) {
  const tf_ref *a = &op->reads[p->a];
  const int rank = w->plan->wl->tensors[a->tensor].rank, dim = op->dims[p->m];
  if (rank == 0 || lower_reads_dim(a, rank - 1, dim)) return false;
  for (int t = 0; t < a->index[rank - 1].n_terms; t++)
    if (a->index[rank - 1].terms[t].dim == dim)
      p->channels.row_step = a->index[rank - 1].terms[t].coef;
  return p->channels.row_step > 0;
}

/* Whether the op's dim k suits lanes better than dim `than`: it has more units, or as many and is
 * longer. */
static bool is_wider(const lowering *w, int o, int k, int than) {
  const tf_op *op = &w->plan->wl->ops[o];
  const int64_t a = over_units(w, o, op->dims[k]), b = over_units(w, o, op->dims[than]);
  return a != b ? a > b
                : w->plan->wl->dims[op->dims[k]].extent > w->plan->wl->dims[op->dims[than]].extent;
}

static int64_t extent_of(const lowering *w, const tf_op *op, int k) {
  return w->plan->wl->dims[op->dims[k]].extent;
}

/* Whether a row fills at most half of a vector, while the channels, though few, fill about as much
 * of one: channels then need no partial vectors along each row. */
static bool rows_are_short(const lowering *w, const tf_op *op, const cpu_product *p) {
  const int64_t row = extent_of(w, op, p->m), channels = extent_of(w, op, p->n);
  return 2 * row <= w->p->machine.lanes && 4 * channels >= 3 * row;
}

/* Whether lanes along channels make better use of a kernel of groups. Along rows, groups would have
 * to be packed anew for each position of a window: integers are, which is slow; bfloat16 is widened
 * and multiplied element by element instead (product.c), so that channels win if they need fewer
 * vectors, even with idle lanes. */
static bool groups_favour_channels(const lowering *w, const tf_op *op, const cpu_product *p) {
  const tf_ref *a = &op->reads[p->a];
  const int64_t n = extent_of(w, op, p->n), m = extent_of(w, op, p->m), lanes = w->p->machine.lanes;
  if (p->kernel->group == 1 || !lower_has_windows(w->plan->wl, a)) return false;
  return p->kernel->c == IR_I32 ||
         (double)parts(n, lanes) * (double)m <
             (double)p->kernel->group * (double)n * (double)parts(m, lanes);
}

/* Whether b is weights of 1 x 1 windows, and rows of a, longer than a vector, do not begin with
 * cache lines: along rows, each vector would straddle two lines, and weights be read in pieces. */
static bool rows_straddle_lines(const lowering *w, const tf_op *op, const cpu_product *p) {
  const tf_tensor *b = &w->plan->wl->tensors[op->reads[p->b].tensor],
                  *a = &w->plan->wl->tensors[op->reads[p->a].tensor];
  const int64_t lanes = w->p->machine.lanes;
  return p->kernel->a == IR_F32 && b->rank > 2 && b->extent[b->rank - 1] == 1 &&
         p->channels.row_step == 1 && !lower_padded(a) && extent_of(w, op, p->m) > lanes &&
         extent_of(w, op, p->n) >= 2 * lanes &&
         a->extent[a->rank - 1] * (int64_t)sizeof(float) % lower_line_bytes(w->plan->arch) != 0;
}

/* Whether an integer product whose rows leave lanes idle multiplies less along channels, even with
 * the time that transposing its sums takes: as long as FEW steps. */
static bool rows_leave_lanes_idle(const lowering *w, const tf_op *op, const cpu_product *p) {
  const int64_t row = extent_of(w, op, p->m), channels = extent_of(w, op, p->n),
                lanes = w->p->machine.lanes;
  double steps = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    steps *= (double)extent_of(w, op, k);
  return p->kernel->c == IR_I32 && p->channels.row_step == 1 &&
         (double)parts(row, lanes) / (double)row >
             (double)parts(channels, lanes) / (double)channels * (1 + FEW / steps);
}

/* Finds a dim of the output that moves b alone for the lanes, if they shall run along channels; all
 * reduced dims must move b, too. */
static bool channels_of(const lowering *w, int o, cpu_product *p) {
  const tf_op *op = &w->plan->wl->ops[o];
  p->n = -1;
  for (int k = 0; k < op->n_dims; k++) {
    const bool in = in_read(w, op, p->b, k);
    if (k >= op->n_out_dims && !in) return false;
    if (k >= op->n_out_dims || !in || in_read(w, op, p->a, k)) continue;
    if (p->n < 0 || is_wider(w, o, k, p->n)) p->n = k;
  }
  const int chosen = (int)w->p->machine.choices.at[TF_CHOICE_LANES];
  if (p->n < 0 || chosen) return p->n >= 0 && chosen == LOW_LANES_CHANNELS;
  return over_units(w, o, op->dims[p->n]) > over_units(w, o, op->dims[p->m]) ||
         rows_are_short(w, op, p) || groups_favour_channels(w, op, p) ||
         rows_straddle_lines(w, op, p) || rows_leave_lanes_idle(w, op, p);
}

/* Whether the nest's part of b is contiguous in each panel: n begins with a panel, and all reduced
 * dims but the outermost are whole. *places: the most settings of the reduced dims. */
static bool in_panels(const lowering *w, const ir_stmt *nest, const cpu_product *p,
                      int64_t *places) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const ir_range *n = &nest->range[p->n];
  *places = 1;
  for (int k = op->n_out_dims; k < op->n_dims; k++) {
    const ir_range *r = &nest->range[k];
    const bool whole = r->exact && r->most == w->plan->wl->dims[op->dims[k]].extent;
    if ((k > op->n_out_dims && !whole) || __builtin_mul_overflow(*places, r->most, places))
      return false;
  }
  return op->n_dims > op->n_out_dims && *places < PANELS_MOST &&
         (n->lo.var < 0 ? n->lo.off == 0 : n->exact && n->most % p->channels.panel == 0);
}

/* Elements of the op's k-th dim that lie side by side in a group. */
static int group_along(const cpu_product *p, int k) {
  return k == p->channels.groups ? p->kernel->group : 1;
}

static bool add_panels(lowering *w, const ir_stmt *nest, cpu_product *p, int64_t places) {
  const tf_workload *wl = w->plan->wl;
  const tf_op *op = &wl->ops[nest->op];
  const int64_t lanes = w->p->machine.lanes,
                n = parts(wl->dims[op->dims[p->n]].extent, lanes) * lanes;
  int64_t words = n;
  p->channels.last = n % p->channels.panel ? (int)(n % p->channels.panel) : p->channels.panel;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    if (__builtin_mul_overflow(
            words, parts(wl->dims[op->dims[k]].extent, group_along(p, k)) * group_along(p, k),
            &words))
      return false;
  p->channels.group = words;
  for (int k = 0; k < op->n_out_dims; k++)
    if (cpu_is_group(wl, op, p, k) &&
        __builtin_mul_overflow(words, wl->dims[op->dims[k]].extent, &words))
      return false;
  if (words > PANELS_MOST) return false;
  p->channels.panels =
      lower_scratch(w, p->kernel->b, words, wl->tensors[op->reads[p->b].tensor].name,
                    w->p->tensor_id[op->reads[p->b].tensor]);
  w->p->buffers[p->channels.panels].space = 0;
  w->p->buffers[p->channels.panels].role = IR_PANELS;
  p->channels.offsets = lower_scratch(w, IR_I64, places, op->name, w->p->op_id[op - wl->ops]);
  return true;
}

/* Whether copying an argument does not pay: its elements are read about once for each panel and
 * window position, in rows that fill half of a cache line or more. With a stride a copy pays, as it
 * drops the part of each line that is skipped. */
static bool in_place(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const int chosen = (int)w->p->machine.choices.at[TF_CHOICE_ROWS];
  if (chosen) return chosen == LOW_ROWS_THERE && !p->channels.joined;
  int64_t uses = parts(nest->range[p->n].most, p->channels.panel);
  for (int k = op->n_out_dims + 1; k < op->n_dims; k++)
    uses *= nest->range[k].most;
  return !p->channels.joined && p->channels.row_step == 1 && uses <= COPY_USES &&
         2 * (double)nest->range[p->m].most >= w->plan->arch->core.line / (double)sizeof(float);
}

/* Reads a in place if it has no borders and is cached or rarely read; otherwise, and always where
 * the kernel wants groups, packs its box with borders. */
static void add_rows(lowering *w, const ir_stmt *nest, cpu_product *p) {
  const tf_ref *a = &w->plan->wl->ops[nest->op].reads[p->a];
  const tf_tensor *z = &w->plan->wl->tensors[a->tensor];
  const ir_buffer *b = &w->p->buffers[w->p->buffer_of[a->tensor]];
  if (!lower_padded(z) && b->type == IR_F32 && !p->channels.groups &&
      (b->role != IR_ARGUMENT || in_place(w, nest, p)))
    return;
  p->stride = 1; /* no phases */
  lower_add_slab(w, nest, a, p);
  p->keep_slab = z->producer < 0;
}

/* Whether the kernel broadcasts elements of float32, or groups of shorter types, to all lanes. */
static bool broadcasts(const ir_kernel *k, int lanes) {
  return k->m_round == 1 && (k->group == 1 ? k->a == IR_F32 : k->n_round == lanes);
}

/* Whether the output has the type of the kernel's sums. */
static bool stores_sums(const lowering *w, const tf_op *op, const ir_kernel *k) {
  return w->p->buffers[w->p->buffer_of[op->out]].type == k->c;
}

/* Whether the range consists of whole groups, or is the whole dim, whose last group is padded. */
static bool has_groups(const lowering *w, const ir_range *r, int dim, int group) {
  const bool begins = r->lo.var < 0 ? r->lo.off % group == 0 : r->exact && r->most % group == 0;
  return begins && r->exact && (r->most % group == 0 || r->most == w->plan->wl->dims[dim].extent);
}

/* For a kernel of groups: the longest reduced dim that alone moves a rank of a outside of its rows,
 * without borders. */
static bool groups_of(const lowering *w, const ir_stmt *nest, cpu_product *p) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const tf_ref *a = &op->reads[p->a];
  const tf_tensor *z = &w->plan->wl->tensors[a->tensor];
  for (int k = op->n_out_dims; k < op->n_dims && p->kernel->group > 1; k++)
    for (int r = 0; r < z->rank - 1; r++) {
      bool alone = lower_is_dim(&a->index[r], op->dims[k]) && !z->pad[r];
      for (int other = 0; other < z->rank; other++)
        alone &= other == r || !tf_index_coef(&a->index[other], op->dims[k]);
      if (!alone || !has_groups(w, &nest->range[k], op->dims[k], p->kernel->group) ||
          (p->channels.groups && nest->range[k].most <= nest->range[p->channels.groups].most))
        continue;
      p->channels.groups = k;
      p->channels.groups_rank = r;
    }
  return p->kernel->group == 1 || p->channels.groups;
}

/* Whether lanes along the rows of an integer product are faster than along channels: rows fill the
 * lanes, each element is read at one position alone, and there are few channels, or rows of the
 * output so far apart that they conflict in the first cache. Then no copy is needed, and sums are
 * not transposed, which would take as long as multiplying. */
static bool rows_fill_lanes(const lowering *w, const ir_stmt *nest, const cpu_product *p) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const ir_machine *t = &w->p->machine;
  const int64_t m = nest->range[p->m].most;
  const tf_transposed row = {t->registers,
                             t->lanes,
                             m,
                             m,
                             parts(nest->range[p->n].most, t->lanes),
                             cpu_output_pitch(w->plan->wl, op, p->n)};
  bool fill = p->kernel->c == IR_I32 && !t->choices.at[TF_CHOICE_LANES] && m >= t->lanes;
  for (int k = op->n_out_dims; k < op->n_dims; k++)
    fill = fill && (k == p->channels.groups || w->plan->wl->dims[op->dims[k]].extent == 1);
  return fill &&
         ((double)p->kernel->group * depth_of(w, nest, p) <= FEW ||
          tf_cost_split_lines(&w->plan->arch->core, &row, panel_of(w, nest, p) / t->lanes) > 0);
}

bool lower_channels(lowering *w, const ir_stmt *nest, cpu_product *product) {
  const tf_op *op = &w->plan->wl->ops[nest->op];
  const ir_machine *t = &w->p->machine;
  cpu_product p = {.kind = CPU_CHANNELS, .kernel = product->kernel, .pack = -1};
  int64_t places;
  if (!t->lanes || !broadcasts(p.kernel, t->lanes) || !stores_sums(w, op, p.kernel)) return false;
  p.m = op->n_out_dims - 1;
  const bool in_first = in_read(w, op, 0, p.m);
  if (in_first == in_read(w, op, 1, p.m)) return false;
  p.a = in_first ? 0 : 1;
  p.b = 1 - p.a;
  p.k = op->n_out_dims;
  if (w->plan->wl->tensors[op->reads[p.b].tensor].producer >= 0 || !rows_of(w, op, &p) ||
      !channels_of(w, nest->op, &p))
    return false;
  p.kernel = lower_exact_kernel(w, op, p.a, product->kernel);
  if (!groups_of(w, nest, &p)) {
    p.kernel = product->kernel;
    if (!groups_of(w, nest, &p)) return false;
  }
  if (rows_fill_lanes(w, nest, &p)) return false;
  const ir_range *m = &nest->range[p.m];
  if (!m->exact && !m->other) return false;
  p.channels.joined = joins_rows(w, nest, &p);
  p.channels.panel = panel_of(w, nest, &p);
  if (!in_panels(w, nest, &p, &places) || !add_panels(w, nest, &p, places)) return false;
  add_rows(w, nest, &p);
  lower_skip_padding(w, nest, &p);
  *product = p;
  return true;
}
