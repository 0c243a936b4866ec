/* kernel.c: the loop IR in C17. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/cpu/print/files.h"
#include "codegen/intrin/math.h"

enum { SLAB_RANK = 16 }; /* no tensor has more */
enum { LINE = 16 };      /* words of a cache line: buffers start on one */

static bool product_uses(const cpu_product *p, int buffer) {
  if (p->pack == buffer) return true;
  if (p->kind == CPU_SKINNY) return false;
  if (p->kind == CPU_SPARSE) return p->sparse.panels == buffer || p->sparse.part_buffer == buffer;
  return p->kind == CPU_CHANNELS ? p->channels.panels == buffer || p->channels.offsets == buffer
                                 : p->pairs.transposed == buffer || p->pairs.copy == buffer ||
                                       p->pairs.panels == buffer;
}

/* Whether the op's nest accesses the buffer; a result that its product stores rounded elsewhere has
 * no buffer. */
static bool op_uses(const c_printer *c, const ir_stmt *s, int buffer) {
  const tf_op *op = &c->wl->ops[s->op];
  const bool nest = s->kind == IR_NEST;
  const ir_stmt *sums = nest ? cpu_of(s)->map_of : NULL;
  bool used =
      c->p->buffer_of[op->out] == buffer && !(nest && (cpu_of(s)->rounded_for || cpu_of(s)->map));
  for (int i = 0; i < op->n_reads; i++)
    used |= c->p->buffer_of[op->reads[i].tensor] == buffer &&
            !(nest && cpu_of(s)->copied && i == cpu_of(s)->product->a) &&
            !(sums && op->reads[i].tensor == c->wl->ops[sums->op].out);
  return used;
}

/* Whether a statement of the body names the buffer. */
static bool uses(const c_printer *c, const ir_body *body, int buffer) {
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    if (uses(c, &s->body, buffer)) return true;
    if (s->kind == IR_SAVE) {
      if (s->save.to == buffer || (s->save.from == buffer && !cpu_of(s)->fused)) return true;
      continue;
    }
    if (ir_names(s, buffer)) return true;
    if (ir_facts_of(s)->points && op_uses(c, s, buffer)) return true;
    if (cpu_product_of(s) && product_uses(cpu_of(s)->product, buffer)) return true;
  }
  return false;
}

/* Whether no statement names the buffer, nor any that shares its memory. */
static bool is_unused(const c_printer *c, int buffer) {
  bool taken = c->p->buffers[buffer].tensor < 0 || uses(c, &c->p->body, buffer);
  for (int i = 0; i < c->p->n_buffers; i++)
    taken |= c->p->buffers[i].shares == buffer;
  return !taken;
}

static int64_t in_lines(int64_t words) { return (words + LINE - 1) / LINE * LINE; }

/* Places the panels that each call needs first, then those that are optional. */
static void place_panels(c_printer *c) {
  for (int pass = 0; pass < 2; pass++) {
    for (int i = 0; i < c->p->n_notes; i++) {
      const int buffer = cpu_panels_of(cpu_pack_at(c->p, i)->product);
      const ir_buffer *b = &c->p->buffers[buffer];
      if (cpu_packs_before_body(cpu_pack_at(c->p, i)->product) != (pass == 0)) continue;
      c->offset[buffer] = c->packed;
      c->packed += in_lines((b->words * ir_bytes(b->type) + 3) / 4);
    }
    if (pass == 0) c->needed = c->packed;
  }
}

static void place_buffers(c_printer *c) {
  place_panels(c);
  for (int i = 0; i < c->p->n_buffers; i++) {
    const ir_buffer *b = &c->p->buffers[i];
    if (b->role == IR_ARGUMENT || b->role == IR_PANELS || b->shares >= 0 || is_unused(c, i))
      continue;
    int64_t *part = ir_is_own(c->p, i) ? &c->per_thread : &c->shared;
    c->offset[i] = *part;
    int64_t words = (b->words * b->slots * ir_bytes(b->type) + 3) / 4;
    *part += (words + LINE - 1) / LINE * LINE;
    c->held[i] = *part;
    *part += (2 * c_held_words(b) + LINE - 1) / LINE * LINE;
  }
  c->packed_at = c->shared;
  c->shared += c->needed;
  for (int i = 0; i < c->p->n_buffers; i++)
    if (c->p->buffers[i].shares >= 0) c->offset[i] = c->offset[c->p->buffers[i].shares];
}

