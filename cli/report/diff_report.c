/* The difference of two evaluations as text, JSON and CSV. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/json.h"
#include "cli/report/diff.h"
#include "cli/report/report.h"
#include "cli/table.h"
#include "tileflow/tree.h"
#include "tileflow/version.h"

enum { MOST_ROWS = 10, MOST_CAUSES = 8 };

static double ratio(const diff_term *t) { return t->a != 0 ? t->b / t->a : NAN; }

/* The memory in which a tensor of that name lives; "": there is none. */
static const char *home(const cli_session *s, const char *tensor) {
  const tf_workload *wl = s->spec->workload;
  for (int z = 0; z < wl->n_tensors; z++)
    if (!strcmp(wl->tensors[z].name, tensor))
      return s->spec->arch->memories[tf_tree_home(s->tree, z)].name;
  return "";
}

/* Why the larger side is larger: its tensor lives elsewhere, or its largest cause. */
static void put_reason(const diff *d, const diff_term *t, cli_text *out) {
  const tf_why_row *row;
  const char *in_a = t->tensor ? home(d->a, t->tensor) : "",
             *in_b = t->tensor ? home(d->b, t->tensor) : "";
  if (*in_a && *in_b && strcmp(in_a, in_b) != 0) {
    cli_printf(out, "it lives in %s in A, in %s in B", in_a, in_b);
    return;
  }
  const cli_session *larger = t->b > t->a ? d->b : d->a;
  if (!t->tensor || diff_causes(larger, t, &row, 1) == 0) return;
  cli_printf(out, "%s: ", t->b > t->a ? "B" : "A");
  cli_cause(larger, row, out);
}

/* ---- text --------------------------------------------------------------------------- */

static void put_ratio(cli_table *t, const diff_term *x) {
  if (x->a > 0)
    cli_cell(t, "%s", cli_times(x->b, x->a).s);
  else
    cli_skip(t, 1);
}

static void put_total(cli_table *t, const char *name, const diff_term *x, cli_figure a,
                      cli_figure b) {
  cli_cell(t, "%s", name);
  cli_cell(t, "%s", a.s);
  cli_cell(t, "%s", b.s);
  put_ratio(t, x);
}

static const diff_term *total(const diff *d, const char *name) {
  int i = 0;
  while (strcmp(d->terms[i].name, name) != 0)
    i++;
  return &d->terms[i];
}

static void put_totals(const diff *d, cli_text *out) {
  cli_table t = {.align = "lrrr"};
  const diff_term *c = total(d, "cycles"), *e = total(d, "energy_pj"),
                  *w = total(d, "traffic_words"), *u = total(d, "compute_utilization");
  cli_skip(&t, 1);
  cli_cell(&t, "A");
  cli_cell(&t, "B");
  cli_cell(&t, "B / A");
  put_total(&t, "cycles", c, cli_real(c->a), cli_real(c->b));
  put_total(&t, "energy", e, cli_si(e->a * 1e-12, "J"), cli_si(e->b * 1e-12, "J"));
  put_total(&t, "outermost words", w, cli_real(w->a), cli_real(w->b));
  put_total(&t, "utilisation", u, cli_percent(u->a, 1), cli_percent(u->b, 1));
  cli_cell(&t, "bottleneck");
  cli_cell(&t, "%s", d->a->result.bottleneck);
  cli_cell(&t, "%s", d->b->result.bottleneck);
  cli_skip(&t, 1);
  cli_table_end(&t, out);
}

/* fill and drain repeat what the memory above reads and updates. */
static bool shown(const diff_term *t, diff_kind k) {
  return t->kind == k && t->a != t->b &&
         (!t->counter || !strcmp(t->counter, "read") || !strcmp(t->counter, "update"));
}

static cli_figure figure(const diff_term *t, double v) {
  return t->kind == DIFF_ENERGY ? cli_si(v * 1e-12, "J") : cli_real(v);
}

static void put_term(const diff *d, const diff_term *x, cli_table *t) {
  cli_text reason = {0};
  double by = fabs(x->b - x->a);
  cli_cell(t, "%s%s%s", x->name, x->tensor ? " " : "", x->tensor ? x->tensor : "");
  cli_cell(t, "%s", x->counter ? x->counter : "");
  cli_cell(t, "%s", figure(x, x->a).s);
  cli_cell(t, "%s", figure(x, x->b).s);
  cli_cell(t, "%s%s", x->b < x->a ? "-" : "+", figure(x, by).s);
  put_ratio(t, x);
  put_reason(d, x, &reason);
  cli_cell(t, "%s", cli_part(&reason, &t->cells));
  cli_text_free(&reason);
}

