#include "model/tree/check.h"

/* Ranges are walked only in a tree whose other rules hold: what they say would be wrong. */
void tf_tree_check(tf_build *b) {
  tf_facts *f = tf_facts_new(b->arena, b->tree);
  tf_checker c = {.f = f, .arena = b->arena, .diags = b->diags};
  if (f) c.loop_told = TF_ARRAY(b->arena, bool, (size_t)f->n_loops);
  if (f) c.dim_told = TF_ARRAY(b->arena, bool, (size_t)f->wl->n_dims);
  if (!c.loop_told || !c.dim_told) {
    tf_tree_no_memory(b);
    return;
  }
  bool ordered = tf_check_order(&c);
  tf_check_levels(&c);
  if (!b->shape_ok) return;
  tf_check_lists(&c);
  tf_check_keep(&c);
  if (b->streams_ok) {
    tf_check_loops(&c);
    tf_check_stream(&c);
  }
  bool countable = tf_check_products(&c) && b->loops_ok && !b->tree->open;
  if (ordered && countable && b->streams_ok) tf_check_ranges(&c);
}
