/* The tables of a store, and the facts of its sweep. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "sweep/store/sweep_store.h"

/* Every table ends in the sum of its row (base/db/db.h).  The names of tables and columns are
 * stable: later formats add. */
#define RESULTS                                                                                    \
  "(point INTEGER PRIMARY KEY, machine INTEGER NOT NULL, work INTEGER NOT NULL, state TEXT NOT "   \
  "NULL, cycles REAL,"                                                                             \
  " seconds REAL, energy_pj REAL, edp REAL, traffic_words REAL, area_um2 REAL, bound_cycles REAL," \
  " bound_seconds REAL, bound_energy_pj REAL, bound_edp REAL, bound_traffic_words REAL, "          \
  "held_words REAL,"                                                                               \
  " proved INTEGER NOT NULL, evals INTEGER NOT NULL, took REAL NOT NULL, bottleneck TEXT, "        \
  "message TEXT,"                                                                                  \
  " mapping_of INTEGER, sum INTEGER);"
#define MAPPINGS "(point INTEGER PRIMARY KEY, text TEXT NOT NULL, sum INTEGER);"
#define COUNTS                                                                                     \
  "(point INTEGER NOT NULL, level TEXT NOT NULL, tensor TEXT NOT NULL, fill INTEGER NOT NULL, "    \
  "read INTEGER NOT NULL,"                                                                         \
  " \"update\" INTEGER NOT NULL, drain INTEGER NOT NULL, peak INTEGER NOT NULL, sum INTEGER,"      \
  " PRIMARY KEY(point, level, tensor)) WITHOUT ROWID;"

static const char tables[] =
    "CREATE TABLE facts(key TEXT PRIMARY KEY, value TEXT NOT NULL, sum INTEGER) WITHOUT "
    "ROWID;CREATE TABLE texts(sha256 TEXT PRIMARY KEY, text TEXT NOT NULL, sum INTEGER) WITHOUT "
    "ROWID;CREATE TABLE files(role TEXT NOT NULL, number INTEGER NOT NULL, file TEXT NOT NULL, "
    "name TEXT NOT NULL, weight REAL NOT NULL, sha256 TEXT NOT NULL, sum INTEGER, PRIMARY "
    "KEY(role, number)) WITHOUT ROWID;CREATE TABLE axes(axis INTEGER NOT NULL, place INTEGER NOT "
    "NULL, param TEXT NOT NULL, of TEXT NOT NULL, length INTEGER NOT NULL, stride INTEGER NOT "
    "NULL, sum INTEGER, PRIMARY KEY(axis, place)) WITHOUT ROWID;CREATE TABLE axis_values(axis "
    "INTEGER NOT NULL, param TEXT NOT NULL, position INTEGER NOT NULL, value REAL NOT NULL, sum "
    "INTEGER, PRIMARY KEY(axis, param, position)) WITHOUT ROWID;CREATE TABLE works(work INTEGER "
    "PRIMARY KEY, workload INTEGER NOT NULL, weight REAL NOT NULL, sum INTEGER);CREATE TABLE "
    "results" RESULTS "CREATE TABLE mappings" MAPPINGS "CREATE TABLE counts" COUNTS;

/* What an exchange of mappings put aside, and of how many rows the last one was. */
static const char exchanged[] =
    "CREATE TABLE searched" RESULTS "CREATE TABLE searched_mappings" MAPPINGS
    "CREATE TABLE searched_counts" COUNTS
    "CREATE TABLE exchange(rows INTEGER NOT NULL, improved INTEGER NOT NULL, sum INTEGER);";

/* Format 1 had neither sums nor exchanges. */
bool sweep_schema_raise(tf_db *db, tf_diags *d) {
  static const char *const summed[] = {"facts",       "texts", "files",    "axes",
                                       "axis_values", "works", "mappings", "counts"};
  char sql[64];
  bool ok = tf_db_exec(db,
                       "ALTER TABLE results ADD COLUMN mapping_of INTEGER;ALTER TABLE results ADD "
                       "COLUMN sum INTEGER",
                       d) &&
            tf_db_seal(db, "results", d) && tf_db_exec(db, exchanged, d);
  for (size_t i = 0; ok && i < sizeof summed / sizeof *summed; i++) {
    snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN sum INTEGER", summed[i]);
    ok = tf_db_exec(db, sql, d) && tf_db_seal(db, summed[i], d);
  }
  return ok;
}

