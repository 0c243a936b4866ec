/* Reads instructions, line by line. */
#include <string.h>

#include "base/names.h"
#include "codegen/backend/npu/text/asm_words.h"

enum { MOST_TRIP = 1 << 24 };

/* ---- loops, flags --------------------------------------------------------------------------- */
static void read_for(npu_reader *r, npu_instr *i) {
  char *name = NULL;
  if (r->depth == NPU_DEPTH) {
    tf_fail(r->d, i->loc, TF_E_LIMIT, "loops stand at most %d deep", NPU_DEPTH);
    return;
  }
  i->loop.name = "";
  if ((name = npu_next_name(r, "a loop")) &&
      npu_next_integer(r, "the loop's count", 1, &i->loop.trip))
    npu_ends(r);
  if (i->loop.trip > MOST_TRIP)
    tf_fail(r->d, i->loc, TF_E_RANGE, "a loop has at most %d steps", MOST_TRIP);
  i->loop.name = name ? name : "";
  r->open[r->depth++] = (size_t)(i - r->p->instr);
}

static void read_end(npu_reader *r, npu_instr *i) {
  if (!r->depth) {
    tf_fail(r->d, i->loc, TF_E_SHAPE, "no loop is open here");
    return;
  }
  const size_t first = r->open[--r->depth];
  i->loop.match = first;
  r->p->instr[first].loop.match = (size_t)(i - r->p->instr);
  npu_ends(r);
}

/* if PLACE>=NUMBER, <= or ==: steps that have the flag. */
static bool read_when(npu_reader *r, npu_instr *i, npu_word w) {
  const char *sign = w.s, *end = w.s + w.n;
  while (sign < end && !strchr("<>=", *sign))
    sign++;
  if (end - sign < 2 || sign[1] != '=')
    return npu_fail(r, w, TF_E_SYNTAX, "behind 'if' stands PLACE>=NUMBER, <= or ==");
  int64_t at = 0, step[NPU_DEPTH] = {0}, v = 0, most = INT64_C(1) << NPU_MOST_BITS;
  const npu_word place = {w.s, (size_t)(sign - w.s)}, number = {sign + 2, w.n - place.n - 2};
  if (!npu_read_place(r, place, "a step", &at, step) ||
      !npu_integer(r, number, "a step's number", -most, &v))
    return false;
  bool small = v - at >= -most && v - at <= most;
  for (int k = 0; k < NPU_DEPTH; k++)
    small = small && step[k] >= -most && step[k] <= most;
  if (!small) return npu_fail(r, w, TF_E_RANGE, "numbers of steps are at most 2^%d", NPU_MOST_BITS);
  npu_when *to = &i->flag.when[i->flag.n++];
  for (int k = 0; k < NPU_DEPTH; k++)
    to->step[k] = (int32_t)step[k];
  to->first = *sign == '<' ? NPU_ANY_FIRST : (int32_t)(v - at);
  to->last = *sign == '>' ? NPU_ANY_LAST : (int32_t)(v - at);
  return true;
}

/* Up to the line's end. */
static void read_whens(npu_reader *r, npu_instr *i) {
  npu_word w = npu_next(r);
  for (; w.n && npu_is(w, "if"); w = npu_next(r)) {
    if (i->flag.n == NPU_WHEN) {
      npu_fail(r, w, TF_E_LIMIT, "a flag has at most %d ifs", NPU_WHEN);
      return;
    }
    if (!read_when(r, i, npu_next(r))) return;
  }
  if (w.n) npu_fail(r, w, TF_E_SYNTAX, "the line should end before '%.*s'", (int)w.n, w.s);
}

static void read_flag(npu_reader *r, npu_instr *i) {
  int64_t id = 0;
  if ((i->queue = npu_queue_of(r, npu_next(r))) < 0 ||
      (i->flag.to = npu_queue_of(r, npu_next(r))) < 0)
    return;
  const npu_word w = npu_next(r);
  if (!npu_integer(r, w, "the flag's number", 0, &id)) return;
  i->flag.id = (int)(id < NPU_FLAGS ? id : 0);
  if (id >= NPU_FLAGS)
    npu_fail(r, w, TF_E_RANGE, "flags of two queues are 0 .. %d", NPU_FLAGS - 1);
  else if (i->queue == i->flag.to)
    tf_fail(r->d, i->loc, TF_E_LOOP, "a queue needs no flag for itself: it runs in order");
  else
    read_whens(r, i);
}

/* ---- transfers, vector operations ----------------------------------------------------------- */
/* Dims and a tag, up to the line's end. */
static bool read_rest(npu_reader *r, npu_instr *i, npu_word w) {
  for (; w.n; w = npu_next(r)) {
    if (w.s[0] == '@') {
      i->tag = npu_keep(r, (npu_word){w.s + 1, w.n - 1});
      if (!i->tag || w.n == 1 || !tf_is_name(i->tag, w.n - 1, false))
        return npu_fail(r, w, TF_E_SYNTAX, "behind @ stands a name");
      return npu_ends(r);
    }
    if (!npu_read_dim(r, w, i)) return false;
  }
  return true;
}

