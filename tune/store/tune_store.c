#include "tune/store/tune_store.h"
#include "base/names.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/db/db.h"

struct tune_store {
  tf_db db;
};

static const tf_db_kind kind = {"store of a tuning", 0x5446544e /* "TFTN" */, 3, 20000};

/* Every table ends in the sum of its row (base/db/db.h). */
static const char schema[] =
    "CREATE TABLE run (id INTEGER PRIMARY KEY, problem TEXT NOT NULL, workload TEXT NOT NULL, "
    "machine TEXT NOT NULL, compiler TEXT NOT NULL, strategy TEXT NOT NULL, options TEXT NOT NULL, "
    "seed INTEGER NOT NULL, sum INTEGER, UNIQUE (problem, machine, compiler, strategy, options, "
    "seed));CREATE TABLE trial (run INTEGER NOT NULL REFERENCES run (id), no INTEGER NOT NULL, "
    "schedule TEXT NOT NULL, mapping TEXT NOT NULL, isa TEXT NOT NULL, cycles REAL NOT NULL, "
    "verdict TEXT NOT NULL, seconds REAL, turns INTEGER NOT NULL, same INTEGER NOT NULL, sum "
    "INTEGER, PRIMARY KEY (run, no)) WITHOUT ROWID;CREATE TABLE kernel (machine TEXT NOT NULL, "
    "compiler TEXT NOT NULL, digest TEXT NOT NULL, seconds REAL NOT NULL, turns INTEGER NOT NULL, "
    "sum INTEGER, PRIMARY KEY (machine, compiler, digest)) WITHOUT ROWID;CREATE TABLE finalist "
    "(owner INTEGER NOT NULL REFERENCES run (id), round INTEGER NOT NULL, run INTEGER NOT NULL, no "
    "INTEGER NOT NULL, seconds REAL NOT NULL, sum INTEGER, PRIMARY KEY (owner, run, no)) WITHOUT "
    "ROWID;";
/* features: numbers with a blank between them. */
static const char schema_of_lessons[] =
    "CREATE TABLE lesson (id INTEGER PRIMARY KEY, beside TEXT NOT NULL, machine TEXT NOT NULL, "
    "compiler TEXT NOT NULL, digest TEXT NOT NULL, cycles REAL NOT NULL, features TEXT NOT NULL, "
    "sum INTEGER, UNIQUE (beside, machine, compiler, digest));CREATE TABLE studied (run INTEGER "
    "PRIMARY KEY REFERENCES run (id), last INTEGER NOT NULL, sum INTEGER);";

/* Format 1 had no sums, and its first stores lacked the tables after `trial`. */
static bool raise_from_1(tf_db *db, tf_diags *d) {
  static const char *const tables[] = {"run", "trial", "kernel", "finalist"};
  char sql[64];
  bool ok = tf_db_exec(
      db,
      "CREATE TABLE IF NOT EXISTS kernel (machine TEXT NOT NULL, compiler TEXT NOT NULL, digest "
      "TEXT NOT NULL, seconds REAL NOT NULL, turns INTEGER NOT NULL, PRIMARY KEY (machine, "
      "compiler, digest)) WITHOUT ROWID;CREATE TABLE IF NOT EXISTS finalist (owner INTEGER NOT "
      "NULL REFERENCES run (id), round INTEGER NOT NULL, run INTEGER NOT NULL, no INTEGER NOT "
      "NULL, seconds REAL NOT NULL, PRIMARY KEY (owner, run, no)) WITHOUT ROWID;",
      d);
  for (size_t i = 0; ok && i < sizeof tables / sizeof *tables; i++) {
    snprintf(sql, sizeof sql, "ALTER TABLE %s ADD COLUMN sum INTEGER", tables[i]);
    ok = tf_db_exec(db, sql, d) && tf_db_seal(db, tables[i], d);
  }
  return ok;
}

/* Format 2 had no lessons. */
static bool raise_tables(tf_db *db, tf_diags *d) {
  return (db->format > 1 || raise_from_1(db, d)) && tf_db_exec(db, schema_of_lessons, d);
}

static bool create_tables(tf_db *db, const void *ctx, tf_diags *d) {
  (void)ctx;
  return tf_db_exec(db, schema, d) && tf_db_exec(db, schema_of_lessons, d);
}

