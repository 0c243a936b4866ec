/* The files of a figure: JSON, CSV, the log of a search, or the store of a sweep. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/plot/plot.h"
#include "cli/report/sweep_report.h"

static const char log_head[] = "tileflow-search-log ";
static const char store_head[] = "SQLite format 3";

static bool begins(const tf_text *t, const char *head) {
  return t->len >= strlen(head) && !memcmp(t->text, head, strlen(head));
}

/* The number of mappings evaluated, and the best value, after each task of a log. */
bool plot_log_read(const tf_text *from, uint16_t file, plot_table *out, tf_diags *d) {
  cli_text csv = {0};
  uint32_t line = 0;
  long long evals = 0, more;
  double best = 0, value;
  bool ok = true, any = false;
  cli_printf(&csv, "evaluations,best\n");
  for (const char *p = from->text, *end = p + from->len; p < end && ok;) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    line++;
    if (!stop) break; /* the log was cut off here: its last task is incomplete */
    if (!strncmp(p, "task ", 5)) {
      ok = sscanf(p, "task %*s %*s %lld", &more) == 1 && more >= 0 && more < INT64_MAX - evals;
      if (ok) evals += more;
    } else if (!strncmp(p, "best 0 ", 7)) {
      ok = sscanf(p, "best 0 %la", &value) == 1;
      if (ok && (!any || value < best)) best = value;
      any |= ok;
    } else if (!strncmp(p, "end ", 4) && any) {
      cli_printf(&csv, "%lld,%.15g\n", evals, best);
    }
    if (!ok)
      tf_fail(d, (tf_loc){file, line, 1, (uint32_t)(stop - p)}, TF_E_SYNTAX,
              "no record of a search's log");
    p = stop + 1;
  }
  tf_text text = {from->name, csv.text, csv.len};
  if (ok && csv.bad) ok = tf_out_of_memory(d);
  ok = ok && plot_table_read(&text, file, out, d);
  cli_text_free(&csv);
  return ok;
}

static bool read_json(const tf_text *text, plot_input *in, tf_diags *d) {
  json_error_t e;
  in->json = json_loadb(text->text, text->len, JSON_REJECT_DUPLICATES, &e);
  if (in->json) return true;
  tf_loc at = {in->file, e.line > 0 ? (uint32_t)e.line : 1, e.column > 0 ? (uint32_t)e.column : 1,
               1};
  return tf_fail(d, at, TF_E_SYNTAX, "JSON: %.120s", e.text);
}

/* Whether the first line that is no comment begins with the name of a section of inputs. */
static bool is_input(const tf_text *t) {
  static const char *const sections[] = {
      "architecture:", "workload:", "mapping:", "sweep:", "params:", "plan:"};
  const char *p = t->text, *end = p + t->len;
  while (p < end && strchr("#\r\n", *p)) {
    const char *stop = memchr(p, '\n', (size_t)(end - p));
    p = stop ? stop + 1 : end;
  }
  for (size_t i = 0; i < sizeof sections / sizeof *sections; i++)
    if ((size_t)(end - p) >= strlen(sections[i]) && !memcmp(p, sections[i], strlen(sections[i])))
      return true;
  return false;
}

/* Whether a file begins like SQLite's: a store is large, and not read as text.  A pipe could not be
 * read twice. */
static bool is_store(const char *path) {
  char head[sizeof store_head - 1];
  struct stat st;
  if (stat(path, &st) != 0 || !S_ISREG(st.st_mode)) return false;
  FILE *f = fopen(path, "rb");
  bool yes =
      f && fread(head, 1, sizeof head, f) == sizeof head && !memcmp(head, store_head, sizeof head);
  if (f) fclose(f);
  return yes;
}

/* Reads the machines of a sweep as `results --machines --csv` prints them; errors quote those
 * lines. */
