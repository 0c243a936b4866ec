/* Recognises nests that are matrix products, and decides which loops of an op one nest may have. */
#include "codegen/backend/cpu/note/transposition.h"
#include "codegen/backend/cpu/pass/pass.h"
#include "codegen/intrin/micro.h"
#include "model/input/dims.h"

/* Weights of up to so many words are transposed element by element (64 MiB of workspace); beyond a
 * multiple of the close memory only if each is reused often enough
 * (arch-specs/cores/fitted.csv). */
enum { TURNED_MOST = 1 << 24, TURNED_CLOSE = 8, TURNED_USES = 256 };

static int64_t box_words(const lowering *w, int o, int ref) {
  const tf_op *op = &w->plan->wl->ops[o];
  int64_t words = 1;
  int rank = ref < 0 ? op->n_out_dims : w->plan->wl->tensors[op->reads[ref].tensor].rank;
  for (int r = 0; r < rank; r++) {
    int64_t len = 1;
    if (ref < 0)
      len = w->cur[o * w->plan->wl->n_dims + op->dims[r]].most;
    else
      for (int t = 0; t < op->reads[ref].index[r].n_terms; t++) {
        const tf_term *term = &op->reads[ref].index[r].terms[t];
        len += (term->coef > 0 ? term->coef : -term->coef) *
               (w->cur[o * w->plan->wl->n_dims + term->dim].most - 1);
      }
    if (__builtin_mul_overflow(words, len, &words)) return INT64_MAX / 64;
  }
  return words;
}

/* The read of a product that the output's last dim moves; -1: none. */
static int panel_read(const lowering *w, int o);

/* Whether a sum reads each element of an argument once, in rows along its innermost dim: these pass
 * by, as no point reads them again, and long rows keep the hardware prefetcher going. */
static bool streams_past(const lowering *w, int o, int read) {
  const tf_op *op = &w->plan->wl->ops[o];
  const tf_ref *ref = &op->reads[read];
  const tf_tensor *z = &w->plan->wl->tensors[ref->tensor];
  if (op->n_dims == op->n_out_dims || z->producer >= 0 || z->rank != op->n_dims) return false;
  for (int r = 0; r < z->rank; r++) /* no rank moves by two dims, and all dims move one */
    if (!lower_is_dim(&ref->index[r], op->dims[r])) return false;
  return true;
}

bool lower_fits_near_cache(const lowering *w, int o) {
  static const double times[] = {1, 1.0 / 16, 0.25, 0.5, 2, 4}; /* the values of TF_CHOICE_CLOSE */
  const double share = times[(int)w->p->machine.choices.at[TF_CHOICE_CLOSE]];
  const int64_t close = (int64_t)((double)lower_close_words(w->plan->arch) * share);
  int64_t words = box_words(w, o, -1);
  int panel = panel_read(w, o);
  bool tiles;
  /* the panel of a product has to stay close while the other operand streams past; with few rows
   * the panel streams */
  if (panel >= 0 && lower_skinny_or_streamed(w, o, panel, &tiles))
    return tiles || words + box_words(w, o, 1 - panel) <= close;
  if (panel >= 0) return box_words(w, o, panel) <= close;
  cpu_transposition t; /* which goes line by line in squares, whatever its size */
  if (cpu_is_transposition(w->plan->wl, &w->plan->wl->ops[o], &t) && w->p->machine.data == IR_F32 &&
      (w->in_parallel || !lower_spreads(w, o)))
    return true;
  for (int i = 0; i < w->plan->wl->ops[o].n_reads; i++)
    words += streams_past(w, o, i) ? 0 : box_words(w, o, i);
  return words <= close;
}

static int panel_read(const lowering *w, int o) {
  const tf_op *op = &w->plan->wl->ops[o];
  if (!ir_is_product(op)) return -1;
  int n = op->dims[op->n_out_dims - 1];
  bool has[2];
  for (int i = 0; i < 2; i++)
    has[i] = lower_reads_dim(&op->reads[i], w->plan->wl->tensors[op->reads[i].tensor].rank, n);
  return has[0] == has[1] ? -1 : has[0] ? 0 : 1;
}

