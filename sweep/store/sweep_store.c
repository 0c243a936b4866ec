/* Opens stores of sweeps, new ones and those made before. */
#include "sweep/store/sweep_store.h"

#include <stdlib.h>

#include "base/locale.h"

static const tf_db_kind kind = {"store of a sweep", 0x54464442 /* "TFDB" */, 2, 60000};

static tf_store *store_new(void) {
  tf_store *s = calloc(1, sizeof *s);
  if (!s) return NULL;
  s->arena = tf_arena_new();
  if (s->arena) return s;
  free(s);
  return NULL;
}

void tf_store_close(tf_store *s) {
  if (!s) return;
  for (int i = 0; i < N_PUTS; i++)
    sqlite3_finalize(s->put[i]);
  tf_db_close(&s->db);
  tf_arena_free(s->arena);
  free(s);
}

const tf_sweep_grid *tf_store_grid(const tf_store *s) { return &s->grid; }

/* sweep NULL: a store that must be there, of any sweep. */
static tf_store *open_store(const char *path, const tf_sweep *sweep, tf_diags *d) {
  tf_store *s = store_new();
  if (!s) {
    tf_out_of_memory(d);
    return NULL;
  }
  if (tf_db_open(&s->db, &kind, path, sweep ? sweep_schema_make : NULL, sweep, d) &&
      (!sweep ||
       (sweep_schema_same(s, sweep, d) && tf_db_upgrade(&s->db, sweep_schema_raise, d))) &&
      sweep_schema_grid(s, d))
    return s;
  tf_store_close(s);
  return NULL;
}

tf_store *tf_store_of(const char *path, const tf_sweep *sweep, tf_diags *d) {
  TF_IN_C_LOCALE;
  return open_store(path, sweep, d);
}

tf_store *tf_store_open(const char *path, tf_diags *d) {
  TF_IN_C_LOCALE;
  return open_store(path, NULL, d);
}
