#include "model/tree/check.h"

void tf_tree_check(tf_tree_reader *r) {
  tf_facts *f = tf_facts_new(r->arena, r->tree);
  if (!f) tf_tree_no_memory(r);
}
