/* The machine of an architecture. A chain of memories describes one core. It is of Ascend's kind if
 * they are called L1, UB and L0, whose parts tell what holds the cube's operands and sums;
 * otherwise it has an outermost memory, one buffer and an array with registers, and the cube reads
 * rows of the buffer. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "codegen/backend/npu/pass/pass.h"

enum {
  GM,
  L1,
  UB,
  L0C,
  L0A,
  L0B
}; /* memories of Ascend's kind, in this order; L0's by their parts */
enum { MTE2, MTE1, CUBE, VECTOR, MTE3, QUEUES }; /* queues of both kinds */
static const char *const queues[QUEUES] = {"mte2", "mte1", "cube", "vector", "mte3"};

static int level_of(const tf_arch *a, const char *name) {
  for (int i = 0; i < a->n_memories; i++)
    if (!strcmp(a->memories[i].name, name)) return i;
  return -1;
}

static int64_t cores(const tf_memory *m) { return m->mesh[0] * m->mesh[1]; }
static double rate(double words) { return isfinite(words) ? words : 0; }
static double slower(double a, double b) { return a < b ? a : b; }

static void add_path(npu_machine *m, int from, int to, int queue, double words,
                     const tf_memory *outer) {
  m->path[m->n_paths++] = (npu_path){from, to, queue, rate(words), outer->latency + outer->issue};
}

/* `of`: the architecture's memory. */
static bool add_memory(npu_machine *m, npu_memory as, const tf_memory *of, tf_diags *d) {
  m->memory[m->n_memories++] = as;
  return m->n_memories == 1 || (as.bytes > 0 && as.bytes <= INT64_C(1) << 28) ||
         tf_fail(d, of->capacity_words < 0 ? of->at : of->capacity_at, TF_E_CAPACITY,
                 "emit: '%.40s' of an NPU needs a capacity, at most 2^28 bytes", as.name);
}

static int64_t bytes_of(const tf_memory *m) {
  return m->capacity_words < 0 ? 0 : m->capacity_words * m->word_bits / 8;
}

/* The part of L0 that holds one kind of operands. */
static bool add_part(npu_machine *m, const tf_memory *of, tf_role role, tf_diags *d) {
  static const char *const key[TF_N_ROLES] = {"left", "right", "result"};
  for (int i = 0; i < of->parts.n; i++) {
    const tf_mem_part *p = &of->parts.list[i];
    if (p->roles == 1u << role)
      return add_memory(m, (npu_memory){p->name, p->capacity_words * of->word_bits / 8, 32}, of, d);
  }
  return tf_fail(d, of->at, TF_E_MISSING,
                 "emit: 'L0' of an NPU needs a part that holds '%s' alone, such as {name: %s, "
                 "holds: [%s], capacity: 64 KiB} in its 'parts'",
                 key[role],
                 role == TF_ROLE_LEFT    ? "L0A"
                 : role == TF_ROLE_RIGHT ? "L0B"
                                         : "L0C",
                 key[role]);
}

/* The units that multiply, or the others; -1: none. */
static int unit_of(const tf_arch *a, bool mac) {
  for (int i = 0; i < a->n_units; i++)
    if ((a->units[i].kinds >> TF_K_MAC & 1) == mac) return i;
  return -1;
}

static void add_vector(const tf_arch *a, npu_target *t) {
  const int u = unit_of(a, false);
  t->vector_level = u < 0 ? -1 : a->units[u].below;
  if (u < 0 || t->vector_level >= NPU_LEVELS || t->memory_of[t->vector_level] < 0) return;
  const double lanes = (double)(a->units[u].mesh[0] * a->units[u].mesh[1]) * a->units[u].rate;
  t->machine.vector = (npu_vector){VECTOR, t->memory_of[t->vector_level],
                                   lanes >= 1 ? (int64_t)lanes : 1, a->units[u].pipeline, 0};
}

