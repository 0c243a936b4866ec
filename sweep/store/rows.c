/* Rows of a store: written, read, merged. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/store/store.h"

static const char *const put_sql[N_PUTS] = {
    [PUT_ROW] = "INSERT INTO results VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10,?11,?12,?13,?14,?15,?16,?17,?18,?19,?20,?21)"
                " ON CONFLICT(point) DO UPDATE SET state=?4, cycles=?5, seconds=?6, energy_pj=?7, edp=?8,"
                " traffic_words=?9, area_um2=?10, bound_cycles=?11, bound_seconds=?12, bound_energy_pj=?13,"
                " bound_edp=?14, bound_traffic_words=?15, held_words=?16, proved=?17, evals=?18, took=?19,"
                " bottleneck=?20, message=?21 WHERE results.state = 'skipped' AND ?4 != 'skipped'",
    [PUT_COUNT] = "INSERT OR REPLACE INTO counts VALUES(?,?,?,?,?,?,?,?)",
    [PUT_MAPPING] = "INSERT OR REPLACE INTO mappings VALUES(?,?)",
};

bool sweep_store_begin(tf_store *s, tf_diags *d) {
  for (int i = 0; i < N_PUTS; i++)
    if (!s->put[i] && !(s->put[i] = tf_db_prepare(&s->db, put_sql[i], d))) return false;
  if (s->in_write) return true;
  s->in_write = tf_db_exec(&s->db, "BEGIN IMMEDIATE", d);
  return s->in_write;
}

bool sweep_store_commit(tf_store *s, tf_diags *d) {
  if (!s->in_write) return true;
  s->in_write = false;
  if (tf_db_exec(&s->db, "COMMIT", d)) return true;
  tf_db_rollback(&s->db);
  return false;
}

/* ---- writing ---------------------------------------------------------------------------------------- */
static void bind_real(sqlite3_stmt *q, int at, double v) {
  if (isnan(v))
    sqlite3_bind_null(q, at);
  else
    sqlite3_bind_double(q, at, v);
}

static bool put_counts(tf_store *s, const tf_sweep_row *r, tf_diags *d) {
  sqlite3_stmt *q = s->put[PUT_COUNT];
  for (int i = 0; i < r->n_counts; i++) {
    const tf_counts *c = &r->counts[i].words;
    if (!tf_db_put(&s->db, q, d, "ittiiiii", r->point, r->counts[i].level, r->counts[i].tensor, c->fill, c->read,
                   c->update, c->drain, c->peak))
      return false;
  }
  return true;
}

bool sweep_store_put(tf_store *s, const tf_sweep_row *r, tf_diags *d) {
  sqlite3_stmt *q = s->put[PUT_ROW];
  int at = 0;
  sqlite3_bind_int64(q, ++at, r->point);
  sqlite3_bind_int64(q, ++at, r->point / s->grid.n_cases);
  sqlite3_bind_int64(q, ++at, r->point % s->grid.n_cases);
  sqlite3_bind_text(q, ++at, tf_point_state_key((int)r->state), -1, SQLITE_STATIC);
  for (int g = 0; g < TF_N_GOALS; g++)
    bind_real(q, ++at, r->figures[g]);
  for (int g = 0; g < TF_GOAL_AREA; g++)
    bind_real(q, ++at, r->bounds[g]);
  bind_real(q, ++at, r->held_words);
  sqlite3_bind_int(q, ++at, r->proved);
  sqlite3_bind_int64(q, ++at, r->evals);
  sqlite3_bind_double(q, ++at, r->took);
  sqlite3_bind_text(q, ++at, r->bottleneck, -1, SQLITE_STATIC);
  sqlite3_bind_text(q, ++at, r->message, -1, SQLITE_STATIC);
  if (!tf_db_run(&s->db, q, d)) return false;
  if (sqlite3_changes(s->db.sql) == 0) return true; /* there already */
  if (r->mapping && !tf_db_put(&s->db, s->put[PUT_MAPPING], d, "it", r->point, r->mapping)) return false;
  return put_counts(s, r, d);
}

/* ---- reading ---------------------------------------------------------------------------------------- */
static double real_at(sqlite3_stmt *q, int at) {
  return sqlite3_column_type(q, at) == SQLITE_NULL ? NAN : sqlite3_column_double(q, at);
}

static bool read_row(const tf_sweep_grid *g, sqlite3_stmt *q, tf_sweep_row *r) {
  const char *state = tf_db_text(q, 3);
  int at = 3, k = 0;
  while (state && tf_point_state_key(k) && strcmp(tf_point_state_key(k), state) != 0)
    k++;
  *r = (tf_sweep_row){.point = sqlite3_column_int64(q, 0), .state = (tf_point_state)k};
  if (!state || !tf_point_state_key(k) || r->point < 0 || r->point >= g->n_machines * g->n_cases) return false;
  for (int i = 0; i < TF_N_GOALS; i++)
    r->figures[i] = real_at(q, ++at);
  for (int i = 0; i < TF_GOAL_AREA; i++)
    r->bounds[i] = real_at(q, ++at);
  r->bounds[TF_GOAL_AREA] = r->figures[TF_GOAL_AREA];
  r->held_words = real_at(q, ++at);
  r->proved = sqlite3_column_int(q, ++at) != 0;
  r->evals = sqlite3_column_int64(q, ++at);
  r->took = sqlite3_column_double(q, ++at);
  r->bottleneck = tf_db_text(q, ++at);
  r->message = tf_db_text(q, ++at);
  return true;
}

