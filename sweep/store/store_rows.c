/* Rows of a store: written, read, merged. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sweep/store/sweep_store.h"

#include "base/locale.h"

/* Columns of results, in their order; those since format 2. */
#define COLUMNS                                                                                    \
  "point, machine, work, state, cycles, seconds, energy_pj, edp, traffic_words, area_um2, "        \
  "bound_cycles,"                                                                                  \
  " bound_seconds, bound_energy_pj, bound_edp, bound_traffic_words, held_words, proved, evals, "   \
  "took, bottleneck,"                                                                              \
  " message"
#define COLUMNS_2 COLUMNS ", mapping_of"

static const struct {
  const char *verb, *table; /* table NULL: verb is the statement */
} puts_of[N_PUTS] = {
    [PUT_ROW] = {"INSERT OR REPLACE INTO", "results"},
    [PUT_COUNT] = {"INSERT OR REPLACE INTO", "counts"},
    [PUT_MAPPING] = {"INSERT OR REPLACE INTO", "mappings"},
    [PUT_KEPT] =
        {"SELECT 1 FROM results WHERE point = ?1 AND (state <> 'skipped' OR ?2 = 'skipped')", NULL},
};

static sqlite3_stmt *prepare_put(tf_store *s, int i, tf_diags *d) {
  return puts_of[i].table ? tf_db_insert(&s->db, puts_of[i].verb, puts_of[i].table, d)
                          : tf_db_prepare(&s->db, puts_of[i].verb, d);
}

bool sweep_store_begin(tf_store *s, tf_diags *d) {
  for (int i = 0; i < N_PUTS; i++)
    if (!s->put[i] && !(s->put[i] = prepare_put(s, i, d))) return false;
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

void sweep_store_undo(tf_store *s) {
  if (s->in_write) tf_db_rollback(&s->db);
  s->in_write = false;
}

/* ---- writing -------------------------------------------------------------------------------- */
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
    if (!tf_db_put(&s->db, q, d, "ittiiiii", r->point, r->counts[i].level, r->counts[i].tensor,
                   c->fill, c->read, c->update, c->drain, c->peak))
      return false;
  }
  return true;
}

/* Whether the row in the store stays. */
static bool kept(tf_store *s, const tf_sweep_row *r, bool *failed, tf_diags *d) {
  sqlite3_stmt *q = s->put[PUT_KEPT];
  tf_db_bind(q, "it", r->point, tf_point_state_key((int)r->state));
  const bool out = tf_db_step(&s->db, q, failed, d);
  sqlite3_reset(q);
  return out;
}

static bool put_row(tf_store *s, const tf_sweep_row *r, tf_diags *d) {
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
  if (r->mapping_of >= 0)
    sqlite3_bind_int64(q, ++at, r->mapping_of);
  else
    sqlite3_bind_null(q, ++at);
  return tf_db_run(&s->db, q, d) &&
         (!r->mapping || tf_db_put(&s->db, s->put[PUT_MAPPING], d, "it", r->point, r->mapping)) &&
         put_counts(s, r, d);
}

bool sweep_store_put(tf_store *s, const tf_sweep_row *r, tf_diags *d) {
  bool failed = false;
  if (kept(s, r, &failed, d)) return true;
  return !failed && put_row(s, r, d);
}

/* ---- reading -------------------------------------------------------------------------------- */
static double real_at(sqlite3_stmt *q, int at) {
  return sqlite3_column_type(q, at) == SQLITE_NULL ? NAN : sqlite3_column_double(q, at);
}

/* A row of COLUMNS_2, and whether it is another than was written. */
static bool read_row(const tf_sweep_grid *g, sqlite3_stmt *q, tf_sweep_row *r) {
  const char *state = tf_db_text(q, 3);
  int at = 3, k = 0;
  while (state && tf_point_state_key(k) && strcmp(tf_point_state_key(k), state) != 0)
    k++;
  *r = (tf_sweep_row){.point = sqlite3_column_int64(q, 0), .state = (tf_point_state)k};
  if (!state || !tf_point_state_key(k) || r->point < 0 || r->point >= g->n_machines * g->n_cases)
    return false;
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
  ++at;
  r->mapping_of = sqlite3_column_type(q, at) == SQLITE_NULL ? -1 : sqlite3_column_int64(q, at);
  return sqlite3_column_int(q, ++at) == 0;
}

