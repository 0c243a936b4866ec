/* SHA-256 (FIPS 180-4), by which contents of files are compared. */
#ifndef BASE_SHA256_H
#define BASE_SHA256_H
#include <stddef.h>

enum { TF_SHA256_TEXT = 65 };

/* 64 hexadecimal digits and the NUL, as sha256sum prints them. */
void tf_sha256_text(const void *bytes, size_t n, char out[TF_SHA256_TEXT]);
#endif