static void pointer(c_printer *c, const ir_buffer *b, const char *name, const char *part,
                    int64_t offset) {
  const char *type = c_type(b->type);
  fprintf(c->out, "%s%s *const %s = ", b->role == IR_PANELS ? "const " : "", type, name);
  if (b->type != IR_F32) fprintf(c->out, "(%s *)(void *)(", type);
  fprintf(c->out, "%s + %" PRId64 "%s;\n", part, offset, b->type == IR_F32 ? "" : ")");
}

/* Panels that the caller may pack beforehand. */
static bool is_offered(const c_printer *c, int buffer) {
  bool any = false;
  for (int i = 0; i < c->p->n_notes; i++)
    any |= cpu_pack_at(c->p, i)->product->kind == CPU_PAIRS &&
           cpu_panels_of(cpu_pack_at(c->p, i)->product) == buffer;
  return any;
}

static void declare_offered(c_printer *c, int buffer, const char *name) {
  const char *type = c_type(c->p->buffers[buffer].type);
  c_indent(c);
  fprintf(c->out,
          "const %s *const %s = args->packed ? (const %s *)(const void *)((const float "
          "*)args->packed + %" PRId64 ") : NULL;\n",
          type, name, type, c->offset[buffer]);
}

/* A map's result may stay in its row, and a window's in registers: the buffer is then unused. */
static void declare_buffer(c_printer *c, const ir_buffer *b, const char *part, int64_t offset) {
  int maker = c->wl->tensors[b->tensor].producer;
  pointer(c, b, b->id, part, offset);
  if (maker < 0) return;
  c_indent(c);
  fprintf(c->out, "(void)%s;\n", b->id);
}

/* Declares pointers to the buffers that threads share, or to those of each thread. */
static void open_buffers(c_printer *c, const ir_body *body, bool each) {
  for (int i = 0; i < c->p->n_buffers; i++) {
    const ir_buffer *b = &c->p->buffers[i];
    const bool may = is_offered(c, i);
    if (b->role == IR_ARGUMENT || ir_is_own(c->p, i) != each || (may && !c->offers) ||
        !uses(c, body, i))
      continue;
    const char *part = b->role == IR_PANELS ? "packed" : each ? "own" : "workspace";
    char name[96];
    snprintf(name, sizeof name, "%s_pack%d%s", b->id, i,
             b->tensor < 0 && b->slots > 1 ? "_all" : "");
    if (may) {
      declare_offered(c, i, name);
      continue;
    }
    c_indent(c);
    if (b->tensor >= 0) declare_buffer(c, b, part, c->offset[i]);
    if (b->role == IR_KEPT) {
      c_indent(c);
      fprintf(c->out, "int64_t *const %s_held = (int64_t *)(void *)(%s + %" PRId64 ");\n", b->id,
              part, c->held[i]);
    }
    if (b->tensor < 0) pointer(c, b, name, part, c->offset[i]);
  }
}

static void open_pack(c_printer *c, int buffer, int of, const char *lengths, bool each) {
  if (buffer < 0 || ir_is_own(c->p, buffer) != each) return;
  const char *name = c->p->buffers[buffer].id;
  const int64_t slots = c->p->buffers[buffer].slots;
  c_indent(c);
  fprintf(c->out, "const %s *%s_pack%d_of", c_type(c->p->buffers[of].type), name, buffer);
  if (slots > 1) {
    fprintf(c->out, "[%" PRId64 "] = {0};\n", slots);
    if (!lengths) return;
    c_indent(c);
    fprintf(c->out, "int64_t %s_pack%d_%c[%" PRId64 "] = {0}, %s_pack%d_%c[%" PRId64 "] = {0};\n",
            name, buffer, lengths[0], slots, name, buffer, lengths[1], slots);
    return;
  }
  fputs(" = NULL;\n", c->out);
  if (!lengths) return;
  c_indent(c);
  fprintf(c->out, "int64_t %s_pack%d_%c = 0, %s_pack%d_%c = 0;\n", name, buffer, lengths[0], name,
          buffer, lengths[1]);
}

