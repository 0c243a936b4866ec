/* tileflow-certify: whether a certificate of `tileflow solve --certificate` is one
 * (docs/CERTIFICATE.md). */
#include <string.h>

#include "certify/certify_read.h"

enum { VALUE_DIGITS = 10, FLOOR_DIGITS = 9, BOUND_DIGITS = 11 };

static const char help[] = "usage: tileflow-certify FILE|-\n\n"
                           "Checks a certificate that `tileflow solve --certificate FILE` wrote: "
                           "that the mapping fits and costs the value stated,\n"
                           "and that no mapping of the space costs less than the bound stated.  It "
                           "shares no code with tileflow, computes in whole\n"
                           "numbers and fixed point, and takes nothing of the file on trust but "
                           "the machine and the op, which stand at its head.\n"
                           "What a certificate holds, and what is proved: docs/CERTIFICATE.md.\n\n"
                           "Exit status: 0 if it is one, 1 if not, 2 for bad usage.\n";

/* A bound is stated rounded down: it must not be above what was proved, nor a digit below. */
static void check_bound(wide proved, const char *stated) {
  const wide unit = unit_of(proved, BOUND_DIGITS), slack = slack_of(proved);
  const wide bound = of(ONE, number(stated));
  if (bound > proved + slack)
    refuse("only %.10g is proved, not %s", (double)proved / (double)ONE, stated);
  if (bound + unit + slack < proved)
    refuse("%.10g is proved: the bound is not %s", (double)proved / (double)ONE, stated);
}

static void report(const proof_counts *n) {
  const int64_t *k = n->leaves;
  printf("proved by %lld regions: %lld by cost, %lld single mappings, %lld too large, %lld off the "
         "mesh, %lld beyond the end, %lld twins\n",
         (long long)(k['c' & 31] + k['v' & 31] + k['f' & 31] + k['m' & 31] + k['e' & 31] +
                     k['t' & 31] + k['l' & 31]),
         (long long)k['c' & 31], (long long)k['v' & 31], (long long)k['f' & 31],
         (long long)k['m' & 31], (long long)k['e' & 31], (long long)(k['t' & 31] + k['l' & 31]));
}

static void copy_name(char to[NAME], const char *from) {
  if (strlen(from) >= NAME) refuse("'%s' is too long", from);
  strcpy(to, from);
}

static int check(FILE *file, bool value_alone) {
  static const char *const unit[] = {"cycles", "pJ", "pJ x cycles",
                                     "words through the outermost memory"};
  static problem p;
  static mapping m;
  static proof_counts n;
  char value[NAME], floor[NAME], bound[NAME];
  const char *why;
  wide cost;
  open_certificate(file);
  const char *w = read_problem(&p, &m);
  if (!count(&p, &m, &cost, &why)) refuse("the mapping does not fit: %s", why);
  if (value_alone) {
    printf("%.15g\n", (double)cost / (double)ONE);
    return 0;
  }
  if (strcmp(w, "value") != 0) refuse("'%s' stands where the value should", w);
  copy_name(value, must_word("the value"));
  if (!agrees(cost, value, VALUE_DIGITS))
    refuse("the mapping costs %.15g, not %s", (double)cost / (double)ONE, value);
  end_of_line();
  if (strcmp(line("the floor"), "floor") != 0) refuse("the floor is missing");
  copy_name(floor, must_word("the floor"));
  if (!agrees(floor_of(&p), floor, FLOOR_DIGITS))
    refuse("the floor is %.9g", (double)floor_of(&p) / (double)ONE);
  end_of_line();
  if (strcmp(line("the bound"), "bound") != 0) refuse("the bound is missing");
  copy_name(bound, must_word("the bound"));
  end_of_line();
  const wide proved = prove(&p, &n);
  check_bound(proved, bound);
  check_end();
  printf("the mapping fits and costs %s %s\n", value, unit[p.objective]);
  printf("no mapping of the space costs less than %s, none whatever less than %s\n", bound, floor);
  report(&n);
  return 0;
}

int main(int argc, char **argv) {
  const bool value_alone =
      argc == 3 && strcmp(argv[1], "--value") == 0; /* for tests: what the mapping costs */
  if (argc == 2 && strcmp(argv[1], "--help") == 0) {
    fputs(help, stdout);
    return 0;
  }
  if (argc != 2 + value_alone) {
    fputs(help, stderr);
    return 2;
  }
  const char *path = argv[argc - 1];
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "rb");
  if (!file) {
    fprintf(stderr, "tileflow-certify: cannot read '%s'\n", path);
    return 2;
  }
  const int status = check(file, value_alone);
  fclose(file);
  return status;
}
