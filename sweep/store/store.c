/* Opens stores, and reports what is wrong with one. */
#include "sweep/store/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAIT_MS = 60000 };
static const int64_t check_whole_up_to = 1 << 28; /* in bytes: larger stores are not checked as a whole when opened */

/* ---- errors -------------------------------------------------------------------------------------- */
static tf_loc place(const tf_store *s, tf_diags *d) { return (tf_loc){tf_diags_add_file(d, s->path, "", 0), 0, 0, 0}; }

bool sweep_store_refuse(const tf_store *s, tf_diags *d, const char *fmt, ...) {
  char text[200];
  va_list args;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  return tf_fail(d, place(s, d), TF_E_STORE, "%s", text);
}

/* Why the file cannot be opened: SQLite, if it may not create it, reports only that there is none. */
static int why_absent(const tf_store *s, int system) {
  const char *slash = strrchr(s->path, '/');
  char *folder = slash ? strndup(s->path, (size_t)(slash - s->path) + 1) : strdup(".");
  const bool closed = folder && access(folder, W_OK) != 0;
  if (closed) system = errno;
  free(folder);
  return system;
}

bool sweep_store_fail(const tf_store *s, tf_diags *d) {
  int code = sqlite3_extended_errcode(s->db), system = sqlite3_system_errno(s->db);
  switch (code & 0xff) {
  case SQLITE_NOTADB: return sweep_store_refuse(s, d, "is no store of a sweep, or is damaged");
  case SQLITE_CORRUPT:
    return sweep_store_refuse(s, d, "is damaged: %s; `sqlite3 FILE .recover` may save rows", sqlite3_errmsg(s->db));
  case SQLITE_FULL: return tf_fail(d, place(s, d), TF_E_IO, "cannot write: No space left on device");
  case SQLITE_BUSY:
  case SQLITE_LOCKED: return tf_fail(d, place(s, d), TF_E_IO, "is held by another process");
  case SQLITE_READONLY: return tf_fail(d, place(s, d), TF_E_IO, "cannot write: it, or its folder, is read-only");
  case SQLITE_NOMEM: return tf_fail(d, place(s, d), TF_E_LIMIT, "out of memory");
  case SQLITE_CANTOPEN:
  case SQLITE_PERM:
    if (!system) system = errno;
    if (system == ENOENT) system = why_absent(s, system);
    return tf_fail(d, place(s, d), TF_E_IO, "cannot open: %s", strerror(system));
  default:
    return tf_fail(d, place(s, d), TF_E_IO, "cannot read or write: %s",
                   system ? strerror(system) : sqlite3_errmsg(s->db));
  }
}

/* ---- statements ------------------------------------------------------------------------------------ */
bool sweep_store_exec(tf_store *s, const char *sql, tf_diags *d) {
  return sqlite3_exec(s->db, sql, NULL, NULL, NULL) == SQLITE_OK || sweep_store_fail(s, d);
}

sqlite3_stmt *sweep_store_prepare(tf_store *s, const char *sql, tf_diags *d) {
  sqlite3_stmt *q = NULL;
  if (sqlite3_prepare_v2(s->db, sql, -1, &q, NULL) != SQLITE_OK) sweep_store_fail(s, d);
  return q;
}

bool sweep_store_step(tf_store *s, sqlite3_stmt *q, bool *failed, tf_diags *d) {
  int code = q ? sqlite3_step(q) : SQLITE_ERROR;
  if (code == SQLITE_ROW) return true;
  if (q && code != SQLITE_DONE) sweep_store_fail(s, d);
  *failed |= code != SQLITE_DONE;
  return false;
}

int64_t sweep_store_number(tf_store *s, const char *sql, bool *failed, tf_diags *d) {
  sqlite3_stmt *q = sweep_store_prepare(s, sql, d);
  int64_t n = 0;
  if (sweep_store_step(s, q, failed, d))
    n = sqlite3_column_int64(q, 0);
  else
    *failed = true;
  sqlite3_finalize(q);
  return n;
}

/* ---- opening --------------------------------------------------------------------------------------- */
static tf_store *store_new(const char *path) {
  tf_store *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->path = malloc(strlen(path) + 1);
  s->arena = tf_arena_new();
  if (s->path && s->arena) {
    strcpy(s->path, path);
    return s;
  }
  tf_store_close(s);
  return NULL;
}

void tf_store_close(tf_store *s) {
  if (!s) return;
  for (int i = 0; i < N_PUTS; i++)
    sqlite3_finalize(s->put[i]);
  sqlite3_close(s->db);
  tf_arena_free(s->arena);
  free(s->path);
  free(s);
}

const tf_sweep_grid *tf_store_grid(const tf_store *s) { return &s->grid; }

