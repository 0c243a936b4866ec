/* "Did you mean": the nearest of a set of names.  Names of enumerations. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H
#include <stdbool.h>
#include <stddef.h>

/* The names of an enumeration's members, from the list X(id, name, ...) that makes it:
 * {TF_CODES(TF_NAME_ROW)}. */
#define TF_NAME_ROW(...) TF_NAME_OF_ROW(__VA_ARGS__, )
#define TF_NAME_OF_ROW(id, name, ...) name,

/* Feed candidates one by one; best is the nearest that is near enough, else NULL.  Of
 * equally near ones the first offered wins.  known lists the first few offered.  Borrows
 * every string but known. */
typedef struct {
  const char *want;
  size_t len;
  const char *best;
  size_t distance;
  char known[64];
  size_t known_len;
} tf_near;

tf_near tf_near_start(const char *want, size_t len);
void tf_near_offer(tf_near *near, const char *name);

/* Writes ", did you mean 'X'?" into buf, or what is known if nothing is near
 * ("; known: a, b, ..."), or "" if nothing was offered.  Returns buf. */
const char *tf_near_text(const tf_near *near, char *buf, size_t size);

/* Edits (insert, delete, replace, swap neighbours) that turn a into b; case counts half a
 * step, so the result is in halves.  Stops early with a large value past 40 bytes. */
size_t tf_edit_distance(const char *a, size_t na, const char *b, size_t nb);

/* A letter or '_', then letters, digits, '_'; with dashes also '.' and '-' inside. */
bool tf_is_name(const char *s, size_t len, bool dashes);
#endif