typedef struct {
  lowering *w;
  const tf_op *op;
  const ir_stmt *nest;
} finder;

static bool read_has(const finder *f, int read, int k) {
  const tf_ref *ref = &f->op->reads[read];
  return lower_reads_dim(ref, f->w->plan->wl->tensors[ref->tensor].rank, f->op->dims[k]);
}

static bool longer(const finder *f, int k, int best) {
  return best < 0 || f->nest->range[k].most > f->nest->range[best].most;
}

/* The longest dim of the output that moves a and not b; -1: none. */
static int rows_of(const finder *f, const cpu_product *p) {
  int best = -1;
  for (int k = 0; k < p->n; k++)
    if (read_has(f, p->a, k) && !read_has(f, p->b, k) && longer(f, k, best)) best = k;
  return best;
}

/* The stride of n along b's last rank; 0: n moves another rank or none. */
static int64_t stride_of(const finder *f, const cpu_product *p) {
  const tf_ref *ref = &f->op->reads[p->b];
  const tf_tensor *z = &f->w->plan->wl->tensors[ref->tensor];
  if (z->rank == 0 || lower_reads_dim(ref, z->rank - 1, f->op->dims[p->n])) return 0;
  const tf_index *last = &ref->index[z->rank - 1];
  for (int t = 0; t < last->n_terms; t++)
    if (last->terms[t].dim == f->op->dims[p->n])
      return last->terms[t].coef > 0 ? last->terms[t].coef : 0;
  return 0;
}

static int64_t rounded(int64_t n, int64_t to) { return (n + to - 1) / to * to; }

/* Whether neighbours along the op's k-th dim are neighbours in the operand, and the dim moves no
 * other rank. */
static bool runs(const finder *f, const tf_ref *ref, int k) {
  const tf_tensor *z = &f->w->plan->wl->tensors[ref->tensor];
  if (z->rank == 0 || lower_reads_dim(ref, z->rank - 1, f->op->dims[k])) return false;
  const tf_index *last = &ref->index[z->rank - 1];
  for (int t = 0; t < last->n_terms; t++)
    if (last->terms[t].dim == f->op->dims[k]) return last->terms[t].coef == 1;
  return false;
}

/* Whether a can be read in place. */
static bool reads_in_place(const finder *f, const cpu_product *p) {
  const tf_ref *a = &f->op->reads[p->a];
  const ir_range *m = &f->nest->range[p->m], *k = &f->nest->range[p->k];
  if (f->w->p->buffers[f->w->p->buffer_of[a->tensor]].type != p->kernel->a) return false;
  if (lower_padded(&f->w->plan->wl->tensors[a->tensor])) return false;
  if (p->kernel->group == 1) return true;
  return runs(f, a, p->k) && m->exact && k->exact && m->most % p->kernel->m_round == 0 &&
         k->most % p->kernel->k_round == 0;
}

/* How often an element of a is used while the nest's box stays; a box of the whole tensor stays for
 * the whole run. */
static int64_t uses_of_a(const finder *f, const cpu_product *p) {
  const tf_workload *wl = f->w->plan->wl;
  int64_t n = 1;
  bool all = true;
  for (int k = 0; k < f->op->n_dims; k++)
    all &= !read_has(f, p->a, k) || f->nest->range[k].most == wl->dims[f->op->dims[k]].extent;
  for (int k = 0; k < f->op->n_dims; k++)
    if (!read_has(f, p->a, k) &&
        __builtin_mul_overflow(n, all ? wl->dims[f->op->dims[k]].extent : f->nest->range[k].most,
                               &n))
      return INT64_MAX;
  return n;
}

/* Whether the box of a always begins inside the tensor, so that the address of its first element
 * identifies the copy. */
