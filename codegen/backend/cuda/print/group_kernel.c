/* Prints the function of a part: it makes the barriers, then warps take roles. The last warpgroup
 * is the producer: it keeps few registers, and one thread of it goes through the loops and requests
 * tiles. The others, the consumers, take the registers and do everything else. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/group.h"

typedef cu_role role;

static void body(role *r, const ir_body *b);

/* "full_2", "empty_2": barriers of the ring. */
static void barriers(c_printer *c, const cu_groups *g) {
  c_indent(c), fprintf(c->out, "uint64_t *const barriers = (uint64_t *)(shared + %" PRId64 ");\n",
                       g->barriers);
  for (int i = 0; i < g->n; i++) {
    const int64_t before = cu_ring_before(g, i);
    c_indent(c);
    fprintf(c->out,
            "uint64_t *const full_%d = barriers + %" PRId64
            ", *const empty_%d = barriers + %" PRId64 ";\n",
            i, before, i, before + g->ring[i].stages);
  }
  c_line(c, "if (THREAD == 0) {\n");
  c->depth++;
  for (int i = 0; i < g->n; i++) {
    const int users = (g->in_turns ? 1 : g->groups) * CU_GROUP_WARPS;
    c_indent(c);
    fprintf(c->out,
            "for (int i = 0; i < %" PRId64
            "; i++) barrier_init(full_%d + i, 1), barrier_init(empty_%d + i, %d);\n",
            g->ring[i].stages, i, i, cu_ring_is_common(g, i) ? CU_CLUSTER * users : users);
  }
  c_line(c, "barrier_known();\n");
  c_close(c, 1);
  c_line(c, g->shared_tiles ? "cluster_meet();\n" : "__syncthreads();\n");
}

/* Declares each ring's stage, and the parity of how often the role has gone round it. */
static void open_rings(const role *r) {
  for (int i = 0; i < r->g->n; i++)
    c_indent(r->c),
        fprintf(r->c->out, "int at_%d = 0;\n%*sunsigned turn_%d = 0;\n", i, 2 * r->c->depth, "", i);
}

/* ---- the producer --------------------------------------------------------------------------- */

/* Panels of 128 bytes a row, one box each; of tiles that a cluster shares, half of the rows. */
static void box(const role *r, int ring, const ir_stmt *s) {
  c_printer *c = r->c;
  const ir_buffer *to = &c->p->buffers[s->copy.to], *from = &c->p->buffers[s->copy.from];
  const int64_t elements = CU_PANEL / ir_bytes(to->type),
                panels = to->extent[cu_column_rank(to)] / elements, rows = cu_matrix_rows(to);
  const bool common = r->g->shared_tiles && r->g->shared_tiles[s->copy.to];
  for (int64_t i = 0; i < panels; i++) {
    c_indent(c);
    fprintf(c->out, "load_box%s(shared + %" PRId64 " + at_%d * %" PRId64, common ? "_for_all" : "",
            r->g->tile[s->copy.to] + i * rows * CU_PANEL, ring, cu_bytes(to) / to->slots);
    if (common) fprintf(c->out, " + member * %" PRId64, rows / CU_CLUSTER * CU_PANEL);
    fprintf(c->out, ", &maps.of_%d, full_%d + at_%d", s->copy.to, ring, ring);
    for (int k = from->rank - 1; k >= 0; k--) {
      fputs(", (int)(", c->out), c_atom(c->out, c->p, s->range[k].lo), fputs(" - (", c->out);
      c_atom(c->out, c->p, from->base[k]), fputc(')', c->out);
      if (k == cu_column_rank(to) && i) fprintf(c->out, " + %" PRId64, i * elements);
      if (k == cu_row_rank(to) && common)
        fprintf(c->out, " + member * %" PRId64, rows / CU_CLUSTER);
      fputc(')', c->out);
    }
    fputs(");\n", c->out);
  }
}

