/* The store: one SQLite file (docs/HOWTO-sweep.md has its tables). */
#ifndef SWEEP_STORE_STORE_H
#define SWEEP_STORE_STORE_H
#include "base/db/db.h"
#include "sweep/grid/grid.h"

enum { PUT_ROW, PUT_COUNT, PUT_MAPPING, N_PUTS };

struct tf_store {
  tf_db db;
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
/* Creates tables, facts and files of a new store; sweep: a tf_sweep. */
bool sweep_schema_make(tf_db *db, const void *sweep, tf_diags *d);
/* Whether the store belongs to this sweep; reports what differs. */
bool sweep_schema_same(tf_store *s, const tf_sweep *sweep, tf_diags *d);
/* Reads the grid of the store's sweep. */
bool sweep_schema_grid(tf_store *s, tf_diags *d);
#endif
