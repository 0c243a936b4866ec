/* From the description of an instruction to a kernel of products. */
#include "codegen/intrin/described.h"

#include <string.h>

#include "base/names.h"
#include "codegen/intrin/words.h"

typedef struct {
  const tf_instr *in;
  const tf_op *op;
  tf_diags *d;
  int loop[3];     /* of rows of c, of its columns, and the reduced one; -1: none */
  int64_t size[3]; /* their sizes */
} description;

enum { ROWS, COLUMNS, STEPS, WORD = 4 };

static const tf_tensor *tensor_of(const description *s, int m) {
  const tf_workload *wl = s->in->body;
  return &wl->tensors[m < s->op->n_reads ? s->op->reads[m].tensor : s->op->out];
}

/* ---- loops ---------------------------------------------------------------------------------- */

/* Which of the two sources a loop indexes: bit 1 << source. */
static int sources_of(const description *s, int loop) {
  int bits = 0;
  for (int m = 0; m < 2; m++)
    for (int x = 0; x < tensor_of(s, m)->rank; x++)
      for (int k = 0; k < s->op->reads[m].index[x].n_terms; k++)
        if (s->op->reads[m].index[x].terms[k].dim == s->op->dims[loop]) bits |= 1 << m;
  return bits;
}

static bool plain(const description *s) {
  for (int m = 0; m < 2; m++)
    for (int x = 0; x < tensor_of(s, m)->rank; x++)
      if (s->op->reads[m].index[x].n_terms != 1 || s->op->reads[m].index[x].terms[0].coef != 1)
        return false;
  return true;
}

/* Rows and columns of the output, and a sum over products. */
static bool find_loops(description *s) {
  bool ok = s->op->n_reads == 2 && s->op->reduce == TF_REDUCE_ADD &&
            s->op->kinds == 1u << TF_K_MAC && plain(s);
  for (int i = 0; i < 3; i++)
    s->loop[i] = -1, s->size[i] = 1;
  for (int l = 0; l < s->in->n_loops && ok; l++) {
    const int sources = sources_of(s, l), what = l >= s->op->n_out_dims ? STEPS
                                                 : sources == 1         ? ROWS
                                                                        : COLUMNS;
    ok = s->loop[what] < 0 && (what == STEPS ? sources == 3 : sources == 1 || sources == 2);
    s->loop[what] = l;
    s->size[what] = s->in->size[l];
  }
  return ok || tf_fail(s->d, s->in->body->at, TF_E_SHAPE,
                       "kernels multiply matrices: 'compute' must be C[i, j] += A[i, k] * B[k, j], "
                       "where loops may be left out");
}

/* ---- types ---------------------------------------------------------------------------------- */

/* lifts: elements have no sign. */
static bool type_of(const description *s, int m, ir_type *type, bool *lifts) {
  static const struct {
    const char *name;
    ir_type type;
    bool lifts;
  } types[] = {{"f32", IR_F32, false}, {"bf16", IR_BF16, false}, {"s8", IR_I8, false},
               {"u8", IR_I8, true},    {"s16", IR_I16, false},   {"s32", IR_I32, false}};
  const tf_operand *o = &s->in->operand[m];
  for (size_t i = 0; i < sizeof types / sizeof *types && o->type; i++)
    if (!strcmp(o->type, types[i].name)) {
      *type = types[i].type;
      *lifts = types[i].lifts;
      return true;
    }
  return tf_fail(s->d, o->at, TF_E_TYPE,
                 "kernels have no operands of '%s' here; known: f32, bf16, s8, u8, s16, s32",
                 o->type ? o->type : "no type");
}

static bool find_types(const description *s, ir_kernel *k) {
  bool lifts_b, lifts_c, ok = type_of(s, 0, &k->a, &k->lifts);
  ok = type_of(s, 1, &k->b, &lifts_b) && ok;
  if (!type_of(s, 2, &k->c, &lifts_c) || !ok) return false;
  const bool bytes = k->a == IR_I8 && k->b == IR_I8 && !lifts_b,
             words = k->a == IR_I16 && k->b == IR_I16;
  k->leaves = k->c;
  if (k->c == IR_I32 ? bytes || words
                     : k->c == IR_F32 && k->a == k->b && (k->a == IR_BF16 || k->a == IR_F32))
    return true;
  return tf_fail(
      s->d, s->in->operand[2].at, TF_E_TYPE,
      "kernels multiply s8, u8 by s8 or s16 by s16 to sums of s32, and bf16 or f32 to f32");
}

/* ---- layout --------------------------------------------------------------------------------- */

/* How many steps lie side by side in the second source, below its columns; 0: they do not. */
static int64_t group_of(const description *s) {
  const tf_operand *b = &s->in->operand[1];
  int64_t group = 1, columns = 0;
  for (int i = 0; i < b->n_layout; i++)
    if (b->layout[i].loop == s->loop[STEPS] && b->layout[i].stride == 1)
      group =
          b->layout[i].part == TF_LAYOUT_MOD ? b->layout[i].by : s->size[STEPS] / b->layout[i].by;
  for (int i = 0; i < b->n_layout; i++)
    if (b->layout[i].loop == s->loop[COLUMNS])
      columns = b->layout[i].part == TF_LAYOUT_WHOLE ? b->layout[i].stride : 0;
  return columns == group ? group : 0;
}

/* ---- registers ------------------------------------------------------------------------------ */

/* Bits of a vector in SME's streaming mode: a power of two. */
static bool is_length(int64_t bits) {
  return bits >= 128 && bits <= 2048 && (bits & (bits - 1)) == 0;
}

