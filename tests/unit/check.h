/* Checks of unit tests: plain C, one header.  A test file is a main that runs its checks
 * and returns check_report(). */
#ifndef TESTS_UNIT_CHECK_H
#define TESTS_UNIT_CHECK_H
#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static int check_passed, check_failed;

/* Counts one check; a failure is told with the line of the row, or of the check. */
static inline bool check_at(bool ok, const char *file, int line, const char *what) {
  if (ok)
    check_passed++;
  else
    printf("%s:%d: %s\n", file, line, what);
  check_failed += !ok;
  return ok;
}

static inline bool check_i64_at(int64_t got, int64_t want, const char *file, int line,
                                const char *what) {
  char text[240];
  snprintf(text, sizeof text, "%s: got %" PRId64 ", want %" PRId64, what, got, want);
  return check_at(got == want, file, line, text);
}

/* Equal to within `tolerance`, relative; infinities equal themselves. */
static inline bool check_near_at(double got, double want, double tolerance, const char *file,
                                 int line, const char *what) {
  char text[240];
  bool same = got == want || fabs(got - want) <= tolerance * fabs(want);
  snprintf(text, sizeof text, "%s: got %.17g, want %.17g", what, got, want);
  return check_at(same, file, line, text);
}

static inline bool check_text_at(const char *got, const char *want, const char *file, int line,
                                 const char *what) {
  char text[1200];
  bool same = got && want ? strcmp(got, want) == 0 : got == want;
  snprintf(text, sizeof text, "%s:\n  got  %.500s\n  want %.500s", what, got ? got : "(null)",
           want ? want : "(null)");
  return check_at(same, file, line, text);
}

#define CHECK(cond) check_at((cond), __FILE__, __LINE__, #cond)
#define CHECK_I64(got, want) check_i64_at((got), (want), __FILE__, __LINE__, #got)
#define CHECK_NEAR(got, want, tol) check_near_at((got), (want), (tol), __FILE__, __LINE__, #got)
#define CHECK_TEXT(got, want) check_text_at((got), (want), __FILE__, __LINE__, #got)
/* The same for a table row that knows its own line. */
#define CHECK_ROW(row, cond) check_at((cond), __FILE__, (row)->line, #cond)
#define CHECK_ROW_I64(row, got, want) check_i64_at((got), (want), __FILE__, (row)->line, #got)
#define CHECK_ROW_NEAR(row, got, want, tol)                                                        \
  check_near_at((got), (want), (tol), __FILE__, (row)->line, #got)
#define CHECK_ROW_TEXT(row, got, want) check_text_at((got), (want), __FILE__, (row)->line, #got)

static inline int check_report(void) {
  printf("%d passed, %d failed\n", check_passed, check_failed);
  return check_failed != 0;
}
#endif
