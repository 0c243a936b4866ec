/* Opens stores, and reports what is wrong with one. */
#include "base/db/sums.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t check_whole_up_to = 1 << 28; /* in bytes: larger stores are not checked as a whole when opened */

/* ---- errors -------------------------------------------------------------------------------------- */
static tf_loc place(const tf_db *db, tf_diags *d) {
  return (tf_loc){tf_diags_add_file(d, db->path ? db->path : "(in memory)", "", 0), 0, 0, 0};
}

bool tf_db_refuse(const tf_db *db, tf_diags *d, const char *fmt, ...) {
  char text[200];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return tf_fail(d, place(db, d), TF_E_STORE, "%s", text);
}

/* Why the file cannot be opened: SQLite, if it may not create it, reports only that there is none. */
static int why_absent(const tf_db *db, int system) {
  const char *slash = db->path ? strrchr(db->path, '/') : NULL;
  char *folder = slash ? strndup(db->path, (size_t)(slash - db->path) + 1) : strdup(".");
  const bool closed = folder && access(folder, W_OK) != 0;
  if (closed) system = errno;
  free(folder);
  return system;
}

bool tf_db_fail(const tf_db *db, tf_diags *d) {
  int code = sqlite3_extended_errcode(db->sql), system = sqlite3_system_errno(db->sql);
  switch (code & 0xff) {
  case SQLITE_NOTADB: return tf_db_refuse(db, d, "is no %s, or is damaged", db->kind->what);
  case SQLITE_CORRUPT:
    return tf_db_refuse(db, d, "is damaged: %s; `sqlite3 FILE .recover` may save rows", sqlite3_errmsg(db->sql));
  case SQLITE_FULL: return tf_fail(d, place(db, d), TF_E_IO, "cannot write: No space left on device");
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return tf_fail(d, place(db, d), TF_E_IO, "is held by another process");
  case SQLITE_READONLY: return tf_fail(d, place(db, d), TF_E_IO, "cannot write: it, or its folder, is read-only");
  case SQLITE_NOMEM: return tf_out_of_memory_at(d, place(db, d));
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
    if (!system) system = errno;
    if (system == ENOENT) system = why_absent(db, system);
    return tf_fail(d, place(db, d), TF_E_IO, "cannot open: %s", strerror(system));
  default:
    return tf_fail(d, place(db, d), TF_E_IO, "cannot read or write: %s",
                   system ? strerror(system) : sqlite3_errmsg(db->sql));
  }
}

/* ---- statements ------------------------------------------------------------------------------------ */
bool tf_db_exec(tf_db *db, const char *sql, tf_diags *d) {
  return sqlite3_exec(db->sql, sql, NULL, NULL, NULL) == SQLITE_OK || tf_db_fail(db, d);
}

void tf_db_rollback(tf_db *db) { sqlite3_exec(db->sql, "ROLLBACK", NULL, NULL, NULL); }

sqlite3_stmt *tf_db_prepare(tf_db *db, const char *sql, tf_diags *d) {
  sqlite3_stmt *q = NULL;
  if (sqlite3_prepare_v2(db->sql, sql, -1, &q, NULL) != SQLITE_OK) tf_db_fail(db, d);
  return q;
}

bool tf_db_step(tf_db *db, sqlite3_stmt *q, bool *failed, tf_diags *d) {
  int code = q ? sqlite3_step(q) : SQLITE_ERROR;
  if (code == SQLITE_ROW) return true;
  if (q && code != SQLITE_DONE) tf_db_fail(db, d);
  *failed |= code != SQLITE_DONE;
  return false;
}

bool tf_db_run(tf_db *db, sqlite3_stmt *q, tf_diags *d) {
  bool failed = false;
  tf_db_step(db, q, &failed, d);
  if (q) sqlite3_reset(q);
  return !failed;
}

static void bind_list(sqlite3_stmt *q, const char *letters, va_list args) {
  for (int i = 0; q && letters[i]; i++)
    if (letters[i] == 't') /* a text that is NULL binds NULL */
      sqlite3_bind_text(q, i + 1, va_arg(args, const char *), -1, SQLITE_STATIC);
    else if (letters[i] == 'i')
      sqlite3_bind_int64(q, i + 1, va_arg(args, int64_t));
    else
      sqlite3_bind_double(q, i + 1, va_arg(args, double));
}

void tf_db_bind(sqlite3_stmt *q, const char *letters, ...) {
  va_list args;
  va_start(args, letters);
  bind_list(q, letters, args);
  va_end(args);
}

bool tf_db_put(tf_db *db, sqlite3_stmt *q, tf_diags *d, const char *letters, ...) {
  va_list args;
  va_start(args, letters);
  bind_list(q, letters, args);
  va_end(args);
  return tf_db_run(db, q, d);
}

const char *tf_db_text(sqlite3_stmt *q, int column) { return (const char *)sqlite3_column_text(q, column); }

int64_t tf_db_number(tf_db *db, const char *sql, bool *failed, tf_diags *d) {
  sqlite3_stmt *q = tf_db_prepare(db, sql, d);
  int64_t n = 0;
  if (tf_db_step(db, q, failed, d))
    n = sqlite3_column_int64(q, 0);
  else
    *failed = true;
  sqlite3_finalize(q);
  return n;
}

/* ---- opening --------------------------------------------------------------------------------------- */
void tf_db_close(tf_db *db) {
  sqlite3_close(db->sql);
  free(db->path);
  *db = (tf_db){0};
}