static void request_tiles(const role *r, int ring) {
  const cu_ring *at = &r->g->ring[ring];
  c_indent(r->c);
  fprintf(r->c->out, "barrier_wait(empty_%d + at_%d, turn_%d ^ 1);\n", ring, ring, ring);
  c_indent(r->c);
  fprintf(r->c->out, "barrier_expect(full_%d + at_%d, %" PRId64 ");\n", ring, ring, at->bytes);
  for (int i = 0; i < at->n_copies; i++)
    box(r, ring, at->copy[i]);
  cu_groups_next(r, ring);
}

/* ---- consumers ------------------------------------------------------------------------------ */

/* Releases the tiles before the current ones, only if `when` holds. */
static void release_last(const role *r, int ring, const char *when) {
  char stage[60];
  snprintf(stage, sizeof stage, "(at_%d ? at_%d : %" PRId64 ") - 1", ring, ring,
           r->g->ring[ring].stages);
  cu_groups_release(r, ring, when, stage);
}

/* Releases the tiles before the current ones. */
void cu_groups_release_last(const role *r, int ring) {
  c_indent(r->c);
  release_last(r, ring, "");
}

/* ---- blocks in turn ------------------------------------------------------------------------- */

static bool has_product(const ir_stmt *s) {
  bool has = s->kind == IR_NEST && cu_of(s)->fragments;
  for (int i = 0; i < s->body.n && !has; i++)
    has = has_product(s->body.s[i]);
  return has;
}

/* The statement after whose products a block has no more. */
static const ir_stmt *last_product(const ir_body *b) {
  const ir_stmt *last = NULL;
  for (int i = 0; i < b->n; i++)
    if (has_product(b->s[i])) last = b->s[i];
  return last;
}

/* Tiles of the ring that each block uses. */
static int64_t tiles_of(const ir_body *b, const ir_stmt *wait) {
  int64_t n = 0;
  for (int i = 0; i < b->n; i++)
    n += b->s[i] == wait
             ? 1
             : tiles_of(&b->s[i]->body, wait) * (b->s[i]->kind == IR_FOR ? b->s[i]->loop.trip : 1);
  return n;
}

/* Advances the rings past the tiles of the other warpgroup's block. */
static void skip_block(const role *r) {
  c_printer *c = r->c;
  c_line(c, "if (blocks_begun++ % 2 != (int)threadIdx.y / 4) { /* the other warpgroup's */\n");
  c->depth++;
  for (int i = 0; i < r->g->n; i++) {
    const int64_t n = tiles_of(&r->g->warps->body, r->g->ring[i].wait),
                  stages = r->g->ring[i].stages;
    c_indent(c);
    fprintf(c->out,
            "at_%d += %" PRId64 ", turn_%d ^= (unsigned)(at_%d / %" PRId64
            ") & 1, at_%d %%= %" PRId64 ";\n",
            i, n, i, i, stages, i, stages);
  }
  c_line(c, "continue;\n");
  c_close(c, 1);
}

/* Products that begin together, as they wait for the same tiles. */
typedef struct {
  int n;
  const ir_stmt *products[CU_MOST_TILES];
} begun;

/* The products of a loop, or of nested loops, that only wait for their tiles, all of them together,
 * in every step; none: the loop does something else, too. */
static begun only_products(const role *r, const ir_stmt *s, int around) {
  const begun none = {0};
  begun found = {0};
  const ir_stmt *inner = s->loop.map == IR_SERIAL ? cu_only_loop(&s->body) : NULL;
  if (inner) return around + 1 < CU_MOST_STEPS ? only_products(r, inner, around + 1) : none;
  bool only = s->loop.map == IR_SERIAL && s->loop.trip > 1 && !cu_has_short_sums(r->c->p);
  int waits = 0;
  for (int i = 0; i < s->body.n && only; i++) {
    const ir_stmt *t = s->body.s[i];
    const bool product = t->kind == IR_NEST && cu_of(t)->fragments;
    waits += t->kind == IR_WAIT;
    only = t->kind == IR_LET || t->kind == IR_COPY || t->kind == IR_WAIT || t->kind == IR_BARRIER ||
           product;
    if (!product) continue;
    only = found.n < CU_MOST_TILES && cu_groups_is_steady(r->c, t) &&
           r->c->p->buffers[t->nest.from[cu_of(t)->fragments->a]].space != CU_FRAGMENT;
    if (only) found.products[found.n++] = t;
  }
  return only && waits == 1 ? found : none;
}

