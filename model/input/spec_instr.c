/* Reads the instructions: what one call computes, on what types, from and to which memories. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/checked.h"
#include "base/names.h"
#include "model/input/arch_read.h"
#include "model/input/workload_read.h"

enum {
  I_NAME,
  I_COMPUTE,
  I_SIZES,
  I_OPERANDS,
  I_INTRINSIC,
  I_BELOW,
  I_LATENCY,
  I_THROUGHPUT,
  I_EMIT,
  N_I
};
static const tf_yrow instr_rows[N_I] = {
    [I_NAME] = {"name", TF_Y_SCALAR, true},
    [I_COMPUTE] = {"compute", TF_Y_SCALAR, true},
    [I_SIZES] = {"sizes", TF_Y_MAP, true},
    [I_OPERANDS] = {"operands", TF_Y_MAP, false},
    [I_INTRINSIC] = {"intrinsic", TF_Y_SCALAR, false},
    [I_BELOW] = {"below", TF_Y_SCALAR, false},
    [I_LATENCY] = {"latency", TF_Y_SCALAR, false},
    [I_THROUGHPUT] = {"throughput", TF_Y_SCALAR, false},
    [I_EMIT] = {"emit", TF_Y_MAP, false},
};

typedef struct {
  tf_arch_reader base; /* its arch may be NULL */
  tf_wl_reader w;      /* of the body */
  const tf_ynode *compute;
  tf_instr *in;
} instr_reader;

static tf_diags *diags(const instr_reader *r) { return r->base.base->diags; }
static const tf_op *described_op(const instr_reader *r) { return &r->w.wl->ops[0]; }

/* ---- names ----------------------------------------------------------------------------------- */
/* Loops must not have names that reports use for parts of a mapping. */
static bool check_loop_names(const instr_reader *r) {
  static const char *const taken[] = {"calls",      "utilization", "cycles",
                                      "executable", "tiles",       "operands"};
  bool ok = true;
  for (int l = 0; l < r->w.wl->n_dims; l++)
    for (size_t i = 0; i < sizeof taken / sizeof *taken; i++)
      if (!strcmp(r->w.wl->dims[l].name, taken[i]))
        ok = tf_fail(diags(r), r->w.wl->dims[l].at, TF_E_SYNTAX,
                     "'%s' is a word of reports, and can name no loop", taken[i]);
  return ok;
}

/* Index of the memory; *out is unchanged if there is no architecture to look it up in. */
static bool read_memory(instr_reader *r, const tf_ynode *node, int *out) {
  const tf_arch *a = r->base.arch;
  if (!node || !a) return true;
  tf_near near = tf_near_start(node->text, node->len);
  for (int i = 0; i < a->n_memories; i++) {
    *out = i;
    if (tf_ynode_is(node, a->memories[i].name)) return true;
    tf_near_offer(&near, a->memories[i].name);
  }
  char hint[80];
  *out = -1;
  return tf_fail(diags(r), node->at, TF_E_NAME, "no memory '%.60s'%s", node->text,
                 tf_near_text(&near, hint, sizeof hint));
}

/* ---- what a call computes -------------------------------------------------------------------- */
/* The op of the text, as that of a workload whose dims are the sizes. */
static bool read_body(instr_reader *r, const tf_ynode *sizes) {
  tf_wl_reader *w = &r->w;
  tf_ynode list = {.kind = TF_Y_LIST, .at = r->compute->at, .n = 1, .items = &r->compute};
  w->wl->name = r->in->name ? r->in->name : "";
  w->wl->at = r->in->at;
  bool dims = tf_read_dims(w, sizes);
  if (!dims && w->wl->n_dims == 0) return false;
  tf_read_ops(w, &list);
  if (!dims || w->failed) return false;
  if (w->n_floors || w->left[0].joined)
    return tf_fail(diags(r), r->compute->at, TF_E_INDEX,
                   "an operand is indexed by sums of loops, each times a number above 0");
  tf_op_order(w);
  if (!w->failed) tf_part_dims(w);
  if (!w->failed) tf_tensor_facts(w, NULL);
  return !w->failed && check_loop_names(r);
}

