/* kernel.cu: a __global__ function for each statement of the program. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/group.h"

enum { LINE = 128 }; /* alignment of buffers in bytes */

static void body(c_printer *c, const ir_body *b);

/* ---- buffers -------------------------------------------------------------------------------- */

static bool is_of_groups(const ir_program *p, int buffer) {
  bool is = false;
  for (int i = 0; i < p->body.n && !is; i++)
    is = cu_is_groups(p->body.s[i]) && cu_touches(p, &p->body.s[i], 1, buffer) > 0;
  return is && p->buffers[buffer].role == IR_COPIED;
}

static int64_t lines(const ir_buffer *b) { return (cu_bytes(b) + LINE - 1) / LINE * LINE; }

/* Tiles of a part of warpgroups are placed with the part. */
static void place_buffers(const ir_program *p, int64_t *offset, cu_room *room) {
  for (int i = 0; i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    if (is_of_groups(p, i)) continue;
    int64_t *const part = b->space == CU_SCRATCH ? &room->per_block : &room->common;
    if (b->role == IR_ARGUMENT || b->space == CU_FRAGMENT || b->space == CU_SHARED) continue;
    offset[i] = *part;
    *part += lines(b);
  }
  for (int s = 0; s < p->body.n;
       s++) { /* parts run one after the other, so that they share memory */
    const int64_t all = cu_share(p, p->body.s[s], offset);
    if (all > room->shared) room->shared = all;
  }
  if (cu_is_wmma(p)) room->shared += CU_WMMA_ROOM;
}

static void open_arguments(c_printer *c) {
  for (int z = 0; z < c->wl->n_tensors; z++) {
    const tf_tensor *t = &c->wl->tensors[z];
    if (!c_is_argument(t)) continue;
    const char *id = c->p->tensor_id[z];
    fprintf(c->out, "  POINTER(%s%s) const %s = args.", c_is_input(t) ? "const " : "",
            c_type(c_argument_type(c->p, z)), id);
    c_field(c->out, t->name), fprintf(c->out, ";\n  (void)%s;\n", id);
    for (int r = 0; r + 1 < t->rank; r++)
      fprintf(c->out, "  const int64_t %s_s%d = args.", id, r), c_stride_field(c->out, t->name),
          fprintf(c->out, "[%d];\n  (void)%s_s%d;\n", r, id, r);
  }
}

/* room NULL: only buffers in global memory. */
static void open_buffers(c_printer *c, const cu_room *room) {
  static const char *const part[] = {
      [CU_GLOBAL] = "workspace", [CU_SHARED] = "shared", [CU_SCRATCH] = "own"};
  const cu_language *say = c->language;
  if (room && cu_is_wmma(c->p))
    fprintf(c->out,
            "  POINTER(float) const wmma_room = (float *)(shared + %" PRId64
            ");\n  (void)wmma_room;\n",
            room->shared - CU_WMMA_ROOM);
  if (room)
    fprintf(c->out,
            "  %sunsigned char *const own = workspace + %" PRId64 " + (int64_t)%s * %" PRId64
            ";\n  (void)shared, (void)own;\n",
            say->space[CU_SCRATCH], room->common, say->block, room->per_block);
  for (int i = 0; i < c->p->n_buffers; i++) {
    const ir_buffer *b = &c->p->buffers[i];
    if (b->role == IR_ARGUMENT || b->space == CU_FRAGMENT || is_of_groups(c->p, i)) continue;
    if (!room && b->space != CU_GLOBAL) continue;
    fprintf(c->out, "  POINTER(%s%s) const %s = (%s%s *)(%s + %" PRId64 ");\n  (void)%s;\n",
            say->space[b->space], c_type(b->type), b->id, say->space[b->space], c_type(b->type),
            part[b->space], c->offset[i], b->id);
  }
}

/* ---- copies --------------------------------------------------------------------------------- */

static void length(c_printer *c, const ir_range *r) {
  fputs("most(", c->out);
  c_atom(c->out, c->p, r->hi), fputs(" - (", c->out), c_atom(c->out, c->p, r->lo),
      fputs("), 0)", c->out);
}

/* The place of element x0, x1, .. of the box in the argument from which it is copied. */
static void origin(c_printer *c, const ir_stmt *s) {
  const ir_buffer *from = &c->p->buffers[s->copy.from];
  fprintf(c->out, "&%s[", from->id);
  for (int r = 0; r < from->rank; r++) {
    fprintf(c->out, "%s(x%d + ", r ? " + " : "", r);
    c_atom(c->out, c->p, s->range[r].lo), fputs(" - (", c->out),
        c_atom(c->out, c->p, from->base[r]);
    fputs("))", c->out);
    if (r < from->rank - 1) fprintf(c->out, " * %s_s%d", from->id, r);
  }
  fputc(']', c->out);
}

