/* Programs of several mappings as one: each begins while the one before ends, as far as flags
 * allow. */
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/pass/bytes.h"
#include "codegen/backend/npu/pass/pass.h"

/* Instructions of all links, without flags. */
enum { LONGEST = 1 << 20 };

static bool too_long(const tf_tree *tree, tf_diags *d) {
  return tf_fail(d, tree->workload->ops[0].at, TF_E_LIMIT,
                 "emit for npu: with this group the program has more than %d instructions: plan "
                 "with larger tiles, or a part of the network",
                 LONGEST);
}

static bool add_link(tf_npu *p, const npu_link *l, tf_diags *d) {
  npu_build *b = npu_build_link(p, l, d);
  const bool ok = b && npu_walk(b) && (p->n <= LONGEST || too_long(l->tree, d));
  if (b) b->out = NULL;
  npu_build_free(b);
  return ok;
}

/* Drops tensors, other than inputs and outputs, that no instruction uses, nor any tensor inside
 * them. */
static bool drop_unused(tf_npu *p) {
  int *to = calloc((size_t)p->n_tensors + 1, sizeof *to), n = 0;
  if (!to) return false;
  for (size_t k = 0; k < p->n; k++)
    for (int s = 0; s <= npu_facts_of(p->instr[k].op)->sources; s++) {
      const npu_operand *o = s ? &p->instr[k].from[s - 1] : &p->instr[k].to;
      if (o->memory == 0 && o->tensor >= 0) to[o->tensor] = 1;
    }
  for (int t = p->n_tensors - 1; t >= 0; t--) /* a tensor that contains others stays */
    if (to[t] && p->tensor[t].within) to[p->tensor[t].within - 1] = 1;
  for (int t = 0; t < p->n_tensors; t++) {
    npu_tensor z = p->tensor[t];
    const bool kept = to[t] || z.in || z.out;
    to[t] = n;
    if (z.within) z.within = to[z.within - 1] + 1;
    if (kept) p->tensor[n++] = z;
  }
  p->n_tensors = n;
  for (size_t k = 0; k < p->n; k++)
    for (int s = 0; s <= npu_facts_of(p->instr[k].op)->sources; s++) {
      npu_operand *o = s ? &p->instr[k].from[s - 1] : &p->instr[k].to;
      if (o->memory == 0 && o->tensor >= 0) o->tensor = to[o->tensor];
    }
  free(to);
  return true;
}

tf_npu *npu_chain_compile(tf_npu *head, const npu_link *link, int n, tf_diags *d) {
  const size_t errors = tf_diags_errors(d);
  bool ok = true;
  for (int i = 0; i < n && ok; i++)
    ok = add_link(head, &link[i], d);
  ok = ok && drop_unused(head) && npu_even(head) && npu_flags_add(head) && npu_keep_tags(head);
  if (ok) return head;
  if (tf_diags_errors(d) == errors) tf_out_of_memory(d);
  tf_npu_free(head);
  return NULL;
}

/* Assigns times to what the link has written in global memory in loop steps that were passed
 * over. */
static void assign_times(const npu_build *b, npu_clock *c, const double *since) {
  const tf_workload *wl = b->p->wl;
  for (int z = 0; z < wl->n_tensors; z++) {
    if (b->global[z] < 0 || wl->tensors[z].producer < 0) continue;
    const npu_tensor *t = &b->out->tensor[b->global[z]];
    npu_clock_fill(c, t->offset / NPU_UNIT,
                   (t->offset + t->words * npu_type_bytes(t->type)) / NPU_UNIT, since);
  }
}

static bool time_link(tf_npu *p, npu_clock *c, const npu_link *l, tf_diags *d) {
  double since[NPU_QUEUES];
  npu_build *b = npu_build_link(p, l, d);
  memcpy(since, npu_clock_queues(c), sizeof since);
  if (b) {
    b->most = NPU_UNLIMITED;
    b->clock = c;
  }
  const bool ok = b && npu_walk(b);
  const tf_op *op = &l->tree->workload->ops[0];
  if (ok)
    assign_times(b, c, since);
  else
    tf_note(d, op->at, "op '%.60s' is in the group", op->name);
  if (b) b->out = NULL;
  npu_build_free(b);
  return ok;
}

bool npu_chain_predict(const tf_npu *head, const npu_link *link, int n, double *end,
                       npu_terms *terms, tf_diags *d) {
  tf_npu *p = npu_new();
  npu_clock *c = npu_clock_new(head, true);
  bool ok = p && c && npu_copy_head(p, head);
  if (!ok) tf_out_of_memory(d);
  for (int i = 0; i < n && ok; i++) {
    ok = time_link(p, c, &link[i], d);
    end[i] = npu_clock_end(c);
  }
  if (ok) *terms = npu_clock_terms(c);
  npu_clock_free(c);
  tf_npu_free(p);
  return ok;
}