static bool read_store(plot_input *in, tf_diags *d) {
  tf_store *s = tf_store_open(in->path, d);
  tf_sweep_summary *sum = s ? tf_sweep_summary_of(s, d) : NULL;
  cli_text csv = {0};
  if (sum) cli_machines_csv(tf_store_grid(s), sum, &csv);
  tf_text text = {in->path, csv.text, csv.len};
  bool ok = sum && csv.text && !csv.bad;
  if (sum && !ok) tf_out_of_memory(d);
  if (ok) in->file = tf_diags_add_file(d, in->path, csv.text, csv.len);
  ok = ok && plot_table_read(&text, in->file, &in->table, d);
  cli_text_free(&csv);
  tf_sweep_summary_free(sum);
  tf_store_close(s);
  return ok;
}

/* What `results` writes of the largest sweep has 300 MB. */
static const size_t MOST_BYTES = (size_t)1 << 31;

static bool read_one(plot_input *in, tf_diags *d) {
  if (is_store(in->path)) return read_store(in, d);
  tf_text text = tf_text_read_most(in->path, MOST_BYTES, d);
  if (!text.text) return false;
  in->file = tf_diags_add_file(d, text.name, text.text, text.len);
  const tf_loc at = {in->file, 1, 1, 1};
  size_t blank = 0;
  bool ok;
  while (blank < text.len && strchr(" \t\r\n", text.text[blank]))
    blank++;
  if (memchr(text.text, '\0', text.len)) {
    ok = tf_fail(d, at, TF_E_SYNTAX,
                 "the file is binary: plot reads JSON, CSV and logs of searches");
  } else if (is_input(&text)) {
    ok = tf_fail(d, at, TF_E_SYNTAX,
                 "an input, no result: `tileflow eval FILE... --json FILE.json` (or --trace "
                 "FILE.csv) writes what plot draws");
  } else if (begins(&text, log_head)) {
    ok = plot_log_read(&text, in->file, &in->table, d);
  } else if (blank < text.len && (text.text[blank] == '{' || text.text[blank] == '[')) {
    ok = read_json(&text, in, d);
  } else {
    ok = plot_table_read(&text, in->file, &in->table, d);
  }
  free((void *)(uintptr_t)text.text);
  return ok;
}

bool plot_inputs_read(const cli_input *in, plot_input **out, tf_diags *d) {
  bool ok = true;
  *out = calloc(in->n_files + 1, sizeof **out);
  if (!*out) return tf_out_of_memory(d);
  for (size_t i = 0; i < in->n_files; i++) {
    (*out)[i].path = in->files[i];
    ok = read_one(&(*out)[i], d) && ok;
  }
  return ok;
}

void plot_inputs_free(plot_input *all, size_t n) {
  for (size_t i = 0; all && i < n; i++) {
    json_decref(all[i].json);
    plot_table_free(&all[i].table);
  }
  free(all);
}

void plot_base_name(const char *path, char *out, size_t size) {
  const char *slash = strrchr(path, '/');
  snprintf(out, size, "%s", slash ? slash + 1 : path);
  char *point = strrchr(out, '.');
  if (point && point != out) *point = '\0';
}

/* Integers count as reals, too. */
static bool is_a(const json_t *v, json_type type) {
  return type == JSON_REAL ? json_is_number(v) : v && json_typeof(v) == type;
}

json_t *plot_member(const plot_input *in, json_t *object, const char *key, json_type type,
                    tf_diags *d) {
  static const char *const names[] = {[JSON_OBJECT] = "an object",
                                      [JSON_ARRAY] = "a list",
                                      [JSON_STRING] = "a text",
                                      [JSON_REAL] = "a number"};
  json_t *v = json_object_get(object, key);
  if (is_a(v, type)) return v;
  const tf_loc at = {in->file, 1, 1, 1};
  if (v)
    tf_fail(d, at, TF_E_TYPE, "the member '%s' must be %s", key, names[type]);
  else
    tf_fail(d, at, TF_E_MISSING, "no member '%s': is this what the command for this figure writes?",
            key);
  return NULL;
}

bool plot_member_number(const plot_input *in, json_t *object, const char *key, double *out,
                        tf_diags *d) {
  json_t *v = plot_member(in, object, key, JSON_REAL, d);
  *out = v ? json_number_value(v) : 0;
  if (v && !plot_can_draw(*out))
    return tf_fail(d, (tf_loc){in->file, 1, 1, 1}, TF_E_RANGE,
                   "the member '%s' is %g: no figure shows that", key, *out);
  return v != NULL;
}
