/* base: arena, checked integers, names, units, random streams, diagnostics. */
#include <stdlib.h>

#include "base/arena.h"
#include "base/checked.h"
#include "base/grow.h"
#include "base/names.h"
#include "base/quantity.h"
#include "base/rng.h"
#include "base/utf8.h"
#include "tests/unit/check.h"
#include "tileflow/diag.h"

/* What cannot be had fails for good, however little the next piece is. */
static void test_arena_fails(void) {
  CHECK(tf_arena_failed(NULL));
  CHECK(tf_arena_alloc(NULL, 1) == NULL);
  for (int way = 0; way < 3; way++) {
    tf_arena *a = tf_arena_new();
    CHECK(tf_arena_alloc(a, 1) != NULL);
    CHECK((way == 0   ? tf_arena_alloc(a, SIZE_MAX)
           : way == 1 ? tf_arena_array(a, SIZE_MAX / 2, 4)
                      : tf_arena_strndup(a, "", SIZE_MAX)) == NULL);
    CHECK(tf_arena_failed(a));
    CHECK(tf_arena_alloc(a, 1) == NULL);
    tf_arena_free(a);
  }
}

static void test_arena(void) {
  tf_arena *a = tf_arena_new();
  for (size_t n = 0; n < 3000; n += 7) {
    unsigned char *p = tf_arena_alloc(a, n);
    size_t nonzero = 0;
    for (size_t i = 0; i < n; i++)
      nonzero += p[i] != 0;
    CHECK(p && (uintptr_t)p % 16 == 0 && nonzero == 0);
    memset(p, 0xff, n);
  }
  CHECK(tf_arena_alloc(a, 5u << 20) != NULL);
  CHECK(tf_arena_array(a, 0, 8) != NULL);
  CHECK_TEXT(tf_arena_strndup(a, "abcdef", 3), "abc");
  CHECK(!tf_arena_failed(a));
  tf_arena_free(a);
  tf_arena_free(NULL);
}

/* Arrays keep what they hold, whatever their elements; one that shrank may grow again. */
static void test_grow(void) {
  typedef struct {
    int64_t a;
    char b[7];
  } odd;
  odd *list = NULL;
  int64_t n = 0;
  for (int64_t i = 0; i < 3000; i++) {
    if (i % 1000 == 500) n /= 3;
    if (!TF_GROW(list, n)) break;
    list[n] = (odd){.a = n, .b = {(char)n}};
    n++;
  }
  int64_t wrong = 0;
  for (int64_t i = 0; i < n; i++)
    wrong += list[i].a != i || list[i].b[0] != (char)i;
  CHECK_I64(wrong, 0);
  CHECK(n > 900);
  free(list);

  char *text = NULL;
  size_t room = 0;
  for (size_t len = 0; len < 5000; len++) {
    if (!tf_grow_text(&text, &room, len + 1)) break;
    text[len] = (char)('a' + len % 26);
    wrong += text[len / 2] != (char)('a' + len / 2 % 26);
  }
  CHECK_I64(wrong, 0);
  CHECK(room >= 5000 && room <= 10000);
  free(text);
}

static void test_checked(void) {
  static const struct {
    int line;
    int64_t a, b;
    bool add, mul;
  } rows[] = {
      {__LINE__, 2, 3, true, true},
      {__LINE__, INT64_MAX, 0, true, true},
      {__LINE__, INT64_MAX, 1, false, true},
      {__LINE__, INT64_MAX, -1, true, true},
      {__LINE__, INT64_MIN, -1, false, false},
      {__LINE__, INT64_MAX, 2, false, false},
      {__LINE__, INT64_C(3037000500), INT64_C(3037000500), true, false},
      {__LINE__, INT64_C(3037000499), INT64_C(3037000499), true, true},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    int64_t out;
    CHECK_ROW(&rows[i], tf_add(rows[i].a, rows[i].b, &out) == rows[i].add);
    CHECK_ROW(&rows[i], tf_mul(rows[i].a, rows[i].b, &out) == rows[i].mul);
  }
}

