/* Whether a store belongs to a sweep, and the differences if not; the grid of a store. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/store/sweep_store.h"

enum { MOST_DIFFERENCES = 8, SHOWN = 60 };

typedef struct {
  tf_store *s;
  tf_diags *d;
  bool failed;
  int n; /* differences reported */
} teller;

/* The first one is the error, the others are its notes. */
static void differs(teller *t, const char *what) {
  tf_loc nowhere = {0};
  if (t->n == 0)
    tf_db_refuse(&t->s->db, t->d,
                 "is the store of another sweep: %s; name another one, or remove it to begin anew",
                 what);
  else if (t->n < MOST_DIFFERENCES)
    tf_note(t->d, nowhere, "and %s", what);
  t->n++;
}

/* "" where the column has none. */
static const char *text_at(sqlite3_stmt *q, int column) {
  const char *text = tf_db_text(q, column);
  return text ? text : "";
}

/* ---- facts ---------------------------------------------------------------------------------- */
static const char *fact_of(const tf_sweep *w, const char *key) {
  for (int i = 0; i < w->n_facts; i++)
    if (!strcmp(w->facts[i].key, key)) return w->facts[i].value;
  return NULL;
}

static void compare_facts(teller *t, const tf_sweep *w) {
  char what[200];
  int same = 0;
  sqlite3_stmt *q = tf_db_prepare(&t->s->db, "SELECT key, value FROM facts", t->d);
  while (tf_db_step(&t->s->db, q, &t->failed, t->d)) {
    const char *key = text_at(q, 0), *old = text_at(q, 1), *now = fact_of(w, key);
    same += now != NULL;
    if (now && !strcmp(old, now)) continue;
    snprintf(what, sizeof what, "%.40s is %.*s there, %.*s here", key, SHOWN, old, SHOWN,
             now ? now : "not given");
    differs(t, what);
  }
  sqlite3_finalize(q);
  if (same == w->n_facts || t->failed) return;
  for (int i = 0; i < w->n_facts; i++) {
    if (!strcmp(w->facts[i].key, SWEEP_PASSING)) continue;
    q = tf_db_prepare(&t->s->db, "SELECT 1 FROM facts WHERE key = ?", t->d);
    tf_db_bind(q, "t", w->facts[i].key);
    if (!tf_db_step(&t->s->db, q, &t->failed, t->d)) {
      snprintf(what, sizeof what, "%.40s is not given there, %.*s here", w->facts[i].key, SHOWN,
               w->facts[i].value);
      differs(t, what);
    }
    sqlite3_finalize(q);
  }
}

/* ---- files ---------------------------------------------------------------------------------- */
static int line_length(const char *p) { return (int)strcspn(p, "\r\n"); }

/* Reports where two texts differ first. */
static void report_line(const char *file, const char *old, const char *now, char *out,
                        size_t size) {
  int line = 1;
  while (*old && *now) {
    int a = line_length(old), b = line_length(now);
    if (a != b || memcmp(old, now, (size_t)a) != 0) break;
    old += a + (old[a] != '\0');
    now += b + (now[b] != '\0');
    line++;
  }
  old += strspn(old, " "); /* indentation says little */
  now += strspn(now, " ");
  int a = line_length(old), b = line_length(now);
  snprintf(out, size, "line %d of '%.60s' is '%.*s' there, '%.*s' here", line, file,
           a < SHOWN ? a : SHOWN, old, b < SHOWN ? b : SHOWN, now);
}

static const sweep_input *input_at(const tf_sweep *w, const char *role, int number) {
  const sweep_inputs *list = !strcmp(role, "common")         ? &w->base
                             : !strcmp(role, "architecture") ? &w->archs
                             : !strcmp(role, "workload")     ? &w->workloads
                                                             : &w->mappings;
  return number >= 0 && number < list->n ? &list->input[number] : NULL;
}

static void compare_file(teller *t, const sweep_input *in, const char *file, const char *sha,
                         const char *old) {
  char what[260], now[TF_SHA256_TEXT];
  tf_sha256_text(in->text.text, in->text.len, now);
  if (strcmp(in->path, file) != 0) {
    snprintf(what, sizeof what, "a file is '%.60s' there, '%.60s' here", file, in->path);
    differs(t, what);
  } else if (strcmp(sha, now) != 0) {
    report_line(file, old, in->text.text, what, sizeof what);
    differs(t, what);
  }
}

/* Files of the command line that have a section are compared as such, and not again as the
 * architecture that they give. */
