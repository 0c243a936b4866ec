/* How many blocks are resident on a multiprocessor, and the properties of a block that decide
 * it. */
#include <math.h>

#include "codegen/backend/cuda/pass/pass.h"

double cu_resident(const tf_multiprocessor *m, double registers, double shared) {
  const double most = registers < m->most ? registers : m->most;
  const double by[] = {floor(m->registers / (ceil(most / 8) * 8 * CU_WARPS * CU_LANES)),
                       floor(m->memory / (shared + m->reserve)),
                       floor(m->threads / (CU_WARPS * CU_LANES))};
  double least = by[0];
  for (int i = 1; i < 3; i++)
    least = by[i] < least ? by[i] : least;
  return least < 1 ? 1 : least;
}

int64_t cu_multiprocessors(const ir_program *p) {
  const tf_arch *a = p->tree->arch;
  const int home = cu_home(a);
  return home ? a->memories[home].mesh[0] * a->memories[home].mesh[1] : 1;
}

bool cu_has_window(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = cu_of(b->s[i])->window || cu_has_window(&b->s[i]->body);
  return any;
}

int cu_blocks_at_once(const ir_program *p, const ir_stmt *part) {
  enum {
    MOST = 2,
    OF_WINDOWS = 3 /* loads of a window go far ahead of its sums if registers allow, and need not */
  }; /* asked for three blocks, the compiler would spill, though by itself it uses few enough
        registers */
  const tf_multiprocessor *m = &p->tree->arch->multiprocessor;
  const bool many = part->kind == IR_FOR && part->loop.trip > cu_multiprocessors(p);
  if (!cu_mma_of(p) || cu_is_wmma(p) || !many) return 1;
  return (int)fmin(cu_has_window(&part->body) ? OF_WINDOWS : MOST,
                   cu_resident(m, cu_registers(p, part), (double)cu_share(p, part, NULL)));
}

bool cu_multiplies(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n && !any; i++)
    any = (b->s[i]->kind == IR_NEST && cu_of(b->s[i])->fragments) || cu_multiplies(&b->s[i]->body);
  return any;
}

bool cu_has_turns(const ir_program *p, const ir_body *b) {
  int products = 0;
  bool any = false, made = false;
  for (int i = 0; i < b->n && !any; i++) {
    const ir_stmt *s = b->s[i];
    const cu_matrices *product = s->kind == IR_NEST ? cu_of(s)->fragments : NULL;
    products += product != NULL;
    made |= product && p->buffers[s->nest.from[product->a]].space == CU_FRAGMENT;
    any = s->kind == IR_FOR && cu_has_turns(p, &s->body);
  }
  return any || (products == 2 && made);
}