static bool check_index(const instr_reader *r, const tf_ref *ref, const tf_index *x) {
  bool plain = x->c == 0;
  for (int t = 0; t < x->n_terms; t++)
    plain = plain && x->terms[t].coef > 0;
  return plain || tf_fail(diags(r), ref->at, TF_E_INDEX,
                          "an operand is indexed by sums of loops, each times a number above 0");
}

/* Requirements on an instruction's body beyond those on any workload. */
static bool check_body(const instr_reader *r) {
  const tf_op *op = described_op(r);
  bool ok = true;
  if (op->n_dims > TF_INSTR_LOOPS)
    ok = tf_fail(diags(r), r->compute->at, TF_E_LIMIT, "%d loops, at most %d", op->n_dims,
                 TF_INSTR_LOOPS);
  if (op->n_reads >= TF_INSTR_OPERANDS)
    ok = tf_fail(diags(r), r->compute->at, TF_E_LIMIT, "%d operands read, at most %d", op->n_reads,
                 TF_INSTR_OPERANDS - 1);
  for (int i = 0; i < op->n_reads; i++) {
    const tf_ref *ref = &op->reads[i];
    for (int k = 0; k < i && k < TF_INSTR_OPERANDS; k++)
      if (op->reads[k].tensor == ref->tensor)
        ok = tf_fail(diags(r), ref->at, TF_E_DUP, "operand '%.60s' read twice",
                     r->w.wl->tensors[ref->tensor].name);
    for (int x = 0; x < r->w.wl->tensors[ref->tensor].rank; x++)
      ok = check_index(r, ref, &ref->index[x]) && ok;
  }
  return ok;
}

/* ---- layouts --------------------------------------------------------------------------------- */
static int loop_of(const instr_reader *r, int dim) {
  const tf_op *op = described_op(r);
  for (int l = 0; l < op->n_dims; l++)
    if (op->dims[l] == dim) return l;
  return -1;
}

static int tensor_of(const instr_reader *r, int m) {
  const tf_op *op = described_op(r);
  return m < op->n_reads ? op->reads[m].tensor : op->out;
}

/* Row-major. */
static bool default_layout(instr_reader *r, int m) {
  const tf_op *op = described_op(r);
  const tf_tensor *t = &r->w.wl->tensors[tensor_of(r, m)];
  tf_operand *o = &r->in->operand[m];
  o->layout = TF_ARRAY(r->base.base->arena, tf_layout, TF_MAX_RANK * TF_INSTR_LOOPS);
  if (!o->layout) return tf_no_memory(r->base.base);
  o->words = 1;
  for (int x = t->rank - 1; x >= 0; x--) {
    tf_term own = {m < op->n_reads ? 0 : op->dims[x], 1};
    const tf_index plain = {1, &own, 0}, *ix = m < op->n_reads ? &op->reads[m].index[x] : &plain;
    for (int k = 0; k < ix->n_terms; k++) {
      tf_layout *p = &o->layout[o->n_layout++];
      *p = (tf_layout){.loop = loop_of(r, ix->terms[k].dim), .by = 1, .stride = o->words};
      if (!tf_mul(o->words, ix->terms[k].coef, &p->stride)) return false;
    }
    if (!tf_mul(o->words, t->extent[x], &o->words)) return false;
  }
  return true;
}