static void compare_files(teller *t, const tf_sweep *w) {
  const sweep_inputs *lists[] = {&w->base, &w->archs, &w->workloads, &w->mappings};
  static const char *const roles[] = {"common", "architecture", "workload", "mapping"};
  int seen[4] = {0};
  char what[200];
  sqlite3_stmt *q = tf_db_prepare(&t->s->db,
                                  "SELECT f.role, f.number, f.file, f.sha256, t.text, f.weight "
                                  "FROM files f JOIN texts t USING (sha256)",
                                  t->d);
  while (tf_db_step(&t->s->db, q, &t->failed, t->d)) {
    const sweep_input *in = input_at(w, text_at(q, 0), sqlite3_column_int(q, 1));
    for (int r = 0; r < 4; r++)
      seen[r] += !strcmp(text_at(q, 0), roles[r]);
    if (!in) continue;
    compare_file(t, in, text_at(q, 2), text_at(q, 3), text_at(q, 4));
    if (in->weight == sqlite3_column_double(q, 5) || !strcmp(text_at(q, 0), "common")) continue;
    snprintf(what, sizeof what, "the weight of '%.60s' is %g there, %g here", in->path,
             sqlite3_column_double(q, 5), in->weight);
    differs(t, what);
  }
  sqlite3_finalize(q);
  for (int r = 0; r < 4; r++) {
    if (seen[r] == lists[r]->n || (lists[r]->n == 0 && r > 0 && seen[r] == 1)) continue;
    snprintf(what, sizeof what, "it has %d files of the kind '%s', this one %d", seen[r], roles[r],
             lists[r]->n);
    differs(t, what);
  }
}

bool sweep_schema_same(tf_store *s, const tf_sweep *w, tf_diags *d) {
  teller t = {.s = s, .d = d};
  compare_facts(&t, w);
  if (!t.failed) compare_files(&t, w);
  if (t.n > MOST_DIFFERENCES) tf_note(d, (tf_loc){0}, "and %d more", t.n - MOST_DIFFERENCES);
  return !t.failed && t.n == 0;
}

/* ---- the grid ------------------------------------------------------------------------------- */
static const char *copy_text(tf_store *s, const char *text) {
  return tf_arena_strndup(s->arena, text, strlen(text));
}

static int index_of(const char *word, const char *(*key)(int k)) {
  for (int k = 0; key(k); k++)
    if (!strcmp(word, key(k))) return k;
  return -1;
}

/* "cycles, energy" */
static bool read_goals(tf_sweep_grid *g, const char *text) {
  for (const char *p = text; *p && g->n_goals < TF_N_GOALS; p += strspn(p, ", ")) {
    char word[24] = "";
    size_t n = strcspn(p, ",");
    if (n < sizeof word) memcpy(word, p, n);
    int k = index_of(word, tf_goal_key);
    if (k < 0) return false;
    g->goals[g->n_goals++] = (tf_goal)k;
    p += n;
  }
  return g->n_goals > 0;
}

static bool read_within(tf_sweep_grid *g, const char *value) {
  double v = strtod(value, NULL);
  if (v > 0 && v < 1) g->within = v;
  return v > 0 && v < 1;
}

static bool read_facts(tf_store *s, tf_diags *d) {
  tf_sweep_grid *g = &s->grid;
  bool failed = false, ok = true;
  sqlite3_stmt *q = tf_db_prepare(&s->db, "SELECT key, value FROM facts", d);
  int method = -1;
  g->n_passing = -1;
  while (tf_db_step(&s->db, q, &failed, d)) {
    const char *key = text_at(q, 0), *value = text_at(q, 1);
    if (!strcmp(key, "name")) g->name = copy_text(s, value);
    if (!strcmp(key, "method")) method = index_of(value, tf_sweep_method_key);
    if (!strcmp(key, SWEEP_PASSING)) g->n_passing = strtoll(value, NULL, 10);
    if (!strcmp(key, "within")) ok = read_within(g, value) && ok;
    if (!strcmp(key, "score")) g->geometric = strcmp(value, "sum") != 0;
    if (!strcmp(key, "objectives")) ok = read_goals(g, value) && ok;
  }
  sqlite3_finalize(q);
  g->method = method < 0 ? TF_SWEEP_BOUND : (tf_sweep_method)method;
  return !failed && ((ok && method >= 0 && g->name && g->n_goals) ||
                     tf_db_refuse(&s->db, d, "is damaged: its facts"));
}

static bool read_files(tf_store *s, const char *role, int *n, tf_sweep_file **out, tf_diags *d) {
  bool failed = false;
  sqlite3_stmt *q = tf_db_prepare(
      &s->db, "SELECT file, name, weight FROM files WHERE role = ? ORDER BY number", d);
  int room = 0;
  tf_db_bind(q, "t", role);
  while (tf_db_step(&s->db, q, &failed, d)) {
    if (*n == room) {
      tf_sweep_file *more = TF_ARRAY(s->arena, tf_sweep_file, (size_t)room * 2 + 8);
      if (!more) break;
      if (*n) memcpy(more, *out, (size_t)*n * sizeof *more);
      *out = more;
      room = room * 2 + 8;
    }
    (*out)[(*n)++] = (tf_sweep_file){copy_text(s, text_at(q, 1)), copy_text(s, text_at(q, 0)),
                                     sqlite3_column_double(q, 2)};
  }
  sqlite3_finalize(q);
  return !failed;
}