bool tf_store_rows(tf_store *s, bool (*row)(void *ctx, const tf_sweep_row *r), void *ctx, tf_diags *d) {
  bool failed = false, ok = true;
  sqlite3_stmt *q = tf_db_prepare(&s->db, "SELECT * FROM results ORDER BY point", d);
  while (ok && tf_db_step(&s->db, q, &failed, d)) {
    tf_sweep_row r;
    if (!read_row(&s->grid, q, &r)) {
      failed = !tf_db_refuse(&s->db, d, "is damaged: row %lld of its results", (long long)sqlite3_column_int64(q, 0));
      break;
    }
    ok = row(ctx, &r);
  }
  sqlite3_finalize(q);
  return !failed;
}

char *tf_store_mapping(tf_store *s, int64_t point, tf_diags *d) {
  bool failed = false;
  char *out = NULL;
  sqlite3_stmt *q = tf_db_prepare(&s->db, "SELECT text FROM mappings WHERE point = ?", d);
  tf_db_bind(q, "i", point);
  if (tf_db_step(&s->db, q, &failed, d) && tf_db_text(q, 0)) {
    out = malloc(strlen(tf_db_text(q, 0)) + 1);
    if (out) strcpy(out, tf_db_text(q, 0));
  }
  sqlite3_finalize(q);
  return out;
}

/* ---- merging ---------------------------------------------------------------------------------------- */
/* What this store lacks, or has skipped, of the attached store. */
static const char merge_sql[] =
    "CREATE TEMP TABLE taken AS SELECT o.point FROM other.results o LEFT JOIN main.results r USING (point)"
    " WHERE r.point IS NULL OR (r.state = 'skipped' AND o.state != 'skipped');"
    "INSERT OR REPLACE INTO main.results SELECT o.* FROM other.results o JOIN taken USING (point);"
    "INSERT OR REPLACE INTO main.mappings SELECT o.* FROM other.mappings o JOIN taken USING (point);"
    "INSERT OR REPLACE INTO main.counts SELECT o.* FROM other.counts o JOIN taken USING (point);";

/* Rows that the two stores do not share: 0 if both are of one sweep. */
static const char differ_sql[] =
    "SELECT count(*) FROM (SELECT * FROM (SELECT key, value FROM main.facts EXCEPT SELECT key, value FROM other.facts)"
    " WHERE key <> '" SWEEP_PASSING "'"
    " UNION ALL SELECT * FROM (SELECT key, value FROM other.facts EXCEPT SELECT key, value FROM main.facts)"
    " WHERE key <> '" SWEEP_PASSING "'"
    " UNION ALL SELECT * FROM (SELECT role || number, sha256 || file || weight FROM main.files EXCEPT"
    "  SELECT role || number, sha256 || file || weight FROM other.files)"
    " UNION ALL SELECT * FROM (SELECT role || number, sha256 || file || weight FROM other.files EXCEPT"
    "  SELECT role || number, sha256 || file || weight FROM main.files))";

static bool merge(tf_store *s, const char *path, int64_t *taken, tf_diags *d) {
  bool failed = false;
  if (tf_db_number(&s->db, differ_sql, &failed, d) != 0 || failed)
    return !failed &&
           tf_db_refuse(&s->db, d, "cannot take the rows of '%.100s': it is the store of another sweep", path);
  if (!tf_db_exec(&s->db, "BEGIN IMMEDIATE", d)) return false;
  bool ok = tf_db_exec(&s->db, merge_sql, d);
  *taken = ok ? tf_db_number(&s->db, "SELECT count(*) FROM taken", &failed, d) : 0;
  ok = ok && !failed && tf_db_exec(&s->db, "DROP TABLE taken; COMMIT", d);
  if (!ok) tf_db_rollback(&s->db);
  return ok;
}

bool tf_store_merge(tf_store *s, const char *path, int64_t *taken, tf_diags *d) {
  *taken = 0;
  tf_store *other = tf_store_open(path, d); /* with its own errors, at its own name */
  if (!other) return false;
  tf_store_close(other);
  sqlite3_stmt *q = tf_db_prepare(&s->db, "ATTACH ? AS other", d);
  const bool attached = tf_db_put(&s->db, q, d, "t", path);
  sqlite3_finalize(q);
  if (!attached) return false;
  bool ok = merge(s, path, taken, d);
  sqlite3_exec(s->db.sql, "DETACH other", NULL, NULL, NULL);
  return ok;
}