/* "r1", "r1/4" or "r1%4". */
static bool read_part(instr_reader *r, const tf_ynode *node, tf_layout *p) {
  if (!tf_yschema_kind(node, TF_Y_SCALAR, "a part of a layout", diags(r))) return false;
  tf_lex x = tf_lex_start(node, 0, diags(r));
  int dim = x.tok.kind == TF_T_NAME ? tf_find_dim(r->w.wl, tf_lex_text(&x), x.tok.len) : -1;
  if (x.tok.kind != TF_T_NAME) return tf_lex_fail(&x, "a loop of the instruction");
  if (dim < 0)
    return tf_fail(diags(r), tf_lex_at(&x), TF_E_NAME, "no loop '%.60s' in this instruction",
                   node->text);
  *p = (tf_layout){.loop = loop_of(r, dim), .by = 1};
  tf_lex_next(&x);
  if (x.tok.kind == TF_T_END) return true;
  p->part = tf_lex_is(&x, '%') ? TF_LAYOUT_MOD : TF_LAYOUT_DIV;
  if (!tf_lex_is(&x, '%') && !tf_lex_is(&x, '/')) return tf_lex_fail(&x, "'/' or '%' and a number");
  tf_lex_next(&x);
  p->by = x.tok.kind == TF_T_NUMBER && x.tok.value.whole ? x.tok.value.i : 0;
  if (p->by < 1 || r->in->size[p->loop] % p->by)
    return tf_lex_fail(&x, "a whole number that divides the loop's size");
  tf_lex_next(&x);
  return x.tok.kind == TF_T_END || tf_lex_fail(&x, "the end");
}

/* Whether the parts give every element of the tile an offset of its own: each loop of the operand
 * occurs once whole, or once divided and once as remainder, by the same number. */
static bool covers(const instr_reader *r, int m) {
  const tf_operand *o = &r->in->operand[m];
  int64_t quotient[TF_INSTR_LOOPS] = {0}, rest[TF_INSTR_LOOPS] = {0};
  for (int i = 0; i < o->n_layout; i++) {
    const tf_layout *p = &o->layout[i];
    int64_t *high = &quotient[p->loop], *low = &rest[p->loop];
    if ((p->part != TF_LAYOUT_MOD && *high) || (p->part != TF_LAYOUT_DIV && *low)) return false;
    if (p->part != TF_LAYOUT_MOD) *high = p->by;
    if (p->part != TF_LAYOUT_DIV) *low = p->by;
  }
  const tf_op *op = described_op(r);
  const tf_tensor *t = &r->w.wl->tensors[tensor_of(r, m)];
  for (int l = 0; l < r->in->n_loops; l++) {
    bool in = m == op->n_reads && l < op->n_out_dims;
    for (int x = 0; m < op->n_reads && x < t->rank; x++)
      for (int k = 0; k < op->reads[m].index[x].n_terms; k++)
        in = in || op->reads[m].index[x].terms[k].dim == op->dims[l];
    if (quotient[l] != rest[l] || (quotient[l] > 0) != in) return false;
  }
  return true;
}

static bool read_layout(instr_reader *r, const tf_ynode *list, int m) {
  tf_operand *o = &r->in->operand[m];
  if (list->n > 2 * TF_INSTR_LOOPS)
    return tf_fail(diags(r), list->at, TF_E_LIMIT, "%zu parts of a layout, at most %d", list->n,
                   2 * TF_INSTR_LOOPS);
  for (int x = 0, n = 0; x < o->n_layout; x++, n = 0) {
    for (int y = 0; y < o->n_layout; y++)
      n += o->layout[x].loop == o->layout[y].loop;
    if (n > 1 || r->w.wl->tensors[tensor_of(r, m)].rank != o->n_layout)
      return tf_fail(diags(r), list->at, TF_E_INDEX,
                     "an operand that is indexed by a sum of loops lies by rows");
  }
  bool ok = true;
  o->n_layout = (int)list->n;
  for (size_t i = 0; i < list->n; i++)
    ok = read_part(r, list->items[i], &o->layout[i]) && ok;
  if (ok && !covers(r, m))
    ok = tf_fail(diags(r), list->at, TF_E_INDEX,
                 "a layout names each loop of its operand once, or as loop/N and loop%%N");
  int64_t stride = 1;
  for (int i = o->n_layout - 1; i >= 0 && ok; i--) {
    tf_layout *p = &o->layout[i];
    p->stride = stride;
    stride *= p->part == TF_LAYOUT_MOD ? p->by : r->in->size[p->loop] / p->by;
  }
  return ok;
}

