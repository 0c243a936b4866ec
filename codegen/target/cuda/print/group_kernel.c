/* The function of a part: makes the barriers, then warps part.  The last warpgroup keeps few registers, and one thread
 * of it goes through the loops and asks for tiles; the others take the registers, and do all else. */
#include <inttypes.h>

#include "codegen/target/cuda/print/group.h"

typedef struct {
  c_printer *c;
  const cu_groups *g;
  bool makes; /* as the warpgroup sees the loops that asks for tiles */
  int ring;   /* that was waited for last; -1 */
} role;

static void body(role *r, const ir_body *b);

/* "full_2", "empty_2": barriers of the ring. */
static void barriers(c_printer *c, const cu_groups *g) {
  c_indent(c), fprintf(c->out, "uint64_t *const barriers = (uint64_t *)(shared + %" PRId64 ");\n", g->barriers);
  for (int i = 0; i < g->n; i++) {
    const int64_t before = cu_ring_before(g, i);
    c_indent(c);
    fprintf(c->out, "uint64_t *const full_%d = barriers + %" PRId64 ", *const empty_%d = barriers + %" PRId64 ";\n", i,
            before, i, before + g->ring[i].stages);
  }
  c_line(c, "if (THREAD == 0) {\n");
  c->depth++;
  for (int i = 0; i < g->n; i++) {
    c_indent(c);
    fprintf(c->out,
            "for (int i = 0; i < %" PRId64 "; i++) barrier_init(full_%d + i, 1), barrier_init(empty_%d + i, %d);\n",
            g->ring[i].stages, i, i, CU_WARPS);
  }
  c_line(c, "barrier_known();\n");
  c_close(c, 1);
  c_line(c, "__syncthreads();\n");
}

/* Where in its ring a role is, and how often it came by, mod 2. */
static void open_rings(const role *r) {
  for (int i = 0; i < r->g->n; i++)
    c_indent(r->c), fprintf(r->c->out, "int at_%d = 0;\n%*sunsigned turn_%d = 0;\n", i, 2 * r->c->depth, "", i);
}

static void next(const role *r, int ring) {
  c_indent(r->c);
  fprintf(r->c->out, "if (++at_%d == %" PRId64 ") at_%d = 0, turn_%d ^= 1;\n", ring, r->g->ring[ring].stages, ring,
          ring);
}

/* ---- who asks for tiles ---- */

/* Panels of 128 bytes a row, one box each. */
static void box(const role *r, int ring, const ir_stmt *s) {
  c_printer *c = r->c;
  const ir_buffer *to = &c->p->buffers[s->copy.to], *from = &c->p->buffers[s->copy.from];
  const int64_t elements = CU_PANEL / ir_bytes(to->type), panels = to->extent[to->columns] / elements,
                rows = to->extent[to->rows];
  for (int64_t i = 0; i < panels; i++) {
    c_indent(c);
    fprintf(c->out, "load_box(shared + %" PRId64 " + at_%d * %" PRId64 ", &maps.of_%d, full_%d + at_%d",
            r->g->tile[s->copy.to] + i * rows * CU_PANEL, ring, cu_bytes(to) / to->slots, s->copy.to, ring, ring);
    for (int k = from->rank - 1; k >= 0; k--) {
      fputs(", (int)(", c->out), c_atom(c->out, c->p, s->range[k].lo), fputs(" - (", c->out);
      c_atom(c->out, c->p, from->base[k]), fputc(')', c->out);
      if (k == to->columns && i) fprintf(c->out, " + %" PRId64, i * elements);
      fputc(')', c->out);
    }
    fputs(");\n", c->out);
  }
}

static void ask(const role *r, int ring) {
  const cu_ring *at = &r->g->ring[ring];
  c_indent(r->c);
  fprintf(r->c->out, "barrier_wait(empty_%d + at_%d, turn_%d ^ 1);\n", ring, ring, ring);
  c_indent(r->c);
  fprintf(r->c->out, "barrier_expect(full_%d + at_%d, %" PRId64 ");\n", ring, ring, at->bytes);
  for (int i = 0; i < at->n_copies; i++)
    box(r, ring, at->copy[i]);
  next(r, ring);
}

/* ---- who multiplies ---- */

static void give_back(const role *r, int ring) {
  c_indent(r->c);
  fprintf(r->c->out, "if (LANE == 0) barrier_arrive(empty_%d + at_%d);\n", ring, ring);
  next(r, ring);
}

/* Operands come from the buffers that the nest names. */
static void points(const role *r, const ir_stmt *s) {
  c_printer *c = r->c;
  const tf_op *op = &c->wl->ops[s->op];
  int *const at = c->p->buffer_of; /* of this printer alone */
  int before[CU_MOST_ACCESSES];
  const bool named = s->kind == IR_NEST && s->nest.from;
  for (int i = 0; named && i < op->n_reads; i++)
    before[i] = at[op->reads[i].tensor], at[op->reads[i].tensor] = s->nest.from[i];
  if (s->kind == IR_NEST && s->nest.fragments)
    cu_groups_product(c, r->g, s);
  else if (s == r->g->leaving.save)
    cu_groups_leave(c, r->g, s);
  else
    cu_fragment_points(c, s);
  for (int i = op->n_reads - 1; named && i >= 0; i--)
    at[op->reads[i].tensor] = before[i];
}