/* All threads of the block copy one element each in turn. */
static void print_copy(c_printer *c, const ir_stmt *s) {
  const ir_buffer *to = &c->p->buffers[s->copy.to];
  if (cu_is_matrix(to)) {
    cu_tile_copy(c, s);
    return;
  }
  c_line(c, "{ /* copy ");
  fprintf(c->out, "%s */\n", to->name);
  c->depth++;
  c_line(c, "int all = 1;\n");
  for (int r = 0; r < to->rank; r++) {
    c_indent(c);
    fprintf(c->out, "const int n%d = (int)", r), length(c, &s->range[r]), fprintf(c->out, ";\n");
    c_indent(c);
    fprintf(c->out, "all *= n%d;\n", r);
  }
  if (c->flag) c_indent(c), fprintf(c->out, "if (!on%d) all = 0;\n", c->flag);
  c_line(c, "for (int i = thread_here(); i < all; i += THREADS) {\n");
  c->depth++;
  c_line(c, "int rest = i;\n");
  for (int r = to->rank - 1; r >= 0; r--) {
    c_indent(c);
    fprintf(c->out, r ? "const int x%d = rest %% n%d;\n" : "const int x%d = rest;\n", r, r);
    c_indent(c);
    fprintf(c->out, r ? "rest /= n%d;\n" : "(void)n%d;\n", r);
  }
  c_indent(c);
  fprintf(c->out, "copy_async(&%s[(", to->id), c_atom(c->out, c->p, s->copy.slot);
  fprintf(c->out, ") * %" PRId64, to->words);
  for (int r = 0; r < to->rank; r++)
    fprintf(c->out, " + x%d * %" PRId64, r, c_rank_step(to, r));
  fputs("], ", c->out), origin(c, s), fputs(");\n", c->out);
  c_close(c, 2);
  if (s->copy.ends) c_line(c, "copy_end();\n");
}

/* ---- statements ----------------------------------------------------------------------------- */

static void opened_body(c_printer *c, const ir_stmt *s) {
  c->depth++;
  body(c, &s->body);
  c_close(c, 1);
}

/* Whether the steps of a loop over warps do points together: their lanes have no points of their
 * own. */
static bool shares_points(const ir_stmt *s) {
  bool any = false;
  for (int i = 0; i < s->body.n; i++)
    any |= ir_facts_of(s->body.s[i])->points;
  return any && s->loop.map == IR_WARP;
}

/* Blocks that a mask makes longer come first, as the last rows are longer. */
static void blocks_of(c_printer *c, const ir_stmt *s, const char *var) {
  const bool turned = cu_steps_are_left_out(&s->body);
  c->language->blocks(c, turned ? "rank" : var, s->loop.trip);
  if (turned)
    c_indent(c),
        fprintf(c->out, "  const int64_t %s = %" PRId64 " - rank;\n", var, s->loop.trip - 1);
}

/* Sets sums of products at or below the list to zero before the loop, if they start in its first
 * step: selecting zero or the sum in each step would take an instruction for each sum. */
static void begin_sums(c_printer *c, const ir_stmt *loop, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    if (b->s[i]->kind == IR_IF) begin_sums(c, loop, &b->s[i]->body);
    if (cu_begins_before(c->p, loop, b->s[i])) cu_fragment_begin(c, b->s[i]);
  }
}