/* ---- operands -------------------------------------------------------------------------------- */
enum { O_TYPE, O_MEMORY, O_LAYOUT, N_O };
static const tf_yrow operand_rows[N_O] = {[O_TYPE] = {"type", TF_Y_SCALAR, false},
                                          [O_MEMORY] = {"memory", TF_Y_SCALAR, false},
                                          [O_LAYOUT] = {"layout", TF_Y_LIST, false}};

static bool read_type(instr_reader *r, const tf_ynode *node, tf_operand *o) {
  static const struct {
    const char *name;
    int bits;
  } types[] = {{"f64", 64}, {"f32", 32}, {"tf32", 32}, {"f16", 16}, {"bf16", 16},
               {"f8", 8},   {"s64", 64}, {"s32", 32},  {"s16", 16}, {"s8", 8},
               {"u8", 8},   {"s4", 4},   {"u4", 4},    {"b1", 1}};
  tf_near near = tf_near_start(node->text, node->len);
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    o->type = types[i].name;
    o->bits = types[i].bits;
    if (tf_ynode_is(node, types[i].name)) return true;
    tf_near_offer(&near, types[i].name);
  }
  char hint[80];
  return tf_fail(diags(r), node->at, TF_E_NAME, "no type '%.40s'%s", node->text,
                 tf_near_text(&near, hint, sizeof hint));
}

static bool read_operand(instr_reader *r, const tf_ypair *pair) {
  int m = 0;
  tf_near near = tf_near_start(pair->key->text, pair->key->len);
  for (; m < r->in->n_operands; m++) {
    const char *name = r->w.wl->tensors[tensor_of(r, m)].name;
    if (tf_ynode_is(pair->key, name)) break;
    tf_near_offer(&near, name);
  }
  char hint[80];
  if (m == r->in->n_operands)
    return tf_fail(diags(r), pair->key->at, TF_E_NAME, "no operand '%.60s' in 'compute'%s",
                   pair->key->text, tf_near_text(&near, hint, sizeof hint));
  const tf_ynode *v[N_O];
  tf_operand *o = &r->in->operand[m];
  if (!tf_yschema_kind(pair->value, TF_Y_MAP, "an operand", diags(r))) return false;
  bool ok = tf_yschema_check(pair->value, operand_rows, N_O, "an operand", v, diags(r));
  o->at = pair->key->at;
  if (v[O_TYPE]) ok = read_type(r, v[O_TYPE], o) && ok;
  ok = read_memory(r, v[O_MEMORY], &o->memory) && ok;
  return (!v[O_LAYOUT] || read_layout(r, v[O_LAYOUT], m)) && ok;
}

static bool read_operands(instr_reader *r, const tf_ynode *map) {
  tf_instr *in = r->in;
  const tf_op *op = described_op(r);
  in->n_loops = op->n_dims;
  in->n_operands = op->n_reads + 1;
  for (int l = 0; l < in->n_loops; l++)
    in->size[l] = r->w.wl->dims[op->dims[l]].extent;
  for (int m = 0; m < in->n_operands; m++) {
    in->operand[m] = (tf_operand){
        .at = in->at, .bits = r->base.arch ? r->base.arch->word_bits : 16, .memory = -1};
    if (!default_layout(r, m))
      return tf_fail(diags(r), r->compute->at, TF_E_RANGE, "an operand's tile passes 2^63 - 1");
  }
  bool ok = true;
  for (size_t i = 0; map && i < map->n; i++)
    ok = read_operand(r, &map->pairs[i]) && ok;
  return ok;
}

