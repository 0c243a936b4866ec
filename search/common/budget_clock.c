#include "search/common/budget_clock.h"

#include "base/clock.h"
#include "base/names.h"
#include "base/threads.h"

void tf_clock_begin(tf_budget_clock *w, const tf_budget *of) {
  w->budget = of;
  w->start = tf_now();
  atomic_init(&w->why, 0);
}

double tf_clock_seconds(const tf_budget_clock *w) { return tf_now() - w->start; }

bool tf_clock_asked(const tf_budget_clock *w) {
  return w->budget->stop && w->budget->stop(w->budget->ctx);
}

bool tf_clock_over(tf_budget_clock *w) {
  if (atomic_load_explicit(&w->why, memory_order_relaxed)) return true;
  int why = 0, none = 0;
  if (tf_clock_asked(w))
    why = 1 + TF_STOP_INTERRUPT;
  else if (w->budget->time_limit > 0 && tf_clock_seconds(w) >= w->budget->time_limit)
    why = 1 + TF_STOP_TIME;
  if (why) atomic_compare_exchange_strong(&w->why, &none, why);
  return why != 0;
}

void tf_clock_report(const tf_budget_clock *w, tf_progress p) {
  if (!w->budget->progress) return;
  p.seconds = tf_clock_seconds(w);
  w->budget->progress(w->budget->ctx, &p);
}

int tf_budget_threads(const tf_budget *b) {
  return b->threads > 0 ? b->threads : tf_threads_there();
}

const char *tf_stop_key(tf_stop s) {
  static const char *const keys[] = {TF_STOPS(TF_NAME_ROW)};
  return keys[s];
}
