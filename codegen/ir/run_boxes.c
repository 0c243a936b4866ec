/* What the interpreter does with boxes of tensors: what stays, is staged, is copied. */
#include <string.h>

#include "codegen/ir/machine.h"
#include "tileflow/tree.h"

typedef ir_interpreter machine;

static int64_t atom(const machine *m, ir_atom a) { return ir_atom_value(m, a); }

void ir_run_keep(machine *m, const ir_stmt *s) {
  const int buffer = s->keep.buffer;
  const ir_buffer *b = &m->p->buffers[buffer];
  const ir_range *made = s->keep.missing;
  const int64_t slot = atom(m, b->slot);
  ir_need need = {.lo = {0}};
  for (int r = 0; r < b->rank; r++) {
    need.lo[r] = atom(m, s->range[r].lo), need.hi[r] = atom(m, s->range[r].hi);
    if (!ir_range_allows(&s->range[r], need.hi[r] - need.lo[r]) || slot < 0 || slot >= b->slots)
      ir_fault(m, "keep %s: a box that it cannot have", b->name);
  }
  if (m->ok && !ir_keep(b, made, &m->held[buffer][slot], m->data[buffer] + slot * b->words, &need,
                        m->counts ? &m->counts->buffer[buffer] : NULL))
    ir_fault(m, "out of memory");
  for (int r = 0; r < b->rank; r++) {
    if (ir_same(made[r].lo, s->range[r].lo)) continue;
    m->var[made[r].lo.var] = need.new_lo[r];
    m->var[made[r].hi.var] = need.new_hi[r];
  }
}

static void forget_slots(machine *m, int buffer, int64_t slot, int64_t n) {
  for (int64_t i = 0; i < n && m->held[buffer]; i++)
    m->held[buffer][slot + i].nonempty = false;
}

typedef struct {
  machine *m;
  int buffer;
} origin;

static double *from_outside(void *ctx, const int64_t *at) {
  origin *o = ctx;
  return ir_element(o->m, o->buffer, at, false);
}

static ir_held box_of(const machine *m, const ir_range *r, int rank) {
  ir_held h = {.nonempty = true};
  for (int i = 0; i < rank; i++) {
    h.lo[i] = atom(m, r[i].lo), h.hi[i] = atom(m, r[i].hi);
    h.nonempty &= h.lo[i] < h.hi[i];
  }
  return h;
}

void ir_run_stage(machine *m, const ir_stmt *s) {
  const int buffer = s->stage.buffer;
  const ir_buffer *b = &m->p->buffers[buffer];
  const ir_range *ahead = s->stage.ahead;
  ir_held now = box_of(m, s->range, b->rank), then = {.nonempty = false};
  if (ahead && atom(m, s->stage.last) == 0) then = box_of(m, ahead, b->rank);
  origin o = {m, s->stage.from};
  m->staged[buffer].node = s->stage.node;
  if (m->ok &&
      !ir_stage(b, &m->staged[buffer], m->data[buffer], &now, ahead ? &then : NULL,
                (ir_source){from_outside, &o}, m->counts ? &m->counts->buffer[buffer] : NULL))
    ir_fault(m, "stage %s: the source lacks some of its tile", b->name);
  for (int r = 0; r < b->rank; r++)
    m->var[b->base[r].var] = now.lo[r];
  if (b->slots > 1) m->var[b->slot.var] = m->staged[buffer].half;
}

void ir_run_forget(machine *m, const ir_stmt *s) {
  if (s->forget.buffer >= 0) {
    ir_staged *staged = &m->staged[s->forget.buffer];
    if (staged->node < s->forget.node || staged->node >= m->p->tree->nodes[s->forget.node].end)
      return;
    staged->held[0].nonempty = staged->held[1].nonempty = staged->ahead = false;
    return;
  }
  int buffer = m->p->buffer_of[s->forget.tensor];
  if (s->forget.n_slots)
    forget_slots(m, buffer, atom(m, s->forget.slot), s->forget.n_slots);
  else
    forget_slots(m, buffer, 0, m->p->buffers[buffer].slots);
}

/* Whether the element is in the tensor's padding. */
static bool is_padding(const tf_tensor *z, const int64_t *at) {
  bool padding = false;
  for (int r = 0; r < z->rank; r++) {
    const bool in = at[r] >= z->lo[r] && at[r] < z->lo[r] + z->extent[r];
    if (!in && (at[r] < z->lo[r] - z->pad[r] || at[r] >= z->lo[r] + z->extent[r] + z->pad[r]))
      return false;
    padding |= !in;
  }
  return padding;
}

/* Sends one element from its current place to its place in the tile; what is in the padding is
 * nowhere, and nobody reads it. */
static void send(machine *m, const ir_stmt *s, const int64_t *at) {
  const ir_buffer *from = &m->p->buffers[s->copy.from];
  if (is_padding(&m->wl->tensors[from->tensor], at)) return;
  ir_atom lo[IR_MAX_RANK];
  for (int r = 0; r < from->rank; r++)
    lo[r] = s->range[r].lo;
  const int64_t i = ir_offset_in(m, s->copy.from, atom(m, from->slot), from->base, at),
                k = ir_offset_in(m, s->copy.to, atom(m, s->copy.slot), lo, at);
  if (!m->ok) return;
  ir_report_race(m, s->copy.to,
                 ir_race_copy(m->races, s->copy.queue, m->who, s->copy.to, k,
                              ir_place_of(m->p, s->copy.from), i));
  if (m->counts) m->counts->buffer[s->copy.to].copied++;
}

void ir_run_copy(machine *m, const ir_stmt *s) {
  const int rank = m->p->buffers[s->copy.to].rank;
  const ir_held box = box_of(m, s->range, rank);
  const int64_t part = s->copy.parts > 1 ? atom(m, s->copy.part) : 0;
  int64_t at[IR_MAX_RANK], i = 0;
  bool more = box.nonempty;
  memcpy(at, box.lo, sizeof at);
  while (more && m->ok) {
    if (s->copy.parts <= 1 || i++ % s->copy.parts == part) send(m, s, at);
    more = false;
    for (int r = rank - 1; r >= 0 && !more; r--) {
      more = ++at[r] < box.hi[r];
      if (!more) at[r] = box.lo[r];
    }
  }
  if (s->copy.ends) ir_race_end_group(m->races, s->copy.queue, m->who);
}