tune_store *tune_store_open(const char *path, bool make, tf_diags *d) {
  tune_store *s = calloc(1, sizeof *s);
  if (!s) {
    tf_out_of_memory(d);
    return NULL;
  }
  const bool write = make || !path;
  if (tf_db_open(&s->db, &kind, path, write ? create_tables : NULL, NULL, d) &&
      (!write || tf_db_upgrade(&s->db, raise_tables, d)))
    return s;
  tune_store_close(s);
  return NULL;
}

void tune_store_close(tune_store *s) {
  if (!s) return;
  tf_db_close(&s->db);
  free(s);
}

/* Binds what identifies a run to ?1 to ?6; then ?7, which not every statement has. */
static sqlite3_stmt *of_key(tune_store *s, const char *sql, const tune_run_key *k,
                            const char *workload, tf_diags *d) {
  sqlite3_stmt *q = tf_db_prepare(&s->db, sql, d);
  tf_db_bind(q, workload ? "tttttit" : "ttttti", k->problem, k->machine, k->compiler, k->strategy,
             k->options, (int64_t)k->seed, workload);
  return q;
}

/* Within a transaction. */
static int64_t put_run(tune_store *s, const tune_run_key *k, tf_diags *d) {
  sqlite3_stmt *q = of_key(s,
                           "INSERT OR IGNORE INTO run (problem, machine, compiler, strategy, "
                           "options, seed, workload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)",
                           k, k->workload, d);
  const bool ok = tf_db_run(&s->db, q, d);
  sqlite3_finalize(q);
  if (!ok || !tf_db_seal(&s->db, "run", d)) return -1;
  q = of_key(s,
             "SELECT id FROM run WHERE problem = ?1 AND machine = ?2 AND compiler = ?3 AND "
             "strategy = ?4 AND options = ?5 AND seed = ?6",
             k, NULL, d);
  bool failed = false;
  int64_t id = -1;
  if (tf_db_step(&s->db, q, &failed, d)) id = sqlite3_column_int64(q, 0);
  sqlite3_finalize(q);
  return id;
}

int64_t tune_store_run(tune_store *s, const tune_run_key *k, tf_diags *d) {
  if (!tf_db_exec(&s->db, "BEGIN IMMEDIATE", d)) return -1;
  const int64_t id = put_run(s, k, d);
  if (id >= 0 && tf_db_exec(&s->db, "COMMIT", d)) return id;
  tf_db_rollback(&s->db);
  return -1;
}

static const char *text_at(sqlite3_stmt *q, int i, tf_arena *a) {
  const char *t = tf_db_text(q, i);
  return t ? tf_arena_strndup(a, t, strlen(t)) : NULL;
}

const char *tf_verdict_name(tf_verdict v) {
  static const char *const names[] = {TF_VERDICTS(TF_NAME_ROW)};
  return v < TF_N_VERDICTS ? names[v] : "";
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
  *t = (tf_trial){
      .no = sqlite3_column_int(q, 0),
      .text = text_at(q, 1, a),
      .mapping = text_at(q, 2, a),
      .isa = text_at(q, 3, a),
      .cycles = sqlite3_column_double(q, 4),
      .timing = {.seconds = sqlite3_column_double(q, 6), .turns = sqlite3_column_int(q, 7)},
      .same = sqlite3_column_int(q, 8) != 0};
  return t->text && t->mapping && t->isa && verdict_of(tf_db_text(q, 5), &t->timing.verdict) &&
         (t->timing.verdict != TF_TUNE_RAN || t->timing.seconds > 0);
}