/* A folder can be opened, too, but is no file. */
static bool check_file(const tf_store *s, bool must_be, tf_diags *d) {
  struct stat st;
  if (stat(s->path, &st) != 0) {
    if (!must_be && errno == ENOENT) return true;
    return tf_fail(d, place(s, d), TF_E_IO, "cannot open: %s", strerror(errno));
  }
  if (S_ISDIR(st.st_mode)) return tf_fail(d, place(s, d), TF_E_IO, "cannot open: %s", strerror(EISDIR));
  return true;
}

static bool open_file(tf_store *s, int flags, tf_diags *d) {
  if (sqlite3_open_v2(s->path, &s->db, flags, NULL) != SQLITE_OK)
    return s->db ? sweep_store_fail(s, d) : tf_fail(d, place(s, d), TF_E_LIMIT, "out of memory");
  sqlite3_busy_timeout(s->db, WAIT_MS);
  return sweep_store_exec(s, "PRAGMA trusted_schema = OFF; PRAGMA synchronous = FULL", d);
}

/* Identification of a file. */
typedef struct {
  int64_t id, format, tables;
} marks;

/* Read at one moment, as another process may be creating the store. */
static bool read_marks(tf_store *s, marks *m, tf_diags *d) {
  if (!sweep_store_exec(s, "SAVEPOINT marks", d)) return false;
  bool failed = false;
  m->id = sweep_store_number(s, "PRAGMA application_id", &failed, d);
  m->format = failed ? 0 : sweep_store_number(s, "PRAGMA user_version", &failed, d);
  m->tables = failed ? 0 : sweep_store_number(s, "SELECT count(*) FROM sqlite_master", &failed, d);
  sqlite3_exec(s->db, "RELEASE marks", NULL, NULL, NULL);
  return !failed;
}

/* 0: the file is empty; -1 with an error: no store that this program reads. */
static int64_t format_of(tf_store *s, tf_diags *d) {
  marks m;
  if (!read_marks(s, &m, d)) return -1;
  const int64_t id = m.id, format = m.format, tables = m.tables;
  if (id == 0 && format == 0 && tables == 0) return 0;
  if (id != SWEEP_STORE_ID || format < 1) {
    sweep_store_refuse(s, d, "is a database, but no store of a sweep");
    return -1;
  }
  if (format > SWEEP_STORE_FORMAT) {
    sweep_store_refuse(s, d, "is a store of a newer version: format %lld, this one reads up to %d", (long long)format,
                       SWEEP_STORE_FORMAT);
    return -1;
  }
  return format;
}

/* Checks pages and indices, if that is fast. */
static bool check_whole(tf_store *s, tf_diags *d) {
  struct stat st;
  if (stat(s->path, &st) != 0 || st.st_size > check_whole_up_to) return true;
  sqlite3_stmt *q = sweep_store_prepare(s, "PRAGMA quick_check(1)", d);
  bool failed = false, row = sweep_store_step(s, q, &failed, d);
  const char *said = row ? (const char *)sqlite3_column_text(q, 0) : NULL;
  bool ok = said && !strcmp(said, "ok");
  if (said && !ok) sweep_store_refuse(s, d, "is damaged: %.120s", said);
  sqlite3_finalize(q);
  return ok;
}

/* One process creates it; others that arrive at the same time find it complete. */
static bool make(tf_store *s, const tf_sweep *sweep, tf_diags *d) {
  if (!sweep_store_exec(s, "BEGIN IMMEDIATE", d)) return false;
  int64_t format = format_of(s, d);
  bool ok = format > 0 || (format == 0 && sweep_schema_make(s, sweep, d));
  if (ok) return sweep_store_exec(s, "COMMIT", d);
  sqlite3_exec(s->db, "ROLLBACK", NULL, NULL, NULL);
  return false;
}

tf_store *tf_store_of(const char *path, const tf_sweep *sweep, tf_diags *d) {
  struct stat st;
  bool there = stat(path, &st) == 0;
  tf_store *s = store_new(path);
  if (!s) {
    tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
    return NULL;
  }
  bool ok = check_file(s, false, d) && open_file(s, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, d);
  int64_t format = ok ? format_of(s, d) : -1;
  ok = format > 0 ? check_whole(s, d) : format == 0 && make(s, sweep, d);
  if (ok && sweep_schema_same(s, sweep, d) && sweep_schema_grid(s, d)) return s;
  tf_store_close(s);
  if (!there && stat(path, &st) == 0 && st.st_size == 0) unlink(path);
  return NULL;
}

tf_store *tf_store_open(const char *path, tf_diags *d) {
  tf_store *s = store_new(path);
  if (!s) {
    tf_fail(d, (tf_loc){0}, TF_E_LIMIT, "out of memory");
    return NULL;
  }
  bool ok = check_file(s, true, d) && open_file(s, SQLITE_OPEN_READWRITE, d);
  int64_t format = ok ? format_of(s, d) : -1;
  if (format == 0) sweep_store_refuse(s, d, "is empty: no store of a sweep");
  if (format > 0 && check_whole(s, d) && sweep_schema_grid(s, d)) return s;
  tf_store_close(s);
  return NULL;
}
