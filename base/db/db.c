/* Statements of a store, and what is wrong with it. */
#include "base/db/db.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- errors --------------------------------------------------------------------------------- */
tf_loc tf_db_place(const tf_db *db, tf_diags *d) {
  return (tf_loc){tf_diags_add_file(d, db->path ? db->path : "(in memory)", "", 0), 0, 0, 0};
}

bool tf_db_refuse(const tf_db *db, tf_diags *d, const char *fmt, ...) {
  char text[200];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return tf_fail(d, tf_db_place(db, d), TF_E_STORE, "%s", text);
}

/* Why the file cannot be opened: SQLite, if it may not create it, reports only that there is none.
 */
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
    return tf_db_refuse(db, d, "is damaged: %s; `sqlite3 FILE .recover` may save rows",
                        sqlite3_errmsg(db->sql));
  case SQLITE_FULL:
    return tf_fail(d, tf_db_place(db, d), TF_E_IO, "cannot write: No space left on device");
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return tf_fail(d, tf_db_place(db, d), TF_E_IO, "is held by another process");
  case SQLITE_READONLY:
    return tf_fail(d, tf_db_place(db, d), TF_E_IO, "cannot write: it, or its folder, is read-only");
  case SQLITE_NOMEM: return tf_out_of_memory_at(d, tf_db_place(db, d));
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
    if (!system) system = errno;
    if (system == ENOENT) system = why_absent(db, system);
    return tf_fail(d, tf_db_place(db, d), TF_E_IO, "cannot open: %s", strerror(system));
  default:
    return tf_fail(d, tf_db_place(db, d), TF_E_IO, "cannot read or write: %s",
                   system ? strerror(system) : sqlite3_errmsg(db->sql));
  }
}

/* ---- statements ----------------------------------------------------------------------------- */
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

const char *tf_db_text(sqlite3_stmt *q, int column) {
  return (const char *)sqlite3_column_text(q, column);
}

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