/* Declares the box of a slab that is kept, empty at first. */
static void open_box(c_printer *c, int buffer) {
  const ir_buffer *b = &c->p->buffers[buffer];
  c_indent(c);
  fprintf(c->out, "int64_t %s_pack%d_box[%d] = {INT64_MIN};\n", b->id, buffer, 2 * SLAB_RANK);
}

/* Declares the number of offsets in the list, 0 at first. */
static void open_list(c_printer *c, int buffer) {
  c_indent(c);
  fprintf(c->out, "int64_t %s_pack%d_n = 0;\n", c->p->buffers[buffer].id, buffer);
}

static void open_pairs(c_printer *c, const cpu_product *p, const tf_ref *reads, bool each) {
  const int a = c->p->buffer_of[reads[p->a].tensor], b = c->p->buffer_of[reads[p->b].tensor];
  open_pack(c, p->pairs.transposed, a, NULL, each);
  if (c_keeps_copy(p)) open_pack(c, p->pairs.copy, a, "km", each);
  if (p->pairs.keep_pack) open_pack(c, p->pack, b, "kn", each);
}

/* Declares what was packed last, of products that keep it. */
static void open_notes(c_printer *c, const ir_body *body, bool each) {
  for (int i = 0; i < body->n; i++) {
    const ir_stmt *s = body->s[i];
    const cpu_product *p = cpu_product_of(s);
    open_notes(c, &s->body, each);
    if (p && p->keep_slab && ir_is_own(c->p, p->pack) == each) open_box(c, p->pack);
    if (p && p->kind == CPU_CHANNELS && cpu_lists_once(&c->wl->ops[s->op], s) &&
        ir_is_own(c->p, p->channels.offsets) == each)
      open_list(c, p->channels.offsets);
    if (p && p->kind == CPU_PAIRS) open_pairs(c, p, c->wl->ops[s->op].reads, each);
  }
}

/* Marks retained buffers as empty at the start. */
static void clear_retained(c_printer *c) {
  for (int i = 0; i < c->p->n_buffers; i++) {
    const ir_buffer *b = &c->p->buffers[i];
    if (b->role != IR_KEPT) continue;
    c_indent(c);
    const bool own = ir_is_own(c->p, i);
    if (own) fputs("for (int64_t t = 0; t < most_threads(); t++) ", c->out);
    fprintf(c->out, "memset(workspace + %" PRId64, own ? c->shared + c->held[i] : c->held[i]);
    if (own) fprintf(c->out, " + t * INT64_C(%" PRId64 ")", c->per_thread);
    fprintf(c->out, ", 0, %" PRId64 " * sizeof(int64_t));\n", c_held_words(b));
  }
}

/* Each thread configures the tile registers once a run, and releases them at its end. */
static void open_tiles(c_printer *c) {
  if (tf_micro_has_tiles(&c->p->machine)) c_line(c, "tiles_open();\n");
}

static void release_tiles(c_printer *c) {
  if (tf_micro_has_tiles(&c->p->machine)) c_line(c, "tiles_release();\n");
}

static void parallel_for(c_printer *c, const ir_stmt *s, const char *var) {
  fputs("#if defined(_OPENMP)\n#pragma omp parallel\n#endif\n", c->out);
  c_indent(c);
  fputs("{\n", c->out);
  c->depth++;
  c_indent(c);
  fprintf(c->out,
          "float *const own = workspace + %" PRId64 " + thread_number() * INT64_C(%" PRId64 ");\n",
          c->shared, c->per_thread);
  c_indent(c);
  fputs("(void)own;\n", c->out);
  open_buffers(c, &s->body, true);
  open_notes(c, &s->body, true);
  open_tiles(c);
  fputs("#if defined(_OPENMP)\n#pragma omp for schedule(static)\n#endif\n", c->out);
  c_indent(c);
  fprintf(c->out, "for (int64_t %s = 0; %s < %" PRId64 "; %s++) {\n", var, var, s->loop.trip, var);
}

