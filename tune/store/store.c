#include "tune/store/store.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct tune_store {
  sqlite3 *db;
  const char *path; /* borrowed; NULL: in memory */
};

enum { WAIT_MS = 20000 };

static const char schema[] = "CREATE TABLE run (id INTEGER PRIMARY KEY, problem TEXT NOT NULL, workload TEXT NOT NULL,"
                             " machine TEXT NOT NULL, compiler TEXT NOT NULL, strategy TEXT NOT NULL,"
                             " options TEXT NOT NULL, seed INTEGER NOT NULL,"
                             " UNIQUE (problem, machine, compiler, strategy, options, seed));"
                             "CREATE TABLE trial (run INTEGER NOT NULL REFERENCES run (id), no INTEGER NOT NULL,"
                             " schedule TEXT NOT NULL, mapping TEXT NOT NULL, isa TEXT NOT NULL, cycles REAL NOT NULL,"
                             " verdict TEXT NOT NULL, seconds REAL, turns INTEGER NOT NULL, same INTEGER NOT NULL,"
                             " PRIMARY KEY (run, no)) WITHOUT ROWID;";

static bool refuse(const tune_store *s, const char *why, tf_diags *d) {
  return tf_fail(d, (tf_loc){0}, TF_E_STORE, "%.120s: %.100s", s->path ? s->path : "(memory)", why);
}

static bool fail(const tune_store *s, tf_diags *d) { return refuse(s, sqlite3_errmsg(s->db), d); }

static bool exec(tune_store *s, const char *sql, tf_diags *d) {
  return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || fail(s, d);
}

static sqlite3_stmt *prepare(tune_store *s, const char *sql, tf_diags *d) {
  sqlite3_stmt *q = NULL;
  if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK) fail(s, d);
  return q;
}

/* The number that a pragma or query returns; -1 with an error in d. */
static int64_t number(tune_store *s, const char *sql, tf_diags *d) {
  sqlite3_stmt *q = prepare(s, sql, d);
  int64_t n = -1;
  if (q && sqlite3_step(q) == SQLITE_ROW)
    n = sqlite3_column_int64(q, 0);
  else if (q)
    fail(s, d);
  sqlite3_finalize(q);
  return n;
}

/* Whether the file is a store of this version. */
static bool is_store(tune_store *s, tf_diags *d) {
  const int64_t id = number(s, "PRAGMA application_id", d);
  const int64_t format = id < 0 ? -1 : number(s, "PRAGMA user_version", d);
  if (format < 0) return false;
  if (id != TUNE_STORE_ID) return refuse(s, "a database of something else, no store of tune", d);
  return format == TUNE_STORE_FORMAT || refuse(s, "made by another version of tileflow", d);
}

/* Creates the tables of a new file in one transaction, so that of two processes one finds them there. */
static bool set_up(tune_store *s, tf_diags *d) {
  char mark[96];
  if (!exec(s, "BEGIN IMMEDIATE", d)) return false;
  const int64_t tables = number(s, "SELECT count(*) FROM sqlite_master", d);
  bool ok = tables >= 0;
  if (ok && tables == 0 && number(s, "PRAGMA application_id", d) == 0) {
    snprintf(mark, sizeof mark, "PRAGMA application_id = %d; PRAGMA user_version = %d", TUNE_STORE_ID,
             TUNE_STORE_FORMAT);
    ok = exec(s, schema, d) && exec(s, mark, d);
  }
  ok = ok && is_store(s, d);
  ok = ok && exec(s, "COMMIT", d);
  if (!ok) sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
  return ok;
}

tune_store *tune_store_open(const char *path, bool make, tf_diags *d) {
  tune_store *s = calloc(1, sizeof *s);
  if (!s) {
    tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
    return NULL;
  }
  s->path = path;
  /* READWRITE of what may not be written reads; of what a killed process left half written it rolls back. */
  const int flags = SQLITE_OPEN_READWRITE | (make || !path ? SQLITE_OPEN_CREATE : 0);
  bool ok = sqlite3_open_v2(path ? path : ":memory:", &s->db, flags, NULL) == SQLITE_OK || fail(s, d);
  ok = ok && sqlite3_busy_timeout(s->db, WAIT_MS) == SQLITE_OK;
  ok = ok && (make || !path ? set_up(s, d) && exec(s, "PRAGMA synchronous = FULL", d) : is_store(s, d));
  if (ok) return s;
  tune_store_close(s);
  return NULL;
}

void tune_store_close(tune_store *s) {
  if (!s) return;
  sqlite3_close(s->db);
  free(s);
}

static void bind(sqlite3_stmt *q, int i, const char *text) { sqlite3_bind_text(q, i, text, -1, SQLITE_STATIC); }

static sqlite3_stmt *of_key(tune_store *s, const char *sql, const tune_run_key *k, tf_diags *d) {
  sqlite3_stmt *q = prepare(s, sql, d);
  if (!q) return NULL;
  bind(q, 1, k->problem);
  bind(q, 2, k->machine);
  bind(q, 3, k->compiler);
  bind(q, 4, k->strategy);
  bind(q, 5, k->options);
  sqlite3_bind_int64(q, 6, (int64_t)k->seed);
  return q;
}

