/* Words of intermediates that nests other than products fetch and write back, where these do not
 * stay in the first cache from one nest to the next. The model counts these words, too, but lets
 * them overlap with computation, of which such nests have too little. */
#include "codegen/backend/cpu/pass/cost.h"
#include "codegen/backend/cpu/pass/loops.h"
#include "codegen/backend/cpu/pass/pass.h"

typedef struct {
  const ir_program *p;
  double close_words; /* words that stay in the first cache */
  double *fetched;    /* [buffer] words accessed so far at the buffer's place; 0: none */
  double *rewritten;  /* [buffer] those of them that are written */
} traffic;

/* Whether tiles of the op's nests map its sums before they store. */
static bool maps_sums(const ir_body *b, int op) {
  for (int i = 0; i < b->n; i++) {
    const ir_stmt *s = b->s[i];
    const cpu_note *of = cpu_of(s);
    if (s->kind == IR_NEST && s->op == op && (of->map || (of->window && of->window->n_maps > 0)))
      return true;
    if (maps_sums(&s->body, op)) return true;
  }
  return false;
}

bool tf_cost_in_registers(const ir_program *p, int tensor) {
  const tf_tensor *z = &p->tree->workload->tensors[tensor];
  return z->producer >= 0 && z->n_consumers == 1 && maps_sums(&p->body, z->producer);
}

/* The buffer whose memory holds the tensor while a nest accesses it; -1: it is an argument's, or
 * stays in the first cache or in registers. */
static int place_of(const traffic *t, int tensor) {
  int b = t->p->buffer_of[tensor];
  if (b < 0 || t->p->buffers[b].role == IR_ARGUMENT ||
      (double)t->p->buffers[b].words <= t->close_words || tf_cost_in_registers(t->p, tensor))
    return -1;
  while (t->p->buffers[b].shares >= 0)
    b = t->p->buffers[b].shares;
  return b;
}

/* Records the box of a tensor each of whose ranks is moved by one dim; intermediates that windows
 * read are rarely mapped. */
static void note_box(traffic *t, const ir_stmt *s, const tf_ref *ref, int tensor) {
  const tf_op *op = &t->p->tree->workload->ops[s->op];
  const int b = place_of(t, tensor);
  if (b < 0) return;
  double words =
      (double)ir_bytes(t->p->buffers[t->p->buffer_of[tensor]].type) / (double)sizeof(float);
  for (int k = 0; k < op->n_dims; k++) {
    bool moves = !ref && k < op->n_out_dims;
    for (int r = 0; ref && r < t->p->tree->workload->tensors[tensor].rank; r++)
      for (int i = 0; i < ref->index[r].n_terms; i++)
        moves |= ref->index[r].terms[i].dim == op->dims[k];
    if (moves) words *= (double)s->range[k].most;
  }
  if (words > t->fetched[b]) t->fetched[b] = words;
  if (!ref && words > t->rewritten[b]) t->rewritten[b] = words;
}

static bool is_passed(const ir_stmt *s) { return s->kind == IR_NEST && !cpu_of(s)->product; }

static void note_nest(traffic *t, const ir_stmt *s) {
  const tf_op *op = &t->p->tree->workload->ops[s->op];
  if (!is_passed(s)) return;
  for (int i = 0; i < op->n_reads; i++)
    note_box(t, s, &op->reads[i], op->reads[i].tensor);
  note_box(t, s, NULL, op->out);
}

/* Words to fetch and to write back of what was recorded, which is then cleared. */
static double take_noted_words(traffic *t) {
  double words = 0;
  for (int i = 0; i < t->p->n_buffers; i++) {
    words += t->fetched[i] + t->rewritten[i];
    t->fetched[i] = t->rewritten[i] = 0;
  }
  return words;
}

/* Words per cycle that a core gets from the innermost memory that holds all intermediates. */
static double rate(const ir_program *p) {
  const tf_arch *a = p->tree->arch;
  double held = 0, cores = 1;
  int from = tf_arch_near_cache(a);
  for (int i = 0; i < p->n_buffers; i++)
    if (p->buffers[i].role != IR_ARGUMENT && p->buffers[i].shares < 0)
      held += (double)p->buffers[i].words * (double)p->buffers[i].slots;
  while (from > 0 && a->memories[from].capacity_words >= 0 &&
         held > (double)a->memories[from].capacity_words) {
    cores *= (double)(a->memories[from].mesh[0] * a->memories[from].mesh[1]);
    from--;
  }
  return a->memories[from].read_bw / cores;
}

double tf_cost_traffic(const ir_program *p, const ir_body *b, bool together) {
  traffic t = {.p = p, .close_words = p->tree->arch->core.l1_resident / (double)sizeof(float)};
  t.fetched = TF_ARRAY(p->arena, double, (size_t)p->n_buffers + 1);
  t.rewritten = TF_ARRAY(p->arena, double, (size_t)p->n_buffers + 1);
  if (!t.fetched || !t.rewritten) return -1;
  double each = 0;
  for (int i = 0; i < b->n; i++) {
    note_nest(&t, b->s[i]);
    each += take_noted_words(&t);
  }
  for (int i = 0; i < b->n; i++)
    note_nest(&t, b->s[i]);
  const double once = take_noted_words(&t);
  return (together || once <= t.close_words ? once : each) / rate(p);
}