/* Invalidates rows that were copied for all steps of loop s, where the loop starts. */
static void invalidate_copies(c_printer *c, const ir_body *b, const ir_stmt *s) {
  for (int i = 0; i < b->n; i++) {
    const cpu_product *p = cpu_product_of(b->s[i]);
    invalidate_copies(c, &b->s[i]->body, s);
    if (!p || p->kind != CPU_PAIRS || p->pairs.copy_in != s) continue;
    c_indent(c);
    c_pack_name(c, p->pairs.copy), fputs("_of = NULL;\n", c->out);
  }
}

static void c_for(c_printer *c, const ir_stmt *s) {
  const char *var = c->p->var_name[s->loop.var];
  invalidate_copies(c, &s->body, s);
  c->in_parallel |= ir_is_parallel(s);
  if (ir_is_parallel(s)) {
    parallel_for(c, s, var);
  } else {
    c_indent(c);
    fprintf(c->out, "for (int64_t %s = 0; %s < %" PRId64 "; %s++) {\n", var, var, s->loop.trip,
            var);
  }
  c->depth++;
  c_body(c, &s->body);
  c->depth--;
  c_indent(c);
  fputs("}\n", c->out);
  if (ir_is_parallel(s)) {
    release_tiles(c);
    c->in_parallel = false;
    c->depth--;
    c_indent(c);
    fputs("}\n", c->out);
    open_tiles(c); /* this thread was one of them */
  }
}

static void c_if(c_printer *c, const ir_stmt *s) {
  c_indent(c);
  fputs("if (", c->out);
  for (int i = 0; i < s->guard.n; i++) {
    if (i) fputs(" || ", c->out);
    c_atom(c->out, c->p, s->guard.range[i].lo);
    fputs(" < ", c->out);
    c_atom(c->out, c->p, s->guard.range[i].hi);
  }
  fputs(") {\n", c->out);
  c->depth++;
  c_body(c, &s->body);
  c->depth--;
  c_indent(c);
  fputs("}\n", c->out);
}

void c_body(c_printer *c, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    const cpu_product *p = cpu_product_of(s);
    switch (s->kind) {
    case IR_LET: c_let(c, s); break;
    case IR_KEEP: c_keep(c, s); break;
    case IR_FORGET: c_forget(c, s); break;
    case IR_FOR: c_for(c, s); break;
    case IR_IF: c_if(c, s); break;
    case IR_TOGETHER: c_together(c, s); break;
    case IR_NEST:
      if (p && p->kind == CPU_SPARSE)
        c_sparse(c, s);
      else if (p && p->kind == CPU_CHANNELS)
        c_channels(c, s);
      else if (p && p->kind == CPU_SKINNY)
        c_skinny(c, s);
      else if (p)
        c_product(c, s);
      else if (!cpu_of(s)->fused)
        c_nest(c, s, 0);
      break;
    case IR_SAVE:
      if (!cpu_of(s)->fused) c_over(c, s);
      break;
    case IR_CARRY: c_carry(c, s); break;
    case IR_CORRECT:
    case IR_DIVIDE: c_over(c, s); break;
    case IR_MERGE: /* only other targets have these */
    case IR_STAGE:
    case IR_COPY:
    case IR_WAIT:
    case IR_BARRIER:
      c->failed = true;
      break; /* caches fill themselves, and threads meet where loops end */
    }
  }
}

/* ---- the file ------------------------------------------------------------------------------- */

