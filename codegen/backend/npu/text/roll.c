/* Rolls a program into loops, without the flags at its instructions where these can be put back:
 * windows of consecutive instructions that are equal but for their places become a loop whose
 * places advance by constants. Short windows first, then those that contain the loops found, until
 * none is left (nested loop recognition: Ketterlin and Clauss, CGO 2008, with windows of growing
 * length in place of a stack). */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "codegen/backend/npu/text/roll.h"

/* Where something begins, or by how much it moves; the number of a slot counts mod `mod` (0: no
 * slot). */
typedef struct {
  int64_t v, mod;
} number;

/* The shape of an instruction or a loop: all that steps of a loop have in common, i.e. everything
 * but the `numbers` numbers that are its places. */
typedef struct {
  uint64_t hash;
  uint32_t next; /* with the same hash; 0: none */
  bool is_loop;
  size_t term; /* an instruction of the flat program; of a loop its first child */
  int depth;   /* nested loops, including itself */
  int64_t lines, trip;
  size_t children, numbers,
      moves; /* moves: of a loop, the increments of its numbers from step to step */
} shape;

/* A term of the program; its shape is in a separate array. */
typedef struct {
  size_t numbers; /* index of its numbers */
} term;

enum { SLOTS = 1 << 12 };
typedef struct {
  const tf_npu *flat;
  tf_npu *out;
  bool ok, rolled;
  size_t n, n_shapes, n_numbers, n_children;
  term *terms;        /* [n] the program, */
  uint32_t *shape;    /* and the shapes of its terms */
  shape *shapes;      /* the first is unused */
  number *numbers;    /* places of terms, and moves of loops */
  uint32_t *children; /* shapes of loops' children */
  uint32_t slot[SLOTS];
} roller;

/* ---- places --------------------------------------------------------------------------------- */
enum { MOST_PLACES = 6 };
typedef struct {
  int64_t *base, *step;
  npu_ring *ring; /* NULL: none */
} place;

/* The places of an instruction's operands, and of its window. */
static int places_of(npu_instr *i, place to[MOST_PLACES]) {
  int n = 0;
  if (i->op == NPU_SET || i->op == NPU_WAIT || i->op == NPU_BARRIER) return 0;
  to[n++] = (place){&i->to.base, i->to.step, i->to.ring.n ? &i->to.ring : NULL};
  for (int k = 0; k < npu_facts_of(i->op)->sources; k++)
    if (i->from[k].memory >= 0)
      to[n++] =
          (place){&i->from[k].base, i->from[k].step, i->from[k].ring.n ? &i->from[k].ring : NULL};
  for (int k = 0; k < 2 && i->op == NPU_LOAD; k++)
    to[n++] = (place){&i->window.origin[k], i->window.step[k], NULL};
  return n;
}

static void add_number(roller *r, int64_t v, int64_t mod) {
  r->ok = r->ok && TF_GROW(r->numbers, r->n_numbers);
  if (r->ok) r->numbers[r->n_numbers++] = (number){v, mod};
}

/* ---- shapes --------------------------------------------------------------------------------- */
static bool alike_operands(const npu_operand *a, const npu_operand *b) {
  if (a->memory != b->memory) return false;
  if (a->memory < 0) return a->number == b->number && !signbit(a->number) == !signbit(b->number);
  return a->tensor == b->tensor && a->type == b->type && a->ring.n == b->ring.n &&
         a->ring.bytes == b->ring.bytes;
}

static bool alike_operations(const npu_instr *a, const npu_instr *b) {
  const int sources = npu_facts_of(a->op)->sources;
  bool same = a->via == b->via && a->n_dims == b->n_dims && alike_operands(&a->to, &b->to);
  for (int k = 0; k < sources; k++)
    same = same && alike_operands(&a->from[k], &b->from[k]);
  for (int k = 0; same && k < a->n_dims; k++) {
    const npu_dim *x = &a->dim[k], *y = &b->dim[k];
    same = x->count == y->count && x->high == y->high && x->wide == y->wide;
    for (int s = 0; s <= sources; s++)
      same = same && x->step[s] == y->step[s];
  }
  if (a->op == NPU_LOAD)
    return same && !memcmp(a->window.size, b->window.size, sizeof a->window.size);
  if (a->op != NPU_MAD) return same;
  return same && a->mad.m == b->mad.m && a->mad.n == b->mad.n && a->mad.k == b->mad.k &&
         a->mad.add == b->mad.add && !memcmp(a->mad.ld, b->mad.ld, sizeof a->mad.ld);
}

static bool alike(const npu_instr *a, const npu_instr *b) {
  if (a->op != b->op || a->queue != b->queue || strcmp(a->tag, b->tag) != 0) return false;
  if (a->op == NPU_BARRIER) return true;
  if (a->op == NPU_SET || a->op == NPU_WAIT)
    return a->flag.to == b->flag.to && a->flag.id == b->flag.id;
  return alike_operations(a, b);
}

