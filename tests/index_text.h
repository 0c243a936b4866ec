/* Indices as text, evaluated by themselves: dims are letters, / and % round down.  Slow and obvious
 * on purpose. */
#ifndef TESTS_INDEX_TEXT_H
#define TESTS_INDEX_TEXT_H
#include <ctype.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
  const char *at;
  const int64_t *spot; /* by letter of the dim, from 'a' */
} index_text;

static inline int64_t index_down(int64_t a, int64_t b) {
  int64_t q = 0; /* the largest with q * b <= a, found by steps */
  while (q * b > a)
    q--;
  while ((q + 1) * b <= a)
    q++;
  return q;
}

static inline int64_t index_sum(index_text *r);

static inline int64_t index_atom(index_text *r) {
  int64_t v = 0;
  while (*r->at == ' ')
    r->at++;
  if (*r->at == '(') {
    r->at++;
    v = index_sum(r);
    r->at++;
  } else if (isdigit((unsigned char)*r->at)) {
    while (isdigit((unsigned char)*r->at))
      v = 10 * v + (*r->at++ - '0');
  } else {
    v = r->spot[*r->at++ - 'a'];
  }
  while (*r->at == ' ')
    r->at++;
  return v;
}

static inline int64_t index_product(index_text *r) {
  int64_t v = index_atom(r);
  while (*r->at == '*' || *r->at == '/' || *r->at == '%') {
    const char sign = *r->at++;
    const int64_t b = index_atom(r);
    v = sign == '*' ? v * b : sign == '/' ? index_down(v, b) : v - b * index_down(v, b);
  }
  return v;
}

static inline int64_t index_sum(index_text *r) {
  int64_t v = index_product(r);
  while (*r->at == '+' || *r->at == '-') {
    const char sign = *r->at++;
    const int64_t b = index_product(r);
    v += sign == '+' ? b : -b;
  }
  return v;
}

static inline int64_t index_value(const char *text, const int64_t *spot) {
  return index_sum(&(index_text){text, spot});
}

/* Where a dim of the workload stands: the part of the written dim that its name says. */
static inline int64_t index_part(const char *name, const int64_t *spot) {
  int64_t v = spot[name[0] - 'a'];
  const char *div = strstr(name, "div"), *mod = strstr(name, "mod");
  if (div) v = index_down(v, atoll(div + 3));
  if (mod) v -= atoll(mod + 3) * index_down(v, atoll(mod + 3));
  return v;
}
#endif