/* The definition of the edit distance with swaps, in halves, without memory. */
static size_t slow_distance(const char *a, size_t na, const char *b, size_t nb) {
  if (na == 0 || nb == 0) return 2 * (na + nb);
  bool same = a[na - 1] == b[nb - 1];
  size_t best = slow_distance(a, na - 1, b, nb - 1) + (same ? 0 : 2);
  size_t remove = slow_distance(a, na - 1, b, nb) + 2, insert = slow_distance(a, na, b, nb - 1) + 2;
  if (remove < best) best = remove;
  if (insert < best) best = insert;
  bool swapped = na > 1 && nb > 1 && a[na - 1] == b[nb - 2] && a[na - 2] == b[nb - 1];
  size_t swap = swapped ? slow_distance(a, na - 2, b, nb - 2) + 2 : SIZE_MAX;
  return swap < best ? swap : best;
}

static void test_distance(void) {
  tf_rng r = tf_rng_new(1, 1);
  for (int i = 0; i < 400; i++) {
    char a[8], b[8];
    size_t na = tf_rng_below(&r, 6), nb = tf_rng_below(&r, 6);
    for (size_t k = 0; k < 8; k++) {
      a[k] = (char)('a' + tf_rng_below(&r, 3));
      b[k] = (char)('a' + tf_rng_below(&r, 3));
    }
    CHECK_I64((int64_t)tf_edit_distance(a, na, b, nb), (int64_t)slow_distance(a, na, b, nb));
  }
  CHECK_I64((int64_t)tf_edit_distance("KIB", 3, "KiB", 3), 1);
}

static void test_names(void) {
  static const char *const known[] = {"bandwidth", "capacity", "mesh", "name", "m", "l"};
  static const struct {
    int line;
    const char *in, *want;
  } rows[] = {
      {__LINE__, "bandwith", "bandwidth"}, {__LINE__, "capcaity", "capacity"},
      {__LINE__, "mseh", "mesh"},          {__LINE__, "M", "m"},
      {__LINE__, "Name", "name"},          {__LINE__, "k", NULL},
      {__LINE__, "quantity", NULL},        {__LINE__, "", NULL},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    tf_near near = tf_near_start(rows[i].in, strlen(rows[i].in));
    for (size_t k = 0; k < 6; k++)
      tf_near_offer(&near, known[k]);
    CHECK_ROW_TEXT(&rows[i], near.best, rows[i].want);
  }
  CHECK(tf_is_name("a_1", 3, false) && tf_is_name("_", 1, false));
  CHECK(!tf_is_name("1a", 2, false) && !tf_is_name("", 0, false) && !tf_is_name("a-b", 3, false));
  CHECK(tf_is_name("a-b.c", 5, true) && !tf_is_name("-a", 2, true));
}

static void test_near_text(void) {
  char buf[80];
  tf_near near = tf_near_start("x", 1);
  CHECK_TEXT(tf_near_text(&near, buf, sizeof buf), "");
  tf_near_offer(&near, "alpha");
  tf_near_offer(&near, "beta");
  CHECK_TEXT(tf_near_text(&near, buf, sizeof buf), "; known: alpha, beta");
  for (int i = 0; i < 20; i++)
    tf_near_offer(&near, "something");
  tf_near_text(&near, buf, sizeof buf);
  CHECK_TEXT(buf + strlen(buf) - 5, ", ...");
  tf_near_offer(&near, "X");
  CHECK_TEXT(tf_near_text(&near, buf, sizeof buf), ", did you mean 'X'?");
}

static void test_units(void) {
  const tf_unit_row *u = tf_unit_find("KiB/s", 5);
  char list[96];
  CHECK(u && u->measure == TF_Q_RATE && u->factor == 1024);
  CHECK(tf_unit_find("kib", 3) == NULL && tf_unit_find("", 0) == NULL);
  CHECK_TEXT(tf_unit_nearest("Ghz", 3, TF_Q_HZ), "GHz");
  CHECK_TEXT(tf_unit_nearest("Ghz", 3, TF_Q_PJ), NULL);
  CHECK_TEXT(tf_unit_list(TF_Q_PJ | TF_Q_NM, list, sizeof list), "pJ nJ nm");
}

