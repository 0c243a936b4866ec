/* Reads a certificate: lines of words between spaces. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "certify/certify_read.h"

enum { LONGEST = 4096, DIGITS = 18 };

static FILE *in;
static char text[LONGEST];
static char *rest;
static long line_no;
static uint64_t digest = UINT64_C(0xcbf29ce484222325),
                before; /* FNV-1a of all lines; of those before the last */

/* ---- words ---------------------------------------------------------------------------------- */
void open_certificate(FILE *file) { in = file; }

void refuse(const char *why, ...) {
  va_list list;
  va_start(list, why);
  printf("no certificate: line %ld: ", line_no);
  vprintf(why, list);
  putchar('\n');
  va_end(list);
  exit(1);
}

const char *word(void) {
  while (*rest == ' ')
    rest++;
  if (!*rest) return NULL;
  char *start = rest;
  while (*rest && *rest != ' ')
    rest++;
  if (*rest) *rest++ = 0;
  return start;
}

const char *must_word(const char *what) {
  const char *w = word();
  if (!w) refuse("%s is missing", what);
  return w;
}

void end_of_line(void) {
  const char *w = word();
  if (w) refuse("'%s' is one word too many", w);
}

const char *line(const char *what) {
  line_no++;
  if (!fgets(text, sizeof text, in)) refuse("the file ends before %s", what);
  const size_t n = strlen(text);
  if (n == 0 || text[n - 1] != '\n') refuse("a line is too long, or without an end");
  before = digest;
  for (size_t i = 0; i < n; i++)
    digest = (digest ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
  text[n - 1] = 0;
  rest = text;
  return must_word(what);
}

int64_t whole(const char *digits, int64_t lo, int64_t hi) {
  char *end;
  const long long n = strtoll(digits, &end, 10);
  if (*end || end == digits || strlen(digits) > DIGITS || n < lo || n > hi || digits[0] == '+')
    refuse("'%s' is no whole number from %lld to %lld", digits, (long long)lo, (long long)hi);
  return n;
}

/* digits, perhaps with a point among them, perhaps with an exponent */
ratio number(const char *digits) {
  int64_t num = 0, den = 1;
  int n = 0, after = -1, exponent = 0;
  const char *c = digits;
  for (; (*c >= '0' && *c <= '9') || (*c == '.' && after < 0); c++) {
    if (*c == '.') {
      after = 0;
      continue;
    }
    if (++n > DIGITS) refuse("'%s' has more than %d digits", digits, DIGITS);
    num = 10 * num + (*c - '0');
    after += after >= 0;
  }
  if (*c == 'e' && n) exponent = (int)whole(c + 1 + (c[1] == '+'), -DIGITS, DIGITS), c = "";
  if (*c || !n) refuse("'%s' is no number", digits);
  for (exponent -= after > 0 ? after : 0; exponent < 0; exponent++)
    if (num % 10 == 0)
      num /= 10;
    else if (__builtin_mul_overflow(den, 10, &den) || den > INT64_MAX / 2)
      refuse("'%s' has too many digits", digits);
  for (; exponent > 0; exponent--)
    if (__builtin_mul_overflow(num, 10, &num) || num > INT64_MAX / 2)
      refuse("'%s' is too large", digits);
  return (ratio){num, den};
}

wide unit_of(wide n, int digits) {
  wide unit = ONE;
  int size = 1; /* digits before the point */
  for (; n >= 10 * unit; size++)
    unit *= 10;
  for (; unit > 1 && n < unit; size--)
    unit /= 10;
  unit = ONE;
  for (; size < digits; size++)
    unit /= 10;
  for (; size > digits; size--)
    unit *= 10;
  return unit;
}

wide slack_of(wide n) { return n / 100000000000 + 64; }

bool agrees(wide n, const char *stated, int digits) {
  const wide other = of(ONE, number(stated)), apart = n > other ? n - other : other - n;
  return 2 * apart <= unit_of(n, digits) + 2 * slack_of(n);
}

void check_end(void) {
  char stated[32];
  if (strcmp(line("the end"), "end") != 0) refuse("'%s' stands where the end should", text);
  snprintf(stated, sizeof stated, "%016llx", (unsigned long long)before);
  if (strcmp(must_word("the digest"), stated) != 0)
    refuse("the lines before are not those that were written");
  end_of_line();
  if (fgetc(in) != EOF) refuse("lines follow the end");
}

/* ---- the problem ---------------------------------------------------------------------------- */
static void must_be(const char *w, const char *key) {
  if (strcmp(w, key) != 0) refuse("'%s' stands where '%s' should", w, key);
}

static const char *value_of(const char *key) {
  must_be(must_word(key), key);
  return must_word(key);
}

static int choice(const char *w, const char *const *list, int n) {
  for (int i = 0; i < n; i++)
    if (strcmp(w, list[i]) == 0) return i;
  refuse("'%s' is none of '%s', '%s', ..", w, list[0], list[1]);
}

static bool yes_or_no(const char *key) {
  static const char *const list[] = {"no", "yes"};
  return choice(value_of(key), list, 2);
}

static ratio rate(const char *key) {
  const char *w = value_of(key);
  const ratio r = strcmp(w, "none") == 0 ? (ratio){1, 0} : number(w); /* over() of it is 0 */
  if (r.num == 0) refuse("a rate of 0");
  return r;
}

static void copy_name(char to[NAME], const char *from) {
  if (strlen(from) >= NAME) refuse("the name '%s' is too long", from);
  strcpy(to, from);
}

static void read_resource(resource *m) {
  copy_name(m->name, must_word("a name"));
  m->mesh[0] = whole(value_of("mesh"), 1, 1 << 20);
  m->mesh[1] = whole(must_word("mesh"), 1, 1 << 20);
  m->multicast = yes_or_no("multicast");
  m->reduce = yes_or_no("reduce");
}

/* Facts that the objective does not follow from are left out. */
static bool timed(const problem *p) { return p->objective == LATENCY || p->objective == EDP; }
static bool powered(const problem *p) { return p->objective == ENERGY || p->objective == EDP; }

static void read_memory(problem *p) {
  static const char *const ports[] = {"two", "one"};
  if (p->n == MEMORIES) refuse("more than %d memories", MEMORIES);
  resource *m = &p->memory[p->n++];
  read_resource(m);
  if (p->n == 1 && (m->mesh[0] > 1 || m->mesh[1] > 1))
    refuse("the outermost memory has one instance");
  m->bits = whole(value_of("bits"), 1, 1 << 16);
  const char *w = value_of("capacity");
  m->capacity = strcmp(w, "none") == 0 ? -1 : whole(w, 0, INT64_MAX);
  m->twice = yes_or_no("twice");
  if (timed(p)) {
    m->one_port = choice(value_of("ports"), ports, 2);
    m->read = rate("read");
    m->write = rate("write");
    m->latency = number(value_of("latency"));
    m->issue = number(value_of("issue"));
  }
  if (powered(p)) {
    m->read_pj = number(value_of("read-pj"));
    m->write_pj = number(value_of("write-pj"));
    m->hop_pj = number(value_of("hop-pj"));
  }
}

static void read_part(problem *p) {
  static const char *const roles[] = {"left", "right", "result"};
  if (p->n == 0) refuse("a part of no memory");
  resource *m = &p->memory[p->n - 1];
  if (m->n_parts == PARTS) refuse("more than %d parts", PARTS);
  mem_part *k = &m->part[m->n_parts++];
  char name[NAME];
  copy_name(name, must_word("a name"));
  k->bits = whole(value_of("bits"), 1, 1 << 16);
  k->capacity = whole(value_of("capacity"), 0, INT64_MAX);
  k->twice = yes_or_no("twice");
  must_be(must_word("holds"), "holds");
  for (const char *w; (w = word());)
    k->holds |= 1u << choice(w, roles, ROLES);
  for (int i = 0; i + 1 < m->n_parts; i++)
    if (m->part[i].holds & k->holds) refuse("two parts hold the same");
}

static void read_unit(problem *p) {
  read_resource(&p->unit);
  if (timed(p)) p->unit.rate = rate("rate");
  if (timed(p)) p->unit.pipeline = number(value_of("pipeline"));
  if (powered(p)) p->unit.pj = number(value_of("pj"));
}

int dim_named(const problem *p, const char *name, size_t len) {
  for (int d = 0; d < p->n_dims; d++)
    if (strlen(p->dim[d]) == len && strncmp(p->dim[d], name, len) == 0) return d;
  refuse("no dim is named '%s'", name);
}

static void read_dim(problem *p) {
  if (p->n_dims == DIMS) refuse("more than %d dims", DIMS);
  copy_name(p->dim[p->n_dims], must_word("a name"));
  p->extent[p->n_dims++] = whole(must_word("an extent"), 2, INT32_MAX);
}

static int memory_named(const problem *p, const char *name) {
  for (int l = 0; l < p->n; l++)
    if (strcmp(p->memory[l].name, name) == 0) return l;
  refuse("no memory is named '%s'", name);
}

static void read_tensor(problem *p, bool made) {
  if (p->n_tensors == TENSORS) refuse("more than %d tensors", TENSORS);
  tensor *z = &p->tensor[p->n_tensors++];
  z->produced = made;
  z->words = 1;
  copy_name(z->name, must_word("a name"));
  z->bits = whole(value_of("bits"), 1, 1 << 16);
  const char *key = must_word("index");
  if (strcmp(key, "home") == 0) {
    z->home = memory_named(p, must_word("a memory"));
    if (z->home == 0) refuse("all tensors live in the outermost memory that have no other home");
    key = must_word("index");
  }
  must_be(key, "index");
  for (const char *w; (w = word());) {
    const int d = dim_named(p, w, strlen(w));
    if (indexes(z, d)) refuse("'%s' stands twice", w);
    z->dims |= 1u << d;
    z->words = times(z->words, p->extent[d]);
  }
}

static void read_head(problem *p) {
  static const char *const objectives[] = {"latency", "energy", "edp", "traffic"};
  static const char *const overlaps[] = {"perfect", "double-buffer", "none"};
  must_be(line("the head"), "tileflow-certificate");
  must_be(must_word("a version"), "2");
  end_of_line();
  must_be(line("objective"), "objective");
  p->objective = (objective)choice(must_word("objective"), objectives, 4);
  end_of_line();
  if (!timed(p)) return;
  must_be(line("overlap"), "overlap");
  p->overlap = (overlap)choice(must_word("overlap"), overlaps, 3);
  end_of_line();
}

/* ---- the mapping ---------------------------------------------------------------------------- */
static void read_loop(const problem *p, mapping *m, const char *w) {
  const char *trip = strchr(w, '='), *axis = trip ? strchr(trip, '@') : NULL;
  char digits[DIGITS + 1];
  if (!trip || (axis && strcmp(axis, "@x") != 0 && strcmp(axis, "@y") != 0))
    refuse("'%s' is no loop", w);
  if (m->n_loops == LOOPS) refuse("more than %d loops", LOOPS);
  const size_t n = axis ? (size_t)(axis - trip - 1) : strlen(trip + 1);
  if (n > DIGITS) refuse("'%s' is no loop", w);
  memcpy(digits, trip + 1, n);
  digits[n] = 0;
  m->loop[m->n_loops++] = (loop){.tile = m->n_tiles - 1,
                                 .dim = dim_named(p, w, (size_t)(trip - w)),
                                 .axis = axis ? axis[1] - 'x' : IN_TIME,
                                 .trip = whole(digits, 1, INT32_MAX)};
}

int tensor_named(const problem *p, const char *name) {
  for (int z = 0; z < p->n_tensors; z++)
    if (strcmp(p->tensor[z].name, name) == 0) return z;
  refuse("no tensor is named '%s'", name);
}

static void read_tile(const problem *p, mapping *m) {
  const int l = memory_named(p, must_word("a memory"));
  const char *w;
  if (m->n_tiles == TILES) refuse("more than %d Tiles", TILES);
  if (m->n_tiles && l < m->level[m->n_tiles - 1]) refuse("Tiles rise");
  m->level[m->n_tiles] = l;
  m->first[m->n_tiles++] = m->n_loops;
  bool bypass = false;
  while ((w = word())) {
    if (strcmp(w, "for") == 0)
      bypass = false;
    else if (strcmp(w, "bypass") == 0)
      bypass = true;
    else if (bypass)
      m->bypass[m->n_tiles - 1] |= 1u << tensor_named(p, w);
    else
      read_loop(p, m, w);
  }
}

/* ---- the whole ------------------------------------------------------------------------------ */
const char *read_problem(problem *p, mapping *m) {
  int outputs = 0;
  const char *w;
  read_head(p);
  for (; strcmp(w = line("the memories"), "unit") != 0; end_of_line())
    if (strcmp(w, "part") == 0)
      read_part(p);
    else
      must_be(w, "memory"), read_memory(p);
  must_be(w, "unit");
  read_unit(p);
  end_of_line();
  while (strcmp(w = line("the dims"), "dim") == 0)
    read_dim(p), end_of_line();
  for (; strcmp(w, "input") == 0 || strcmp(w, "output") == 0; w = line("the tensors")) {
    outputs += w[0] == 'o';
    read_tensor(p, w[0] == 'o');
  }
  for (; strcmp(w, "tile") == 0; w = line("the Tiles"))
    read_tile(p, m);
  if (p->n < 2 || outputs != 1 || p->n_dims == 0)
    refuse("two memories, an output and a dim are the least");
  return w;
}
