/* Reads the machine's description, line by line, and tensors. */
#include <inttypes.h>
#include <string.h>

#include "base/names.h"
#include "codegen/backend/npu/text/asm_words.h"

/* ---- pairs of a key and a number, after the first words of a line --------------------------- */
typedef struct {
  const char *key;
  double *real;   /* either this */
  int64_t *whole; /* or this; at least 1 */
} pair;

static bool read_pair(npu_reader *r, npu_word key, const pair *pairs, size_t n) {
  tf_near near = tf_near_start(key.s, key.n);
  for (size_t i = 0; i < n; i++) {
    if (npu_is(key, pairs[i].key))
      return pairs[i].real ? npu_next_real(r, pairs[i].key, pairs[i].real)
                           : npu_next_integer(r, pairs[i].key, 1, pairs[i].whole);
    tf_near_offer(&near, pairs[i].key);
  }
  char text[120];
  return npu_fail(r, key, TF_E_KEY, "unknown key '%.*s'%s", key.n > 40 ? 40 : (int)key.n, key.s,
                  tf_near_text(&near, text, sizeof text));
}

static bool read_pairs(npu_reader *r, const pair *pairs, size_t n) {
  for (npu_word key = npu_next(r); key.n; key = npu_next(r))
    if (!read_pair(r, key, pairs, n)) return false;
  return true;
}

static bool is_full(npu_reader *r, npu_word w, const char *what, int n, int most) {
  return n >= most && !npu_fail(r, w, TF_E_LIMIT, "a machine has at most %d %s", most, what);
}

/* ---- lines ---------------------------------------------------------------------------------- */
static void machine(npu_reader *r, npu_word w) {
  if (r->p->machine.name)
    npu_fail(r, w, TF_E_DUP, "a second machine");
  else if ((r->p->machine.name = npu_next_name(r, "the machine")))
    npu_ends(r);
}

static void memory(npu_reader *r, npu_word w) {
  npu_machine *m = &r->p->machine;
  if (is_full(r, w, "memories", m->n_memories, NPU_MEMORIES)) return;
  npu_memory new = {.name = npu_next_name(r, "a memory"), .align = 1};
  const pair pairs[] = {{"bytes", NULL, &new.bytes}, {"align", NULL, &new.align}};
  if (!new.name || !read_pairs(r, pairs, 2)) return;
  if (m->n_memories == 0 && new.bytes)
    npu_fail(r, w, TF_E_RANGE, "the first memory holds the tensors: it is as large as they are");
  else if (m->n_memories && (!new.bytes || new.bytes > INT64_C(1) << 28))
    npu_fail(r, w, TF_E_MISSING, "'%s' needs its bytes, at most 2^28", new.name);
  else
    m->memory[m->n_memories++] = new;
}

static void queue(npu_reader *r, npu_word w) {
  npu_machine *m = &r->p->machine;
  if (is_full(r, w, "queues", m->n_queues, NPU_QUEUES)) return;
  char *name = npu_next_name(r, "a queue");
  if (name && npu_ends(r)) m->queue[m->n_queues++] = name;
}

static void path(npu_reader *r, npu_word w) {
  npu_machine *m = &r->p->machine;
  if (is_full(r, w, "paths", m->n_paths, NPU_PATHS)) return;
  npu_path new = {.words = 0};
  if ((new.from = npu_memory_of(r, npu_next(r))) < 0 ||
      (new.to = npu_memory_of(r, npu_next(r))) < 0 ||
      (new.queue = npu_queue_of(r, npu_next(r))) < 0)
    return;
  const pair pairs[] = {{"words", &new.words, NULL}, {"latency", &new.latency, NULL}};
  if (!read_pairs(r, pairs, 2)) return;
  if (npu_path_of(m, new.from, new.to) >= 0)
    npu_fail(r, w, TF_E_DUP, "a second path from '%s' to '%s'", m->memory[new.from].name,
             m->memory[new.to].name);
  else
    m->path[m->n_paths++] = new;
}

static void cube(npu_reader *r, npu_word w) {
  npu_machine *m = &r->p->machine;
  npu_cube new = {.m = 16, .n = 16, .k = 16, .cycles = 1};
  if (m->cube.queue >= 0) {
    npu_fail(r, w, TF_E_DUP, "a second cube");
    return;
  }
  if ((new.queue = npu_queue_of(r, npu_next(r))) < 0 ||
      (new.sums = npu_memory_of(r, npu_next(r))) < 0 ||
      (new.left = npu_memory_of(r, npu_next(r))) < 0 ||
      (new.right = npu_memory_of(r, npu_next(r))) < 0)
    return;
  const npu_word how = npu_next(r);
  if (!npu_is(how, "blocks") && !npu_is(how, "rows")) {
    npu_fail(r, how, TF_E_SYNTAX, "here stands how operands lie: blocks or rows");
    return;
  }
  new.rows = npu_is(how, "rows");
  const pair pairs[] = {{"m", NULL, &new.m},       {"n", NULL, &new.n},
                        {"k", NULL, &new.k},       {"cycles", &new.cycles, NULL},
                        {"fill", &new.fill, NULL}, {"latency", &new.latency, NULL}};
  if (read_pairs(r, pairs, sizeof pairs / sizeof *pairs)) m->cube = new;
}