static uint64_t mix(uint64_t h, int64_t v) {
  h = (h ^ (uint64_t)v) * UINT64_C(0x9e3779b97f4a7c15);
  return h ^ h >> 29;
}

static uint64_t hash_of(const npu_instr *i) {
  uint64_t h = mix(mix(1, i->op), i->queue);
  if (i->op == NPU_SET || i->op == NPU_WAIT) return mix(h, i->flag.to);
  h = mix(mix(h, i->to.memory), i->n_dims);
  for (int k = 0; k < i->n_dims; k++)
    h = mix(mix(h, i->dim[k].count), i->dim[k].step[0]);
  return h;
}

static bool same_shape(const roller *r, const shape *a, const shape *b) {
  if (a->hash != b->hash || a->is_loop != b->is_loop) return false;
  if (!a->is_loop) return alike(&r->flat->instr[a->term], &r->flat->instr[b->term]);
  return a->trip == b->trip && a->children == b->children && a->numbers == b->numbers &&
         !memcmp(r->children + a->term, r->children + b->term, a->children * sizeof *r->children) &&
         !memcmp(r->numbers + a->moves, r->numbers + b->moves, a->numbers * sizeof *r->numbers);
}

/* The number of that shape, which is added if it is new. */
static uint32_t shape_of(roller *r, const shape *new) {
  uint32_t *slot = &r->slot[new->hash % SLOTS];
  for (uint32_t s = *slot; s; s = r->shapes[s].next)
    if (same_shape(r, &r->shapes[s], new)) return s;
  r->ok = r->ok && TF_GROW(r->shapes, r->n_shapes);
  if (!r->ok) return 0;
  r->shapes[r->n_shapes] = *new;
  r->shapes[r->n_shapes].next = *slot;
  return *slot = (uint32_t)r->n_shapes++;
}

static void add_instr(roller *r, size_t k) {
  npu_instr i = r->flat->instr[k];
  place at[MOST_PLACES];
  const int n = places_of(&i, at);
  const size_t begin = r->terms[r->n].numbers = r->n_numbers;
  for (int q = 0; q < n; q++) {
    add_number(r, *at[q].base, 0);
    if (at[q].ring) add_number(r, at[q].ring->at, at[q].ring->n);
  }
  r->shape[r->n++] = shape_of(
      r, &(shape){.hash = hash_of(&i), .term = k, .lines = 1, .numbers = r->n_numbers - begin});
}

/* ---- windows -------------------------------------------------------------------------------- */
/* Whether term e continues the sequence of those `by` and twice `by` terms before it. */
static bool continues(const roller *r, size_t e, size_t by) {
  const number *a = r->numbers + r->terms[e - 2 * by].numbers,
               *b = r->numbers + r->terms[e - by].numbers, *c = r->numbers + r->terms[e].numbers;
  bool same = true;
  for (size_t k = 0; k < r->shapes[r->shape[e]].numbers && same; k++) {
    const int64_t off = c[k].v - b[k].v - (b[k].v - a[k].v);
    same = off == 0 || (c[k].mod && off % c[k].mod == 0);
  }
  return same;
}

/* Replaces `trip` windows of `by` terms, from `at` on, by a loop. 0: it would save no line, or be
 * nested too deeply. */
static uint32_t loop_of(roller *r, size_t at, size_t by, size_t trip) {
  shape new = {
      .is_loop = true, .term = r->n_children, .trip = (int64_t)trip, .children = by, .lines = 2};
  for (size_t k = at; k < at + by; k++) {
    const shape *s = &r->shapes[r->shape[k]];
    new.lines += s->lines;
    new.numbers += s->numbers;
    new.depth = s->depth > new.depth ? s->depth : new.depth;
  }
  if (++new.depth > NPU_DEPTH || (new.lines - 2) * (int64_t)trip <= new.lines) return 0;
  new.moves = r->n_numbers;
  new.hash = mix(mix(mix(2, new.trip), (int64_t)by), (int64_t) new.numbers);
  for (size_t k = at; k < at + by; k++) {
    r->ok = r->ok && TF_GROW(r->children, r->n_children);
    if (!r->ok) return 0;
    r->children[r->n_children++] = r->shape[k];
    new.hash = mix(new.hash, r->shape[k]);
    for (size_t q = 0; q < r->shapes[r->shape[k]].numbers && r->ok; q++) {
      const number from = r->numbers[r->terms[k].numbers + q];
      const int64_t on = r->numbers[r->terms[k + by].numbers + q].v - from.v;
      add_number(r, from.mod ? (on + from.mod) % from.mod : on, from.mod);
    }
  }
  return r->ok ? shape_of(r, &new) : 0;
}