bool tune_store_trials(tune_store *s, int64_t run, tf_arena *a, int *n, tf_trial **out,
                       tf_diags *d) {
  char sql[96];
  bool failed = false, ok = true;
  snprintf(sql, sizeof sql, "SELECT count(*) FROM trial WHERE run = %lld", (long long)run);
  const int64_t all = tf_db_number(&s->db, sql, &failed, d);
  *n = 0;
  if (failed || all > 1000000)
    return failed ? false : tf_db_refuse(&s->db, d, "has more trials than any run");
  *out = TF_ARRAY(a, tf_trial, (size_t)all + 1);
  if (!*out) return tf_out_of_memory(d);
  sqlite3_stmt *q = tf_db_prepare(&s->db,
                                  "SELECT no, schedule, mapping, isa, cycles, verdict, seconds, "
                                  "turns, same FROM trial WHERE run = ?1 ORDER BY no",
                                  d);
  tf_db_bind(q, "i", run);
  while (ok && *n < all && tf_db_step(&s->db, q, &failed, d)) {
    ok = read_trial(q, a, &(*out)[*n]) && (*out)[*n].no == *n;
    ++*n;
  }
  if (!ok) tf_db_refuse(&s->db, d, "is damaged: a trial, or one is missing before it");
  sqlite3_finalize(q);
  return ok && !failed;
}

bool tune_store_add(tune_store *s, int64_t run, const tf_trial *t, tf_diags *d) {
  sqlite3_stmt *q = tf_db_insert(&s->db, "INSERT INTO", "trial", d);
  if (!q) return false;
  tf_db_bind(q, "iitttrtrii", run, (int64_t)t->no, t->text, t->mapping, t->isa, t->cycles,
             tf_verdict_name(t->timing.verdict), t->timing.seconds, (int64_t)t->timing.turns,
             (int64_t)t->same);
  if (t->timing.verdict != TF_TUNE_RAN) sqlite3_bind_null(q, 8);
  const int done = sqlite3_step(q);
  if (done == SQLITE_CONSTRAINT)
    tf_db_refuse(&s->db, d, "another process tunes this run");
  else if (done != SQLITE_DONE)
    tf_db_fail(&s->db, d);
  sqlite3_finalize(q);
  return done == SQLITE_DONE;
}

bool tune_store_recall(tune_store *s, const tune_kernel *k, bool *there, tf_timing *out,
                       tf_diags *d) {
  sqlite3_stmt *q = tf_db_prepare(
      &s->db,
      "SELECT seconds, turns FROM kernel WHERE machine = ?1 AND compiler = ?2 AND digest = ?3", d);
  bool failed = false;
  tf_db_bind(q, "ttt", k->machine, k->compiler, k->digest);
  *there = tf_db_step(&s->db, q, &failed, d);
  if (*there)
    *out = (tf_timing){TF_TUNE_RAN, sqlite3_column_double(q, 0), sqlite3_column_int(q, 1)};
  if (*there && !(out->seconds > 0))
    failed = !tf_db_refuse(&s->db, d, "is damaged: a kernel without a time");
  sqlite3_finalize(q);
  return !failed;
}

bool tune_store_remember(tune_store *s, const tune_kernel *k, const tf_timing *m, tf_diags *d) {
  sqlite3_stmt *q = tf_db_insert(&s->db, "INSERT OR IGNORE INTO", "kernel", d);
  const bool ok = tf_db_put(&s->db, q, d, "tttri", k->machine, k->compiler, k->digest, m->seconds,
                            (int64_t)m->turns);
  sqlite3_finalize(q);
  return ok;
}

/* ---- lessons --------------------------------------------------------------------------------- */
enum { LESSONS_MOST = 20000 };

/* Ends a transaction as it went. */
static bool end(tune_store *s, bool ok, tf_diags *d) {
  if (ok && tf_db_exec(&s->db, "COMMIT", d)) return true;
  tf_db_rollback(&s->db);
  return false;
}

/* Within a transaction. */
static bool put_lesson(tune_store *s, const char *beside, const tune_kernel *k, const lesson *l,
                       tf_diags *d) {
  char text[LESSON_FEATURES * 24] = "";
  int n = 0;
  bool failed = false;
  for (int i = 0; i < LESSON_FEATURES; i++)
    n += snprintf(text + n, sizeof text - (size_t)n, i ? " %.9g" : "%.9g", l->x[i]);
  const int64_t last = tf_db_number(&s->db, "SELECT coalesce(max(id), 0) FROM lesson", &failed, d);
  sqlite3_stmt *q = failed ? NULL : tf_db_insert(&s->db, "INSERT OR IGNORE INTO", "lesson", d);
  const bool ok = q && tf_db_put(&s->db, q, d, "ittttrt", last + 1, beside, k->machine, k->compiler,
                                 k->digest, l->cycles, text);
  sqlite3_finalize(q);
  return ok;
}