static void loop(c_printer *c, const ir_stmt *s) {
  const char *var = c->p->var_name[s->loop.var];
  if (c->own && s->loop.map == IR_SERIAL) begin_sums(c, s, &s->body);
  c_indent(c);
  if (s->loop.map == IR_WARP || s->loop.map == IR_LANE) {
    const char *thread = s->loop.map == IR_WARP ? c->language->row : c->language->lane;
    const int64_t all = s->loop.map == IR_WARP ? CU_WARPS : CU_LANES;
    const bool flag = c->flag && s->loop.map == IR_WARP;
    if (flag) fprintf(c->out, s->loop.trip == all ? "if (on%d) {\n" : "if (on%d && ", c->flag);
    if (!flag && s->loop.trip == all) fputs("{\n", c->out);
    if (!flag && s->loop.trip != all) fputs("if (", c->out);
    if (s->loop.trip != all) fprintf(c->out, "(int)%s < %" PRId64 ") {\n", thread, s->loop.trip);
    c->depth++;
    c_indent(c);
    fprintf(c->out, "const int64_t %s = %s;\n", var,
            s->loop.map == IR_WARP ? "row_here()" : "lane_here()");
    c_indent(c);
    fprintf(c->out, "(void)%s;\n", var);
    cu_fragments(c, s);
    c->depth--;
  } else if (s->loop.map == IR_BLOCK) {
    blocks_of(c, s, var);
  } else if (cu_of(s)->skips_steps) {
    const char *first = c->p->var_name[cu_of(s)->first], *end = c->p->var_name[cu_of(s)->end];
    fprintf(c->out, "for (int64_t %s = %s; %s < %s; %s++) {\n", var, first, var, end, var);
  } else {
    fprintf(c->out, "for (int64_t %s = 0; %s < %" PRId64 "; %s++) {\n", var, var, s->loop.trip,
            var);
  }
  const bool region = cu_is_region(c->p, s), outside = c->skips_steps;
  const ir_stmt *around = c->region_loop;
  c->skips_steps = outside || cu_of(s)->skips_steps;
  if (s->loop.map == IR_SERIAL) c->region_loop = c->own ? s : NULL;
  if (region) c->own = cu_fragment_element;
  c->lanes_share_sums = !region && shares_points(s);
  opened_body(c, s);
  c->skips_steps = outside, c->region_loop = around;
  if (region) c->own = NULL;
  c->lanes_share_sums = false;
  if (s->loop.map == IR_WARP) c_line(c, c->language->barrier);
}

/* Whether there is a barrier in the body. */
static bool has_barrier(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++) {
    const ir_stmt *s = b->s[i];
    any = s->kind == IR_WAIT || s->kind == IR_BARRIER ||
          (s->kind == IR_FOR && s->loop.map == IR_WARP) || has_barrier(&s->body);
  }
  return any;
}

static void condition(c_printer *c, const ir_stmt *s) {
  for (int i = 0; i < s->guard.n; i++) {
    if (i) fputs(" || ", c->out);
    c_atom(c->out, c->p, s->guard.range[i].lo), fputs(" < ", c->out),
        c_atom(c->out, c->p, s->guard.range[i].hi);
  }
}

/* Loops and barriers are printed unconditionally; copies and loops over warps test the flag. */
static void print_flagged(c_printer *c, const ir_stmt *s) {
  const int outside = c->flag;
  c_line(c, "{\n");
  c_indent(c), fprintf(c->out, "  const int on%d = ", outside + 1);
  if (outside) fprintf(c->out, "on%d && ", outside);
  fputc('(', c->out), condition(c, s), fputs(");\n", c->out);
  c->flag++;
  opened_body(c, s);
  c->flag = outside;
}

static void guard(c_printer *c, const ir_stmt *s) {
  if (c->language->flags && has_barrier(&s->body)) {
    print_flagged(c, s);
    return;
  }
  c_line(c, "if (");
  condition(c, s);
  fputs(") {\n", c->out);
  opened_body(c, s);
}

/* Operands come from the buffers that the nest names. */
static void points(c_printer *c, const ir_stmt *s) {
  const tf_op *op = &c->wl->ops[s->op];
  int *const at = c->p->buffer_of; /* of this printer alone */
  int before[256];
  for (int i = 0; s->kind == IR_NEST && s->nest.from && i < op->n_reads; i++)
    before[i] = at[op->reads[i].tensor], at[op->reads[i].tensor] = s->nest.from[i];
  if (c->own && !cu_steps_masked(c, s)) cu_fragment_points(c, s);
  if (!c->own) cu_points(c, s);
  for (int i = op->n_reads - 1; s->kind == IR_NEST && s->nest.from && i >= 0; i--)
    at[op->reads[i].tensor] = before[i];
}

