/* Checksums of rows: made as they are written, compared as a store is opened. */
#include "base/db/db_sums.h"

#include <stdlib.h>
#include <string.h>

/* ---- the function --------------------------------------------------------------------------- */
/* FNV-1a.  Each step maps sums one to one, so a change of one byte always shows; of more, but for
 * one time in 2^64. */
static uint64_t mix(uint64_t h, const void *bytes, size_t n) {
  const unsigned char *at = bytes;
  for (size_t i = 0; i < n; i++)
    h = (h ^ at[i]) * 0x100000001b3u;
  return h;
}

/* The type is mixed in, too: 1, 1.0 and '1' differ.  A text is followed by its length, so that two
 * of them are not one.
 */
static uint64_t mix_value(uint64_t h, sqlite3_value *v) {
  const int type = sqlite3_value_type(v);
  h = mix(h, &type, sizeof type);
  if (type == SQLITE_INTEGER) {
    const int64_t i = sqlite3_value_int64(v);
    return mix(h, &i, sizeof i);
  }
  if (type == SQLITE_FLOAT) {
    const double r = sqlite3_value_double(v) + 0.0; /* SQLite keeps -0.0 as 0 */
    return mix(h, &r, sizeof r);
  }
  if (type == SQLITE_NULL) return h;
  const void *text = sqlite3_value_blob(v);
  const int n = sqlite3_value_bytes(v);
  return mix(mix(h, text, (size_t)n), &n, sizeof n);
}

static void sum(sqlite3_context *out, int n, sqlite3_value **v) {
  uint64_t h = 0xcbf29ce484222325u;
  for (int i = 0; i < n; i++)
    h = mix_value(h, v[i]);
  sqlite3_result_int64(out, (int64_t)h);
}

bool tf_db_sums(tf_db *db) {
  return sqlite3_create_function_v2(db->sql, "tf_sum", -1, SQLITE_UTF8 | SQLITE_DETERMINISTIC, NULL,
                                    sum, NULL, NULL, NULL) == SQLITE_OK;
}

/* ---- statements ----------------------------------------------------------------------------- */
/* A text made by SQLite's own printf, as a statement; takes the text over. */
static sqlite3_stmt *prepare(tf_db *db, char *sql, tf_diags *d) {
  sqlite3_stmt *q = NULL;
  if (sql)
    q = tf_db_prepare(db, sql, d);
  else
    tf_out_of_memory(d);
  sqlite3_free(sql);
  return q;
}

/* The text in the first row of a statement, malloc'd; takes the statement over. */
static char *text_of(tf_db *db, sqlite3_stmt *q, tf_diags *d) {
  bool failed = false;
  char *out = NULL;
  if (tf_db_step(db, q, &failed, d) && tf_db_text(q, 0)) {
    out = strdup(tf_db_text(q, 0));
    if (!out) tf_out_of_memory(d);
  } else if (!failed) {
    tf_db_refuse(db, d, "is damaged: one of its tables has no columns");
  }
  sqlite3_finalize(q);
  return out;
}

char *tf_db_columns(tf_db *db, const char *table, tf_diags *d) {
  char *sql = sqlite3_mprintf("SELECT group_concat('\"' || name || '\"') FROM (SELECT name FROM "
                              "pragma_table_info(%Q) WHERE name <> 'sum' ORDER BY cid)",
                              table);
  sqlite3_stmt *q = prepare(db, sql, d);
  return q ? text_of(db, q, d) : NULL;
}

sqlite3_stmt *tf_db_insert(tf_db *db, const char *verb, const char *table, tf_diags *d) {
  char *sql = sqlite3_mprintf("SELECT group_concat('?' || (cid + 1)) FROM (SELECT cid FROM "
                              "pragma_table_info(%Q) WHERE name <> 'sum' ORDER BY cid)",
                              table);
  sqlite3_stmt *q = prepare(db, sql, d);
  char *marks = q ? text_of(db, q, d) : NULL;
  q = marks
          ? prepare(db,
                    sqlite3_mprintf("%s \"%w\" VALUES(%s, tf_sum(%s))", verb, table, marks, marks),
                    d)
          : NULL;
  free(marks);
  return q;
}

bool tf_db_seal(tf_db *db, const char *table, tf_diags *d) {
  char *columns = tf_db_columns(db, table, d);
  sqlite3_stmt *q =
      columns ? prepare(db,
                        sqlite3_mprintf("UPDATE \"%w\" SET sum = tf_sum(%s) WHERE sum IS NULL",
                                        table, columns),
                        d)
              : NULL;
  const bool ok = q && tf_db_run(db, q, d);
  sqlite3_finalize(q);
  free(columns);
  return ok;
}

/* ---- comparing ------------------------------------------------------------------------------ */
static bool table_holds(tf_db *db, const char *table, tf_diags *d) {
  char *columns = tf_db_columns(db, table, d);
  bool failed = columns == NULL;
  sqlite3_stmt *q =
      columns ? prepare(db,
                        sqlite3_mprintf("SELECT %s FROM \"%w\" WHERE sum IS NOT tf_sum(%s) LIMIT 1",
                                        columns, table, columns),
                        d)
              : NULL;
  if (!failed && tf_db_step(db, q, &failed, d)) {
    const char *first = tf_db_text(q, 0);
    failed = !tf_db_refuse(
        db, d, "is damaged: the row of %.40s '%.40s' in its table '%.40s' is not what was written",
        sqlite3_column_name(q, 0), first ? first : "", table);
  }
  sqlite3_finalize(q);
  free(columns);
  return !failed;
}

bool tf_db_sums_hold(tf_db *db, tf_diags *d) {
  bool failed = false, ok = true;
  sqlite3_stmt *q =
      tf_db_prepare(db,
                    "SELECT m.name FROM sqlite_master m WHERE m.type = 'table' AND EXISTS (SELECT "
                    "1 FROM pragma_table_info(m.name) WHERE name = 'sum') ORDER BY m.name",
                    d);
  while (ok && tf_db_step(db, q, &failed, d))
    ok = tf_db_text(q, 0) && table_holds(db, tf_db_text(q, 0), d);
  sqlite3_finalize(q);
  return ok && !failed;
}