/* A folder can be opened, too, but is no file. */
static bool check_file(const tf_db *db, bool must_be, tf_diags *d) {
  struct stat st;
  if (!db->path) return true;
  if (stat(db->path, &st) != 0) {
    if (!must_be && errno == ENOENT) return true;
    return tf_fail(d, place(db, d), TF_E_IO, "cannot open: %s", strerror(errno));
  }
  if (S_ISDIR(st.st_mode)) return tf_fail(d, place(db, d), TF_E_IO, "cannot open: %s", strerror(EISDIR));
  return true;
}

static bool open_file(tf_db *db, bool create, tf_diags *d) {
  const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
  if (sqlite3_open_v2(db->path ? db->path : ":memory:", &db->sql, flags, NULL) != SQLITE_OK)
    return db->sql ? tf_db_fail(db, d) : tf_out_of_memory_at(d, place(db, d));
  sqlite3_busy_timeout(db->sql, db->kind->wait_ms);
  if (!tf_db_sums(db)) return tf_db_fail(db, d);
  return tf_db_exec(db, "PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL", d);
}

/* Identification of a file. */
typedef struct {
  int64_t id, format, tables;
} marks;

/* Read at one moment, as another process may be creating the store. */
static bool read_marks(tf_db *db, marks *m, tf_diags *d) {
  if (!tf_db_exec(db, "SAVEPOINT marks", d)) return false;
  bool failed = false;
  m->id = tf_db_number(db, "PRAGMA application_id", &failed, d);
  m->format = failed ? 0 : tf_db_number(db, "PRAGMA user_version", &failed, d);
  m->tables = failed ? 0 : tf_db_number(db, "SELECT count(*) FROM sqlite_master", &failed, d);
  sqlite3_exec(db->sql, "RELEASE marks", NULL, NULL, NULL);
  return !failed;
}

/* 0: the file is empty; -1 with an error: no store that this program reads. */
static int64_t format_of(tf_db *db, tf_diags *d) {
  const tf_db_kind *kind = db->kind;
  marks m;
  if (!read_marks(db, &m, d)) return -1;
  if (m.id == 0 && m.format == 0 && m.tables == 0) return 0;
  if (m.id != kind->id || m.format < 1) {
    tf_db_refuse(db, d, "is a database, but no %s", kind->what);
    return -1;
  }
  if (m.format > kind->format) {
    tf_db_refuse(db, d, "is a store of a newer version: format %lld, this one reads up to %d", (long long)m.format,
                 kind->format);
    return -1;
  }
  return m.format;
}

/* Checks pages and indices, if that is fast. */
static bool check_whole(tf_db *db, tf_diags *d) {
  struct stat st;
  if (!db->path || stat(db->path, &st) != 0 || st.st_size > check_whole_up_to) return true;
  sqlite3_stmt *q = tf_db_prepare(db, "PRAGMA quick_check(1)", d);
  bool failed = false, row = tf_db_step(db, q, &failed, d);
  const char *said = row ? tf_db_text(q, 0) : NULL;
  bool ok = said && !strcmp(said, "ok");
  if (said && !ok) tf_db_refuse(db, d, "is damaged: %.120s", said);
  sqlite3_finalize(q);
  return ok && tf_db_sums_hold(db, d);
}

static bool set_marks(tf_db *db, tf_diags *d) {
  char sql[96];
  snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", db->kind->id, db->kind->format);
  return tf_db_exec(db, sql, d);
}

/* One process creates it; others that arrive at the same time find it complete. */
static bool create(tf_db *db, tf_db_make *make, const void *ctx, tf_diags *d) {
  if (!tf_db_exec(db, "BEGIN IMMEDIATE", d)) return false;
  int64_t format = format_of(db, d);
  bool ok = format > 0 || (format == 0 && make(db, ctx, d) && set_marks(db, d));
  db->format = format > 0 ? (int)format : db->kind->format;
  if (ok && tf_db_exec(db, "COMMIT", d)) return true;
  tf_db_rollback(db);
  return false;
}

bool tf_db_upgrade(tf_db *db, bool (*how)(tf_db *db, tf_diags *d), tf_diags *d) {
  if (db->format == db->kind->format) return true;
  if (!tf_db_exec(db, "BEGIN IMMEDIATE", d)) return false;
  bool ok = format_of(db, d) == db->kind->format; /* another process did */
  ok = (ok || (how(db, d) && set_marks(db, d))) && tf_db_exec(db, "COMMIT", d);
  if (ok) db->format = db->kind->format;
  if (!ok) tf_db_rollback(db);
  return ok;
}

static bool open_store(tf_db *db, tf_db_make *make, const void *ctx, tf_diags *d) {
  if (!check_file(db, !make, d) || !open_file(db, make != NULL, d)) return false;
  const int64_t format = format_of(db, d);
  db->format = (int)format;
  if (format != 0) return format > 0 && check_whole(db, d);
  return make ? create(db, make, ctx, d) : tf_db_refuse(db, d, "is empty: no %s", db->kind->what);
}

bool tf_db_open(tf_db *db, const tf_db_kind *kind, const char *path, tf_db_make *make, const void *ctx, tf_diags *d) {
  struct stat st;
  *db = (tf_db){.kind = kind, .path = path ? strdup(path) : NULL};
  if (path && !db->path) return tf_out_of_memory(d);
  const bool there = path && stat(path, &st) == 0;
  if (open_store(db, make, ctx, d)) return true;
  sqlite3_close(db->sql); /* before the file is looked at: a journal may go with it */
  db->sql = NULL;
  if (path && make && !there && stat(path, &st) == 0 && st.st_size == 0) unlink(path);
  return false;
}
