/* The result as one table of exact figures: a row for the whole, for each memory, for each tensor
 * in a memory, for each unit and for each op.  Cells that do not apply are empty. */
#include <inttypes.h>
#include <math.h>

#include "cli/report/report.h"

typedef enum {
  NAME,
  TENSOR,
  INSTANCES,
  CAPACITY,
  PEAK,
  FILL,
  READ,
  UPDATE,
  DRAIN,
  POINTS,
  RECOMPUTED,
  UNIT,
  UNITS_USED,
  CYCLES,
  ENERGY,
  RESCALING,
  WORD_BITS,
  N_COLUMNS
} column;

static const char header[] =
    "architecture,workload,feasible,part,name,tensor,instances,capacity_words,peak_words,fill,read,"
    "update,drain,points,recomputed,unit,units_used,cycles,energy_pj,rescaling,word_bits\n";

typedef struct {
  const cli_session *s;
  cli_text *out;
  column next;
} writer;

/* Commas up to column c. */
static void fill_up_to(writer *w, column c) {
  for (; w->next <= c; w->next++)
    cli_printf(w->out, ",");
}

static void begin_row(writer *w, const char *part) {
  cli_csv_cell(w->out, w->s->spec->arch->name);
  cli_printf(w->out, ",");
  cli_csv_cell(w->out, w->s->spec->workload->name);
  cli_printf(w->out, ",%s,%s", w->s->result.feasible ? "true" : "false", part);
  w->next = NAME;
}

static void end(writer *w) {
  fill_up_to(w, N_COLUMNS - 1);
  cli_printf(w->out, "\n");
}

static void text(writer *w, column c, const char *value) {
  fill_up_to(w, c);
  cli_csv_cell(w->out, value);
}

static void count(writer *w, column c, int64_t value) {
  fill_up_to(w, c);
  cli_printf(w->out, "%" PRId64, value);
}

static void real(writer *w, column c, double value) {
  fill_up_to(w, c);
  cli_printf(w->out, "%.15g", value);
}

static void counts(writer *w, int64_t peak, const tf_counts *c) {
  count(w, PEAK, peak);
  count(w, FILL, c->fill);
  count(w, READ, c->read);
  count(w, UPDATE, c->update);
  count(w, DRAIN, c->drain);
}

static void put_level(writer *w, int l) {
  const tf_memory *m = &w->s->spec->arch->memories[l];
  const tf_level_result *r = &w->s->result.levels[l];
  const tf_counts sum = cli_level_counts(w->s, l);
  begin_row(w, "level");
  text(w, NAME, m->name);
  count(w, INSTANCES, r->instances);
  if (m->capacity_words >= 0) count(w, CAPACITY, m->capacity_words);
  counts(w, r->peak, &sum);
  real(w, CYCLES, r->cycles);
  real(w, ENERGY, r->energy_pj);
  count(w, WORD_BITS, m->word_bits);
  end(w);
}

static void put_part(writer *w, int l, int i) {
  const tf_mem_part *p = &w->s->spec->arch->memories[l].parts.list[i];
  const tf_part_result *r = &w->s->result.levels[l].parts[i];
  const tf_counts sum = {.fill = r->fill, .read = r->read, .update = r->update, .drain = r->drain};
  begin_row(w, "part");
  text(w, NAME, p->name);
  count(w, CAPACITY, p->capacity_words);
  counts(w, r->peak, &sum);
  count(w, WORD_BITS, w->s->spec->arch->memories[l].word_bits);
  end(w);
}

static void put_tensor(writer *w, int l, int z) {
  const tf_workload *wl = w->s->spec->workload;
  const tf_counts *c = &w->s->result.counts[l * wl->n_tensors + z];
  begin_row(w, "tensor");
  text(w, NAME, w->s->spec->arch->memories[l].name);
  text(w, TENSOR, wl->tensors[z].name);
  counts(w, c->peak, c);
  count(w, WORD_BITS, wl->tensors[z].word_bits);
  end(w);
}

static void put_unit(writer *w, int u) {
  const tf_unit_result *r = &w->s->result.units[u];
  begin_row(w, "compute");
  text(w, NAME, w->s->spec->arch->units[u].name);
  count(w, POINTS, r->points);
  count(w, UNITS_USED, r->units);
  real(w, CYCLES, r->cycles);
  real(w, ENERGY, r->energy_pj);
  end(w);
}

static void put_op(writer *w, int o) {
  const tf_op_result *r = &w->s->result.ops[o];
  begin_row(w, "op");
  text(w, NAME, w->s->spec->workload->ops[o].name);
  count(w, POINTS, r->points);
  count(w, RECOMPUTED, r->recomputed);
  text(w, UNIT, w->s->spec->arch->units[r->unit].name);
  count(w, UNITS_USED, r->units);
  real(w, CYCLES, r->cycles);
  count(w, RESCALING, r->corrections);
  end(w);
}

void cli_report_csv(const cli_session *s, cli_text *out) {
  writer w = {s, out, NAME};
  cli_printf(out, "%s", header);
  begin_row(&w, "total");
  count(&w, POINTS, s->result.points);
  real(&w, CYCLES, s->result.cycles);
  real(&w, ENERGY, s->result.energy_pj);
  end(&w);
  if (s->result.leakage_pj > 0) {
    begin_row(&w, "leakage");
    real(&w, ENERGY, s->result.leakage_pj);
    end(&w);
  }
  for (int l = 0; l < s->spec->arch->n_memories; l++) {
    put_level(&w, l);
    for (int i = 0; i < s->spec->arch->memories[l].parts.n; i++)
      put_part(&w, l, i);
    for (int z = 0; z < s->spec->workload->n_tensors; z++)
      put_tensor(&w, l, z);
  }
  for (int u = 0; u < s->spec->arch->n_units; u++)
    put_unit(&w, u);
  for (int o = 0; o < s->spec->workload->n_ops; o++)
    put_op(&w, o);
}

void cli_slope_csv(const cli_session *s, const tf_slope *p, cli_text *out) {
  cli_printf(out, "architecture,workload,on_chip_words,proved_words,found_words,compulsory_words,"
                  "proved_all_units_words\n");
  for (int i = 0; i < p->n; i++) {
    cli_csv_cell(out, s->spec->arch->name);
    cli_printf(out, ",");
    cli_csv_cell(out, s->spec->workload->name);
    cli_printf(out, ",%" PRId64 ",%.0f,", p->at[i].capacity, p->at[i].bound);
    if (p->at[i].attained < INFINITY) cli_printf(out, "%.0f", p->at[i].attained);
    cli_printf(out, ",%.0f,%.0f\n", p->compulsory, p->at[i].all_units);
  }
}