/* Whether the instruction set has registers of these sums; *form: which. */
static bool holds(const description *s, const tf_micro_isa *isa, const ir_kernel *k,
                  tf_micro_form *form) {
  const int64_t bytes = k->group * ir_bytes(k->a);
  const bool bf16 = k->a == IR_BF16;
  if (!isa->words) return false;
  *form = s->size[ROWS] == 1   ? TF_MICRO_VECTORS
          : s->size[ROWS] == 2 ? TF_MICRO_SQUARES
                               : isa->tiles;
  switch (*form) {
  case TF_MICRO_VECTORS:
    return s->size[ROWS] == 1 && s->size[COLUMNS] == isa->lanes && bytes == WORD &&
           s->size[STEPS] == k->group && k->a != IR_F32 && (!bf16 || isa->words->interleave);
  case TF_MICRO_SQUARES:
    return isa->words->square && s->size[COLUMNS] == 2 && bytes == 2 * WORD &&
           s->size[STEPS] == k->group && !bf16 && !k->lifts;
  case TF_MICRO_TILES:
    return s->size[ROWS] == 16 && s->size[COLUMNS] == 16 && bytes == WORD &&
           s->size[STEPS] == 16 * k->group && !k->lifts && k->a != IR_F32 &&
           (!bf16 || isa->words->leave);
  default:
    return s->size[ROWS] == s->size[COLUMNS] && is_length(s->size[ROWS] * WORD * 8) &&
           bytes == WORD && s->size[STEPS] == k->group && !k->lifts &&
           (k->a == IR_F32 || k->a == IR_BF16 || k->a == IR_I8);
  }
}

static bool find_isas(const description *s, tf_micro_kernel *out) {
  const tf_instr_emit *e = s->in->emit;
  bool ok = true;
  for (int i = 0; i < e->n_isas; i++) {
    const tf_micro_isa *isa = tf_micro_isa_find(e->isa[i].name);
    tf_near near = tf_near_start(e->isa[i].name, strlen(e->isa[i].name));
    char hint[80];
    for (int k = 0; tf_micro_isa_at(k); k++)
      tf_near_offer(&near, tf_micro_isa_at(k)->name);
    out->isa[i] = e->isa[i].name;
    if (!isa)
      ok = tf_fail(s->d, e->isa[i].at, TF_E_NAME, "no instruction set '%.40s'%s", e->isa[i].name,
                   tf_near_text(&near, hint, sizeof hint));
    else if (!holds(s, isa, &out->kernel, &out->form))
      ok = tf_fail(s->d, e->isa[i].at, TF_E_SHAPE,
                   "'%.40s' has no registers for %lld x %lld sums of %lld steps of these types",
                   isa->name, (long long)s->size[ROWS], (long long)s->size[COLUMNS],
                   (long long)s->size[STEPS]);
  }
  return ok;
}

/* ---- the whole ------------------------------------------------------------------------------ */

static bool is_name(char c) {
  return c == '_' || (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Every operand stands in the call. */
static bool check_call(const description *s, tf_micro_kernel *out) {
  bool ok = true;
  for (int m = 0; m < 3; m++) {
    const char *name = out->operand[m] = tensor_of(s, m)->name, *at = s->in->emit->call;
    const size_t n = strlen(name);
    bool there = false;
    while (!there && (at = strstr(at, name))) {
      there = !is_name(at[n]) && (at == s->in->emit->call || !is_name(at[-1]));
      at += n;
    }
    if (!there)
      ok = tf_fail(s->d, s->in->emit->call_at, TF_E_NAME,
                   "the call does not use the operand '%.60s'", name);
  }
  return ok;
}

/* Part of the names of functions. */
static bool check_name(const tf_instr *in, tf_diags *d) {
  enum { MOST = 30 };
  size_t n = 0;
  while (is_name(in->emit->kernel[n]))
    n++;
  return (!in->emit->kernel[n] && n <= MOST) ||
         tf_fail(d, in->emit->at, TF_E_NAME,
                 "'%.60s' is no name for a kernel: 'kernel' gives one of up to %d letters, digits "
                 "and _",
                 in->emit->kernel, MOST);
}

bool tf_micro_describe(const tf_instr *in, tf_micro_kernel *out, tf_diags *d) {
  description s = {.in = in, .op = &in->body->ops[0], .d = d};
  ir_kernel *k = &out->kernel;
  *out = (tf_micro_kernel){.kernel = {.name = in->emit->kernel}, .call = in->emit->call};
  if (!find_loops(&s)) return false;
  bool ok = check_name(in, d);
  ok = find_types(&s, k) && ok;
  const int64_t group = group_of(&s);
  if (!group)
    ok = tf_fail(
        d, in->operand[1].at, TF_E_INDEX,
        "kernels read the second operand as groups of steps, side by side along its columns");
  ok = check_call(&s, out) && ok;
  k->group = (int)group;
  if (!ok || !find_isas(&s, out)) return false;
  const bool tiles = tf_micro_in_tiles(out);
  out->prefix = k->c == IR_I32 ? "int8" : k->a == IR_BF16 ? "bf16" : NULL;
  out->sums = k->c == IR_I32 ? "ivec" : "vec";
  out->lanes = (int)s.size[COLUMNS];
  k->m_round = tiles ? (int)s.size[ROWS] : 1;
  k->n_round = (int)s.size[COLUMNS];
  k->k_round = (int)s.size[STEPS];
  if (k->c == IR_I32 && !tiles) k->leaves = IR_F32;
  if (k->a == IR_BF16 && out->form != TF_MICRO_OUTER) k->leaves = IR_BF16;
  return true;
}