static const char helpers[] =
    "static inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }\n"
    "static inline int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }\n"
    "static inline int64_t pick(int64_t a, int64_t b, int64_t yes, int64_t no) { return a < b ? "
    "yes : no; }\n"
    "/* Where element x of a row stands that holds its phases one after the other. */\n"
    "static inline int64_t equal_part(int64_t n, int64_t most) { const int64_t parts = n > most ? "
    "(n + most - 1) / most : 1; return (n + parts - 1) / parts; }\n"
    "static inline int64_t in_block(int64_t i, int64_t block, int64_t step) { return i / block * "
    "block * step + i % block; }\n"
    "static inline int64_t phase(int64_t x, int64_t stride, int64_t words) { return x % stride * "
    "words + x / stride; }\n"
    "/* Whether the n bounds are those that were kept; they are afterwards. */\n"
    "static inline int same_box(int64_t *kept, const int64_t *now, int n) {\n"
    "  int same = 1;\n"
    "  for (int i = 0; i < n; i++) {\n"
    "    same &= kept[i] == now[i];\n"
    "    kept[i] = now[i];\n"
    "  }\n"
    "  return same;\n"
    "}\n"
    "/* The greater, the smaller; b where a is not a number.  In one instruction, for sums (which "
    "start as numbers and stay so) and limits. */\n"
    "static inline float greater(float a, float b) { return a > b ? a : b; }\n"
    "static inline float smaller(float a, float b) { return a < b ? a : b; }\n"
    "/* The same of any two, as C's fmaxf and fminf have it: the other one where one is not a "
    "number. */\n"
    "static inline float greater_of(float a, float b) { return a > b || b != b ? a : b; }\n"
    "static inline float smaller_of(float a, float b) { return a < b || b != b ? a : b; }\n"
    "/* The power of two that brings the inverse of a small or a large number among the numbers of "
    "float32. */\n"
    "static inline float power_for(float by) {\n"
    "  const float size = by < 0.0f ? -by : by;\n"
    "  return size < 0x1p-64f ? 0x1p64f : size > 0x1p64f ? 0x1p-64f : 1.0f;\n"
    "}\n"
    "static inline float chosen(float c, float yes, float no) { return c != 0.0f ? yes : no; }\n"
    "\n#if defined(_OPENMP)\n#include <omp.h>\n"
    "static inline int64_t thread_number(void) { return omp_get_thread_num(); }\n"
    "static inline int64_t most_threads(void) { return omp_get_max_threads(); }\n"
    "#else\n"
    "static inline int64_t thread_number(void) { return 0; }\n"
    "static inline int64_t most_threads(void) { return 1; }\n"
    "#endif\n\n";

static uint32_t kinds_used(const tf_workload *wl) {
  uint32_t all = 0;
  for (int o = 0; o < wl->n_ops; o++)
    all |= wl->ops[o].kinds;
  return all;
}

/* Whether an expression tests the place of an element, or selects. */
static bool selects_or_tests(const tf_workload *wl) {
  bool any = false;
  for (int o = 0; o < wl->n_ops; o++)
    for (int i = 0; i < wl->ops[o].n_expr; i++) {
      const tf_expr *e = &wl->ops[o].expr[i];
      any |= e->what == TF_X_DIM ||
             (e->what == TF_X_CALL && (e->call == TF_K_SELECT || e->call >= TF_K_LT));
    }
  return any;
}

static void arguments(c_printer *c) {
  for (int z = 0; z < c->wl->n_tensors; z++) {
    const tf_tensor *t = &c->wl->tensors[z];
    if (!c_is_argument(t)) continue;
    const char *id = c->p->tensor_id[z];
    fprintf(c->out, "  %s%s *const %s = args->", c_is_input(t) ? "const " : "",
            c_type(c_argument_type(c->p, z)), id);
    c_field(c->out, t->name), fputs(";\n", c->out);
    for (int r = 0; r + 1 < t->rank; r++)
      fprintf(c->out, "  const int64_t %s_s%d = args->", id, r), c_stride_field(c->out, t->name),
          fprintf(c->out, "[%d];\n", r);
    for (int r = 0; r + 1 < t->rank; r++)
      fprintf(c->out, "  (void)%s_s%d;\n", id, r);
    if (c->packed) fprintf(c->out, "  (void)%s;\n", id); /* one of the two may be unused */
  }
}

/* Exported functions are compiled without the instruction set, so that they run on any CPU and test
 * for it; they call code that needs it, but never inline it. With --isa multi, the chooser has
 * tested before. */