/* Sums in pieces: the next piece's products begin before the current one's are complete, and its
 * tiles are released a step later; nested loops are printed as one loop. */
static void pieces(const role *r, const ir_stmt *s, const begun *all) {
  c_printer *c = r->c;
  char when[90 * CU_MOST_STEPS] = "";
  size_t n = 0;
  int ring = 0, opened = 0;
  for (const ir_stmt *in = s; in && opened < CU_MOST_STEPS;
       in = cu_only_loop(&in->body), opened++) {
    const char *var = c->p->var_name[in->loop.var];
    c_line(c, "#pragma unroll 1\n"), c_indent(c);
    fprintf(c->out, "for (int64_t %s = 0; %s < %" PRId64 "; %s++) {\n", var, var, in->loop.trip,
            var);
    c->depth++;
    cu_groups_lets(r, &in->body);
    n += (size_t)snprintf(when + n, sizeof when - n, "%s%.80s", n ? " || " : "", var);
    for (int i = 0; i < in->body.n; i++)
      if (in->body.s[i]->kind == IR_WAIT) ring = cu_ring_of(r->g, in->body.s[i]);
  }
  cu_groups_full(r, ring);
  for (int i = 0; i < all->n; i++)
    cu_groups_begin(c, r->g, all->products[i], NULL);
  for (int i = 0; i < all->n; i++)
    cu_groups_wait(c, all->products[i], all->n);
  char first[sizeof when + 8];
  snprintf(first, sizeof first, opened > 1 ? "(%s) && " : "%s && ", when);
  c_indent(c), release_last(r, ring, first);
  cu_groups_next(r, ring);
  c_close(c, opened);
  if (s == r->last) cu_groups_pass_turn(r);
  for (int i = 0; i < all->n; i++)
    cu_groups_wait(c, all->products[i], 0);
  cu_groups_release_last(r, ring);
}

/* Blocks that a mask makes longer come first, and are dealt in alternating order. */
static void open_blocks(const role *r, const ir_stmt *s, bool masked) {
  c_printer *c = r->c;
  const char *var = c->p->var_name[s->loop.var];
  c_indent(c);
  if (!masked) {
    fprintf(c->out, "for (int64_t %s = blockIdx.x; %s < %" PRId64 "; %s += gridDim.x) {\n", var,
            var, s->loop.trip, var);
    return;
  }
  fprintf(c->out, "for (int64_t round = 0; round * gridDim.x < %" PRId64 "; round++) {\n",
          s->loop.trip);
  c->depth++;
  c_indent(c);
  fprintf(c->out, "const int64_t rank = round * gridDim.x + (round %% 2 ? gridDim.x - 1 - "
                  "blockIdx.x : blockIdx.x);\n");
  c_indent(c), fprintf(c->out, "if (rank >= %" PRId64 ") continue;\n", s->loop.trip);
  c_indent(c), fprintf(c->out, "const int64_t %s = %" PRId64 " - rank;\n", var, s->loop.trip - 1);
  c->depth--;
}

static void open_steps(const role *r, const ir_stmt *s) {
  c_printer *c = r->c;
  const char *var = c->p->var_name[s->loop.var];
  cu_stream t;
  const bool stream = cu_groups_find_stream(r, s, &t) && t.mask;
  if (stream) cu_groups_ends(r, &t);
  c_line(c, "#pragma unroll 1\n"), c_indent(c);
  if (stream)
    fprintf(c->out, "for (int64_t %s = first; %s < end; %s++) {\n", var, var, var);
  else
    fprintf(c->out, "for (int64_t %s = 0; %s < %" PRId64 "; %s++) {\n", var, var, s->loop.trip,
            var);
}