bool tune_store_teach(tune_store *s, const char *beside, const tune_kernel *k, const lesson *l,
                      tf_diags *d) {
  return tf_db_exec(&s->db, "BEGIN IMMEDIATE", d) && end(s, put_lesson(s, beside, k, l, d), d);
}

/* The last lesson that the run knows of; within a transaction.  -1: an error is in d. */
static int64_t last_of(tune_store *s, int64_t run, tf_diags *d) {
  char sql[96];
  bool failed = false;
  const int64_t last = tf_db_number(&s->db, "SELECT coalesce(max(id), 0) FROM lesson", &failed, d);
  sqlite3_stmt *q = failed ? NULL : tf_db_insert(&s->db, "INSERT OR IGNORE INTO", "studied", d);
  const bool ok = q && tf_db_put(&s->db, q, d, "ii", run, last);
  sqlite3_finalize(q);
  snprintf(sql, sizeof sql, "SELECT last FROM studied WHERE run = %lld", (long long)run);
  const int64_t known = ok ? tf_db_number(&s->db, sql, &failed, d) : -1;
  return failed ? -1 : known;
}

/* False: it has another number of features, as those of other versions. */
static bool read_lesson(sqlite3_stmt *q, lesson_measured *out) {
  const char *at = tf_db_text(q, 2);
  const double cycles = sqlite3_column_double(q, 1), seconds = sqlite3_column_double(q, 3);
  int n = 0;
  for (; at && *at && n < LESSON_FEATURES; n++) {
    char *end = NULL;
    out->x[n] = strtod(at, &end);
    if (end == at || !isfinite(out->x[n])) return false;
    at = end + (*end == ' ');
  }
  out->log2_error = log2(seconds / cycles);
  return at && !*at && n == LESSON_FEATURES && isfinite(out->log2_error);
}

/* Reads the rows of the statement. */
static bool read_lessons(tune_store *s, sqlite3_stmt *q, int *n, lesson_measured *out,
                         tf_diags *d) {
  char beside[TUNE_BESIDE] = "";
  bool failed = false;
  for (int of = 0; *n < LESSONS_MOST && tf_db_step(&s->db, q, &failed, d);) {
    const char *now = tf_db_text(q, 0);
    of += now && strncmp(now, beside, sizeof beside - 1) != 0;
    snprintf(beside, sizeof beside, "%s", now ? now : "");
    out[*n].workload = of;
    *n += read_lesson(q, &out[*n]);
  }
  return !failed;
}

bool tune_store_lessons(tune_store *s, int64_t run, const tune_kernel *where, tf_arena *a, int *n,
                        lesson_measured **out, tf_diags *d) {
  *n = 0;
  *out = NULL;
  if (!tf_db_exec(&s->db, "BEGIN IMMEDIATE", d)) return false;
  const int64_t last = last_of(s, run, d);
  if (!end(s, last >= 0, d)) return false;
  *out = TF_ARRAY(a, lesson_measured, LESSONS_MOST);
  if (!*out) return tf_out_of_memory(d);
  sqlite3_stmt *q = tf_db_prepare(
      &s->db,
      "SELECT beside, l.cycles, l.features, k.seconds FROM lesson l JOIN kernel k ON k.machine = "
      "l.machine AND k.compiler = l.compiler AND k.digest = l.digest WHERE l.machine = ?1 AND "
      "l.compiler = ?2 AND l.id <= ?3 AND l.id > ?4 ORDER BY beside, l.id",
      d);
  tf_db_bind(q, "ttii", where->machine, where->compiler, last, last - LESSONS_MOST);
  const bool ok = read_lessons(s, q, n, *out, d);
  sqlite3_finalize(q);
  return ok;
}

/* ---- the fastest ----------------------------------------------------------------------------- */
static char *copy(const char *text) { return text ? strdup(text) : NULL; }

static const char best_trial[] =
    "SELECT mapping, isa, seconds, schedule, run, no FROM trial JOIN run ON run = id WHERE problem "
    "= ?1 AND machine = ?2 AND verdict = 'ran' AND seconds > 0 ORDER BY seconds, run, no LIMIT 1";
