/* Where a mask lets a row end: the ranges of keys inside its scope. */
#include "codegen/lower/lower.h"

bool lower_mask_whole(const lowering *w, const ir_range *r) {
  return r->exact && r->lo.var < 0 && r->lo.off == 0 &&
         r->most == w->plan->wl->dims[w->mask.band.l].extent;
}

void lower_mask_end(lowering *w, int o) {
  ir_range *r = lower_range(w, o, w->mask.band.l);
  if (!lower_mask_whole(w, r)) return;
  r->hi = w->mask.limit;
  r->exact = false;
}

void lower_mask_infer(lowering *w, int o) {
  if (!w->mask.inside || tf_op_slot(&w->plan->wl->ops[o], w->mask.band.l) < 0) return;
  ir_range *r = lower_range(w, o, w->mask.band.l);
  if (w->mask.band.constant_outside[o])
    lower_mask_end(w, o);
  else if (r->lo.var < 0 && ir_same(r->hi, w->mask.limit))
    *r = w->mask.few;
}