static void put_kind(const diff *d, diff_kind k, const char *title, cli_text *out) {
  cli_table t = {.align = "llrrrrl"};
  int rows = 0, left = 0;
  for (int i = 0; i < d->n; i++) {
    if (!shown(&d->terms[i], k)) continue;
    if (rows == MOST_ROWS) {
      left++;
      continue;
    }
    if (!rows++) {
      static const char *const head[] = {"", "A", "B", "B - A", "B / A"};
      cli_cell(&t, "%s", title);
      for (int h = 0; h < 5; h++)
        cli_cell(&t, "%s", head[h]);
      cli_cell(&t, "%s", k == DIFF_WORDS && d->a->why.n ? "because" : "");
    }
    put_term(d, &d->terms[i], &t);
  }
  if (!rows) return;
  cli_printf(out, "\n");
  cli_table_end(&t, out);
  if (left) cli_printf(out, "and %d more: --json and --csv have all\n", left);
}

static void put_name(const char *side, const char *name, const cli_session *s, cli_text *out) {
  cli_printf(out, "%s: %s (%s on %s)%s\n", side, name, s->spec->workload->name, s->spec->arch->name,
             s->result.feasible ? "" : ", which DOES NOT FIT");
}

void diff_text(const diff *d, cli_text *out) {
  put_name("A", d->name_a, d->a, out);
  put_name("B", d->name_b, d->b, out);
  cli_printf(out, "\n");
  put_totals(d, out);
  put_kind(d, DIFF_CYCLES, "busy cycles", out);
  put_kind(d, DIFF_WORDS, "words", out);
  put_kind(d, DIFF_ENERGY, "energy", out);
  put_kind(d, DIFF_USED, "in use", out);
  put_kind(d, DIFF_HELD, "words held", out);
  if (cli_word_sizes_differ(d->a) || cli_word_sizes_differ(d->b)) {
    cli_printf(out, "\n");
    cli_put_word_sizes(d->a->spec->arch, out);
  }
}

/* ---- for programs ------------------------------------------------------------------ */

static json_t *side(const char *file, const cli_session *s) {
  return json_pack("{s:s, s:s, s:s, s:b, s:s}", "file", file, "architecture", s->spec->arch->name,
                   "workload", s->spec->workload->name, "feasible", s->result.feasible,
                   "bottleneck", s->result.bottleneck);
}

static json_t *causes(const cli_session *s, const diff_term *t) {
  const tf_why_row *rows[MOST_CAUSES];
  json_t *out = json_array();
  int n = diff_causes(s, t, rows, MOST_CAUSES);
  for (int i = 0; i < n; i++) {
    cli_text text = {0};
    cli_cause(s, rows[i], &text);
    json_array_append_new(
        out, json_pack("{s:s, s:s*, s:I, s:I, s:I, s:I}", "cause", tf_cause_key(rows[i]->cause),
                       "text", text.text, "fill", (json_int_t)rows[i]->words.fill, "read",
                       (json_int_t)rows[i]->words.read, "update", (json_int_t)rows[i]->words.update,
                       "drain", (json_int_t)rows[i]->words.drain));
    cli_text_free(&text);
  }
  return out;
}

static json_t *term(const diff *d, const diff_term *t) {
  json_t *o = json_pack("{s:s, s:s, s:s*, s:s*, s:o, s:o, s:o, s:o}", "kind",
                        diff_kind_key(t->kind), "name", t->name, "tensor", t->tensor, "counter",
                        t->counter, "a", cli_json_real(t->a), "b", cli_json_real(t->b),
                        "difference", cli_json_real(t->b - t->a), "ratio", cli_json_real(ratio(t)));
  if (t->tensor)
    json_object_set_new(o, "why",
                        json_pack("{s:o, s:o}", "a", causes(d->a, t), "b", causes(d->b, t)));
  return o;
}

void diff_json(const diff *d, cli_text *out) {
  json_t *terms = json_array();
  for (int i = 0; i < d->n; i++)
    json_array_append_new(terms, term(d, &d->terms[i]));
  json_t *o = json_pack("{s:s, s:o, s:o, s:o}", "tileflow", TILEFLOW_VERSION, "a",
                        side(d->name_a, d->a), "b", side(d->name_b, d->b), "terms", terms);
  cli_put_json(o, JSON_INDENT(2) | JSON_REAL_PRECISION(15), out);
}

void diff_csv(const diff *d, cli_text *out) {
  cli_printf(out, "kind,name,tensor,counter,a,b,difference,ratio,why\n");
  for (int i = 0; i < d->n; i++) {
    const diff_term *t = &d->terms[i];
    cli_text reason = {0};
    if (t->a != t->b) put_reason(d, t, &reason);
    cli_printf(out, "%s,", diff_kind_key(t->kind));
    cli_csv_cell(out, t->name);
    cli_printf(out, ",");
    cli_csv_cell(out, t->tensor ? t->tensor : "");
    cli_printf(out, ",%s,%.15g,%.15g,%.15g,", t->counter ? t->counter : "", t->a, t->b,
               t->b - t->a);
    if (t->a != 0) cli_printf(out, "%.15g", ratio(t));
    cli_printf(out, ",");
    cli_csv_cell(out, cli_part(&reason, out));
    cli_printf(out, "\n");
    cli_text_free(&reason);
  }
}
