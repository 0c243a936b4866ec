/* The mappings of all ops onto all instructions, as a table and as JSON. */
#include "cli/report/instructions.h"
#include "cli/json.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>

#include "cli/table.h"
#include "tileflow/version.h"

static int n_pairs(const instr_table *t) { return t->spec->n_instrs * t->spec->workload->n_ops; }

/* ---- data ------------------------------------------------------------------------------------ */
static bool make_pair(instr_table *t, int i, int o, tf_diags *d) {
  const tf_instr *in = &t->spec->instrs[i];
  const tf_workload *wl = t->spec->workload;
  int at = i * wl->n_ops + o;
  tf_instr_maps *m = &t->maps[at];
  if (!tf_instr_find(wl, o, in, t->paper, m, d)) return false;
  t->place[at] = calloc((size_t)m->n + 1, sizeof **t->place);
  if (!t->place[at]) return tf_out_of_memory(d);
  for (int64_t k = 0; k < m->n; k++)
    if (m->maps[k].executable &&
        !tf_instr_place_of(wl, o, in, &m->maps[k], (tf_instr_timing){t->spec->arch, t->paper},
                           &t->place[at][k], d))
      return false;
  return true;
}

bool instr_make(instr_table *t, const tf_spec *spec, tf_diags *d) {
  t->spec = spec;
  t->maps = calloc((size_t)n_pairs(t), sizeof *t->maps);
  t->place = calloc((size_t)n_pairs(t), sizeof(void *));
  if (!t->maps || !t->place) return tf_out_of_memory(d);
  bool ok = true;
  for (int i = 0; i < spec->n_instrs; i++)
    for (int o = 0; o < spec->workload->n_ops; o++)
      ok = make_pair(t, i, o, d) && ok;
  return ok;
}

void instr_free(instr_table *t) {
  for (int k = 0; t->maps && t->place && k < n_pairs(t); k++) {
    tf_instr_maps_free(&t->maps[k]);
    free(t->place[k]);
  }
  free(t->maps);
  free(t->place);
}

/* ---- names ----------------------------------------------------------------------------------- */
static const char *loop_name(const tf_instr *in, int l) {
  return in->body->dims[in->body->ops[0].dims[l]].name;
}

static const char *operand_name(const tf_instr *in, int m) {
  const tf_op *op = &in->body->ops[0];
  return in->body->tensors[m < op->n_reads ? op->reads[m].tensor : op->out].name;
}

static const char *dim_name(const tf_workload *wl, const tf_op *op, int d) {
  return wl->dims[op->dims[d]].name;
}

/* ---- JSON ------------------------------------------------------------------------------------ */
/* How many words the tile of an operand moves per tile of each loop, and per step of each outer
 * loop. */
static json_t *operand(const instr_table *t, const tf_instr *in, const tf_op *op,
                       const tf_instr_place *p, int k) {
  json_t *tile = json_object(), *outer = json_object();
  for (int l = 0; l < in->n_loops; l++)
    if (p->operand[k].tile_step[l])
      json_object_set_new(tile, loop_name(in, l), json_integer(p->operand[k].tile_step[l]));
  for (int d = 0; d < op->n_dims; d++)
    if (p->operand[k].outer_step[d])
      json_object_set_new(outer, dim_name(t->spec->workload, op, d),
                          json_integer(p->operand[k].outer_step[d]));
  return json_pack("{s:I, s:I, s:o, s:o}", "words", (json_int_t)p->operand[k].words, "tile_words",
                   (json_int_t)in->operand[k].words, "tile_step", tile, "outer_step", outer);
}

static json_t *mapping(const instr_table *t, const tf_instr *in, const tf_op *op,
                       const tf_instr_map *m, const tf_instr_place *p) {
  json_t *o = json_object(), *tiles = json_object(), *operands = json_object();
  for (int l = 0; l < in->n_loops; l++) {
    json_t *dims = json_array();
    for (int d = 0; d < op->n_dims; d++)
      if (m->set[l] >> d & 1)
        json_array_append_new(dims, json_string(dim_name(t->spec->workload, op, d)));
    json_object_set_new(o, loop_name(in, l), dims);
    json_object_set_new(tiles, loop_name(in, l), json_integer(p->tiles[l]));
  }
  for (int k = 0; k < in->n_operands; k++)
    json_object_set_new(operands, operand_name(in, k), operand(t, in, op, p, k));
  json_object_set_new(o, "calls", json_integer(p->calls));
  json_object_set_new(o, "utilization", json_real(p->utilization));
  json_object_set_new(o, "cycles", json_real(p->cycles));
  json_object_set_new(o, "tiles", tiles);
  json_object_set_new(o, "operands", operands);
  json_object_set_new(o, "executable", json_boolean(m->executable));
  return o;
}

static json_t *op_json(const instr_table *t, int i, int o) {
  const tf_workload *wl = t->spec->workload;
  const tf_instr_maps *m = &t->maps[i * wl->n_ops + o];
  json_t *list = json_array();
  for (int64_t k = 0; k < m->n; k++)
    json_array_append_new(list, mapping(t, &t->spec->instrs[i], &wl->ops[o], &m->maps[k],
                                        &t->place[i * wl->n_ops + o][k]));
  return json_pack("{s:s, s:I, s:I, s:o}", "op", wl->ops[o].name, "count", (json_int_t)m->n,
                   "effective", (json_int_t)m->effective, "mappings", list);
}

