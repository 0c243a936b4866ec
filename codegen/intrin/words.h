/* Registers as kernels of products see them, as C text; a row of the instruction sets names one. */
#ifndef CODEGEN_INTRIN_WORDS_H
#define CODEGEN_INTRIN_WORDS_H
#include "codegen/intrin/micro.h"

struct tf_micro_words {
  const char *group; /* `int32_t group(const void *)`, and IN_REGISTER */
  const char *type, *splat,
      *load; /* of 32-bit words: the type in C; a group in all lanes; lanes of groups from p on */
  const char *lifted;        /* as splat, of bytes to each of which 128 is added */
  const char *ints;          /* `ivec`: lanes of int32, and its operations */
  const char *pair, *square; /* two rows of 8 bytes, p and q, side by side; operations on 2 x 2 sums
                                in a register (TF_MICRO_SQUARES).  NULL: there are none */
  const char *round;      /* vectors of float32 stored as bfloat16; NULL: they leave as float32 */
  const char *interleave; /* PREFIX_pairs_of of micro.h, and what pairs.c puts side by side in
                         registers; NULL: there is no kernel of groups of bfloat16 */
  const char *twos;  /* `int8_beside` of rows as pairs of words, of bytes of epi%1$s (i8, u8), but
                        for the last ones: it declares how many, i; NULL: element by element */
  const char *fours; /* `int8_beside` of rows as fours of bytes, each xor `lift`; NULL: element by
                        element */
  const char
      *fours_of_bytes; /* `fours_beside` of rows as fours of bytes, with a sign or not, each xor
                          `lift`, for kernels that are exact within ranges; NULL: there are none */
  const char *leave;   /* sums in AMX tiles stored as bfloat16 */
};
extern const tf_micro_words tf_words_sse, tf_words_avx2, tf_words_avx512, tf_words_bf16,
    tf_words_neon;
#endif