/* The loop's numbers are those of its first step. */
static term first_step(roller *r, size_t at, size_t by) {
  const term begin = {r->n_numbers};
  for (size_t k = at; k < at + by; k++)
    for (size_t q = 0; q < r->shapes[r->shape[k]].numbers && r->ok; q++)
      add_number(r, r->numbers[r->terms[k].numbers + q].v, r->numbers[r->terms[k].numbers + q].mod);
  return begin;
}

/* Rolls all windows of `by` terms that repeat at least `least` times. */
static void roll(roller *r, size_t by, size_t least) {
  size_t n = 0, sure = 0; /* no window begins before `sure` */
  for (size_t i = 0; i < r->n && r->ok;) {
    size_t e = i + by;
    while (i >= sure && e < r->n && r->shape[e] == r->shape[e - by] &&
           (e < i + 2 * by || continues(r, e, by)))
      e++;
    const bool enough = i >= sure && e - i >= least * by;
    const uint32_t loop = enough ? loop_of(r, i, by, (e - i) / by) : 0;
    if (loop) {
      r->terms[n] = first_step(r, i, by);
      r->shape[n++] = loop;
      i += (e - i) / by * by;
      r->rolled = true;
      continue;
    }
    /* what ended this run ends those that begin up to there, too */
    if (i >= sure && !enough)
      sure = e >= r->n ? r->n : e + 1 - (r->shape[e] == r->shape[e - by] ? 2 : 1) * by;
    r->terms[n] = r->terms[i];
    r->shape[n++] = r->shape[i++];
  }
  r->n = n;
}

/* Tries windows of growing length, short ones again after some were rolled, as long as at most some
 * 2^27 terms are compared. Returns whether any were rolled. */
static bool sweep(roller *r, size_t least) {
  const size_t work = (size_t)1 << 27, few = 64;
  bool any = false;
  for (size_t by = 1; by * least <= r->n && by * r->n <= work && r->ok;) {
    r->rolled = false;
    roll(r, by, least);
    any |= r->rolled;
    by = r->rolled && by <= few ? 1 : by + 1;
  }
  return any;
}

static void roll_all(roller *r) {
  while (r->ok && (sweep(r, 3) || sweep(r, 2))) {
  }
}

/* ---- the program with loops ----------------------------------------------------------------- */
typedef struct {
  const char *name[NPU_DEPTH];
  const number *moves[NPU_DEPTH]; /* increments of the term's numbers for each surrounding loop */
  int64_t trip[NPU_DEPTH];
  int depth;
} nest;

static npu_instr *append_instr(roller *r, npu_op op) {
  npu_instr *i = r->ok ? npu_add(r->out, op) : NULL;
  r->ok = i != NULL;
  return i;
}

/* The slot of step 0, and how many on it is from step to step.  Where that leads past no last slot,
 * the place moves with the loops as any other. */
static void put_ring(place *p, const number *at, const nest *in, size_t nth) {
  npu_ring *g = p->ring;
  int64_t last = g->at = (uint8_t)at->v;
  for (int d = 0; d < in->depth; d++) {
    g->step[d] = (uint8_t)in->moves[d][nth].v;
    last += g->step[d] * (in->trip[d] - 1);
  }
  if (last >= g->n) return;
  *p->base += g->at * g->bytes;
  for (int d = 0; d < in->depth; d++)
    p->step[d] += g->step[d] * g->bytes;
  *g = (npu_ring){0};
}

static void put_instr(roller *r, const shape *s, const number *at, const nest *in) {
  place to[MOST_PLACES];
  size_t nth = 0;
  npu_instr *i = append_instr(r, NPU_BARRIER);
  if (!i) return;
  *i = r->flat->instr[s->term];
  const int n = places_of(i, to);
  for (int k = 0; k < n; k++, nth++) {
    *to[k].base = at[nth].v;
    for (int d = 0; d < in->depth; d++)
      to[k].step[d] = in->moves[d][nth].v;
    if (to[k].ring) nth++, put_ring(&to[k], &at[nth], in, nth);
  }
}

static void put_term(roller *r, uint32_t of, const number *at, nest in) {
  const shape *s = &r->shapes[of];
  if (!s->is_loop) {
    put_instr(r, s, at, &in);
    return;
  }
  const size_t first = r->out->n;
  npu_instr *begin = append_instr(r, NPU_FOR);
  if (!begin) return;
  begin->loop.name = in.name[in.depth];
  begin->loop.trip = s->trip;
  in.trip[in.depth] = s->trip;
  in.moves[in.depth++] = r->numbers + s->moves;
  for (size_t k = 0; k < s->children && r->ok; k++) {
    const uint32_t child = r->children[s->term + k];
    put_term(r, child, at, in);
    at += r->shapes[child].numbers;
    for (int d = 0; d < in.depth; d++)
      in.moves[d] += r->shapes[child].numbers;
  }
  npu_instr *end = append_instr(r, NPU_END);
  if (!end) return;
  end->loop.match = first;
  r->out->instr[first].loop.match = r->out->n - 1;
}

