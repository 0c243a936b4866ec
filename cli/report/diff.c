#include "cli/report/diff.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/report/report.h"

const char *diff_kind_key(diff_kind k) {
  static const char *const key[] = {"total", "cycles", "energy_pj", "words", "held_words", "used"};
  return key[k];
}

static diff_term *find(diff *d, diff_term t) {
  for (int i = 0; i < d->n; i++) {
    const diff_term *x = &d->terms[i];
    if (x->kind == t.kind && !strcmp(x->name, t.name) && !x->tensor == !t.tensor &&
        (!t.tensor || (!strcmp(x->tensor, t.tensor) && !strcmp(x->counter, t.counter))))
      return &d->terms[i];
  }
  d->bad |= !CLI_GROW(d->terms, d->n);
  if (d->bad) return NULL;
  d->terms[d->n] = t;
  return &d->terms[d->n++];
}

/* Enters a figure of one side at its name, or as a new term at the end. */
static void put_term(diff *d, bool second, diff_term t, double value) {
  diff_term *at = find(d, t);
  if (at) *(second ? &at->b : &at->a) = value;
}

static void put_memory(diff *d, bool second, const cli_session *s, int l) {
  const tf_level_result *r = &s->result.levels[l];
  const char *name = s->spec->arch->memories[l].name;
  put_term(d, second, (diff_term){.kind = DIFF_CYCLES, .name = name}, r->cycles);
  put_term(d, second, (diff_term){.kind = DIFF_ENERGY, .name = name}, r->energy_pj);
  put_term(d, second, (diff_term){.kind = DIFF_HELD, .name = name}, (double)r->peak);
  put_term(d, second, (diff_term){.kind = DIFF_USED, .name = name}, (double)r->instances);
  for (int z = 0; z < s->spec->workload->n_tensors; z++) {
    const char *tensor = s->spec->workload->tensors[z].name;
    const cli_words w = cli_tensor_words(s, l, z);
    put_term(d, second, (diff_term){DIFF_WORDS, name, tensor, "fill", 0, 0}, w.fill);
    put_term(d, second, (diff_term){DIFF_WORDS, name, tensor, "read", 0, 0}, w.read);
    put_term(d, second, (diff_term){DIFF_WORDS, name, tensor, "update", 0, 0}, w.update);
    put_term(d, second, (diff_term){DIFF_WORDS, name, tensor, "drain", 0, 0}, w.drain);
  }
}

static void put_side(diff *d, bool second) {
  const cli_session *s = second ? d->b : d->a;
  const tf_result *r = &s->result;
  put_term(d, second, (diff_term){.kind = DIFF_TOTAL, .name = "cycles"}, r->cycles);
  put_term(d, second, (diff_term){.kind = DIFF_TOTAL, .name = "energy_pj"}, r->energy_pj);
  put_term(d, second, (diff_term){.kind = DIFF_TOTAL, .name = "edp"}, r->energy_pj * r->seconds);
  put_term(d, second, (diff_term){.kind = DIFF_TOTAL, .name = "traffic_words"},
           cli_outer_traffic(s));
  put_term(d, second, (diff_term){.kind = DIFF_TOTAL, .name = "points"}, (double)r->points);
  put_term(d, second, (diff_term){.kind = DIFF_TOTAL, .name = "compute_utilization"},
           r->compute_utilization);
  if (r->leakage_pj > 0)
    put_term(d, second, (diff_term){.kind = DIFF_ENERGY, .name = "leakage"}, r->leakage_pj);
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    put_memory(d, second, s, l);
  for (int u = 0; u < s->spec->arch->n_units; u++) {
    const char *name = s->spec->arch->units[u].name;
    put_term(d, second, (diff_term){.kind = DIFF_CYCLES, .name = name}, r->units[u].cycles);
    put_term(d, second, (diff_term){.kind = DIFF_ENERGY, .name = name}, r->units[u].energy_pj);
    put_term(d, second, (diff_term){.kind = DIFF_USED, .name = name}, (double)r->units[u].units);
  }
}

static int by_difference(const void *pa, const void *pb) {
  const diff_term *a = pa, *b = pb;
  const double x = fabs(a->b - a->a), y = fabs(b->b - b->a);
  if (a->kind != b->kind) return (int)a->kind - (int)b->kind;
  if (x != y) return x < y ? 1 : -1;
  int order = strcmp(a->name, b->name);
  if (!order && a->tensor) order = strcmp(a->tensor, b->tensor);
  return order || !a->counter ? order : strcmp(a->counter, b->counter);
}

void diff_make(diff *d) {
  put_side(d, false);
  put_side(d, true);
  int totals = 0; /* totals keep their order */
  while (totals < d->n && d->terms[totals].kind == DIFF_TOTAL)
    totals++;
  if (d->n) qsort(d->terms + totals, (size_t)(d->n - totals), sizeof *d->terms, by_difference);
}

void diff_free(diff *d) {
  free(d->terms);
  *d = (diff){0};
}

/* Words of cause r that belong to term t, at its memory and counter. */
static int64_t part(const cli_session *s, const diff_term *t, const tf_why_row *r) {
  const tf_memory *m = s->spec->arch->memories;
  const bool above = !strcmp(m[r->above].name, t->name),
             own = r->level >= 0 && !strcmp(m[r->level].name, t->name);
  if (strcmp(s->spec->workload->tensors[r->tensor].name, t->tensor) != 0) return 0;
  if (!strcmp(t->counter, "read")) return above ? r->words.read : 0;
  if (!strcmp(t->counter, "update")) return above ? r->words.update : 0;
  return !own ? 0 : !strcmp(t->counter, "fill") ? r->words.fill : r->words.drain;
}

int diff_causes(const cli_session *s, const diff_term *t, const tf_why_row **rows, int room) {
  int n = 0;
  for (int i = 0; i < s->why.n && t->tensor; i++) {
    const tf_why_row *r = &s->why.rows[i];
    const int64_t words = part(s, t, r);
    int at = n;
    if (!words || r->cause == TF_WHY_FIRST) continue;
    while (at > 0 && part(s, t, rows[at - 1]) < words)
      at--;
    if (at == room) continue;
    int moved = n < room ? n - at : room - 1 - at;
    memmove(&rows[at + 1], &rows[at], (size_t)moved * sizeof *rows);
    rows[at] = r;
    n += n < room;
  }
  return n;
}