static void print_isa_test(FILE *out, const c_package *k) {
  fputs("\n#if !defined(MACHINE_HAS) /* whether the computer can run what is above */\n", out);
  if (strstr(k->isa->has, "leaf7")) c_leaf7(out);
  const char *has = k->isa->has,
             *tiles = strstr(has, " && TILES"); /* which are tested separately */
  fprintf(out, "#define MACHINE_HAS() (%.*s)\n#endif\n",
          (int)(tiles ? (size_t)(tiles - has) : strlen(has)), has);
  fprintf(out,
          "#if defined(__GNUC__)\n#define PLAIN __attribute__((target(\"%s\")))\n#else\n"
          "#define PLAIN\n#endif\n",
          k->isa->plain);
}

static const char *plain(const c_package *k) { return c_asks_isa(k) ? "PLAIN " : ""; }

static void entry(c_printer *c, const c_package *k) {
  const char *n = k->name, *f = k->entry;
  bool spreads = ir_has_parallel(&c->p->body);
  if (k->n_isas)
    fprintf(c->out,
            "\nsize_t %s_workspace(void);\n"
            "int %s(const %s_args *args, void *workspace, size_t bytes);\n",
            f, f, n);
  if (c_asks_isa(k)) print_isa_test(c->out, k);
  fprintf(c->out, "\n%ssize_t %s_workspace(void) {\n", plain(k), f);
  fprintf(c->out,
          "  return (size_t)(INT64_C(%" PRId64 ") + %sINT64_C(%" PRId64 ")) * sizeof(float);\n}\n",
          c->shared + LINE, spreads ? "most_threads() * " : "", c->per_thread);
  fprintf(c->out,
          "\n%sint %s(const %s_args *args, void *workspace, size_t bytes) {\n"
          "  if (!args) return %s_bad_argument;\n",
          plain(k), f, n, n);
  for (int z = 0; z < c->wl->n_tensors; z++)
    if (c_is_argument(&c->wl->tensors[z]))
      fputs("  if (!args->", c->out), c_field(c->out, c->wl->tensors[z].name),
          fprintf(c->out, ") return %s_bad_argument;\n", n);
  if (c_asks_isa(k)) fprintf(c->out, "  if (!MACHINE_HAS()) return %s_no_isa;\n", n);
  if (tf_micro_has_tiles(&c->p->machine))
    fprintf(c->out, "  if (!TILES_ALLOWED()) return %s_no_tiles;\n", n);
  const bool says = c_has_sparse(c->p);
  fprintf(c->out,
          "  void *own = NULL;\n"
          "  if (!workspace) {\n"
          "    bytes = %s_workspace();\n"
          "    workspace = own = malloc(bytes);\n"
          "    if (!own) return %s_no_memory;\n"
          "  }\n"
          "  if (bytes < %s_workspace()) return %s_small_workspace;\n"
          "  /* buffers start on a cache line */\n"
          "  %srun(args, (float *)(((uintptr_t)workspace + 63) / 64 * 64));\n"
          "  free(own);\n",
          f, n, f, n, says ? "const int status = " : "");
  if (says)
    fputs("  return status;\n}\n", c->out);
  else
    fprintf(c->out, "  return %s_done;\n}\n", n);
}

/* Functions that pack panels of arguments: `pack`, those that each call packs, or the caller
 * beforehand; `offer`, those that the caller alone packs. */
static void print_pack(c_printer *c, const c_package *k, bool first) {
  const bool says = first && c_has_sparse(c->p);
  fprintf(c->out, "\nstatic %s %s(const %s_args *args, float *packed) {\n", says ? "int" : "void",
          first ? "pack" : "offer", k->name);
  arguments(c);
  c->depth = 1;
  if (says) c_line(c, "int broken = 0;\n");
  for (int i = 0; i < c->p->n_notes; i++) {
    const cpu_pack *pack = cpu_pack_at(c->p, i);
    if (cpu_packs_before_body(pack->product) == first)
      (pack->product->kind == CPU_SPARSE ? c_pack_sparse
       : first                           ? c_pack_panels
                                         : c_pack_offered)(c, pack);
  }
  if (says) fprintf(c->out, "  return broken ? %s_bad_pattern : %s_done;\n", k->name, k->name);
  fputs("}\n", c->out);
}