/* The rows of a query; with_mapping: its last column is the text of one. */
static bool read_rows(tf_store *s, const char *sql, bool with_mapping,
                      bool (*row)(void *ctx, const tf_sweep_row *r), void *ctx, tf_diags *d) {
  bool failed = false, ok = true;
  sqlite3_stmt *q = tf_db_prepare(&s->db, sql, d);
  while (ok && tf_db_step(&s->db, q, &failed, d)) {
    tf_sweep_row r;
    if (!read_row(&s->grid, q, &r)) {
      failed = !tf_db_refuse(&s->db, d, "is damaged: row %lld of its results",
                             (long long)sqlite3_column_int64(q, 0));
      break;
    }
    if (with_mapping) r.mapping = tf_db_text(q, sqlite3_column_count(q) - 1);
    ok = row(ctx, &r);
  }
  sqlite3_finalize(q);
  return !failed;
}

bool tf_store_rows(tf_store *s, bool (*row)(void *ctx, const tf_sweep_row *r), void *ctx,
                   tf_diags *d) {
  TF_IN_C_LOCALE;
  static const char with_sums[] =
      "SELECT " COLUMNS_2 ", sum IS NOT tf_sum(" COLUMNS_2 ") FROM results ORDER BY point";
  static const char without[] = "SELECT " COLUMNS ", NULL, 0 FROM results ORDER BY point";
  return read_rows(s, s->db.format > 1 ? with_sums : without, false, row, ctx, d);
}