typedef struct {
  tf_db *db;
  tf_diags *d;
  sqlite3_stmt *file, *text;
} writer;

static bool put_file(writer *w, const char *role, int number, const sweep_input *in,
                     const tf_sweep_file *as) {
  char sha[TF_SHA256_TEXT];
  tf_sha256_text(in->text.text, in->text.len, sha);
  sqlite3_bind_text(w->text, 2, in->text.text, (int)in->text.len, SQLITE_STATIC);
  return tf_db_put(w->db, w->text, w->d, "t", sha) &&
         tf_db_put(w->db, w->file, w->d, "tittrt", role, (int64_t)number, in->path,
                   as ? as->name : "", as ? as->weight : 1.0, sha);
}

/* The file of a list, or the one of the command line that has the section. */
static const sweep_input *input_of(const tf_sweep *s, const sweep_inputs *list,
                                   const tf_sweep_file *f, int i) {
  if (list->n) return &list->input[i];
  for (int k = 0; k < s->base.n; k++)
    if (s->base.input[k].path == f->file) return &s->base.input[k];
  return NULL;
}

static bool put_list(writer *w, const tf_sweep *s, const char *role, const sweep_inputs *list) {
  const tf_sweep_grid *g = &s->grid;
  bool archs = list == &s->archs, workloads = list == &s->workloads;
  int n = archs ? g->n_archs : workloads ? g->n_workloads : g->n_mappings;
  const tf_sweep_file *as = archs ? g->archs : workloads ? g->workloads : g->mappings;
  bool ok = true;
  for (int i = 0; ok && i < n; i++) {
    const sweep_input *in = input_of(s, list, &as[i], i);
    ok = !in || put_file(w, role, i, in, &as[i]);
  }
  return ok;
}

static bool put_files(tf_db *db, const tf_sweep *sweep, tf_diags *d) {
  writer w = {db, d, tf_db_insert(db, "INSERT INTO", "files", d),
              tf_db_insert(db, "INSERT OR IGNORE INTO", "texts", d)};
  bool ok = w.file && w.text;
  for (int i = 0; ok && i < sweep->base.n; i++)
    ok = put_file(&w, "common", i, &sweep->base.input[i], NULL);
  ok = ok && put_list(&w, sweep, "architecture", &sweep->archs) &&
       put_list(&w, sweep, "workload", &sweep->workloads) &&
       put_list(&w, sweep, "mapping", &sweep->mappings);
  sqlite3_finalize(w.file);
  sqlite3_finalize(w.text);
  return ok;
}

static bool put_facts(tf_db *db, const tf_sweep *sweep, tf_diags *d) {
  sqlite3_stmt *q = tf_db_insert(db, "INSERT INTO", "facts", d);
  bool ok = q != NULL;
  for (int i = 0; ok && i < sweep->n_facts; i++)
    ok = tf_db_put(db, q, d, "tt", sweep->facts[i].key, sweep->facts[i].value);
  sqlite3_finalize(q);
  return ok;
}

/* The number of machines, or cases, per step of the axis. */
static int64_t stride_of(const tf_sweep_grid *g, int axis) {
  int64_t stride = g->axes[axis].of_workload && g->n_mappings ? g->n_mappings : 1;
  for (int i = axis + 1; i < g->n_axes; i++)
    if (g->axes[i].of_workload == g->axes[axis].of_workload) stride *= g->axes[i].n;
  return stride;
}

static bool put_axes(tf_db *db, const tf_sweep_grid *g, tf_diags *d) {
  sqlite3_stmt *axis = tf_db_insert(db, "INSERT INTO", "axes", d);
  sqlite3_stmt *value = tf_db_insert(db, "INSERT INTO", "axis_values", d);
  bool ok = axis && value;
  for (int i = 0; ok && i < g->n_axes; i++)
    for (int p = 0; ok && p < g->axes[i].n_params; p++) {
      const tf_sweep_axis *a = &g->axes[i];
      ok = tf_db_put(db, axis, d, "iittii", (int64_t)i, (int64_t)p, a->params[p],
                     a->of_workload ? "workload" : "machine", (int64_t)a->n, stride_of(g, i));
      for (int k = 0; ok && k < a->n; k++)
        ok = tf_db_put(db, value, d, "itir", (int64_t)i, a->params[p], (int64_t)k,
                       a->values[(int64_t)k * a->n_params + p]);
    }
  sqlite3_finalize(axis);
  sqlite3_finalize(value);
  return ok;
}