static void find_packed(c_printer *c, const c_package *k) {
  const bool says = c_has_sparse(c->p);
  if (k->n_isas)
    fprintf(c->out, "  float *const packed = workspace + %" PRId64 ";\n  ", c->packed_at);
  else
    fprintf(c->out,
            "  const float *const packed = args->packed ? (const float *)args->packed : workspace "
            "+ %" PRId64 ";\n  ",
            c->packed_at);
  if (says) fputs("const int status = ", c->out);
  if (!k->n_isas)
    fprintf(c->out, says ? "args->packed ? %s_done : " : "if (!args->packed) ", k->name);
  if (k->n_isas)
    fputs("pack(args, packed);\n", c->out);
  else
    fprintf(c->out, "pack(args, workspace + %" PRId64 ");\n", c->packed_at);
  if (says) fprintf(c->out, "  if (status != %s_done) return status;\n", k->name);
}

/* The exported function that packs panels for many calls. */
static void pack_entry(c_printer *c, const c_package *k) {
  const char *n = k->name;
  fprintf(c->out,
          "\n%ssize_t %s_packed(void) {\n  return (size_t)INT64_C(%" PRId64
          ") * sizeof(float);\n}\n",
          plain(k), n, c->packed);
  fprintf(
      c->out,
      "\n%sint %s_pack(const %s_args *args, void *packed, size_t bytes) {\n  if (!args || !packed",
      plain(k), n, n);
  for (int i = 0; i < c->p->n_notes; i++)
    fputs(" || !args->", c->out), c_field(c->out, c_packed_tensor(k, i)->name);
  fprintf(c->out, ") return %s_bad_argument;\n", n);
  if (c_asks_isa(k)) fprintf(c->out, "  if (!MACHINE_HAS()) return %s_no_isa;\n", n);
  const bool says = c_has_sparse(c->p);
  fprintf(c->out, "  if (bytes < %s_packed()) return %s_small_workspace;\n", n, n);
  if (c->needed)
    fprintf(c->out, "  %spack(args, (float *)packed);\n", says ? "const int status = " : "");
  if (c->packed > c->needed) fputs("  offer(args, (float *)packed);\n", c->out);
  if (says)
    fputs("  return status;\n}\n", c->out);
  else
    fprintf(c->out, "  return %s_done;\n}\n", n);
}

static void print_functions(c_printer *c, const c_package *k) {
  c->offers = !k->n_isas;
  if (c->needed) print_pack(c, k, true);
  if (c->packed > c->needed && c->offers) print_pack(c, k, false);
  fprintf(c->out, "\nstatic %s run(const %s_args *args, float *workspace) {\n",
          c_has_sparse(c->p) ? "int" : "void", k->name);
  arguments(c);
  c->depth = 1;
  fputs("  (void)workspace;\n", c->out);
  if (c->needed) find_packed(c, k);
  open_buffers(c, &c->p->body, false);
  open_notes(c, &c->p->body, false);
  clear_retained(c);
  open_tiles(c);
  c_body(c, &c->p->body);
  release_tiles(c);
  if (c_has_sparse(c->p)) fprintf(c->out, "  return %s_done;\n", k->name);
  fputs("}\n", c->out);
}

static bool retains(const ir_program *p) {
  bool any = false;
  for (int i = 0; i < p->n_buffers; i++)
    any |= p->buffers[i].role == IR_KEPT;
  return any;
}

/* Compiler options that reorder sums or exclude infinities and NaN break exp and similar
 * functions. */
static const char strict[] =
    "#if defined(__FAST_MATH__) || defined(__ASSOCIATIVE_MATH__) || (defined(__FINITE_MATH_ONLY__) "
    "&& __FINITE_MATH_ONLY__ > 0)\n"
    "#error \"compile without -ffast-math, -Ofast, -funsafe-math-optimizations and "
    "-ffinite-math-only: exp, infinities and NaN come out wrong with them\"\n"
    "#endif\n";