static bool begins_inside(const finder *f, const cpu_product *p) {
  const tf_ref *a = &f->op->reads[p->a];
  const tf_tensor *z = &f->w->plan->wl->tensors[a->tensor];
  bool all = true;
  for (int r = 0; r < z->rank; r++) {
    int64_t first = a->index[r].c;
    all &= first >= 0;
    for (int t = 0; t < a->index[r].n_terms; t++)
      for (int k = 0; k < f->op->n_dims; k++) {
        if (f->op->dims[k] != a->index[r].terms[t].dim) continue;
        all &= a->index[r].terms[t].coef >= 0 && f->nest->range[k].exact;
        first += a->index[r].terms[t].coef *
                 (f->w->plan->wl->dims[f->op->dims[k]].extent - f->nest->range[k].most);
      }
    all &= first < z->extent[r];
  }
  return all;
}

/* Transposes, once, weights that are contiguous along neither m nor k, as otherwise every step of k
 * would touch a cache line for each row; likewise those that the kernel wants in another layout. */
static void transpose(const finder *f, cpu_product *p) {
  const tf_ref *a = &f->op->reads[p->a];
  const tf_tensor *z = &f->w->plan->wl->tensors[a->tensor];
  int64_t words = 1;
  for (int k = 0; k < f->op->n_dims; k++) {
    if (!read_has(f, p->a, k)) continue;
    int64_t most = rounded(f->nest->range[k].most, k == p->m   ? p->kernel->m_round
                                                   : k == p->k ? p->kernel->k_round
                                                               : 1);
    if (!f->nest->range[k].exact || __builtin_mul_overflow(words, most, &words)) return;
  }
  const tf_index *inner = &a->index[tf_inner_rank(z)];
  if (reads_in_place(f, p) &&
      (tf_index_coef(inner, f->op->dims[p->m]) || tf_index_coef(inner, f->op->dims[p->k])))
    return;
  if (z->producer >= 0 || words > TURNED_MOST) return;
  if (words / TURNED_CLOSE > lower_close_words(f->w->plan->arch) && uses_of_a(f, p) < TURNED_USES)
    return;
  p->pairs.transposed = lower_scratch(f->w, p->kernel->a, words, z->name,
                                      f->w->p->tensor_id[f->op->reads[p->a].tensor]);
}

/* Copies rows of a for each setting of the outer dims, if the kernel cannot read them in place. */
static void find_copy(const finder *f, cpu_product *p) {
  if (p->pairs.transposed >= 0 || reads_in_place(f, p)) return;
  int64_t words = rounded(f->nest->range[p->m].most, p->kernel->m_round) *
                  rounded(f->nest->range[p->k].most, p->kernel->k_round);
  const tf_tensor *z = &f->w->plan->wl->tensors[f->op->reads[p->a].tensor];
  p->pairs.copy = lower_scratch(f->w, p->kernel->a, words, z->name,
                                f->w->p->tensor_id[f->op->reads[p->a].tensor]);
  p->pairs.keep_copy = z->producer < 0;
}

static bool reads_dim_at(const tf_ref *ref, int r, int dim) {
  for (int t = 0; t < ref->index[r].n_terms; t++)
    if (ref->index[r].terms[t].dim == dim) return true;
  return false;
}

/* The longest dim over which both operands are summed. Where b is packed in phases, only a dim
 * whose steps stay within one phase. */
static int sums_of(const finder *f, const cpu_product *p) {
  const tf_ref *b = &f->op->reads[p->b];
  const int last = f->w->plan->wl->tensors[b->tensor].rank - 1;
  const bool phases = p->kernel->group == 1 && p->stride > 1;
  int best = -1;
  for (int k = f->op->n_out_dims; k < f->op->n_dims; k++)
    if (read_has(f, p->a, k) && read_has(f, p->b, k) &&
        !(phases && reads_dim_at(b, last, f->op->dims[k])) && longer(f, k, best))
      best = k;
  return best;
}

/* float32 words in a page. */
static double page_words(const finder *f) {
  return f->w->plan->arch->core.page / (double)sizeof(float);
}

/* Whether rows of b are a page or more apart: each then has a page of its own, and they conflict in
 * few sets of the caches. */
