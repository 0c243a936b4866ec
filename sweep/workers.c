#include "sweep/workers.h"

#include <stdlib.h>

#include "base/clock.h"
#include "base/locale.h"
#include "sweep/sweep_wire.h"

/* Seconds of work per message: a hundred times what a message costs. */
static const double message_takes = 0.02;
enum { MESSAGE_PIECES = 512 };

/* Gathers pieces for one message, by the time that points took so far.  Where results of machines
 * affect other machines, a message has one piece, as the next one might have to wait for it.
 * Returns the number of points; 0: there are no more, or memory ran out. */
static int gather(sweep_source *s, double point_takes, tf_bytes *out) {
  const int most = s->plan->prune || point_takes <= 0 ? 1 : MESSAGE_PIECES;
  sweep_piece p;
  int points = 0;
  out->n = out->read = 0;
  for (int k = 0; k < most && (k == 0 || points * point_takes < message_takes); k++) {
    if (!sweep_source_take(s, &p)) break;
    if (!sweep_wire_put_piece(out, s->plan, &p)) {
      sweep_source_give(s, NULL); /* the piece is lost: the run ends */
      return 0;
    }
    points += p.n;
  }
  return points;
}

/* False: fewer rows came back than were asked for. */
static bool read_answer(sweep_source *s, tf_bytes *answer, int points) {
  for (int k = 0; k < points; k++) {
    sweep_item *item = sweep_wire_get(answer);
    sweep_source_give(s, item);
    if (!item) return false;
  }
  return true;
}

void *sweep_mate_work(void *ctx) {
  TF_IN_C_LOCALE;
  const sweep_mate *m = ctx;
  const tf_sweep_workers *workers = &m->source->opts->workers;
  tf_bytes what = {0}, answer = {0};
  double point_takes = 0;
  bool there = true;
  for (int n; there && (n = gather(m->source, point_takes, &what)) > 0;) {
    const double began = tf_now();
    there =
        workers->ask(workers->ctx, m->worker, &what, &answer) && read_answer(m->source, &answer, n);
    point_takes = (tf_now() - began) / n;
  }
  if (!there) sweep_source_give(m->source, NULL);
  what.n = 0;
  workers->ask(workers->ctx, m->worker, &what, &answer);
  tf_bytes_free(&what);
  tf_bytes_free(&answer);
  sweep_source_workers(m->source, -1);
  return NULL;
}

bool tf_sweep_serve(const tf_sweep *s, const tf_sweep_owner *owner, const tf_sweep_opts *o) {
  TF_IN_C_LOCALE;
  sweep_memo *memo = calloc(1, sizeof *memo); /* NULL: only slower */
  tf_bytes what = {0}, found = {0};
  bool ok = true;
  while (ok && owner->listen(owner->ctx, &what) && what.n) {
    found.n = 0;
    ok = sweep_wire_work(s, &what, memo, o,
                         &found); /* the answer so far is sent, and shows that it is incomplete */
    ok = owner->answer(owner->ctx, &found) && ok;
  }
  while (!ok && owner->listen(owner->ctx, &what) &&
         what.n) { /* waits until the owner has noticed */
    found.n = 0;
    owner->answer(owner->ctx, &found);
  }
  tf_bytes_free(&what);
  tf_bytes_free(&found);
  free(memo);
  return ok;
}