static void open_warps(const role *r, const ir_stmt *s) {
  c_printer *c = r->c;
  const char *var = c->p->var_name[s->loop.var];
  c_line(c, "{\n");
  c->depth++;
  c_indent(c), fprintf(c->out, "const int64_t %s = %s;\n", var,
                       r->is_producer   ? "0"
                       : r->g->in_turns ? "threadIdx.y % 4"
                                        : "threadIdx.y");
  c_indent(c), fprintf(c->out, "(void)%s;\n", var);
  if (!r->is_producer) cu_fragments(c, s);
  c->depth--;
}

static bool has_mask(const role *r, const ir_body *b) {
  bool any = false;
  cu_stream t;
  for (int i = 0; i < b->n && !any; i++)
    any = (b->s[i]->kind == IR_FOR && cu_groups_find_stream(r, b->s[i], &t) && t.mask) ||
          has_mask(r, &b->s[i]->body);
  return any;
}

static void loop(role *r, const ir_stmt *s) {
  c_printer *c = r->c;
  const begun only = r->is_producer ? (begun){0} : only_products(r, s, 0);
  cu_stream t;
  if (only.n) {
    pieces(r, s, &only);
    return;
  }
  if (!r->is_producer && cu_groups_find_stream(r, s, &t)) {
    cu_groups_stream(r, &t);
    return;
  }
  if (s->loop.map == IR_WARP)
    open_warps(r, s);
  else if (s->loop.map == IR_BLOCK)
    open_blocks(r, s, has_mask(r, &s->body));
  else
    open_steps(r, s);
  c->depth++;
  if (!r->is_producer && r->g->in_turns && s->loop.map == IR_BLOCK) skip_block(r);
  body(r, &s->body);
  for (int i = 0; i < r->g->n && s->loop.map == IR_WARP && !r->is_producer; i++)
    if (r->g->ring[i].lasting && !cu_groups_is_early(r, i)) cu_groups_give_back(r, i);
  c_close(c, 1);
  if (s == r->last) cu_groups_pass_turn(r);
}

static void body(role *r, const ir_body *b) {
  bool waited = false;
  const bool turns = !r->is_producer && r->g->in_turns && b == &r->g->warps->body;
  /* waiting for tiles must come after the other warpgroup's wait for all of its own, as tiles of
   * later turns have the same parity */
  if (turns) r->last = last_product(b), cu_groups_take_turn(r);
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET) {
      cu_groups_lets(r, &(ir_body){1, &b->s[i]});
    } else if (s->kind == IR_FOR) {
      loop(r, s);
    } else if (s->kind == IR_WAIT) {
      r->ring = cu_ring_of(r->g, s);
      waited = true;
      if (r->is_producer)
        request_tiles(r, r->ring);
      else
        cu_groups_full(r, r->ring);
    } else if (s->kind == IR_BARRIER) { /* the first one belongs to the wait */
      if (!waited && !r->is_producer && r->ring >= 0) cu_groups_give_back(r, r->ring);
      waited = false;
    } else if (ir_facts_of(s)->points && !r->is_producer && s != r->g->leaving.map) {
      cu_groups_points(r, s);
      if (s == r->last) cu_groups_pass_turn(r);
    }
  }
}

/* The number of multiplications expected in machine code: loops over blocks, steps and pieces stay;
 * all others are unrolled. */
static int64_t products(const role *r, const ir_body *b) {
  const int64_t step = CU_STEP_BYTES / ir_bytes(r->c->p->machine.data);
  int64_t n = 0;
  cu_stream t;
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    const bool stream = s->kind == IR_FOR && cu_groups_find_stream(r, s, &t);
    n += products(r, &s->body) *
         (stream ? 2 : 1); /* its first step, or its last, is printed apart */
    if (s->kind == IR_NEST && cu_of(s)->fragments)
      n += (s->range[cu_of(s)->fragments->k].most + step - 1) / step;
  }
  return n;
}

