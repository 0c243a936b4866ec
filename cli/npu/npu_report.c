/* A run of the NPU's simulator as text, as JSON, and as a trace. */
#include "cli/npu/npu_report.h"
#include "cli/json.h"

#include <inttypes.h>
#include <jansson.h>

#include "cli/table.h"
#include "tileflow/version.h"

void npu_text(const tf_npu_result *r, cli_text *out) {
  cli_table queues = {.align = "lrrr"}, flows = {.align = "lllrr"};
  cli_printf(out, "%.17g cycles, %" PRId64 " multiply-adds, %" PRId64 " vector elements\n\n",
             r->cycles, r->mads, r->lanes);
  static const char *const head[] = {"queue", "instructions", "busy",  "of all", "from",
                                     "to",    "what",         "words", "cycles"};
  for (int k = 0; k < 4; k++)
    cli_cell(&queues, "%s", head[k]);
  for (int q = 0; q < r->n_queues; q++) {
    cli_cell(&queues, "%s", r->queues[q].queue);
    cli_cell(&queues, "%" PRId64, r->queues[q].instructions);
    cli_cell(&queues, "%s", cli_real(r->queues[q].busy).s);
    cli_cell(&queues, "%s", cli_percent(r->queues[q].busy, r->cycles).s);
  }
  cli_table_end(&queues, out);
  if (r->n_flows) cli_printf(out, "\n");
  for (int k = 4; k < 9 && r->n_flows; k++)
    cli_cell(&flows, "%s", head[k]);
  for (int f = 0; f < r->n_flows; f++) {
    cli_cell(&flows, "%s", r->flows[f].from);
    cli_cell(&flows, "%s", r->flows[f].to);
    cli_cell(&flows, "%s", r->flows[f].tag);
    cli_cell(&flows, "%" PRId64, r->flows[f].words);
    cli_cell(&flows, "%s", cli_real(r->flows[f].cycles).s);
  }
  cli_table_end(&flows, out);
}

static void put_json(json_t *root, size_t flags, cli_text *out) {
  cli_put_json(root, flags | JSON_REAL_PRECISION(15), out);
}

void npu_json(const tf_npu_result *r, cli_text *out) {
  json_t *queues = json_array(), *paths = json_array();
  for (int q = 0; q < r->n_queues; q++)
    json_array_append_new(queues, json_pack("{s:s, s:I, s:f}", "name", r->queues[q].queue,
                                            "instructions", (json_int_t)r->queues[q].instructions,
                                            "busy", r->queues[q].busy));
  for (int f = 0; f < r->n_flows; f++)
    json_array_append_new(paths,
                          json_pack("{s:s, s:s, s:s, s:I, s:f}", "from", r->flows[f].from, "to",
                                    r->flows[f].to, "what", r->flows[f].tag, "words",
                                    (json_int_t)r->flows[f].words, "cycles", r->flows[f].cycles));
  put_json(json_pack("{s:s, s:f, s:I, s:I, s:o, s:o}", "tileflow", TILEFLOW_VERSION, "cycles",
                     r->cycles, "multiply_adds", (json_int_t)r->mads, "vector_elements",
                     (json_int_t)r->lanes, "queues", queues, "paths", paths),
           JSON_INDENT(2), out);
}

/* In the format of `eval --trace` (docs/FORMATS.md), with queues as resources; flags and barriers
 * take no time there. */
void npu_trace(const tf_npu_result *r, cli_text *out) {
  cli_printf(out, "kind,resource,what,begin,end,words\n");
  for (size_t i = 0; i < r->n_spans; i++) {
    const tf_npu_span *s = &r->spans[i];
    if (s->end <= s->begin) continue;
    char what[160];
    snprintf(what, sizeof what, "%s%s%.100s", s->what, *s->tag ? " " : "", s->tag);
    cli_printf(out, "work,");
    cli_csv_cell(out, s->queue);
    cli_printf(out, ",");
    cli_csv_cell(out, what);
    cli_printf(out, ",%.15g,%.15g,%lld\n", s->begin, s->end, (long long)s->words);
  }
}