static void body(c_printer *c, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    switch (s->kind) {
    case IR_LET:
      if (c->own && cu_steps_open(c, b, s)) break;
      c_let(c, s);
      if (c->own) c_indent(c), fprintf(c->out, "(void)%s;\n", c->p->var_name[s->let.var]);
      break;
    case IR_FOR: loop(c, s); break;
    case IR_IF: guard(c, s); break;
    case IR_COPY: print_copy(c, s); break;
    case IR_WAIT:
      if (c->language->wait) c_indent(c), fprintf(c->out, c->language->wait, s->wait.left);
      if (!c->own) c_line(c, c->language->barrier); /* the barriers of a region are statements */
      break;
    case IR_BARRIER: c_line(c, c->language->barrier); break;
    case IR_NEST:
    case IR_SAVE:
    case IR_CORRECT:
    case IR_DIVIDE:
    case IR_MERGE: points(c, s); break;
    case IR_KEEP: /* refused before, or only of other targets */
    case IR_FORGET:
    case IR_STAGE:
    case IR_CARRY:
    case IR_TOGETHER: c->failed = true; break;
    }
  }
}

/* ---- the file ------------------------------------------------------------------------------- */

static void values(c_printer *c) {
  for (int i = 0; i < c->p->body.n; i++)
    if (c->p->body.s[i]->kind == IR_LET) c_let(c, c->p->body.s[i]);
}

static void open_global(c_printer *c) {
  open_arguments(c);
  open_buffers(c, NULL);
}

/* A part of warpgroups, and its launch. */
static void groups(c_printer *c, const ir_stmt *s, int number, cu_room *room) {
  cu_groups g;
  if (!cu_groups_find(c->p, s, number, &g)) {
    c->failed = true;
    return;
  }
  cu_groups_maps(c->out, c->p, &g);
  c->of_groups = true;
  cu_groups_kernel(c, &g, open_global, values);
  c->of_groups = false;
  cu_groups_start(c->out, c->p, &g, c->offset, c->name);
  if (g.shared > room->shared) room->shared = g.shared;
}

/* The counts expected in machine code, as a comment. */
static void expected(c_printer *c, const ir_stmt *part) {
  const cu_counts n = cu_count(c->p, part);
  fprintf(c->out, "\n/* Some %.0f registers are expected", cu_registers(c->p, part));
  if (cu_mma_of(c->p) && !cu_is_wmma(c->p))
    fprintf(c->out,
            ", and in machine code %" PRId64 " MMA, %" PRId64 " LDSM, %" PRId64
            " LDGSTS, if no loop is unrolled that is not asked for",
            n.multiplied, n.loaded, n.copied);
  fputs(". */", c->out);
}

static void begin_kernel(c_printer *c, const ir_stmt *part, int number, const cu_room *room) {
  (void)room; /* shared memory is requested where the part is launched */
  expected(c, part);
  /* stated in all cases: otherwise the compiler spills to make room for more blocks */
  fprintf(c->out,
          "\n"
          "static __global__ void __launch_bounds__(THREADS, %d) part%d(const %s_args args, "
          "unsigned char *const workspace) {\n"
          "  SHARED(shared);\n",
          cu_blocks_at_once(c->p, part), number, c->name);
  open_arguments(c);
}

static void kernels(c_printer *c, cu_room *room) {
  for (int i = 0, n = 0; i < c->p->body.n; i++) {
    const ir_stmt *s = c->p->body.s[i];
    if (s->kind == IR_LET) continue;
    if (s->loop.note && s->kind == IR_FOR) fprintf(c->out, "\n/* %s. */", s->loop.note);
    if (cu_is_groups(s)) {
      groups(c, s, n++, room);
      continue;
    }
    c->depth = 1;
    c->language->begin(c, s, n++, room);
    open_buffers(c, room);
    values(c);
    body(c, &(ir_body){1, (ir_stmt **)&c->p->body.s[i]});
    fputs("}\n", c->out);
  }
}

int64_t cu_blocks(const ir_stmt *part) {
  return part->loop.trip < CU_MOST_BLOCKS ? part->loop.trip : CU_MOST_BLOCKS;
}

/* Requests shared memory from each device once a thread. */
static void request_shared_memory(c_printer *c, int64_t shared) {
  fputs(
      "  static thread_local int known = -1;\n  int device = 0;\n  bad = cudaGetDevice(&device);\n"
      "  if (bad != cudaSuccess) return bad;\n  if (device != known) {\n    known = -1;\n",
      c->out);
  for (int i = 0, n = 0; i < c->p->body.n; i++) {
    if (c->p->body.s[i]->kind == IR_LET) continue;
    if (!cu_is_groups(c->p->body.s[i]))
      fprintf(c->out,
              "    bad = ask_shared(part%d, %" PRId64
              ");\n    if (bad != cudaSuccess) return bad;\n",
              n, shared);
    n++;
  }
  fputs("    known = device;\n  }\n", c->out);
}

