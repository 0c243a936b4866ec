/* Checksums of rows, for db.c; db.h says what they are. */
#ifndef BASE_DB_DB_SUMS_H
#define BASE_DB_DB_SUMS_H
#include "base/db/db.h"

/* Gives a connection the function tf_sum. */
bool tf_db_sums(tf_db *db);
/* Whether every row of every table with a column `sum` has its own; reports the first that has not.
 */
bool tf_db_sums_hold(tf_db *db, tf_diags *d);
#endif
