/* The table of units and the look-ups in it. */
#include "base/quantity.h"

#include <stdio.h>
#include <string.h>

#include "base/names.h"

static const tf_unit_row units[] = {
#define X(key, measure, factor) {key, TF_Q_##measure, factor},
    TF_UNITS(X)
#undef X
};
enum { N_UNITS = sizeof units / sizeof units[0] };

const tf_unit_row *tf_unit_find(const char *text, size_t len) {
  for (size_t i = 0; i < N_UNITS; i++)
    if (strlen(units[i].key) == len && memcmp(units[i].key, text, len) == 0) return &units[i];
  return NULL;
}

const char *tf_unit_nearest(const char *text, size_t len, unsigned measures) {
  tf_near near = tf_near_start(text, len);
  for (size_t i = 0; i < N_UNITS; i++)
    if (units[i].measure & measures) tf_near_offer(&near, units[i].key);
  return near.best;
}

const char *tf_unit_list(unsigned measures, char *buf, size_t size) {
  size_t used = 0;
  buf[0] = '\0';
  for (size_t i = 0; i < N_UNITS && used < size; i++) {
    if (!(units[i].measure & measures)) continue;
    int n = snprintf(buf + used, size - used, "%s%s", used ? " " : "", units[i].key);
    used += n > 0 ? (size_t)n : 0;
  }
  return buf;
}