static void loop(role *r, const ir_stmt *s) {
  c_printer *c = r->c;
  const char *var = c->p->var_name[s->loop.var];
  c_indent(c);
  if (s->loop.map == IR_WARP) {
    fputs("{\n", c->out);
    c->depth++;
    c_indent(c), fprintf(c->out, "const int64_t %s = %s;\n", var, r->makes ? "0" : "threadIdx.y");
    c_indent(c), fprintf(c->out, "(void)%s;\n", var);
    if (!r->makes) cu_fragments(c, s);
    c->depth--;
  } else {
    if (s->loop.map == IR_SERIAL) fputs("#pragma unroll 1\n", c->out), c_indent(c);
    fprintf(c->out, "for (int64_t %s = %s; %s < %" PRId64 "; %s += %s) {\n", var,
            s->loop.map == IR_BLOCK ? "blockIdx.x" : "0", var, s->loop.trip, var,
            s->loop.map == IR_BLOCK ? "gridDim.x" : "1");
  }
  c->depth++;
  body(r, &s->body);
  for (int i = 0; i < r->g->n && s->loop.map == IR_WARP && !r->makes; i++)
    if (r->g->ring[i].lasting) give_back(r, i);
  c_close(c, 1);
}

static void body(role *r, const ir_body *b) {
  bool waited = false;
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    if (s->kind == IR_LET) {
      c_let(r->c, s);
      c_indent(r->c), fprintf(r->c->out, "(void)%s;\n", r->c->p->var_name[s->let.var]);
    } else if (s->kind == IR_FOR) {
      loop(r, s);
    } else if (s->kind == IR_WAIT) {
      r->ring = cu_ring_of(r->g, s);
      waited = true;
      if (r->makes) {
        ask(r, r->ring);
      } else {
        c_indent(r->c);
        fprintf(r->c->out, "barrier_wait(full_%d + at_%d, turn_%d);\n", r->ring, r->ring, r->ring);
      }
    } else if (s->kind == IR_BARRIER) { /* the first one belongs to the wait */
      if (!waited && !r->makes && r->ring >= 0) give_back(r, r->ring);
      waited = false;
    } else if (ir_facts_of(s)->points && !r->makes) {
      points(r, s);
    }
  }
}

/* Instructions that ptxas is expected to leave: loops over blocks, steps and pieces stay; all else is unrolled. */
static int64_t products(const ir_program *p, const ir_body *b) {
  int64_t n = 0;
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    n += products(p, &s->body);
    if (s->kind == IR_NEST && s->nest.fragments) n += (s->range[s->nest.fragments->k].most + 15) / 16;
  }
  return n;
}

static int64_t panels(const ir_program *p, const cu_groups *g) {
  int64_t n = 0;
  for (int i = 0; i < g->n; i++)
    for (int k = 0; k < g->ring[i].n_copies; k++) {
      const ir_buffer *to = &p->buffers[g->ring[i].copy[k]->copy.to];
      n += to->extent[to->columns] * ir_bytes(to->type) / CU_PANEL;
    }
  return n;
}

static void foretell(FILE *out, const ir_program *p, const cu_groups *g) {
  int64_t leaving = 0;
  if (g->leaving.save) {
    const ir_buffer *from = &p->buffers[g->leaving.save->save.from];
    leaving = (from->extent[from->columns] * 2 + CU_PANEL - 1) / CU_PANEL;
  }
  fprintf(out,
          "/* Of its machine code: %" PRId64 " HGMMA, %" PRId64 " UTMALDG, %" PRId64 " UTMASTG, 2 USETMAXREG; %" PRId64
          " bytes of shared memory. */\n",
          products(p, &g->part->body), panels(p, g), leaving, g->shared);
}

void cu_groups_kernel(c_printer *c, const cu_groups *g, void (*open)(c_printer *c), void (*values)(c_printer *c)) {
  role makes = {c, g, true, -1}, uses = {c, g, false, -1};
  foretell(c->out, c->p, g);
  fprintf(c->out,
          "static __global__ void __launch_bounds__(%d, 1) part%d(const %s_args args, unsigned char *const workspace, "
          "const __grid_constant__ maps%d maps) {\n  SHARED(shared);\n  (void)workspace;\n",
          CU_GROUP_THREADS, g->number, c->name, g->number);
  c->depth = 1;
  open(c);
  values(c);
  barriers(c, g);
  c_indent(c), fprintf(c->out, "if (threadIdx.y >= %d) { /* asks for tiles */\n", CU_WARPS);
  c->depth++;
  c_indent(c), fprintf(c->out, "registers_fewer<%d>();\n", CU_MAKER_REGISTERS);
  c_indent(c), fprintf(c->out, "if (THREAD == %d) {\n", CU_WARPS * CU_LANES);
  c->depth++;
  open_rings(&makes);
  loop(&makes, g->part);
  c_close(c, 1);
  c->depth--;
  c_line(c, "} else { /* multiply them */\n");
  c->depth++;
  c_indent(c), fprintf(c->out, "registers_more<%d>();\n", CU_USER_REGISTERS);
  open_rings(&uses);
  if (g->leaving.save) c_line(c, "int turn_of_panel = 0;\n");
  c->own = cu_fragment_element;
  loop(&uses, g->part);
  c->own = NULL;
  if (g->leaving.save) c_line(c, "if (THREAD % 128 == 0) store_wait<0>();\n");
  c_close(c, 1);
  fputs("}\n", c->out);
}