static void vector(npu_reader *r, npu_word w) {
  npu_machine *m = &r->p->machine;
  npu_vector new = {.lanes = 1};
  if (m->vector.queue >= 0) {
    npu_fail(r, w, TF_E_DUP, "a second vector unit");
    return;
  }
  if ((new.queue = npu_queue_of(r, npu_next(r))) < 0 ||
      (new.memory = npu_memory_of(r, npu_next(r))) < 0)
    return;
  const pair pairs[] = {
      {"lanes", NULL, &new.lanes}, {"latency", &new.latency, NULL}, {"port", &new.port, NULL}};
  if (!read_pairs(r, pairs, 3)) return;
  if (new.port >= 1)
    npu_fail(r, w, TF_E_RANGE, "the vector unit's part of the cube's port is less than 1");
  else
    m->vector = new;
}

/* ---- tensors -------------------------------------------------------------------------------- */
static bool read_type(npu_reader *r, npu_type *t) {
  const npu_word w = npu_next(r);
  for (int i = 0; i < NPU_N_TYPES; i++)
    if (npu_is(w, npu_type_name((npu_type)i))) return *t = (npu_type)i, true;
  return npu_fail(r, w, TF_E_NAME, "'%.*s' is no type; known: f16, f32", w.n > 40 ? 40 : (int)w.n,
                  w.s);
}

static int tensor_of(npu_reader *r, npu_word w) {
  tf_near near = tf_near_start(w.s, w.n);
  char text[120];
  for (int i = 0; i < r->p->n_tensors; i++) {
    if (npu_is(w, r->p->tensor[i].name)) return i;
    tf_near_offer(&near, r->p->tensor[i].name);
  }
  if (w.n == 0)
    npu_fail(r, w, TF_E_MISSING, "here stands the tensor in whose bytes it lies");
  else
    npu_fail(r, w, TF_E_NAME, "no tensor '%.*s'%s", w.n > 40 ? 40 : (int)w.n, w.s,
             tf_near_text(&near, text, sizeof text));
  return -1;
}

/* `at TENSOR BYTES` after tmp: it lies in that one's bytes. False: the text is wrong. */
static bool read_within(npu_reader *r, npu_word side, npu_tensor *z) {
  const npu_tensor *of;
  const char *before = r->next;
  const npu_word at = npu_next(r);
  if (!npu_is(at, "at")) return r->next = before, true;
  if (!npu_is(side, "tmp"))
    return npu_fail(r, at, TF_E_SYNTAX, "only a tmp tensor lies in another's bytes");
  const int i = tensor_of(r, npu_next(r));
  const npu_word bytes = i < 0 ? (npu_word){0} : npu_next(r);
  if (i < 0 || !npu_integer(r, bytes, "the byte at which it begins", 0, &z->offset)) return false;
  of = &r->p->tensor[i];
  z->within = i + 1;
  const int64_t size = npu_type_bytes(z->type), room = of->words * npu_type_bytes(of->type);
  if (z->offset % size || z->offset + z->words * size > room)
    return npu_fail(r, bytes, TF_E_RANGE,
                    "bytes %" PRId64 " .. %" PRId64 " of '%s', which has %" PRId64
                    ": it lies in them, on multiples of %" PRId64,
                    z->offset, z->offset + z->words * size - 1, of->name, room, size);
  return true;
}

static void tensor(npu_reader *r, npu_word w) {
  tf_npu *p = r->p;
  if (p->n_tensors == NPU_TENSORS) {
    npu_fail(r, w, TF_E_LIMIT, "a program has at most %d tensors", NPU_TENSORS);
    return;
  }
  if (!p->machine.n_memories) {
    npu_fail(r, w, TF_E_ORDER, "tensors stand behind the first memory, which holds them");
    return;
  }
  npu_tensor new = {.name = npu_next_name(r, "a tensor")};
  if (!new.name || !read_type(r, &new.type)) return;
  const npu_word words = npu_next(r);
  if (!npu_integer(r, words, "the tensor's elements", 1, &new.words)) return;
  const npu_word side = npu_next(r);
  new.loc = npu_loc(r, side);
  new.in = npu_is(side, "in") || npu_is(side, "inout");
  new.out = npu_is(side, "out") || npu_is(side, "inout");
  const int64_t bytes = new.words *npu_type_bytes(new.type);
  if (!new.in && !new.out && !npu_is(side, "tmp"))
    npu_fail(r, side, TF_E_SYNTAX, "here stands what the tensor is: in, out, inout or tmp");
  else if (!read_within(r, side, &new) || !npu_ends(r))
    return;
  else if (!new.within && p->bytes + bytes > INT64_C(1) << 30)
    npu_fail(r, words, TF_E_LIMIT, "the tensors are larger than 2^30 bytes together");
  else if (!npu_add_tensor(p, new))
    tf_out_of_memory(r->d);
}

bool npu_read_machine(npu_reader *r, npu_word first) {
  static const struct {
    const char *key;
    void (*read)(npu_reader *r, npu_word w);
  } rows[] = {{"machine", machine}, {"memory", memory}, {"queue", queue},  {"path", path},
              {"cube", cube},       {"vector", vector}, {"tensor", tensor}};
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
    if (npu_is(first, rows[i].key)) {
      if (r->p->n)
        npu_fail(r, first, TF_E_ORDER,
                 "the machine and its tensors stand before the first instruction");
      else
        rows[i].read(r, first);
      return true;
    }
  return false;
}