static bool put_works(tf_db *db, const tf_sweep_grid *g, tf_diags *d) {
  sqlite3_stmt *q = tf_db_insert(db, "INSERT INTO", "works", d);
  bool ok = q != NULL;
  for (int64_t i = 0; ok && i < g->n_jobs; i++) {
    int workload = tf_sweep_place_of(g, g->jobs[i]).workload;
    ok = tf_db_put(db, q, d, "iir", g->jobs[i], (int64_t)workload, g->workloads[workload].weight);
  }
  sqlite3_finalize(q);
  return ok;
}

/* ---- the view `points`: a column for each param --------------------------------------------- */
typedef struct {
  char *text;
  size_t len, room;
  bool bad;
} sql;

/* Appends to the statement; bad once memory ran out or a part is too long. */
static void add_sql(sql *q, const char *fmt, ...) TF_PRINTF(2, 3);
static void add_sql(sql *q, const char *fmt, ...) {
  char part[400];
  va_list args;
  va_start(args, fmt);
  int n = vsnprintf(part, sizeof part, fmt, args);
  va_end(args);
  const bool more =
      n >= 0 && n < (int)sizeof part && tf_grow_text(&q->text, &q->room, q->len + (size_t)n + 1);
  q->bad |= !more;
  if (!more) return;
  memcpy(q->text + q->len, part, (size_t)n + 1);
  q->len += (size_t)n;
}

/* The number of machines, or cases, per file. */
static int64_t file_stride(const tf_sweep_grid *g, bool of_workload) {
  return of_workload ? g->n_cases / g->n_workloads : g->n_machines / g->n_archs;
}

static bool make_view(tf_db *db, const tf_sweep_grid *g, tf_diags *d) {
  sql q = {0};
  add_sql(&q, "CREATE VIEW points AS SELECT r.point, r.machine, r.work, a.name AS architecture, "
              "w.name AS workload");
  if (g->n_mappings) add_sql(&q, ", m.name AS mapping");
  for (int i = 0; i < g->n_axes; i++)
    for (int p = 0; p < g->axes[i].n_params; p++)
      add_sql(&q, ", v%d_%d.value AS \"%.200s\"", i, p, g->axes[i].params[p]);
  add_sql(&q, ", r.state");
  for (int k = 0; k < TF_N_GOALS; k++)
    add_sql(&q, ", r.%s", tf_goal_column(k));
  for (int k = 0; k < TF_GOAL_AREA; k++)
    add_sql(&q, ", r.bound_%s", tf_goal_column(k));
  add_sql(&q,
          ", r.held_words, r.proved, r.evals, r.took, r.bottleneck, r.message FROM results r JOIN "
          "files a ON a.role = 'architecture' AND a.number = r.machine / %lld JOIN files w ON "
          "w.role = 'workload' AND w.number = r.work / %lld",
          (long long)file_stride(g, false), (long long)file_stride(g, true));
  if (g->n_mappings)
    add_sql(&q, " JOIN files m ON m.role = 'mapping' AND m.number = r.work %% %d", g->n_mappings);
  for (int i = 0; i < g->n_axes; i++)
    for (int p = 0; p < g->axes[i].n_params; p++)
      add_sql(&q,
              " JOIN axis_values v%d_%d ON v%d_%d.axis = %d AND v%d_%d.param = '%.200s' AND "
              "v%d_%d.position = r.%s / %lld %% %d",
              i, p, i, p, i, i, p, g->axes[i].params[p], i, p,
              g->axes[i].of_workload ? "work" : "machine", (long long)stride_of(g, i),
              g->axes[i].n);
  bool ok =
      q.bad ? tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "names of params are too long, or memory ran out")
            : tf_db_exec(db, q.text, d);
  free(q.text);
  return ok;
}

bool sweep_schema_make(tf_db *db, const void *of, tf_diags *d) {
  const tf_sweep *sweep = of;
  return tf_db_exec(db, tables, d) && tf_db_exec(db, exchanged, d) && put_facts(db, sweep, d) &&
         put_files(db, sweep, d) && put_axes(db, &sweep->grid, d) &&
         put_works(db, &sweep->grid, d) && make_view(db, &sweep->grid, d);
}