/* The published demonstration program: seed 42, stream 54. */
static void test_rng(void) {
  static const uint32_t want[] = {0xa15c02b7, 0x7b47f409, 0xba1d3330,
                                  0x83d2f293, 0xbfa4784b, 0xcbed606e};
  tf_rng r = tf_rng_new(42, 54);
  for (size_t i = 0; i < 6; i++)
    CHECK_I64(tf_rng_u32(&r), want[i]);
  int seen[7] = {0};
  for (int i = 0; i < 7000; i++)
    seen[tf_rng_below(&r, 7)]++;
  for (int i = 0; i < 7; i++)
    CHECK(seen[i] > 850 && seen[i] < 1150);
  for (int i = 0; i < 1000; i++) {
    double x = tf_rng_unit(&r);
    CHECK(x >= 0 && x < 1);
  }
}

static void test_utf8(void) {
  static const struct {
    int line;
    const char *in;
    size_t want;
  } rows[] = {
      {__LINE__, "a", 1},
      {__LINE__, "\xc3\xa9", 2},
      {__LINE__, "\xe2\x80\x94", 3},
      {__LINE__, "\xf0\x9f\x98\x80", 4},
      {__LINE__, "\xc0\x80", 0},
      {__LINE__, "\xed\xa0\x80", 0},
      {__LINE__, "\xe2\x80", 0},
      {__LINE__, "\xff", 0},
      {__LINE__, "\xf4\x90\x80\x80", 0},
      {__LINE__, "\xe0\x80\x80", 0},
      {__LINE__, "\x80", 0},
  };
  for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
    uint32_t c;
    size_t n = tf_utf8_next(rows[i].in, rows[i].in + strlen(rows[i].in), &c);
    CHECK_ROW_I64(&rows[i], (int64_t)n, (int64_t)rows[i].want);
  }
}

static void check_text_of(const tf_diags *d, int line, const char *want) {
  char *text = tf_diags_text(d);
  check_text_at(text, want, __FILE__, line, "tf_diags_text");
  free(text);
}

static void test_diags_order(void) {
  tf_diags *d = tf_diags_new();
  check_text_of(d, __LINE__, "");
  uint16_t f = tf_diags_add_file(d, "a.yaml", "one\n\ttwo \x01\nthree", 16);
  uint16_t g = tf_diags_add_file(d, "b.yaml", "", 0);
  tf_fail(d, (tf_loc){g, 0, 0, 0}, TF_E_IO, "gone");
  CHECK(!tf_fail(d, (tf_loc){f, 3, 2, 9}, TF_E_NAME, "no '%s'", "x\n\x1b"));
  tf_note(d, (tf_loc){f, 2, 2, 3}, "see");
  tf_fail(d, (tf_loc){f, 1, 1, 1}, TF_E_KEY, "first");
  tf_fail(d, (tf_loc){0, 0, 0, 0}, TF_E_USAGE, "bad flag");
  CHECK_I64((int64_t)tf_diags_errors(d), 4);
  CHECK_I64((int64_t)tf_diags_count(d), 5);
  CHECK(tf_diags_at(d, 2)->note && tf_diags_at(d, 5) == NULL);
  CHECK_TEXT(tf_diags_file_name(d, f), "a.yaml");
  check_text_of(d, __LINE__,
                "tileflow: error[E_USAGE]: bad flag\n"
                "a.yaml:1:1: error[E_KEY]: first\n"
                "    1 | one\n"
                "      | ^\n"
                "a.yaml:3:2: error[E_NAME]: no 'x?\?'\n"
                "    3 | three\n"
                "      |  ^~~~\n"
                "a.yaml:2:2: note: see\n"
                "    2 |  two ?\n"
                "      |  ^~~\n"
                "b.yaml: error[E_IO]: gone\n");
  tf_diags_free(d);
  tf_diags_free(NULL);
}