static bool is_taken(const tf_npu *p, const char *name) {
  bool taken = false;
  for (int i = 0; i < p->n_tensors; i++)
    taken |= !strcmp(p->tensor[i].name, name);
  for (int i = 0; i < p->machine.n_memories; i++)
    taken |= !strcmp(p->machine.memory[i].name, name);
  for (int i = 0; i < p->machine.n_queues; i++)
    taken |= !strcmp(p->machine.queue[i], name);
  return taken;
}

/* i0, i1, .., followed by as many _ as make the name unused. */
static const char *loop_name(roller *r, int depth) {
  char name[60] = {'i', (char)('0' + depth)};
  for (size_t n = 2; n < sizeof name - 1 && is_taken(r->flat, name); n++)
    name[n] = '_';
  const char *kept = tf_arena_strndup(r->out->arena, name, strlen(name));
  r->ok = r->ok && kept;
  return kept;
}

static const char *keep(roller *r, const char *name) {
  const char *kept = name ? tf_arena_strndup(r->out->arena, name, strlen(name)) : NULL;
  r->ok = r->ok && (kept || !name);
  return kept;
}

/* The machine and the tensors, with copies of their names. */
static void put_head(roller *r) {
  const tf_npu *p = r->flat;
  npu_machine *m = &r->out->machine;
  r->ok = npu_copy_head(r->out, p) && r->ok;
  m->name = keep(r, m->name);
  for (int i = 0; i < m->n_memories; i++)
    m->memory[i].name = keep(r, m->memory[i].name);
  for (int i = 0; i < m->n_queues; i++)
    m->queue[i] = keep(r, m->queue[i]);
  for (int i = 0; i < r->out->n_tensors; i++)
    r->out->tensor[i].name = keep(r, p->tensor[i].name);
}

static void put_program(roller *r) {
  nest in = {.depth = 0};
  put_head(r);
  for (int d = 0; d < NPU_DEPTH; d++)
    in.name[d] = loop_name(r, d);
  for (size_t k = 0; k < r->n && r->ok; k++)
    put_term(r, r->shape[k], r->numbers + r->terms[k].numbers, in);
  for (size_t k = 0; k < r->out->n && r->ok; k++)
    r->out->instr[k].tag = keep(r, r->out->instr[k].tag);
}

static void end(roller *r) {
  free(r->terms);
  free(r->shape);
  free(r->shapes);
  free(r->numbers);
  free(r->children);
  free(r);
}

/* Of the flat program the instructions of the list, or all. */
static tf_npu *roll_these(const tf_npu *flat, const npu_flagged *f) {
  roller *r = calloc(1, sizeof *r);
  if (!r) return NULL;
  r->flat = flat;
  r->out = npu_new();
  r->terms = calloc(flat->n + 1, sizeof *r->terms);
  r->shape = calloc(flat->n + 1, sizeof *r->shape);
  r->ok = r->out && r->terms && r->shape;
  if (r->ok) {
    shape_of(r, &(shape){.hash = 0, .is_loop = true});
    add_number(r, 0, 0); /* at least one number */
  }
  const size_t n = f ? f->n : flat->n;
  for (size_t k = 0; k < n && r->ok; k++)
    add_instr(r, f ? f->at[k] : k);
  if (r->ok) roll_all(r);
  if (r->ok) put_program(r);
  tf_npu *p = r->out;
  if (!r->ok) tf_npu_free(p);
  p = r->ok ? p : NULL;
  end(r);
  return p;
}

/* NULL: flags stand otherwise than npu_flagged says, or where no few ranges of steps have them. */
static tf_npu *roll_flagged(const tf_npu *flat) {
  npu_flagged f;
  if (!npu_flagged_of(flat, &f)) return NULL;
  tf_npu *p = roll_these(flat, &f);
  if (p && !npu_flagged_put(&f, p)) {
    tf_npu_free(p);
    p = NULL;
  }
  npu_flagged_free(&f);
  return p;
}

tf_npu *npu_roll(const tf_npu *flat) {
  const size_t few = 4; /* times fewer lines, with which nobody looks on */
  tf_npu *apart = roll_flagged(flat);
  if (apart && few * apart->n <= flat->n) return apart;
  tf_npu *p = roll_these(flat, NULL);
  const bool shorter = apart && (!p || apart->n < p->n);
  tf_npu_free(shorter ? p : apart);
  return shorter ? apart : p;
}