/* One param of an axis; called in the order of axis and position. */
static bool read_param(tf_store *s, sqlite3_stmt *q) {
  tf_sweep_grid *g = &s->grid;
  int axis = sqlite3_column_int(q, 0), length = sqlite3_column_int(q, 4);
  if (axis != g->n_axes - 1 && axis != g->n_axes) return false;
  if (axis >= TF_SWEEP_AXES || length < 1 || length > SWEEP_MAX_VALUES) return false;
  tf_sweep_axis *a = &g->axes[axis];
  if (axis == g->n_axes) {
    *a = (tf_sweep_axis){.n = length, .of_workload = !strcmp(text_at(q, 3), "workload")};
    a->params = TF_ARRAY(s->arena, const char *, TF_SWEEP_AXES);
    g->n_axes++;
  }
  if (!a->params || a->n_params >= TF_SWEEP_AXES || a->n != length) return false;
  a->params[a->n_params++] = copy_text(s, text_at(q, 2));
  return true;
}

static bool read_values(tf_store *s, tf_diags *d) {
  tf_sweep_grid *g = &s->grid;
  bool failed = false, ok = true;
  int64_t all = 0, n = 0;
  for (int i = 0; i < g->n_axes; i++) {
    tf_sweep_axis *a = &g->axes[i];
    a->values = TF_ARRAY(s->arena, double, (size_t)a->n *(size_t)a->n_params);
    if (!a->values) return tf_out_of_memory(d);
    all += (int64_t)a->n * a->n_params;
  }
  sqlite3_stmt *q = tf_db_prepare(&s->db,
                                  "SELECT v.axis, a.place, v.position, v.value FROM axis_values v "
                                  "JOIN axes a USING (axis, param)",
                                  d);
  while (tf_db_step(&s->db, q, &failed, d)) {
    int axis = sqlite3_column_int(q, 0), place = sqlite3_column_int(q, 1),
        at = sqlite3_column_int(q, 2);
    bool fits = axis >= 0 && axis < g->n_axes && place >= 0 && place < g->axes[axis].n_params &&
                at >= 0 && at < g->axes[axis].n;
    if (fits)
      g->axes[axis].values[(int64_t)at * g->axes[axis].n_params + place] =
          sqlite3_column_double(q, 3);
    ok = ok && fits;
    n++;
  }
  sqlite3_finalize(q);
  return !failed &&
         ((ok && n == all) || tf_db_refuse(&s->db, d, "is damaged: the values of its axes"));
}

static bool read_axes(tf_store *s, tf_diags *d) {
  bool failed = false, ok = true;
  s->grid.axes = TF_ARRAY(s->arena, tf_sweep_axis, TF_SWEEP_AXES);
  if (!s->grid.axes) return tf_out_of_memory(d);
  sqlite3_stmt *q = tf_db_prepare(
      &s->db, "SELECT axis, place, param, of, length FROM axes ORDER BY axis, place", d);
  while (tf_db_step(&s->db, q, &failed, d))
    ok = read_param(s, q) && ok;
  sqlite3_finalize(q);
  if (failed) return false;
  return ok ? read_values(s, d) : tf_db_refuse(&s->db, d, "is damaged: its axes");
}

static bool read_works(tf_store *s, tf_diags *d) {
  tf_sweep_grid *g = &s->grid;
  bool failed = false, ok = true;
  int64_t n = tf_db_number(&s->db, "SELECT count(*) FROM works", &failed, d);
  if (failed) return false;
  if (n < 1 || n > g->n_cases) return tf_db_refuse(&s->db, d, "is damaged: its works");
  g->jobs = TF_ARRAY(s->arena, int64_t, (size_t)n);
  if (!g->jobs) return tf_out_of_memory(d);
  sqlite3_stmt *q = tf_db_prepare(&s->db, "SELECT work FROM works ORDER BY work", d);
  while (g->n_jobs < n && tf_db_step(&s->db, q, &failed, d)) {
    int64_t work = g->jobs[g->n_jobs++] = sqlite3_column_int64(q, 0);
    ok = ok && work >= 0 && work < g->n_cases;
  }
  sqlite3_finalize(q);
  return !failed && (ok || tf_db_refuse(&s->db, d, "is damaged: its works"));
}

bool sweep_schema_grid(tf_store *s, tf_diags *d) {
  tf_sweep_grid *g = &s->grid;
  bool ok = read_facts(s, d) && read_files(s, "architecture", &g->n_archs, &g->archs, d) &&
            read_files(s, "workload", &g->n_workloads, &g->workloads, d) &&
            read_files(s, "mapping", &g->n_mappings, &g->mappings, d) && read_axes(s, d);
  if (!ok) return false;
  double machines = g->n_archs,
         cases = (double)g->n_workloads * (g->n_mappings ? g->n_mappings : 1);
  for (int i = 0; i < g->n_axes; i++)
    *(g->axes[i].of_workload ? &cases : &machines) *= g->axes[i].n;
  if (!(machines >= 1 && cases >= 1 && machines * cases <= SWEEP_MAX_POINTS))
    return tf_db_refuse(&s->db, d, "is damaged: its grid");
  g->n_machines = (int64_t)machines;
  if (g->n_passing < 0) g->n_passing = g->n_machines;
  g->n_cases = (int64_t)cases;
  return read_works(s, d);
}