static bool rows_span_pages(const finder *f, const cpu_product *p) {
  const tf_ref *b = &f->op->reads[p->b];
  const tf_tensor *z = &f->w->plan->wl->tensors[b->tensor];
  int64_t words = 1;
  for (int k = 0; k < f->op->n_dims; k++)
    if (k != p->m && k != p->n && k != p->k && f->nest->range[k].most > 1) return false;
  for (int r = z->rank - 1; r > 0 && !reads_dim_at(b, r, f->op->dims[p->k]); r--)
    if (__builtin_mul_overflow(words, z->extent[r], &words)) return false;
  return p->stride == 1 && z->producer < 0 && (double)words >= page_words(f);
}

/* Whether copying such rows side by side pays: enough tiles of rows of a use the copy, each of
 * which would wait for the rows, and the copy is closer to the core. */
static bool worth_copying(const finder *f, const cpu_product *p) {
  enum { WIDE = 4 };
  const tf_core *core = &f->w->plan->arch->core;
  const ir_machine *t = &f->w->p->machine;
  const int chosen = (int)t->choices.at[TF_CHOICE_PACK];
  if (chosen) return chosen == LOW_PACK_ALWAYS;
  if (!p->pairs.rows_span_pages || !t->lanes) return false;
  const int64_t rows = tf_micro_rows(t->registers, WIDE),
                tiles = (f->nest->range[p->m].most + rows - 1) / rows;
  const double n = (double)f->nest->range[p->n].most;
  return n < page_words(f) &&
         (double)tiles * core->strided_access / t->lanes > 1 / core->copy + core->page_crossing / n;
}

/* The row pitch of a panel: an odd number of cache lines if several tiles lie side by side. A tile
 * goes down a few columns, whose rows would conflict in few sets of a cache at an even number of
 * lines. */
static int64_t panel_pitch(const lowering *w, const ir_kernel *kernel, int64_t n) {
  enum { TILE_LINES = 4 };
  const int64_t wide = rounded(n, kernel->n_round),
                bytes = wide * kernel->group * ir_bytes(kernel->b),
                line = lower_line_bytes(w->plan->arch);
  const bool crowded = bytes > TILE_LINES * line && bytes % (2 * line) == 0;
  return wide +
         (crowded ? rounded(line / (kernel->group * ir_bytes(kernel->b)), kernel->n_round) : 0);
}

/* Whether b is packed as float32 in place of bfloat16: for windows, groups would have to be packed
 * anew for each position, which so few rows do not repay. */
static bool packs_as_float32(const finder *f, const cpu_product *p) {
  const tf_core *core = &f->w->plan->arch->core;
  const ir_machine *t = &f->w->p->machine;
  const tf_ref *b = &f->op->reads[p->b];
  const tf_tensor *from = &f->w->plan->wl->tensors[b->tensor];
  if (!t->plain || p->kernel->a != IR_BF16 || p->kernel->group == 1 || p->kernel->m_round > 1)
    return false;
  if (!p->stride || !(lower_padded(from) || lower_has_windows(f->w->plan->wl, b))) return false;
  const double gains = (1 - 1.0 / p->kernel->group) / (core->ports * t->lanes);
  return p->m < 0 || (double)f->nest->range[p->m].most * gains < core->gather;
}