/* Warnings are no errors, and are told only where there is none. */
static void test_diags_warnings(void) {
  tf_diags *d = tf_diags_new();
  uint16_t f = tf_diags_add_file(d, "a", "xy", 2);
  tf_warn(d, (tf_loc){f, 1, 2, 1}, "%d of no use", 1);
  CHECK_I64((int64_t)tf_diags_errors(d), 0);
  CHECK(tf_diags_at(d, 0)->warning && !tf_diags_at(d, 0)->note);
  check_text_of(d, __LINE__, "a:1:2: warning: 1 of no use\n    1 | xy\n      |  ^\n");
  tf_fail(d, (tf_loc){f, 1, 1, 1}, TF_E_KEY, "wrong");
  CHECK_I64((int64_t)tf_diags_errors(d), 1);
  check_text_of(d, __LINE__, "a:1:1: error[E_KEY]: wrong\n    1 | xy\n      | ^\n");
  for (int i = 0; i < 2 * TF_DIAGS_MAX; i++)
    tf_warn(d, (tf_loc){f, 1, 1, 1}, "again");
  CHECK_I64((int64_t)tf_diags_count(d), TF_DIAGS_MAX);
  tf_diags_free(d);
}

/* A place past the end of its line or file must not read outside the text. */
static void test_diags_outside(void) {
  tf_diags *d = tf_diags_new();
  uint16_t f = tf_diags_add_file(d, "a", "xy", 2);
  tf_fail(d, (tf_loc){f, 9, 1, 1}, TF_E_KEY, "no such line");
  tf_fail(d, (tf_loc){f, 1, 90, 5}, TF_E_KEY, "no such column");
  tf_fail(d, (tf_loc){77, 1, 1, 1}, TF_E_KEY, "no such file");
  check_text_of(d, __LINE__,
                "a:1:90: error[E_KEY]: no such column\n"
                "    1 | xy\n"
                "      |   ^\n"
                "a:9:1: error[E_KEY]: no such line\n"
                "tileflow:1:1: error[E_KEY]: no such file\n");
  tf_diags_free(d);
}

static void test_diags_many(void) {
  tf_diags *d = tf_diags_new();
  for (int i = 0; i < TF_DIAGS_MAX + 5; i++) {
    tf_fail(d, (tf_loc){0, 0, 0, 0}, TF_E_KEY, "error %d", i);
    tf_note(d, (tf_loc){0, 0, 0, 0}, "note %d", i);
  }
  CHECK_I64((int64_t)tf_diags_errors(d), TF_DIAGS_MAX + 5);
  CHECK_I64((int64_t)tf_diags_count(d), 2 * TF_DIAGS_MAX);
  char *text = tf_diags_text(d);
  CHECK(text && strstr(text, "tileflow: 5 more errors\n"));
  free(text);
  tf_diags_free(d);
}

/* A message that does not fit ends in dots, and never in half a character. */
static void test_diags_cut(void) {
  char longer[400];
  for (size_t shift = 0; shift < 4; shift++) {
    tf_diags *d = tf_diags_new();
    memset(longer, 'x', sizeof longer);
    for (size_t i = shift; i + 3 < sizeof longer; i += 3)
      memcpy(longer + i, "\xe2\x80\x94", 3);
    longer[sizeof longer - 1] = '\0';
    tf_fail(d, (tf_loc){0, 0, 0, 0}, TF_E_KEY, "%s", longer);
    const char *msg = tf_diags_at(d, 0)->msg;
    size_t len = strlen(msg);
    CHECK(len < sizeof tf_diags_at(d, 0)->msg && len > 230);
    CHECK_TEXT(msg + len - 3, "...");
    uint32_t c;
    size_t bad = 0;
    for (const char *p = msg; *p;) {
      size_t n = tf_utf8_next(p, msg + len, &c);
      bad += n == 0;
      p += n ? n : 1;
    }
    CHECK_I64((int64_t)bad, 0);
    tf_diags_free(d);
  }
}

int main(void) {
  test_arena();
  test_arena_fails();
  test_grow();
  test_checked();
  test_distance();
  test_names();
  test_near_text();
  test_units();
  test_rng();
  test_utf8();
  test_diags_order();
  test_diags_warnings();
  test_diags_outside();
  test_diags_many();
  test_diags_cut();
  return check_report();
}