static void read_copy(npu_reader *r, npu_instr *i) {
  const npu_machine *m = &r->p->machine;
  if (!npu_read_operand(r, npu_next(r), &i->to, false) ||
      !npu_read_operand(r, npu_next(r), &i->from[0], false))
    return;
  i->via = npu_path_of(m, i->from[0].memory, i->to.memory);
  if (i->via < 0) {
    tf_fail(r->d, i->to.loc, TF_E_NAME, "no path from '%s' to '%s'",
            m->memory[i->from[0].memory].name, m->memory[i->to.memory].name);
    return;
  }
  i->queue = m->path[i->via].queue;
  npu_word w = npu_next(r);
  if (i->op == NPU_LOAD) {
    const char *what[] = {"the window's row", "the window's column", "the image's rows",
                          "the image's columns"};
    for (int k = 0; k < 4; k++, w = npu_next(r)) {
      if (k % 2 == 0 && !npu_is(w, k ? "in" : "at")) {
        npu_fail(r, w, TF_E_SYNTAX, "behind the operands stands: at ROW COLUMN in ROWS COLUMNS");
        return;
      }
      if (k % 2 == 0) w = npu_next(r);
      if (!(k < 2 ? npu_read_place(r, w, what[k], &i->window.origin[k], i->window.step[k])
                  : npu_integer(r, w, what[k], 1, &i->window.size[k - 2])))
        return;
    }
  }
  read_rest(r, i, w);
}

static bool is_in(npu_reader *r, const npu_operand *o, int memory, const char *what) {
  if (o->memory < 0 || o->memory == memory) return true;
  return tf_fail(r->d, o->loc, TF_E_LEVEL, "%s is in '%s', not in '%s'", what,
                 r->p->machine.memory[memory].name, r->p->machine.memory[o->memory].name);
}

static void read_vector(npu_reader *r, npu_instr *i) {
  const npu_vector *v = &r->p->machine.vector;
  if (v->queue < 0) {
    tf_fail(r->d, i->loc, TF_E_UNITKIND, "the machine has no vector unit");
    return;
  }
  i->queue = v->queue;
  if (!npu_read_operand(r, npu_next(r), &i->to, false) ||
      !is_in(r, &i->to, v->memory, "what the vector unit makes"))
    return;
  for (int k = 0; k < npu_facts_of(i->op)->sources; k++)
    if (!npu_read_operand(r, npu_next(r), &i->from[k], true) ||
        !is_in(r, &i->from[k], v->memory, "what the vector unit reads"))
      return;
  read_rest(r, i, npu_next(r));
}

static void read_mad(npu_reader *r, npu_instr *i) {
  const npu_cube *c = &r->p->machine.cube;
  if (c->queue < 0) {
    tf_fail(r->d, i->loc, TF_E_UNITKIND, "the machine has no cube");
    return;
  }
  i->queue = c->queue;
  if (!npu_read_operand(r, npu_next(r), &i->to, false) ||
      !npu_read_operand(r, npu_next(r), &i->from[0], false) ||
      !npu_read_operand(r, npu_next(r), &i->from[1], false) ||
      !is_in(r, &i->to, c->sums, "what the cube sums") ||
      !is_in(r, &i->from[0], c->left, "the cube's left operand") ||
      !is_in(r, &i->from[1], c->right, "the cube's right operand") ||
      !npu_next_integer(r, "m", 1, &i->mad.m) || !npu_next_integer(r, "n", 1, &i->mad.n) ||
      !npu_next_integer(r, "k", 1, &i->mad.k))
    return;
  if (i->mad.m > 1 << 20 || i->mad.n > 1 << 20 || i->mad.k > 1 << 20) {
    tf_fail(r->d, i->loc, TF_E_RANGE, "m, n and k are at most 2^20");
    return;
  }
  npu_word w = npu_next(r);
  i->mad.add = npu_is(w, "add");
  if (!i->mad.add && !npu_is(w, "set")) {
    npu_fail(r, w, TF_E_SYNTAX, "behind the sizes stands set or add");
    return;
  }
  w = npu_next(r);
  if (npu_is(w, "ld")) {
    for (int k = 0; k < 3; k++)
      if (!npu_next_integer(r, "elements from row to row", 1, &i->mad.ld[k])) return;
    w = npu_next(r);
  } else if (c->rows) {
    npu_fail(r, w, TF_E_MISSING,
             "this cube's operands lie in rows: ld and the elements from row to row of sums, left "
             "and right");
    return;
  }
  if (w.n && w.s[0] != '@')
    npu_fail(r, w, TF_E_SYNTAX, "mad has no dims");
  else
    read_rest(r, i, w);
}

/* ---- any instruction ------------------------------------------------------------------------ */
static void read_as(npu_reader *r, npu_instr *i) {
  switch (i->op) {
  case NPU_FOR: read_for(r, i); return;
  case NPU_END: read_end(r, i); return;
  case NPU_SET:
  case NPU_WAIT: read_flag(r, i); return;
  case NPU_BARRIER: npu_ends(r); return;
  case NPU_COPY:
  case NPU_LOAD: read_copy(r, i); return;
  case NPU_MAD: read_mad(r, i); return;
  default: read_vector(r, i); return;
  }
}

void npu_read_instr(npu_reader *r, npu_word first) {
  tf_near near = tf_near_start(first.s, first.n);
  for (int op = 0; op < NPU_N_OPS; op++) {
    tf_near_offer(&near, npu_facts_of((npu_op)op)->name);
    if (!npu_is(first, npu_facts_of((npu_op)op)->name)) continue;
    npu_instr *i = npu_add(r->p, (npu_op)op);
    if (!i) {
      npu_fail(r, first, TF_E_LIMIT, "out of memory");
      return;
    }
    i->loc = npu_loc(r, first);
    read_as(r, i);
    return;
  }
  char text[120];
  npu_fail(r, first, TF_E_NAME, "no instruction '%.*s'%s", first.n > 40 ? 40 : (int)first.n,
           first.s, tf_near_text(&near, text, sizeof text));
}
