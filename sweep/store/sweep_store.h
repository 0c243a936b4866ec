/* The store: one SQLite file (docs/HOWTO-sweep.md has its tables). */
#ifndef SWEEP_STORE_SWEEP_STORE_H
#define SWEEP_STORE_SWEEP_STORE_H
#include "base/db/db.h"
#include "sweep/grid/grid.h"

enum { PUT_ROW, PUT_COUNT, PUT_MAPPING, PUT_KEPT, N_PUTS };

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
void sweep_store_undo(tf_store *s);
/* An existing row is kept, except that a skipped one is replaced by one that is not. */
bool sweep_store_put(tf_store *s, const tf_sweep_row *r, tf_diags *d);

/* ---- exchange of mappings ----
 * Where the mapping of another machine is better than what a point's own search found, the point's
 * row is that one's; what the search found is put aside, so that a run that goes on knows what the
 * runs before it found. */

/* As tf_store_rows, but each row as its own search left it, with its mapping. */
bool sweep_store_searched(tf_store *s, bool (*row)(void *ctx, const tf_sweep_row *r), void *ctx,
                          tf_diags *d);
/* Whether an exchange was made of all rows that the store now has. */
bool sweep_store_exchanged(tf_store *s, bool *so, tf_diags *d);
/* Within a transaction: what searches found is there as if there had been no exchange; a row of
 * another mapping for one point; the exchange is done, of so many rows. */
bool sweep_store_restore(tf_store *s, tf_diags *d);
bool sweep_store_replace(tf_store *s, const tf_sweep_row *r, tf_diags *d);
bool sweep_store_note_exchange(tf_store *s, int64_t rows, int64_t improved, tf_diags *d);

/* ---- internal to this folder -------------------------------------------------------------- */
/* Creates tables, facts and files of a new store; sweep: a tf_sweep. */
bool sweep_schema_make(tf_db *db, const void *sweep, tf_diags *d);
/* Brings the tables of an earlier format to the present one. */
bool sweep_schema_raise(tf_db *db, tf_diags *d);
/* Whether the store belongs to this sweep; reports what differs. */
bool sweep_schema_same(tf_store *s, const tf_sweep *sweep, tf_diags *d);
/* Reads the grid of the store's sweep. */
bool sweep_schema_grid(tf_store *s, tf_diags *d);
#endif