int64_t tune_store_run(tune_store *s, const tune_run_key *k, tf_diags *d) {
  sqlite3_stmt *q = of_key(s,
                           "INSERT OR IGNORE INTO run (problem, machine, compiler, strategy, options, seed, workload)"
                           " VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                           k, d);
  if (!q) return -1;
  bind(q, 7, k->workload);
  const bool ok = sqlite3_step(q) == SQLITE_DONE || fail(s, d);
  sqlite3_finalize(q);
  if (!ok) return -1;
  q = of_key(s,
             "SELECT id FROM run WHERE problem = ?1 AND machine = ?2 AND compiler = ?3 AND strategy = ?4"
             " AND options = ?5 AND seed = ?6",
             k, d);
  int64_t id = -1;
  if (q && sqlite3_step(q) == SQLITE_ROW)
    id = sqlite3_column_int64(q, 0);
  else if (q)
    fail(s, d);
  sqlite3_finalize(q);
  return id;
}

static const char *text_at(sqlite3_stmt *q, int i, tf_arena *a) {
  const char *t = (const char *)sqlite3_column_text(q, i);
  return t ? tf_arena_strndup(a, t, strlen(t)) : NULL;
}

static bool verdict_of(const char *name, tf_verdict *out) {
  for (int v = 0; name && v < TF_N_VERDICTS; v++)
    if (!strcmp(name, tf_verdict_name((tf_verdict)v))) {
      *out = (tf_verdict)v;
      return true;
    }
  return false;
}

static bool read_trial(sqlite3_stmt *q, tf_arena *a, tf_trial *t) {
  *t = (tf_trial){.no = sqlite3_column_int(q, 0),
                  .text = text_at(q, 1, a),
                  .mapping = text_at(q, 2, a),
                  .isa = text_at(q, 3, a),
                  .cycles = sqlite3_column_double(q, 4),
                  .timing = {.seconds = sqlite3_column_double(q, 6), .turns = sqlite3_column_int(q, 7)},
                  .same = sqlite3_column_int(q, 8) != 0};
  return t->text && t->mapping && t->isa && verdict_of((const char *)sqlite3_column_text(q, 5), &t->timing.verdict) &&
         (t->timing.verdict != TF_TUNE_RAN || t->timing.seconds > 0);
}

bool tune_store_trials(tune_store *s, int64_t run, tf_arena *a, int *n, tf_trial **out, tf_diags *d) {
  char sql[96];
  snprintf(sql, sizeof sql, "SELECT count(*) FROM trial WHERE run = %lld", (long long)run);
  const int64_t all = number(s, sql, d);
  *n = 0;
  if (all < 0 || all > 1000000) return all < 0 ? false : refuse(s, "more trials than any run has", d);
  *out = TF_ARRAY(a, tf_trial, (size_t)all + 1);
  sqlite3_stmt *q = *out ? prepare(s,
                                   "SELECT no, schedule, mapping, isa, cycles, verdict, seconds, turns, same FROM trial"
                                   " WHERE run = ?1 ORDER BY no",
                                   d)
                         : NULL;
  if (!q) return *out ? false : refuse(s, "out of memory", d);
  sqlite3_bind_int64(q, 1, run);
  bool ok = true;
  int step = SQLITE_DONE;
  while (ok && *n < all && (step = sqlite3_step(q)) == SQLITE_ROW) {
    ok = read_trial(q, a, &(*out)[*n]) && (*out)[*n].no == *n;
    ++*n;
  }
  if (ok && step != SQLITE_ROW && step != SQLITE_DONE)
    ok = fail(s, d);
  else if (!ok)
    refuse(s, "a trial is damaged, or one is missing before it", d);
  sqlite3_finalize(q);
  return ok;
}

bool tune_store_add(tune_store *s, int64_t run, const tf_trial *t, tf_diags *d) {
  sqlite3_stmt *q = prepare(s, "INSERT INTO trial VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)", d);
  if (!q) return false;
  sqlite3_bind_int64(q, 1, run);
  sqlite3_bind_int(q, 2, t->no);
  bind(q, 3, t->text);
  bind(q, 4, t->mapping);
  bind(q, 5, t->isa);
  sqlite3_bind_double(q, 6, t->cycles);
  bind(q, 7, tf_verdict_name(t->timing.verdict));
  if (t->timing.verdict == TF_TUNE_RAN) sqlite3_bind_double(q, 8, t->timing.seconds);
  sqlite3_bind_int(q, 9, t->timing.turns);
  sqlite3_bind_int(q, 10, t->same);
  const int done = sqlite3_step(q);
  const bool ok =
      done == SQLITE_DONE || (done == SQLITE_CONSTRAINT ? refuse(s, "another process tunes this run", d) : fail(s, d));
  sqlite3_finalize(q);
  return ok;
}

static char *copy(const unsigned char *text) { return text ? strdup((const char *)text) : NULL; }

bool tune_store_best(tune_store *s, const char *problem, const char *machine, bool *there, tf_tune_best *out,
                     tf_diags *d) {
  sqlite3_stmt *q = prepare(s,
                            "SELECT mapping, isa, seconds FROM trial JOIN run ON run = id WHERE problem = ?1 AND"
                            " machine = ?2 AND verdict = 'ran' AND seconds > 0 ORDER BY seconds, run, no LIMIT 1",
                            d);
  *there = false;
  if (!q) return false;
  bind(q, 1, problem);
  bind(q, 2, machine);
  const int step = sqlite3_step(q);
  if (step == SQLITE_ROW)
    *out =
        (tf_tune_best){copy(sqlite3_column_text(q, 0)), copy(sqlite3_column_text(q, 1)), sqlite3_column_double(q, 2)};
  const bool ok = step == SQLITE_ROW ? out->mapping && out->isa : step == SQLITE_DONE || fail(s, d);
  *there = ok && step == SQLITE_ROW;
  sqlite3_finalize(q);
  return ok;
}