/* Decides which part of b is packed, and how. */
static void panels(const finder *f, cpu_product *p) {
  const tf_ref *b = &f->op->reads[p->b];
  const tf_tensor *from = &f->w->plan->wl->tensors[b->tensor];
  const bool same = f->w->p->buffers[f->w->p->buffer_of[b->tensor]].type == p->kernel->b;
  const ir_range *n = &f->nest->range[p->n], *k = &f->nest->range[p->k];
  p->pairs.rows_span_pages = p->kernel->group == 1 && same && rows_span_pages(f, p);
  if (p->kernel->group == 1 && p->stride &&
      (lower_padded(from) || p->stride > 1 || (!same && lower_has_windows(f->w->plan->wl, b)))) {
    lower_add_slab(f->w, f->nest, b, p);
  } else if (lower_streams(f->w, f->nest->op, p->b, f->nest->range)) {
    lower_stream(f->w, f->nest, p);
    p->pack =
        lower_scratch(f->w, p->kernel->b, 2 * p->pairs.steps * p->kernel->group * p->pairs.pitch,
                      f->op->name, f->w->p->op_id[f->nest->op]);
    p->pairs.rows_span_pages = false;
  } else if (p->kernel->group > 1 || !p->stride || !same || worth_copying(f, p)) {
    p->pairs.pitch = panel_pitch(f->w, p->kernel, n->most);
    p->pack = lower_scratch(f->w, p->kernel->b, cpu_panel_words(p, k->most), f->op->name,
                            f->w->p->op_id[f->nest->op]);
    p->pairs.keep_pack = from->producer < 0 && !lower_padded(from);
    p->pairs.rows_span_pages = false;
  }
}

/* Whether the range begins at a multiple of the step; inferred ranges may begin anywhere. */
static bool begins_at(const lowering *w, const ir_range *r, int64_t step) {
  return lower_span_of(w, r->lo).multiple % step == 0;
}

/* Whether one dim of the op alone moves rank r of b: n, k, or one outside, which then has panels
 * for each of its settings. */
static bool one_dim_moves(const finder *f, const cpu_product *p, int r) {
  const tf_ref *b = &f->op->reads[p->b];
  if (lower_is_dim(&b->index[r], f->op->dims[p->n]) ||
      lower_is_dim(&b->index[r], f->op->dims[p->k]))
    return true;
  if (p->kernel->group == 1 || b->index[r].n_terms != 1 ||
      !lower_is_dim(&b->index[r], b->index[r].terms[0].dim))
    return false;
  int ranks = 0;
  for (int i = 0; i < f->w->plan->wl->tensors[b->tensor].rank; i++)
    ranks += reads_dim_at(b, i, b->index[r].terms[0].dim);
  return ranks == 1;
}

static bool known_panels(const finder *f, const cpu_product *p) {
  const ir_range *n = &f->nest->range[p->n], *k = &f->nest->range[p->k];
  const tf_workload *wl = f->w->plan->wl;
  const int64_t all_n = wl->dims[f->op->dims[p->n]].extent,
                all_k = wl->dims[f->op->dims[p->k]].extent;
  const int64_t round = p->kernel->k_round;
  const bool one_n = n->lo.var < 0 && n->lo.off == 0 && n->most == all_n,
             one_k = k->lo.var < 0 && k->lo.off == 0;
  if (!one_n && !(n->exact && all_n % n->most == 0 && begins_at(f->w, n, n->most))) return false;
  if (p->pairs.steps && !one_n && n->most % p->pairs.pitch) return false;
  if (!p->kernel->lifts)
    return one_k || (k->exact && k->most % round == 0 && begins_at(f->w, k, round));
  return k->exact && all_k % k->most == 0 && begins_at(f->w, k, k->most) &&
         (k->most == all_k || k->most % round == 0);
}

/* Offers panels of all of b, which the caller may pack once for many calls: of an argument that
 * stays the same between calls, in blocks of as many columns as nests have, and as deep as nests
 * are if other dims follow. */