static const char best_finalist[] =
    "SELECT mapping, isa, f.seconds, schedule, t.run, t.no FROM finalist f JOIN trial t ON t.run = "
    "f.run AND t.no = f.no WHERE f.round = (SELECT max(round) FROM finalist JOIN run ON owner = id "
    "WHERE problem = ?1 AND machine = ?2) AND f.seconds > 0 ORDER BY f.seconds, t.run, t.no LIMIT "
    "1";

/* Takes the row of one of these, if it has one. */
static bool take_best(tune_store *s, const char *sql, const tune_store_what *what,
                      tf_tune_best *out, char **schedule, tune_finalist *who, tf_diags *d) {
  sqlite3_stmt *q = tf_db_prepare(&s->db, sql, d);
  bool failed = false;
  tf_db_bind(q, "tt", what->problem, what->machine);
  if (tf_db_step(&s->db, q, &failed, d)) {
    *out = (tf_tune_best){
        copy(tf_db_text(q, 0)), copy(tf_db_text(q, 1)), sqlite3_column_double(q, 2), {{0}}};
    *schedule = copy(tf_db_text(q, 3));
    if (who)
      *who = (tune_finalist){.run = sqlite3_column_int64(q, 4), .no = sqlite3_column_int(q, 5)};
    if (!out->mapping || !out->isa || !*schedule) failed = !tf_out_of_memory(d);
  }
  sqlite3_finalize(q);
  return !failed;
}

bool tune_store_best(tune_store *s, const tune_store_what *what, bool *there, tf_tune_best *out,
                     char **schedule, tune_finalist *who, tf_diags *d) {
  bool failed = false;
  const int64_t rounds = tf_db_number(
      &s->db, "SELECT count(*) FROM sqlite_master WHERE name = 'finalist'", &failed, d);
  *out = (tf_tune_best){0};
  *schedule = NULL;
  bool ok = !failed && (!rounds || take_best(s, best_finalist, what, out, schedule, who, d));
  if (ok && !out->mapping) ok = take_best(s, best_trial, what, out, schedule, who, d);
  *there = ok && out->mapping;
  return ok;
}

/* Within a transaction. */
static bool put_round(tune_store *s, int64_t owner, const tune_finalist *f, int n, tf_diags *d) {
  bool failed = false;
  const int64_t last =
      tf_db_number(&s->db, "SELECT coalesce(max(round), 0) FROM finalist", &failed, d);
  sqlite3_stmt *drop =
      failed ? NULL : tf_db_prepare(&s->db, "DELETE FROM finalist WHERE owner = ?1", d);
  sqlite3_stmt *add = drop ? tf_db_insert(&s->db, "INSERT INTO", "finalist", d) : NULL;
  bool ok = add && tf_db_put(&s->db, drop, d, "i", owner);
  for (int k = 0; k < n && ok; k++)
    ok = tf_db_put(&s->db, add, d, "iiiir", owner, last + 1, f[k].run, (int64_t)f[k].no,
                   f[k].confirmed);
  sqlite3_finalize(drop);
  sqlite3_finalize(add);
  return ok;
}

bool tune_store_confirm(tune_store *s, int64_t owner, const tune_finalist *f, int n, tf_diags *d) {
  if (!tf_db_exec(&s->db, "BEGIN IMMEDIATE", d)) return false;
  if (put_round(s, owner, f, n, d) && tf_db_exec(&s->db, "COMMIT", d)) return true;
  tf_db_rollback(&s->db);
  return false;
}

bool tune_store_confirmed(tune_store *s, int64_t owner, tune_finalist *f, int n, bool *all,
                          tf_diags *d) {
  bool failed = false;
  *all = true;
  for (int k = 0; k < n && *all; k++) {
    sqlite3_stmt *q = tf_db_prepare(
        &s->db, "SELECT seconds FROM finalist WHERE owner = ?1 AND run = ?2 AND no = ?3", d);
    tf_db_bind(q, "iii", owner, f[k].run, (int64_t)f[k].no);
    *all = tf_db_step(&s->db, q, &failed, d);
    if (*all) f[k].confirmed = sqlite3_column_double(q, 0);
    if (*all && !(f[k].confirmed > 0))
      failed = !tf_db_refuse(&s->db, d, "is damaged: a finalist without a time");
    sqlite3_finalize(q);
    if (failed) return false;
  }
  return true;
}