/* ---- how kernels call it --------------------------------------------------------------------- */
/* The text goes into C and makefiles: what could end there an expression, an option or a line is
 * refused. */
enum { E_ISA, E_CALL, E_KERNEL, E_FLAGS, E_DEFINES, N_E };
static const tf_yrow emit_rows[N_E] = {
    [E_ISA] = {"isa", TF_Y_SCALAR | TF_Y_LIST, true}, [E_CALL] = {"call", TF_Y_SCALAR, true},
    [E_KERNEL] = {"kernel", TF_Y_SCALAR, false},      [E_FLAGS] = {"flags", TF_Y_SCALAR, false},
    [E_DEFINES] = {"defines", TF_Y_SCALAR, false},
};

/* A text of letters, digits and these. */
static const char *read_text(tf_reader *r, const tf_ynode *node, const char *what,
                             const char *others) {
  for (size_t i = 0; i < node->len; i++)
    if (!isalnum((unsigned char)node->text[i]) &&
        (!node->text[i] || !strchr(others, node->text[i]))) {
      tf_fail(r->diags, tf_ynode_place(node, i, 1), TF_E_SYNTAX,
              "%s consists of letters, digits and %s", what, others);
      return NULL;
    }
  if (node->len) return node->text;
  tf_fail(r->diags, node->at, TF_E_SYNTAX, "%s needs a text", what);
  return NULL;
}

static const char *read_call(tf_reader *r, const tf_ynode *node) {
  int depth = 0, least = 0;
  const char *text = read_text(r, node, "a call", "_ (),+-*&|^<>[]");
  for (size_t i = 0; text && i < node->len; i++) {
    depth += (text[i] == '(') - (text[i] == ')');
    least = depth < least ? depth : least;
  }
  if (!depth && !least) return text;
  tf_fail(r->diags, node->at, TF_E_SYNTAX, "the parentheses of a call must match");
  return NULL;
}

/* Options, each of which begins with '-'. */
static const char *read_flags(tf_reader *r, const tf_ynode *node) {
  const char *text = read_text(r, node, "a list of options", "_ -+=.");
  for (size_t i = 0; text && i < node->len; i++)
    if (text[i] != ' ' && text[i] != '-' && (i == 0 || text[i - 1] == ' ')) {
      tf_fail(r->diags, tf_ynode_place(node, i, 1), TF_E_SYNTAX, "an option begins with '-'");
      return NULL;
    }
  return text;
}

static bool read_isas(tf_reader *r, const tf_ynode *node, tf_instr_emit *e) {
  const size_t n = node->kind == TF_Y_LIST ? node->n : 1;
  bool ok = true;
  if (n < 1 || n > TF_INSTR_ISAS)
    return tf_fail(r->diags, node->at, TF_E_LIMIT, "%zu instruction sets, from 1 to %d", n,
                   TF_INSTR_ISAS);
  for (size_t i = 0; i < n; i++) {
    const tf_ynode *one = node->kind == TF_Y_LIST ? node->items[i] : node;
    ok = tf_yschema_kind(one, TF_Y_SCALAR, "an instruction set", r->diags) &&
         (e->isa[i].name = tf_read_name(r, one, "an instruction set", false)) && ok;
    e->isa[i].at = one->at;
    e->n_isas++;
  }
  return ok;
}

