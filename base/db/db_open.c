/* Opens stores: made anew, checked, brought up to date. */
#include "base/db/db_sums.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const int64_t check_whole_up_to =
    1 << 28; /* in bytes: larger stores are not checked as a whole when opened */

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
    return tf_fail(d, tf_db_place(db, d), TF_E_IO, "cannot open: %s", strerror(errno));
  }
  if (S_ISDIR(st.st_mode))
    return tf_fail(d, tf_db_place(db, d), TF_E_IO, "cannot open: %s", strerror(EISDIR));
  return true;
}

static bool open_file(tf_db *db, bool create, tf_diags *d) {
  const int flags = SQLITE_OPEN_READWRITE | (create ? SQLITE_OPEN_CREATE : 0);
  if (sqlite3_open_v2(db->path ? db->path : ":memory:", &db->sql, flags, NULL) != SQLITE_OK)
    return db->sql ? tf_db_fail(db, d) : tf_out_of_memory_at(d, tf_db_place(db, d));
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
    tf_db_refuse(db, d, "is a store of a newer version: format %lld, this one reads up to %d",
                 (long long)m.format, kind->format);
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
  snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d", db->kind->id,
           db->kind->format);
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

bool tf_db_open(tf_db *db, const tf_db_kind *kind, const char *path, tf_db_make *make,
                const void *ctx, tf_diags *d) {
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