char *tf_store_mapping(tf_store *s, int64_t point, tf_diags *d) {
  TF_IN_C_LOCALE;
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

/* ---- exchange ------------------------------------------------------------------------------- */
bool sweep_store_searched(tf_store *s, bool (*row)(void *ctx, const tf_sweep_row *r), void *ctx,
                          tf_diags *d) {
  static const char sql[] =
      "SELECT r.*, m.text FROM (SELECT " COLUMNS_2 ", sum IS NOT tf_sum(" COLUMNS_2
      ") FROM results  WHERE point NOT IN (SELECT point FROM searched)) r LEFT JOIN mappings m "
      "USING (point) UNION ALL SELECT r.*, m.text FROM (SELECT " COLUMNS_2
      ", sum IS NOT tf_sum(" COLUMNS_2
      ") FROM searched) r  LEFT JOIN searched_mappings m USING (point) ORDER BY point";
  return read_rows(s, sql, true, row, ctx, d);
}

static const char solved_sql[] = "SELECT count(*) FROM results WHERE state IN ('found', 'none')";

bool sweep_store_exchanged(tf_store *s, bool *so, tf_diags *d) {
  bool failed = false;
  const int64_t rows = tf_db_number(&s->db, solved_sql, &failed, d);
  const int64_t of =
      failed ? 0 : tf_db_number(&s->db, "SELECT coalesce(max(rows), -1) FROM exchange", &failed, d);
  *so = of == rows;
  return !failed;
}

bool sweep_store_restore(tf_store *s, tf_diags *d) {
  static const char sql[] =
      "DELETE FROM mappings WHERE point IN (SELECT point FROM searched);DELETE FROM counts WHERE "
      "point IN (SELECT point FROM searched);INSERT OR REPLACE INTO results SELECT * FROM "
      "searched; DELETE FROM searched;INSERT INTO mappings SELECT * FROM searched_mappings; DELETE "
      "FROM searched_mappings;INSERT INTO counts SELECT * FROM searched_counts; DELETE FROM "
      "searched_counts; DELETE FROM exchange;";
  return tf_db_exec(&s->db, sql, d);
}

/* Runs one of these for a point. */
static bool for_point(tf_store *s, const char *sql, int64_t point, tf_diags *d) {
  sqlite3_stmt *q = tf_db_prepare(&s->db, sql, d);
  const bool ok = q && tf_db_put(&s->db, q, d, "i", point);
  sqlite3_finalize(q);
  return ok;
}

bool sweep_store_replace(tf_store *s, const tf_sweep_row *r, tf_diags *d) {
  static const char *const aside[] = {
      "INSERT INTO searched SELECT * FROM results WHERE point = ?",
      "INSERT INTO searched_mappings SELECT * FROM mappings WHERE point = ?",
      "INSERT INTO searched_counts SELECT * FROM counts WHERE point = ?",
      "DELETE FROM counts WHERE point = ?"};
  for (size_t i = 0; i < sizeof aside / sizeof *aside; i++)
    if (!for_point(s, aside[i], r->point, d)) return false;
  return put_row(s, r, d);
}

bool sweep_store_note_exchange(tf_store *s, int64_t rows, int64_t improved, tf_diags *d) {
  sqlite3_stmt *q = tf_db_insert(&s->db, "INSERT INTO", "exchange", d);
  const bool ok = q && tf_db_put(&s->db, q, d, "ii", rows, improved);
  sqlite3_finalize(q);
  return ok;
}

/* ---- merging -------------------------------------------------------------------------------- */
/* What this store lacks, or has skipped, of the attached store; with what its searches found, where
 * that was put aside. */
static const char merge_sql[] =
    "CREATE TEMP TABLE taken AS SELECT o.point FROM other.results o LEFT JOIN main.results r USING "
    "(point) WHERE r.point IS NULL OR (r.state = 'skipped' AND o.state != 'skipped');INSERT OR "
    "REPLACE INTO main.results SELECT o.* FROM other.results o JOIN taken USING (point);INSERT OR "
    "REPLACE INTO main.mappings SELECT o.* FROM other.mappings o JOIN taken USING (point);INSERT "
    "OR REPLACE INTO main.counts SELECT o.* FROM other.counts o JOIN taken USING (point);INSERT OR "
    "REPLACE INTO main.searched SELECT o.* FROM other.searched o JOIN taken USING (point);INSERT "
    "OR REPLACE INTO main.searched_mappings SELECT o.* FROM other.searched_mappings o JOIN taken "
    "USING (point);INSERT OR REPLACE INTO main.searched_counts SELECT o.* FROM "
    "other.searched_counts o JOIN taken USING (point);";

/* Rows that the two stores do not share: 0 if both are of one sweep. */
static const char differ_sql[] =
    "SELECT count(*) FROM (SELECT * FROM (SELECT key, value FROM main.facts EXCEPT SELECT key, "
    "value FROM other.facts) WHERE key <> '" SWEEP_PASSING
    "' UNION ALL SELECT * FROM (SELECT key, value FROM other.facts EXCEPT SELECT key, value FROM "
    "main.facts) WHERE key <> '" SWEEP_PASSING
    "' UNION ALL SELECT * FROM (SELECT role || number, sha256 || file || weight FROM main.files "
    "EXCEPT  SELECT role || number, sha256 || file || weight FROM other.files) UNION ALL SELECT * "
    "FROM (SELECT role || number, sha256 || file || weight FROM other.files EXCEPT  SELECT role || "
    "number, sha256 || file || weight FROM main.files))";

static bool merge(tf_store *s, const char *path, int64_t *taken, tf_diags *d) {
  bool failed = false;
  if (tf_db_number(&s->db, differ_sql, &failed, d) != 0 || failed)
    return !failed &&
           tf_db_refuse(&s->db, d,
                        "cannot take the rows of '%.100s': it is the store of another sweep", path);
  if (!tf_db_exec(&s->db, "BEGIN IMMEDIATE", d)) return false;
  bool ok = tf_db_exec(&s->db, merge_sql, d);
  *taken = ok ? tf_db_number(&s->db, "SELECT count(*) FROM taken", &failed, d) : 0;
  ok = ok && !failed && tf_db_exec(&s->db, "DROP TABLE taken; COMMIT", d);
  if (!ok) tf_db_rollback(&s->db);
  return ok;
}

bool tf_store_merge(tf_store *s, const char *path, int64_t *taken, tf_diags *d) {
  TF_IN_C_LOCALE;
  *taken = 0;
  tf_store *other = tf_store_open(path, d); /* with its own errors, at its own name */
  if (!other) return false;
  const bool old = other->db.format < other->db.kind->format;
  if (old)
    tf_db_refuse(
        &other->db, d,
        "is of format %d: a run of the sweep, which finds nothing new, brings it to format %d",
        other->db.format, other->db.kind->format);
  tf_store_close(other);
  if (old || !tf_db_upgrade(&s->db, sweep_schema_raise, d)) return false;
  sqlite3_stmt *q = tf_db_prepare(&s->db, "ATTACH ? AS other", d);
  const bool attached = tf_db_put(&s->db, q, d, "t", path);
  sqlite3_finalize(q);
  if (!attached) return false;
  bool ok = merge(s, path, taken, d);
  sqlite3_exec(s->db.sql, "DETACH other", NULL, NULL, NULL);
  return ok;
}
