/* A store in one SQLite file: how it is opened, recognised by its marks, read, written, and what is
 * said when that fails. What is in its tables belongs to the room that keeps it (sweep/store,
 * tune/store).
 *
 * Every function that returns bool is false with an error in d, at the file, unless it says
 * otherwise. */
#ifndef BASE_DB_DB_H
#define BASE_DB_DB_H
#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "tileflow/diag.h"

/* A kind of store. */
typedef struct {
  const char *what; /* as messages name it: "store of a sweep" */
  int id, format;   /* SQLite's application_id and user_version; a store with a greater format is
                       refused */
  int wait_ms;      /* how long to wait for a process that is writing */
} tf_db_kind;

typedef struct {
  sqlite3 *sql;
  const tf_db_kind *kind; /* borrowed */
  char *path;             /* NULL: in memory */
  int format;             /* of the file */
} tf_db;

/* ---- checksums ----
 * SQLite checks how its pages hang together, not their contents.  So a table may end in a
 * column `sum`: the value of the SQL function tf_sum, which every connection opened here has, of
 * all columns before it.  tf_db_open compares them, if the file is small enough for that to be
 * fast. */

/* Makes the tables of a new store.  Called inside a transaction, which also sets the marks. */
typedef bool tf_db_make(tf_db *db, const void *ctx, tf_diags *d);

/* Opens the file, and checks that it is a whole store of its kind.  make: called with ctx for a
 * file that is missing or empty; NULL: such a file is an error.  With it, of processes that come at
 * the same time one makes the tables, and the others find them complete; what cannot be made leaves
 * no empty file.  path NULL: a new store in memory.  A file that may not be written can still be
 * read; what a killed process left half written is rolled back.  Whatever comes of it, tf_db_close
 * closes it. */
bool tf_db_open(tf_db *db, const tf_db_kind *kind, const char *path, tf_db_make *make,
                const void *ctx, tf_diags *d);
void tf_db_close(tf_db *db);

/* Reports SQLite's message for the last call; always false. */
bool tf_db_fail(const tf_db *db, tf_diags *d);
/* The store as the place of an error. */
tf_loc tf_db_place(const tf_db *db, tf_diags *d);
/* An E_STORE at the file; always false. */
bool tf_db_refuse(const tf_db *db, tf_diags *d, const char *fmt, ...) TF_PRINTF(3, 4);

bool tf_db_exec(tf_db *db, const char *sql, tf_diags *d);
/* After a failure that was reported: ends the transaction without its changes. */
void tf_db_rollback(tf_db *db);
/* NULL with an error in d.  sqlite3_finalize frees it. */
sqlite3_stmt *tf_db_prepare(tf_db *db, const char *sql, tf_diags *d);
/* Whether there is a next row; *failed with an error in d: it cannot be read.  q NULL, which
 * tf_db_prepare has reported, only sets *failed. */
bool tf_db_step(tf_db *db, sqlite3_stmt *q, bool *failed, tf_diags *d);
/* Runs a statement that has no rows, and resets it for the next values. */
bool tf_db_run(tf_db *db, sqlite3_stmt *q, tf_diags *d);
/* Binds values by letter, from the first on: t text or NULL, i int64_t, r double. */
void tf_db_bind(sqlite3_stmt *q, const char *letters, ...);
/* tf_db_bind, then tf_db_run. */
bool tf_db_put(tf_db *db, sqlite3_stmt *q, tf_diags *d, const char *letters, ...);
/* A column's text, which lasts until the next row; NULL if it has none. */
const char *tf_db_text(sqlite3_stmt *q, int column);
/* The first column of the first row; 0 with *failed if there is none. */
int64_t tf_db_number(tf_db *db, const char *sql, bool *failed, tf_diags *d);

/* "VERB table VALUES(?1, ..., ?n, tf_sum(?1, ..., ?n))" as a statement, for a table of n columns
 * and `sum`. */
sqlite3_stmt *tf_db_insert(tf_db *db, const char *verb, const char *table, tf_diags *d);
/* Gives the rows of a table that have no sum theirs. */
bool tf_db_seal(tf_db *db, const char *table, tf_diags *d);
/* The columns of a table but `sum`, quoted and with commas between them; malloc'd.  NULL with an
 * error in d. */
char *tf_db_columns(tf_db *db, const char *table, tf_diags *d);
/* Raises the format of an open store to that of its kind: `how` changes the tables, inside a
 * transaction. */
bool tf_db_upgrade(tf_db *db, bool (*how)(tf_db *db, tf_diags *d), tf_diags *d);
#endif