/* ---- of Ascend's kind ----------------------------------------------------------------------- */
static bool line_of(const tf_arch *a, npu_target *t, tf_diags *d) {
  const int l1 = level_of(a, "L1"), ub = level_of(a, "UB"), l0 = level_of(a, "L0"),
            mac = unit_of(a, true);
  const tf_memory *g = &a->memories[0], *one = &a->memories[l1], *u = &a->memories[ub],
                  *zero = &a->memories[l0];
  npu_machine *m = &t->machine;
  const int v = unit_of(a, false);
  if (v >= 0 && a->units[v].below == l0)
    return tf_fail(
        d, a->units[v].at, TF_E_LEVEL,
        "emit: the vector unit '%.40s' of an NPU works in UB, not in the cube's memory: below: UB",
        a->units[v].name);
  if (!add_memory(m, (npu_memory){g->name, 0, 1}, g, d) ||
      !add_memory(m, (npu_memory){"L1", bytes_of(one), 32}, one, d) ||
      !add_memory(m, (npu_memory){"UB", bytes_of(u), 32}, u, d) ||
      !add_part(m, zero, TF_ROLE_RESULT, d) || !add_part(m, zero, TF_ROLE_LEFT, d) ||
      !add_part(m, zero, TF_ROLE_RIGHT, d))
    return false;
  for (int l = 0; l < l1 && l < ub && l < l0; l++)
    t->memory_of[l] = GM; /* shared caches are passed through, without storage of their own */
  t->memory_of[l1] = L1;
  t->memory_of[ub] = UB;
  t->memory_of[l0] = L0C;
  t->deep = l0;
  add_path(m, GM, L1, MTE2, g->read_bw, g);
  add_path(m, GM, UB, MTE2, g->read_bw, g);
  add_path(m, L1, L0A, MTE1, one->read_bw, one);
  add_path(m, L1, L0B, MTE1, one->read_bw, one);
  add_path(m, L1, UB, MTE1, one->read_bw, one);
  add_path(m, L0C, UB, VECTOR, slower(zero->read_bw, u->write_bw), zero);
  add_path(m, UB, L0C, VECTOR, slower(u->read_bw, zero->write_bw), u);
  add_path(m, UB, L1, MTE3, slower(u->read_bw, one->write_bw), u);
  add_path(m, UB, GM, MTE3, g->write_bw, g);
  add_path(m, L1, GM, MTE3, g->write_bw, g);
  const double macs = (double)(a->units[mac].mesh[0] * a->units[mac].mesh[1]) * a->units[mac].rate;
  m->cube =
      (npu_cube){CUBE, L0C, L0A, L0B, 16, 16, 16, 4096 / macs, 0, a->units[mac].pipeline, false};
  return true;
}

/* ---- a buffer and an array ------------------------------------------------------------------ */
/* The array holds a block of the left operand, loaded through the buffer's port; for each column of
 * the product a column of the right operand and of the sums passes that port. */
static bool array_of(const tf_arch *a, npu_target *t, tf_diags *d) {
  const tf_memory *g = &a->memories[0], *buffer = &a->memories[1], *reg = &a->memories[2];
  const tf_unit *mac = &a->units[unit_of(a, true)];
  npu_machine *m = &t->machine;
  const int64_t high = reg->mesh[0], deep = reg->mesh[1];
  const int64_t align = a->word_bits / 8;
  if (!add_memory(m, (npu_memory){g->name, 0, 1}, g, d) ||
      !add_memory(m, (npu_memory){buffer->name, bytes_of(buffer), align}, buffer, d))
    return false;
  t->flat = true;
  t->memory_of[0] = 0;
  t->memory_of[1] = 1;
  t->deep = 1;
  add_path(m, 0, 1, MTE2, slower(g->read_bw, buffer->write_bw), g);
  add_path(m, 1, 0, MTE3, g->write_bw, g);
  const double column = (double)(high + deep) / buffer->read_bw,
               fill = (double)(high * deep) / buffer->read_bw;
  m->cube = (npu_cube){CUBE, 1,
                       1,    1,
                       high, 1,
                       deep, column > 1 / mac->rate ? column : 1 / mac->rate,
                       fill, mac->pipeline,
                       true};
  return true;
}

/* The array and the vector unit share the buffer's read port: half of a vector operation's words
 * are read, half written, and meanwhile the array has the rest of the port. */
static void share_port(const tf_arch *a, npu_target *t) {
  npu_vector *v = &t->machine.vector;
  const double port = a->memories[1].read_bw, half = port / 2;
  if (v->queue < 0 || v->memory != t->machine.cube.sums || !isfinite(port)) return;
  if ((double)v->lanes > half) v->lanes = half >= 1 ? (int64_t)half : 1;
  v->port = (double)v->lanes < port ? (double)v->lanes / port : 0;
}

bool npu_target_of(const tf_arch *a, npu_target *t, tf_diags *d) {
  memset(t, 0, sizeof *t);
  memset(t->memory_of, -1, sizeof t->memory_of);
  t->machine.name = a->name;
  t->machine.cube.queue = t->machine.vector.queue = -1;
  t->machine.n_queues = QUEUES;
  memcpy(t->machine.queue, queues, sizeof queues);
  t->doubled = a->overlap != TF_OVERLAP_NONE;
  const bool line = level_of(a, "L1") > 0 && level_of(a, "UB") > 0 && level_of(a, "L0") > 0;
  const bool array =
      a->n_memories == 3 && cores(&a->memories[1]) == 1 && cores(&a->memories[2]) > 1;
  if (a->n_memories > NPU_LEVELS || unit_of(a, true) < 0 || (!line && !array))
    return tf_fail(d, a->at, TF_E_LEVEL,
                   "emit: '%.40s' is no NPU: that has L1, UB and L0, or one buffer and an array's "
                   "registers (docs/NPU.md)",
                   a->name);
  if (!(line ? line_of(a, t, d) : array_of(a, t, d))) return false;
  add_vector(a, t);
  if (!line) share_port(a, t);
  return true;
}

void npu_stop(npu_build *b, tf_loc at, const char *fmt, ...) {
  char text[240];
  va_list args;
  if (!b->ok) return;
  va_start(args, fmt);
  vsnprintf(text, sizeof text, fmt, args);
  va_end(args);
  b->ok = tf_fail(b->d, at, TF_E_LIMIT, "emit for npu: %s", text);
}

int npu_level_of(const npu_build *b, int o) {
  return b->product[o] ? b->t.deep : b->t.vector_level;
}