/* Launches all parts in sequence; those without warpgroups with so many bytes of shared memory. */
static void launch(c_printer *c, int64_t shared) {
  fprintf(c->out,
          "\n"
          "static cudaError_t start_all(const %s_args *args, unsigned char *workspace, "
          "cudaStream_t stream) {\n"
          "  const dim3 threads(%d, %d);\n  (void)threads;\n%s",
          c->name, CU_LANES, CU_ROWS,
          cu_has_groups(c->p) || shared > 48 * 1024 ? "  cudaError_t bad;\n" : "");
  if (shared > 48 * 1024) request_shared_memory(c, shared);
  for (int i = 0, n = 0; i < c->p->body.n; i++) {
    const ir_stmt *s = c->p->body.s[i];
    if (s->kind == IR_LET) continue;
    if (cu_is_groups(s)) {
      fprintf(
          c->out,
          "  bad = start_part%d(args, workspace, stream);\n  if (bad != cudaSuccess) return bad;\n",
          n++);
      continue;
    }
    const int64_t blocks = cu_blocks(s);
    fprintf(c->out,
            "  START(part%d, %" PRId64 ", threads, %" PRId64 ", stream, *args, workspace);\n", n++,
            blocks, shared);
  }
  fputs("  return cudaGetLastError();\n}\n", c->out);
}

static int64_t most_blocks(const ir_program *p) {
  int64_t most = 1;
  for (int i = 0; i < p->body.n; i++)
    if (p->body.s[i]->kind == IR_FOR && cu_blocks(p->body.s[i]) > most)
      most = cu_blocks(p->body.s[i]);
  return most;
}

bool cu_has_groups(const ir_program *p) {
  bool any = false;
  for (int i = 0; i < p->body.n; i++)
    any |= cu_is_groups(p->body.s[i]);
  return any;
}

static void blocks(c_printer *c, const char *var, int64_t trip) {
  fprintf(c->out, "for (int64_t %s = blockIdx.x; %s < %" PRId64 "; %s += gridDim.x) {\n", var, var,
          trip, var);
}

static const char asking[] =
    "/* Shared memory above 48 KiB must be asked for. */\n"
    "template <class P> static inline cudaError_t ask_shared(P *part, int bytes) {\n"
    "  const cudaError_t bad = cudaFuncSetAttribute(part, "
    "cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);\n"
    "  return bad == cudaErrorInvalidValue ? cudaErrorLaunchOutOfResources : bad; /* the device "
    "has less */\n"
    "}\n";

/* The emulation comes first, so that it can be precompiled for many kernels. */
static void head(c_printer *c) {
  const bool groups = cu_has_groups(c->p);
  fprintf(c->out,
          "/* Written by tileflow; README.md says how. */\n"
          "#if defined(TILEFLOW_EMULATE)\n#include \"emulate.hpp\"\n%s#else\n"
          "%s#include <cuda_runtime.h>\n#endif\n"
          "#include <math.h>\n#include <string.h>\n\n#include \"kernel.h\"\n"
          "#include \"kernel_device.h\"\n\n",
          groups ? "#include \"hopper.hpp\"\n" : "", groups ? "#include <cuda.h>\n" : "");
  fprintf(c->out,
          "#define THREADS %d\n#define THREAD ((int)(threadIdx.y * %d + threadIdx.x))\n"
          "#define LANE ((int)threadIdx.x)\n",
          CU_WARPS * CU_LANES, CU_LANES);
  fputs(asking, c->out);
  cu_device(c->out, c->p);
  cu_groups_device(c->out, c->p);
  cu_functions(c->out, c->wl, c->p->machine.data);
}

bool cu_parts(FILE *out, cu_package *of, const cu_language *say) {
  ir_program p = *of->k.p; /* a copy, with its own sources of operands */
  const int n = p.tree->workload->n_tensors;
  c_printer c = {.p = &p,
                 .wl = p.tree->workload,
                 .name = of->k.name,
                 .inverse = -1,
                 .out = out,
                 .may_invert = ir_is_coded(p.machine.data),
                 .language = say};
  p.buffer_of = malloc(((size_t)n + 1) * sizeof *p.buffer_of);
  c.offset = calloc((size_t)p.n_buffers + 1, sizeof *c.offset);
  bool ok = p.buffer_of && c.offset;
  if (ok) {
    memcpy(p.buffer_of, of->k.p->buffer_of, (size_t)n * sizeof *p.buffer_of);
    of->room = (cu_room){.blocks = most_blocks(&p)};
    place_buffers(&p, c.offset, &of->room);
    const int64_t shared =
        of->room.shared; /* before warpgroups' parts, which request their own, raise it */
    say->head(&c);
    kernels(&c, &of->room);
    say->end(&c, shared);
  }
  free(p.buffer_of);
  free(c.offset);
  return ok && !c.failed;
}

