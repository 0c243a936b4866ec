#include "sweep/sweep_wire.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"

/* ---- bytes ---------------------------------------------------------------------------------- */
static bool put_bytes(tf_bytes *b, const void *what, size_t n) {
  if (!tf_grow_text(&b->at, &b->room, b->n + n)) return false;
  if (n) memcpy(b->at + b->n, what, n);
  b->n += n;
  return true;
}

static bool get(tf_bytes *b, void *what, size_t n) {
  if (n > b->n - b->read) return false;
  memcpy(what, b->at + b->read, n);
  b->read += n;
  return true;
}

/* A text that may be NULL. */
static bool put_text(tf_bytes *b, const char *text) {
  int64_t n = text ? (int64_t)strlen(text) : -1;
  return put_bytes(b, &n, sizeof n) && put_bytes(b, text, n > 0 ? (size_t)n : 0);
}

static bool get_text(tf_bytes *b, tf_arena *a, const char **out) {
  int64_t n;
  *out = NULL;
  if (!get(b, &n, sizeof n) || n < -1 || n > (int64_t)(b->n - b->read)) return false;
  if (n < 0) return true;
  char *text = TF_ARRAY(a, char, (size_t)n + 1);
  *out = text;
  return text && get(b, text, (size_t)n);
}

void tf_bytes_free(tf_bytes *b) {
  if (!b) return;
  free(b->at);
  *b = (tf_bytes){0};
}

/* ---- rows ----------------------------------------------------------------------------------- */
static bool put_row(tf_bytes *b, const tf_sweep_row *r) {
  bool ok = put_bytes(b, r, sizeof *r) && put_text(b, r->bottleneck) && put_text(b, r->message) &&
            put_text(b, r->mapping);
  for (int i = 0; ok && i < r->n_counts; i++)
    ok = put_text(b, r->counts[i].level) && put_text(b, r->counts[i].tensor) &&
         put_bytes(b, &r->counts[i].words, sizeof r->counts[i].words);
  return ok;
}

static bool get_counts(tf_bytes *b, tf_arena *a, tf_sweep_row *r) {
  tf_sweep_count *counts =
      r->n_counts > 0 ? TF_ARRAY(a, tf_sweep_count, (size_t)r->n_counts) : NULL;
  bool ok = counts || r->n_counts <= 0;
  for (int i = 0; ok && i < r->n_counts; i++)
    ok = get_text(b, a, &counts[i].level) && get_text(b, a, &counts[i].tensor) &&
         get(b, &counts[i].words, sizeof counts[i].words);
  r->counts = counts;
  return ok;
}

sweep_item *sweep_wire_get(tf_bytes *from) {
  sweep_item *item = calloc(1, sizeof *item);
  tf_arena *a = tf_arena_new();
  tf_sweep_row *r = item ? &item->found.row : NULL;
  if (r && a && get(from, r, sizeof *r) && get_text(from, a, &r->bottleneck) &&
      get_text(from, a, &r->message) && get_text(from, a, &r->mapping) && get_counts(from, a, r)) {
    item->found.arena = a;
    return item;
  }
  tf_arena_free(a);
  free(item);
  return NULL;
}

/* ---- pieces --------------------------------------------------------------------------------- */
bool sweep_wire_put_piece(tf_bytes *to, const sweep_plan *plan, const sweep_piece *p) {
  bool ok = put_bytes(to, p, sizeof *p);
  for (int k = 0; ok && k < p->n; k++)
    ok = put_text(to, sweep_plan_start(plan, p->i, p->work[k]));
  return ok;
}

static bool stopped(void *ctx) {
  const tf_sweep_opts *o = ctx;
  return o->stop && o->stop(o->ctx);
}

bool sweep_wire_work(const tf_sweep *s, tf_bytes *from, sweep_memo *memo, const tf_sweep_opts *o,
                     tf_bytes *answer) {
  sweep_piece p;
  bool ok = true;
  while (ok && from->read < from->n) {
    tf_arena *a = tf_arena_new();
    ok = a && get(from, &p, sizeof p);
    for (int k = 0; ok && k < p.n; k++) {
      sweep_found found = {.arena = NULL};
      tf_sweep_opts of = *o;
      sweep_point_opts opts = {.stop = stopped, .ctx = &of, .memo = memo};
      ok = get_text(from, a, &opts.start);
      if (ok && p.skip)
        sweep_point_skip(s, p.point[k], memo, &found);
      else if (ok)
        ok = sweep_point_find(s, p.point[k], &opts, &found);
      ok = ok && put_row(answer, &found.row);
      sweep_found_free(&found);
    }
    tf_arena_free(a);
  }
  return ok;
}