void c_parts_h(FILE *out, const c_package *k) {
  const ir_program *p = k->p;
  fprintf(out,
          "/* What kernel.c is made of: vectors of %s, functions of one number, and the least and "
          "the most of two. */\n"
          "#ifndef TILEFLOW_%s_PARTS_H\n#define TILEFLOW_%s_PARTS_H\n%s",
          k->isa->name, k->name, k->name, strict);
  tf_micro_math(out, kinds_used(p->tree->workload) |
                         (ir_has(&p->body, IR_CORRECT) ? 1u << TF_K_EXP : 0));
  fputc('\n', out);
  fputs(helpers, out);
  c_seen_text(out, p, &p->body);
  if (retains(p)) c_keep_text(out);
  if (p->machine.data == IR_BF16) tf_micro_bf16(out);
  tf_micro_prologue(out, k->isa);
  tf_micro_lanes_text(out, k->isa, p->machine.data == IR_BF16);
  if (k->isa->lanes > 1) tf_micro_vector_math(out, k->isa, kinds_used(p->tree->workload));
  if (k->isa->lanes > 1 && kinds_used(p->tree->workload) >> TF_K_ROUND & 1)
    tf_micro_vector_round(out, k->isa);
  if (p->machine.data == IR_I8) tf_micro_vector_bytes(out, k->isa);
  if (k->isa->lanes > 1 && selects_or_tests(p->tree->workload)) tf_micro_vector_choices(out);
  fputs(k->source->include, out);
  tf_micro_kernel_text(out, k->isa, &p->machine);
  tf_micro_rows_text(out, k->isa->lanes);
  tf_micro_transpose_text(out);
  fputs("#endif\n", out);
}

bool c_kernel_c(FILE *out, c_package *k) {
  char *body = NULL, *blocks = NULL;
  size_t n_body = 0, n_blocks = 0;
  c_printer c = {.p = k->p,
                 .wl = k->p->tree->workload,
                 .name = k->name,
                 .inverse = -1,
                 .rounded_only = -1,
                 .micro = tf_micro_new(k->isa, k->source, &k->p->machine.choices),
                 .offset = calloc((size_t)k->p->n_buffers + 1, sizeof(int64_t)),
                 .held = calloc((size_t)k->p->n_buffers + 1, sizeof(int64_t)),
                 .out = open_memstream(&body, &n_body),
                 .blocks = open_memstream(&blocks, &n_blocks)};
  bool ok = c.micro && c.offset && c.held && c.out && c.blocks;
  if (ok) {
    place_buffers(&c);
    print_functions(&c, k);
    entry(&c, k);
    if (c.packed && !k->n_isas) pack_entry(&c, k);
    if (c_has_sparse(c.p) && !k->n_isas) c_misfit(c.out, k);
  }
  ok = c.out && fclose(c.out) == 0 && ok && !c.failed;
  ok = c.blocks && fclose(c.blocks) == 0 && ok;
  if (ok) {
    fprintf(out, "/* %s: ", k->name), c_plain_text(out, c.wl->name);
    fprintf(
        out,
        " for %s.  Written by tileflow; see README.md. */\n"
        "#if defined(__GNUC__) && !defined(__clang__)\n"
        "/* no-tree-pre: it takes loops' first steps apart, and they stay scalar.  peel-loops, "
        "which -O3 has: without it gcc\n"
        "   12 computes wrong addresses for what vectors leave of a short row deep in loops. */\n"
        "#pragma GCC optimize(\"no-tree-pre\", \"peel-loops\")\n#endif\n"
        "#if defined(__GNUC__)\n"
        "#pragma GCC diagnostic ignored \"-Wunknown-pragmas\" /* of OpenMP, where it is off */\n"
        "#endif\n"
        "#include \"kernel.h\"\n\n#include <stdlib.h>\n\n"
        "#include \"%s\"\n",
        k->isa->name, k->parts);
    fwrite(blocks, 1, n_blocks, out);
    fwrite(body, 1, n_body, out);
    k->shared = c.shared + LINE > k->shared ? c.shared + LINE : k->shared;
    k->per_thread = c.per_thread > k->per_thread ? c.per_thread : k->per_thread;
    k->packed = c.packed;
    k->needed = c.needed;
    k->tiles |= tf_micro_has_tiles(&c.p->machine);
  }
  free(body);
  free(blocks);
  free(c.held);
  free(c.offset);
  tf_micro_free(c.micro);
  return ok;
}
