#include "base/sha256.h"

#include <nettle/sha2.h>
#include <stdint.h>
#include <stdio.h>

void tf_sha256_text(const void *bytes, size_t n, char out[TF_SHA256_TEXT]) {
  struct sha256_ctx all;
  uint8_t digest[SHA256_DIGEST_SIZE];
  sha256_init(&all);
  sha256_update(&all, n, bytes);
  sha256_digest(&all, sizeof digest, digest);
  for (size_t i = 0; i < sizeof digest; i++)
    snprintf(out + 2 * i, 3, "%02x", digest[i]);
}
