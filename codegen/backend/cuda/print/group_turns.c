/* Waits and releases of rings of tiles; turns of warpgroups at products; and lets between
 * statements. */
#include <inttypes.h>

#include "codegen/backend/cuda/print/group.h"

typedef cu_role role;

void cu_groups_next(const role *r, int ring) {
  c_indent(r->c);
  fprintf(r->c->out, "if (++at_%d == %" PRId64 ") at_%d = 0, turn_%d ^= 1;\n", ring,
          r->g->ring[ring].stages, ring, ring);
}

/* Releases the stage of the ring to all that fill it, only if `when` holds. */
void cu_groups_release(const role *r, int ring, const char *when, const char *stage) {
  const bool common = cu_ring_is_common(r->g, ring);
  fprintf(r->c->out, "if (%sLANE %s) barrier_arrive%s(empty_%d + %s%s);\n", when,
          common ? "< 2" : "== 0", common ? "_at" : "", ring, stage, common ? ", LANE" : "");
}

void cu_groups_full(const role *r, int ring) {
  c_indent(r->c);
  fprintf(r->c->out, "barrier_wait(full_%d + at_%d, turn_%d);\n", ring, ring, ring);
}

void cu_groups_give_back(const role *r, int ring) {
  char stage[20];
  snprintf(stage, sizeof stage, "at_%d", ring);
  c_indent(r->c), cu_groups_release(r, ring, "", stage);
  cu_groups_next(r, ring);
}

void cu_groups_take_turn(const role *r) {
  c_indent(r->c), fprintf(r->c->out, "turn_wait(%d + threadIdx.y / 4);\n", cu_groups_turn(r->g));
}

void cu_groups_pass_turn(const role *r) {
  const int first = cu_groups_turn(r->g), groups = r->g->groups;
  c_indent(r->c);
  if (groups == 2)
    fprintf(r->c->out, "turn_pass(%d - threadIdx.y / 4);\n", first + 1);
  else
    fprintf(r->c->out, "turn_pass(%d + (threadIdx.y / 4 + 1) %% %d);\n", first, groups);
}

void cu_groups_first_turn(const role *r) {
  c_indent(r->c);
  fprintf(r->c->out, "if (threadIdx.y / 4 == %d) turn_pass(%d); /* the first warpgroup begins */\n",
          r->g->groups - 1, cu_groups_turn(r->g));
}

void cu_groups_last_turn(const role *r) {
  c_indent(r->c);
  if (r->g->in_turns)
    fprintf(r->c->out,
            "if (blocks_begun %% 2 == (int)threadIdx.y / 4) turn_wait(%d + threadIdx.y / 4); /* "
            "the last turn */\n",
            cu_groups_turn(r->g));
  else
    fprintf(r->c->out, "if (threadIdx.y / 4 == 0) turn_wait(%d);\n", cu_groups_turn(r->g));
}

void cu_groups_lets(const role *r, const ir_body *b) {
  for (int i = 0; i < b->n; i++) {
    if (b->s[i]->kind != IR_LET) continue;
    c_let(r->c, b->s[i]);
    c_indent(r->c), fprintf(r->c->out, "(void)%s;\n", r->c->p->var_name[b->s[i]->let.var]);
  }
}
