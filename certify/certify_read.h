/* The file as words. */
#ifndef CERTIFY_CERTIFY_READ_H
#define CERTIFY_CERTIFY_READ_H
#include <stdio.h>

#include "certify/certify.h"

void open_certificate(FILE *file);
/* Reads all up to the mapping; returns the first word of the line behind it. */
const char *read_problem(problem *p, mapping *m);
/* The next word of the line; NULL at its end. */
const char *word(void);
const char *must_word(const char *what);
/* The next line; its first word. */
const char *line(const char *what);
void end_of_line(void);
int64_t whole(const char *digits, int64_t lo, int64_t hi);
ratio number(const char *digits);
/* The dim whose name is the first len characters. */
int dim_named(const problem *p, const char *name, size_t len);
int tensor_named(const problem *p, const char *name);
/* One unit of the last of so many digits of a number in fixed point. */
wide unit_of(wide n, int digits);
/* By how much sums in fixed and in floating point may differ: a part of 10^-11. */
wide slack_of(wide n);
/* Whether a number in fixed point is the one stated, which was rounded to so many digits. */
bool agrees(wide n, const char *stated, int digits);
/* The last line: `end` and the digest of all before it; and nothing behind it. */
void check_end(void);
#endif