static const tf_instr_emit *read_emit(tf_reader *r, const tf_ynode *map, const char *name) {
  const tf_ynode *v[N_E];
  tf_instr_emit *e = TF_NEW(r->arena, tf_instr_emit);
  if (!e) return tf_no_memory(r) ? e : NULL;
  bool ok = tf_yschema_check(map, emit_rows, N_E, "'emit'", v, r->diags);
  *e = (tf_instr_emit){.at = map->at, .kernel = name, .flags = ""};
  if (v[E_ISA]) ok = read_isas(r, v[E_ISA], e) && ok;
  if (v[E_CALL]) ok = (e->call = read_call(r, v[E_CALL])) && ok;
  if (v[E_CALL]) e->call_at = v[E_CALL]->at;
  if (v[E_KERNEL]) ok = (e->kernel = tf_read_name(r, v[E_KERNEL], "a kernel", false)) && ok;
  if (v[E_FLAGS]) ok = (e->flags = read_flags(r, v[E_FLAGS])) && ok;
  if (v[E_DEFINES]) ok = (e->defines = tf_read_name(r, v[E_DEFINES], "a macro", false)) && ok;
  return ok ? e : NULL;
}

/* ---- the section ----------------------------------------------------------------------------- */
static bool read_name(instr_reader *r, const tf_ynode *node, const tf_instr *before) {
  r->in->at = node->at;
  r->in->name = tf_read_name(r->base.base, node, "an instruction", true);
  for (const tf_instr *b = before; r->in->name && b < r->in; b++)
    if (!tf_check_new_name(&r->base, r->in->name, r->in->at, b->name, b->at)) return false;
  return r->in->name != NULL;
}

static bool read_instr(tf_reader *base, const tf_ynode *node, const tf_arch *arch, tf_instr *all,
                       int no) {
  const tf_ynode *v[N_I];
  instr_reader r = {.base = {.base = base, .arch = (tf_arch *)(uintptr_t)arch, .have_clock = true},
                    .in = &all[no]};
  if (!tf_yschema_kind(node, TF_Y_MAP, "an instruction", base->diags)) return false;
  bool ok = tf_yschema_check(node, instr_rows, N_I, "an instruction", v, base->diags);
  r.w = (tf_wl_reader){.base = base, .arch = arch, .wl = TF_NEW(base->arena, tf_workload)};
  if (!r.w.wl) return tf_no_memory(base);
  r.in->at = node->at;
  r.in->body = r.w.wl;
  r.in->below = -1;
  r.in->latency = r.in->throughput = 1;
  r.compute = v[I_COMPUTE];
  if (v[I_NAME]) ok = read_name(&r, v[I_NAME], all) && ok;
  if (v[I_INTRINSIC]) ok = (r.in->intrinsic = tf_read_title(base, v[I_INTRINSIC])) && ok;
  ok = read_memory(&r, v[I_BELOW], &r.in->below) && ok;
  if (v[I_LATENCY]) ok = tf_read_positive(&r.base, v[I_LATENCY], "latency", &r.in->latency) && ok;
  if (v[I_THROUGHPUT])
    ok = tf_read_positive(&r.base, v[I_THROUGHPUT], "throughput", &r.in->throughput) && ok;
  if (v[I_EMIT]) ok = (r.in->emit = read_emit(base, v[I_EMIT], r.in->name)) && ok;
  bool body = v[I_COMPUTE] && v[I_SIZES] && read_body(&r, v[I_SIZES]) && check_body(&r);
  return body && read_operands(&r, v[I_OPERANDS]) && ok;
}

const tf_instr *tf_read_instrs(tf_reader *r, const tf_ynode *section, const tf_arch *arch, int *n) {
  *n = 0;
  if (section->n < 1)
    tf_fail(r->diags, section->at, TF_E_MISSING, "'instructions' needs at least one");
  if (section->n > TF_MAX_INSTRS)
    tf_fail(r->diags, section->at, TF_E_LIMIT, "%zu instructions, at most %d", section->n,
            TF_MAX_INSTRS);
  if (section->n < 1 || section->n > TF_MAX_INSTRS) return NULL;
  tf_instr *all = TF_ARRAY(r->arena, tf_instr, section->n);
  if (!all) return tf_no_memory(r) ? all : NULL;
  for (; *n < (int)section->n; ++*n)
    read_instr(r, section->items[*n], arch, all, *n);
  return all;
}