void instr_json(const instr_table *t, cli_text *out) {
  json_t *all = json_array();
  for (int i = 0; i < t->spec->n_instrs; i++) {
    json_t *ops = json_array();
    for (int o = 0; o < t->spec->workload->n_ops; o++)
      json_array_append_new(ops, op_json(t, i, o));
    json_array_append_new(all,
                          json_pack("{s:s, s:o}", "name", t->spec->instrs[i].name, "ops", ops));
  }
  json_t *root = json_pack("{s:s, s:s, s:b, s:o}", "tileflow", TILEFLOW_VERSION, "workload",
                           t->spec->workload->name, "paper", t->paper, "instructions", all);
  cli_put_json(root, JSON_INDENT(2) | JSON_REAL_PRECISION(15), out);
}

/* ---- text ------------------------------------------------------------------------------------ */
enum { SHOWN = 5 }; /* mappings shown per op: those predicted fastest */

static bool better(const tf_instr_place *a, const tf_instr_place *b) {
  return a->cycles != b->cycles ? a->cycles < b->cycles : a->calls < b->calls;
}

/* The best mapping not shown yet; -1 if all were. */
static int64_t next_best(const tf_instr_maps *m, const tf_instr_place *p, const int64_t shown[],
                         int n) {
  int64_t best = -1;
  for (int64_t k = 0; k < m->n; k++) {
    bool done = !m->maps[k].executable;
    for (int i = 0; i < n; i++)
      done = done || shown[i] == k;
    if (!done && (best < 0 || better(&p[k], &p[best]))) best = k;
  }
  return best;
}

static void put_dims(const instr_table *t, const tf_instr *in, const tf_op *op,
                     const tf_instr_map *m, cli_text *out) {
  for (int l = 0; l < in->n_loops; l++) {
    const char *between = "";
    cli_printf(out, "%s%s=", l ? " " : "", loop_name(in, l));
    for (int d = 0; d < op->n_dims; d++)
      if (m->set[l] >> d & 1) {
        cli_printf(out, "%s%s", between, dim_name(t->spec->workload, op, d));
        between = ".";
      }
  }
}

static void put_why_none(const tf_instr *in, const tf_op *op, const tf_instr_maps *m,
                         cli_text *out) {
  cli_printf(out, "  op %s: none", op->name);
  if (m->reason == TF_INSTR_ELEMENT)
    cli_printf(out, ", it computes something else\n");
  else if (m->reason == TF_INSTR_LOOP)
    cli_printf(out, ", no loop of it stands in the operands that %s indexes, and in no others\n",
               loop_name(in, m->loop));
  else
    cli_printf(out, "\n");
}

static void put_op(const instr_table *t, int i, int o, cli_text *out) {
  const tf_instr *in = &t->spec->instrs[i];
  const tf_op *op = &t->spec->workload->ops[o];
  const tf_instr_maps *m = &t->maps[i * t->spec->workload->n_ops + o];
  const tf_instr_place *p = t->place[i * t->spec->workload->n_ops + o];
  int64_t shown[SHOWN];
  if (!m->n) {
    put_why_none(in, op, m, out);
    return;
  }
  cli_printf(out, "  op %s: %" PRId64 " mapping%s", op->name, m->n, m->n == 1 ? "" : "s");
  if (m->effective != m->n)
    cli_printf(out, " (%" PRId64 " differ: the others only move loops of extent 1)", m->effective);
  cli_printf(out, "\n");
  cli_table table = {.align = "llrrrr"};
  static const char *const head[] = {"", "mapping", "calls", "used", "packed", "cycles"};
  for (int k = 0; k < 6; k++)
    cli_cell(&table, "%s", head[k]);
  for (int n = 0; n < SHOWN; n++) {
    cli_text dims = {0};
    int64_t k = shown[n] = next_best(m, p, shown, n);
    if (k < 0) break;
    double words = 0;
    for (int q = 0; q < in->n_operands; q++)
      words += (double)p[k].operand[q].words;
    put_dims(t, in, op, &m->maps[k], &dims);
    cli_cell(&table, " ");
    cli_cell(&table, "%s", cli_part(&dims, &table.cells));
    cli_cell(&table, "%" PRId64, p[k].calls);
    cli_cell(&table, "%.1f %%", 100 * p[k].utilization);
    cli_cell(&table, "%s", cli_real(words).s);
    cli_cell(&table, "%s", cli_real(p[k].cycles).s);
    cli_text_free(&dims);
  }
  cli_table_end(&table, out);
}

void instr_text(const instr_table *t, cli_text *out) {
  const tf_workload *wl = t->spec->workload;
  cli_printf(out, "Mappings of %s%s, of each op the %d with the least time predicted\n", wl->name,
             t->paper ? ", counted as the thesis does" : "", SHOWN);
  for (int i = 0; i < t->spec->n_instrs; i++) {
    const tf_instr *in = &t->spec->instrs[i];
    cli_printf(out, "\n%s", in->name);
    for (int l = 0; l < in->n_loops; l++)
      cli_printf(out, "%s%s=%" PRId64, l ? " " : ": ", loop_name(in, l), in->size[l]);
    cli_printf(out, "%s%s\n", in->intrinsic ? "   " : "", in->intrinsic ? in->intrinsic : "");
    for (int o = 0; o < wl->n_ops; o++)
      put_op(t, i, o, out);
  }
}
