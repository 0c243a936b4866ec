/* The store: one SQLite file (docs/HOWTO-sweep.md has its tables).  Only the files of this folder use SQLite. */
#ifndef SWEEP_STORE_STORE_H
#define SWEEP_STORE_STORE_H
#include <sqlite3.h>

#include "sweep/grid/grid.h"

enum {
  SWEEP_STORE_FORMAT = 1,
  SWEEP_STORE_ID = 0x54464442 /* "TFDB", SQLite's application_id */
};

enum { PUT_ROW, PUT_COUNT, PUT_MAPPING, N_PUTS };

struct tf_store {
  sqlite3 *db;
  char *path;
  tf_arena *arena; /* of the grid's texts */
  tf_sweep_grid grid;
  sqlite3_stmt *put[N_PUTS]; /* made at the first row */
  bool in_write;
};

/* A transaction: after the second call all rows written in between are in the file, or none. */
bool sweep_store_begin(tf_store *s, tf_diags *d);
bool sweep_store_commit(tf_store *s, tf_diags *d);
/* An existing row is kept, except that a skipped one is replaced by one that is not. */
bool sweep_store_put(tf_store *s, const tf_sweep_row *r, tf_diags *d);

/* ---- internal to this folder -------------------------------------------------------------- */
/* Reports SQLite's message for the last call; always false. */
bool sweep_store_fail(const tf_store *s, tf_diags *d);
/* An E_STORE at the file; always false. */
bool sweep_store_refuse(const tf_store *s, tf_diags *d, const char *fmt, ...) TF_PRINTF(3, 4);
bool sweep_store_exec(tf_store *s, const char *sql, tf_diags *d);
/* NULL with an error in d. */
sqlite3_stmt *sweep_store_prepare(tf_store *s, const char *sql, tf_diags *d);
/* Whether there is a next row; *failed with an error in d: it cannot be read. */
bool sweep_store_step(tf_store *s, sqlite3_stmt *q, bool *failed, tf_diags *d);
/* The first column of the first row; 0 with *failed if there is none. */
int64_t sweep_store_number(tf_store *s, const char *sql, bool *failed, tf_diags *d);

/* Creates tables, facts and files of a new store. */
bool sweep_schema_make(tf_store *s, const tf_sweep *sweep, tf_diags *d);
/* Whether the store belongs to this sweep; reports what differs. */
bool sweep_schema_same(tf_store *s, const tf_sweep *sweep, tf_diags *d);
/* Reads the grid of the store's sweep. */
bool sweep_schema_grid(tf_store *s, tf_diags *d);
#endif