static int64_t panels(const ir_program *p, const cu_groups *g) {
  int64_t n = 0;
  for (int i = 0; i < g->n; i++)
    for (int k = 0; k < g->ring[i].n_copies; k++) {
      const ir_buffer *to = &p->buffers[g->ring[i].copy[k]->copy.to];
      n += to->extent[cu_column_rank(to)] * ir_bytes(to->type) / CU_PANEL;
    }
  return n;
}

static void put_predicted(FILE *out, const role *r) {
  const cu_groups *g = r->g;
  const ir_program *p = r->c->p;
  int64_t leaving = 0;
  if (g->leaving.save) {
    const ir_buffer *from = &p->buffers[g->leaving.save->save.from];
    const int bytes = ir_bytes(p->buffers[g->leaving.save->save.to].type);
    leaving = (from->extent[cu_column_rank(from)] * bytes + CU_PANEL - 1) / CU_PANEL;
  }
  fprintf(out,
          "/* Of its machine code: %" PRId64 " %s, %" PRId64 " UTMALDG, %" PRId64
          " UTMASTG, 2 USETMAXREG; %" PRId64 " bytes of shared memory. */\n",
          products(r, &g->part->body), cu_has_short_sums(p) ? "QGMMA" : "HGMMA", panels(p, g),
          leaving, g->shared);
}

void cu_groups_kernel(c_printer *c, const cu_groups *g, void (*open)(c_printer *c),
                      void (*values)(c_printer *c)) {
  role makes = {c, g, true, -1, NULL}, uses = {c, g, false, -1, NULL};
  put_predicted(c->out, &uses);
  fprintf(c->out,
          "static __global__ void __launch_bounds__(%d, 1) part%d(const %s_args args, unsigned "
          "char *const workspace, const __grid_constant__ maps%d maps) {\n"
          "  SHARED(shared);\n  (void)workspace;\n",
          cu_groups_threads(g), g->number, c->name, g->number);
  c->depth = 1;
  open(c);
  values(c);
  if (g->shared_tiles) c_line(c, "const int member = cluster_member();\n");
  barriers(c, g);
  c_indent(c), fprintf(c->out, "if (threadIdx.y >= %d) { /* asks for tiles */\n",
                       g->groups * CU_GROUP_WARPS);
  c->depth++;
  c_indent(c), fprintf(c->out, "registers_fewer<%d>();\n", cu_groups_few(g));
  c_indent(c), fprintf(c->out, "if (THREAD == %d) {\n", g->groups * CU_GROUP_WARPS * CU_LANES);
  c->depth++;
  open_rings(&makes);
  loop(&makes, g->part);
  c_close(c, 1);
  c->depth--;
  c_line(c, "} else { /* multiply them */\n");
  c->depth++;
  c_indent(c), fprintf(c->out, "registers_more<%d>();\n", cu_groups_many(g));
  open_rings(&uses);
  if (g->leaving.save) c_line(c, "int turn_of_panel = 0;\n");
  if (g->in_turns) c_line(c, "int blocks_begun = 0; /* by both */\n");
  const bool turns =
      g->in_turns || (cu_groups_streams_in_turn(g) && cu_groups_has_stream(&uses, &g->part->body));
  if (turns) cu_groups_first_turn(&uses);
  c->own = cu_fragment_element;
  loop(&uses, g->part);
  c->own = NULL;
  if (turns) cu_groups_last_turn(&uses);
  if (g->leaving.save) c_line(c, "if (THREAD % 128 == 0) store_wait<0>();\n");
  c_close(c, 1);
  if (g->shared_tiles)
    c_line(c, "cluster_meet(); /* neither ends before the other has done with its memory */\n");
  fputs("}\n", c->out);
}
