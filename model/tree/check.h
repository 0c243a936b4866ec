/* The rules that make a tree a mapping (docs/SEMANTICS.md, section 1).  One file per group of
 * rules; each function reports every violation. */
#ifndef MODEL_TREE_CHECK_H
#define MODEL_TREE_CHECK_H
#include "model/tree/facts.h"
#include "model/tree/parse.h"

struct tf_ranges;

typedef struct {
  const tf_facts *f;
  tf_arena *arena;
  tf_diags *diags;
  bool quiet; /* nobody reads the warnings in diags: it counts only whether there are errors */
  bool *loop_reported; /* [loop] an error on it has been reported */
  bool
      *dim_reported; /* [dim] the same for a loop that splits it, so that its ranges mean nothing */
} tf_checker;

void tf_check_levels(const tf_checker *c); /* levels down the tree, units of the ops */
bool tf_check_order(const tf_checker *c);  /* producers before consumers */
void tf_check_lists(const tf_checker *c);  /* bypass, retain */
void tf_check_homes(
    const tf_checker *c); /* inputs and outputs that live further in than the outermost memory */
void tf_check_keep(const tf_checker *c);
/* Of keep, what depends on ranges: needs what tf_check_ranges needs, and no error of the others. */
bool tf_check_keep_moves(const tf_checker *c);
/* Whether what a retained tensor leaves unmade is missed elsewhere; needs order and shape.  False
 * when memory runs out. */
bool tf_check_retained(const tf_checker *c);
void tf_check_stream(const tf_checker *c);
void tf_check_loops(const tf_checker *c); /* which loops are allowed where */
/* Products of trip counts; false if one exceeds 2^63 - 1: then ranges cannot be checked. */
bool tf_check_products(const tf_checker *c);
/* Rules on ranges: cover, made once, found.  Needs order, loops and products correct except for
 * dims marked in dim_reported, and no open trip count. */
void tf_check_ranges(const tf_checker *c);

/* In a tree with open trip counts: dims that no choice of them covers, fixed counts that step past
 * an extent. */
void tf_check_open(const tf_checker *c);

/* Evaluates r at every step at which readers of a tensor that is produced in a nested scope might
 * need more than is produced there; calls `unknown` with op o where the steps are too many to
 * check, `gaps` where those inside the nested scope's loops leave elements between them out.  False
 * when memory runs out. */
bool tf_check_steps(const tf_checker *c, struct tf_ranges *r,
                    void (*unknown)(struct tf_ranges *r, int o),
                    void (*gaps)(struct tf_ranges *r, int o));

/* Calls `twice` with each op, but for those reported, that makes an element twice in a production,
 * or (unknown) may do so in steps too many to look at.  Needs what tf_check_ranges needs.  False
 * when memory runs out. */
bool tf_check_once(const tf_checker *c, struct tf_ranges *r, const bool *reported,
                   void (*twice)(struct tf_ranges *r, int o, bool unknown));

/* Whether op o is produced in a scope of its own below its home. */
static inline bool tf_made_nested(const tf_facts *f, int o) {
  const int home = f->home_scope[f->wl->ops[o].out];
  return home >= 0 && f->tree->nodes[f->lead[o]].parent != home;
}
/* Whether a loop at the node is one over which a streamed result accumulates: its steps belong to
 * one production. */
static inline bool tf_streamed_over(const tf_facts *f, int o, int node, int dim) {
  const int slot = tf_dim_slot(f, o, dim);
  return f->stream_scope[o] >= 0 && tf_is_above(f, node, f->stream_scope[o]) && slot >= 0 &&
         tf_slot_reduced(f, o, slot);
}

static inline const char *tf_op_name(const tf_checker *c, int o) { return c->f->wl->ops[o].name; }
static inline const char *tf_tensor_name(const tf_checker *c, int z) {
  return c->f->wl->tensors[z].name;
}
static inline const char *tf_dim_name(const tf_checker *c, int d) { return c->f->wl->dims[d].name; }
static inline const char *tf_level_name(const tf_checker *c, int m) {
  return c->f->arch->memories[m].name;
}
static inline const tf_node *tf_leaf(const tf_checker *c, int o) {
  return &c->f->tree->nodes[c->f->tree->op_node[o]];
}
#endif