static void offer_panels(const finder *f, cpu_product *p) {
  enum { WORDS_MOST = 1 << 28 };
  const tf_ref *b = &f->op->reads[p->b];
  const tf_workload *wl = f->w->plan->wl;
  const tf_tensor *z = &wl->tensors[b->tensor];
  const int64_t all_n = wl->dims[f->op->dims[p->n]].extent,
                all_k = wl->dims[f->op->dims[p->k]].extent, most_n = f->nest->range[p->n].most,
                most_k = f->nest->range[p->k].most,
                wide = p->pack >= 0 ? p->pairs.pitch : panel_pitch(f->w, p->kernel, most_n),
                columns = p->pairs.steps ? wide : most_n, deep = p->kernel->lifts ? most_k : all_k;
  bool alone = z->producer < 0 && !lower_padded(z) && !p->slab;
  if (f->w->p->machine.changes && f->w->p->machine.changes[b->tensor]) return;
  for (int r = 0; alone && r < z->rank; r++)
    alone = one_dim_moves(f, p, r);
  if (!alone || !known_panels(f, p) || deep > WORDS_MOST / wide) return;
  int64_t panels = (all_n + columns - 1) / columns * (all_k / deep);
  for (int k = 0; k < f->op->n_dims; k++)
    if (!cpu_is_matrix(p, k) && read_has(f, p->b, k) &&
        __builtin_mul_overflow(panels, wl->dims[f->op->dims[k]].extent, &panels))
      return;
  p->pairs.pitch = wide;
  p->pairs.columns = columns;
  p->pairs.deep = deep;
  const int64_t words = cpu_panel_words(p, deep);
  if (panels > WORDS_MOST / words) return;
  p->pairs.panels =
      lower_scratch(f->w, p->kernel->b, words * panels, z->name, f->w->p->tensor_id[b->tensor]);
  f->w->p->buffers[p->pairs.panels].space = 0;
  f->w->p->buffers[p->pairs.panels].role = IR_PANELS;
}

static bool known_lengths(const ir_range *r) { return r->exact || r->other; }

static void note_product(lowering *w, ir_stmt *nest, const cpu_product *p) {
  cpu_product *kept = TF_NEW(w->p->arena, cpu_product);
  cpu_pack *pack = TF_NEW(w->p->arena, cpu_pack);
  cpu_note *note = cpu_edit(w->p, nest);
  if (lower_failed(w)) return;
  *kept = *p;
  note->product = kept;
  *pack = (cpu_pack){{&cpu_no_note}, nest->op, kept};
  if (cpu_panels_of(p) >= 0) w->p->notes[w->p->n_notes++] = &pack->note;
}

void lower_product(lowering *w, ir_stmt *nest) {
  static const ir_kernel plain = {"f32", IR_F32, IR_F32, IR_F32, 1, 1, 1, 1, IR_F32, false};
  const tf_op *op = &w->plan->wl->ops[nest->op];
  finder f = {w, op, nest};
  cpu_product p = {
      .n = op->n_out_dims - 1, .pack = -1, .pairs = {.transposed = -1, .copy = -1, .panels = -1}};
  if (!ir_is_product(op) || nest->nest.divides >= 0) return;
  p.kernel = lower_is_whole(w, nest->op) ? w->p->machine.whole
             : w->p->machine.real        ? w->p->machine.real
                                         : &plain;
  if (!p.kernel) return;
  if (lower_sparse(w, nest, &p) || lower_channels(w, nest, &p) || lower_failed(w)) {
    note_product(w, nest, &p);
    return;
  }
  bool in_first = read_has(&f, 0, p.n), in_second = read_has(&f, 1, p.n);
  if (in_first == in_second) return;
  p.b = in_first ? 0 : 1;
  p.a = 1 - p.b;
  p.kernel = lower_exact_kernel(w, op, p.a, p.kernel);
  p.stride = stride_of(&f, &p);
  p.m = rows_of(&f, &p);
  if (packs_as_float32(&f, &p)) p.kernel = w->p->machine.plain;
  p.k = sums_of(&f, &p);
  if (p.k < 0 || (p.m >= 0 && !known_lengths(&nest->range[p.m]))) return;
  const bool padded = lower_padded(&w->plan->wl->tensors[op->reads[p.a].tensor]);
  if (!padded && !lower_streams(w, nest->op, p.b, nest->range) && lower_skinny(w, nest, &p)) {
    note_product(w, nest, &p);
    return;
  }
  if (p.m < 0 || !known_lengths(&nest->range[p.n]) || (padded && !begins_inside(&f, &p))) return;
  if (padded) transpose(&f, &p);
  if (padded && p.pairs.transposed < 0) return; /* a kernel reads borders from a copy alone */
  panels(&f, &p);
  if (!padded) transpose(&f, &p);
  find_copy(&f, &p);
  offer_panels(&f, &p);
  note_product(w, nest, &p);
}
