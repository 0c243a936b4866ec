/* Edit distance with swaps (optimal string alignment), and the nearest name by it. */
#include "base/names.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40 };

static char lower(char c) { return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c; }

/* Cost of replacing a by b, in halves of an edit: 0 if equal, 1 for a change of case, else 2. */
static size_t replace_cost(char a, char b) {
  if (a == b) return 0;
  return lower(a) == lower(b) ? 1 : 2;
}

static size_t min2(size_t a, size_t b) { return a < b ? a : b; }

size_t tf_edit_distance(const char *a, size_t na, const char *b, size_t nb) {
  size_t row[3][LONGEST + 1]; /* rows i - 2, i - 1, i of the table, in turn */
  if (na > LONGEST || nb > LONGEST) return SIZE_MAX / 2;
  for (size_t j = 0; j <= nb; j++)
    row[0][j] = 2 * j;
  for (size_t i = 1; i <= na; i++) {
    size_t *now = row[i % 3], *up = row[(i + 2) % 3], *up2 = row[(i + 1) % 3];
    now[0] = 2 * i;
    for (size_t j = 1; j <= nb; j++) {
      now[j] = min2(up[j] + 2, now[j - 1] + 2);
      now[j] = min2(now[j], up[j - 1] + replace_cost(a[i - 1], b[j - 1]));
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
        now[j] = min2(now[j], up2[j - 2] + 2);
    }
  }
  return row[na % 3][nb];
}

tf_near tf_near_start(const char *want, size_t len) {
  return (tf_near){.want = want, .len = len, .distance = SIZE_MAX};
}

/* Adds a name to those listed, or the dots that end a full list. */
static void list_known(tf_near *near, const char *name, size_t len) {
  size_t used = near->known_len, room = sizeof near->known - used;
  if (used >= sizeof near->known) return;
  bool fits = len + 8 < room;
  snprintf(near->known + used, room, "%s%s", used ? ", " : "", fits ? name : "...");
  near->known_len = fits ? used + len + (used ? 2 : 0) : sizeof near->known;
}

void tf_near_offer(tf_near *near, const char *name) {
  size_t len = strlen(name);
  size_t longer = len > near->len ? len : near->len;
  size_t allowed = 2 * ((longer + 2) / 3); /* in halves: one edit in three letters */
  size_t distance = tf_edit_distance(near->want, near->len, name, len);
  list_known(near, name, len);
  bool nothing_left = distance >= 2 * longer;
  if (distance > allowed || nothing_left || distance >= near->distance) return;
  near->best = name;
  near->distance = distance;
}

const char *tf_near_text(const tf_near *near, char *buf, size_t size) {
  if (near->best)
    snprintf(buf, size, ", did you mean '%s'?", near->best);
  else
    snprintf(buf, size, "%s%s", near->known_len ? "; known: " : "", near->known);
  return buf;
}

bool tf_is_name(const char *s, size_t len, bool dashes) {
  for (size_t i = 0; i < len; i++) {
    char c = lower(s[i]);
    bool letter = (c >= 'a' && c <= 'z') || c == '_';
    bool inside = (c >= '0' && c <= '9') || (dashes && (c == '-' || c == '.'));
    if (!letter && !(inside && i > 0)) return false;
  }
  return len > 0;
}