static const char starting[] =
    "  if (cudaPeekAtLastError() != cudaSuccess) return " C_NAME "_failed_before;\n"
    "  unsigned char *from = (unsigned char *)(((uintptr_t)workspace + 127) / 128 * 128);\n"
    "  const cudaError_t bad = start_all(args, from, (cudaStream_t)stream);\n"
    "  if (bad != cudaSuccess) (void)cudaGetLastError(); /* it is told here */\n"
    "  switch (bad) {\n"
    "  case cudaSuccess: return " C_NAME "_done;\n"
    "  case cudaErrorInvalidValue: return BAD_ARGUMENT;\n"
    "  case cudaErrorMemoryAllocation: return " C_NAME "_no_memory;\n"
    "  case cudaErrorNoDevice:\n  case cudaErrorInsufficientDriver: return " C_NAME "_no_device;\n"
    "  case cudaErrorInvalidDeviceFunction:\n  case cudaErrorNoKernelImageForDevice:\n"
    "  case cudaErrorInvalidPtx:\n  case cudaErrorUnsupportedPtxVersion: return " C_NAME
    "_no_isa;\n"
    "  case cudaErrorLaunchOutOfResources: return " C_NAME "_no_room;\n"
    "  default: return " C_NAME "_failed;\n  }\n}\n";

const char cu_absent[] =
    "    puts(\"not run: no CUDA device, or one that cannot run this code\");\n    return 2;\n";

void cu_codes(FILE *out) {
  fputs("/* What calls return besides. */\nenum {\n"
        "  " C_NAME "_no_device = -6, /* there is none, or no driver, or one that is too old */\n"
        "  " C_NAME "_no_room = -7,   /* the device has less shared memory or fewer registers than "
        "a block needs */\n"
        "  " C_NAME "_failed_before = -8, /* an error of an earlier call of CUDA's stands "
        "(cudaPeekAtLastError): nothing was started */\n"
        "  " C_NAME "_failed = -9     /* any other error of CUDA's: of a start, of a copy, or "
        "while the device computed */\n"
        "};\n\n",
        out);
}

const char cu_arrays[] =
    "#define NO_DEVICE " C_NAME "_no_device\n#define FAILED ((int)" C_NAME "_failed)\n\n"
    "static bool find_device(void **) {\n  int devices = 0;\n"
    "  return cudaGetDeviceCount(&devices) == cudaSuccess && devices;\n}\n\n"
    "static bool finish(void *) { return cudaDeviceSynchronize() == cudaSuccess; }\n\n"
    "/* An array on the device with what stands in the host's, if there is one. */\n"
    "static void *bring(bool *ok, void *, const void *here, size_t bytes) {\n"
    "  void *there = NULL;\n"
    "  *ok = *ok && cudaMalloc(&there, bytes) == cudaSuccess;\n"
    "  if (here) *ok = *ok && cudaMemcpy(there, here, bytes, cudaMemcpyHostToDevice) == "
    "cudaSuccess;\n"
    "  if (!*ok) (void)cudaGetLastError(); /* it is told by the caller */\n"
    "  return there;\n}\n\n"
    "static bool take(void *, void *here, const void *there, size_t bytes) {\n"
    "  return cudaMemcpy(here, there, bytes, cudaMemcpyDeviceToHost) == cudaSuccess;\n}\n\n"
    "static void leave(const void *there) { cudaFree((void *)there); }\n";

static const cu_language cuda = {.row = "threadIdx.y",
                                 .lane = "threadIdx.x",
                                 .block = "blockIdx.x",
                                 .blocks = blocks,
                                 .barrier = "__syncthreads();\n",
                                 .wait = "copy_wait<%d>();\n",
                                 .space = {"", "", "", ""},
                                 .head = head,
                                 .begin = begin_kernel,
                                 .end = launch,
                                 .queue = "stream",
                                 .starting = starting,
                                 .arrays = cu_arrays,
                                 .emulated = true,
                                 .may_lack = true};

bool cu_kernel(FILE *out, cu_package *p) {
  if (!cu_parts(out, p, &cuda)) return false;
  cu_entries(out, &p->k, &cuda, &p->room);
  return true;
}
