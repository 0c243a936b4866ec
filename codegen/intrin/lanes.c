/* Partial vectors, for image rows that begin or end within a vector: which of the columns reached
 * from 16 neighbouring outputs are in the image.  Four versions of the text with the same
 * interface. */
#include "codegen/intrin/tile.h"

/* For machines with masks. */
static const char masks[] =
    "typedef __mmask16 lanes;\n"
    "static inline lanes lanes_between(int64_t from, int64_t to) { return (lanes)(((UINT32_C(1) << "
    "to) - 1U) & ~((UINT32_C(1) << from) - 1U)); }\n"
    "static inline vec load_lanes(const float *p, lanes l) { return _mm512_maskz_loadu_ps(l, p); "
    "}\n"
    "static inline void store_lanes(float *p, vec v, lanes l) { _mm512_mask_storeu_ps(p, l, v); }\n"
    "static inline vec lanes_or(vec v, lanes l, vec other) { return _mm512_mask_mov_ps(other, l, "
    "v); }\n"
    "static inline vec load_lanes_2(const float *p, lanes l) {\n"
    "  const uint32_t both = _pdep_u32(l, UINT32_C(0x55555555));\n"
    "  const __m512i even = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, "
    "28, 30);\n"
    "  return _mm512_permutex2var_ps(_mm512_maskz_loadu_ps((lanes)both, p), even, "
    "_mm512_maskz_loadu_ps((lanes)(both >> 16), p + LANES));\n"
    "}\n"
    "static inline vec load_lanes_step(const float *p, int64_t step, lanes l) {\n"
    "  float lane[LANES] = {0};\n"
    "  for (int i = 0; i < LANES; i++)\n"
    "    if (l >> i & 1) lane[i] = p[i * step];\n"
    "  return vec_load(lane);\n"
    "}\n";

/* bfloat16 with masks: the upper halves of words. */
static const char masks_bf16[] =
    "static inline vec wide_lanes(const uint16_t *p, lanes l) { return "
    "_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(_mm256_maskz_loadu_epi16(l, p)), "
    "16)); }\n"
    "static inline vec wide_lanes_2(const uint16_t *p, lanes l) { return "
    "_mm512_castsi512_ps(_mm512_slli_epi32(_mm512_maskz_loadu_epi16(_pdep_u32(l, "
    "UINT32_C(0x55555555)), p), 16)); }\n"
    "static inline vec wide_lanes_step(const uint16_t *p, int64_t step, lanes l) {\n"
    "  float lane[LANES] = {0};\n"
    "  for (int i = 0; i < LANES; i++)\n"
    "    if (l >> i & 1) lane[i] = wide(p[i * step]);\n"
    "  return vec_load(lane);\n"
    "}\n";

/* Otherwise: from lane `from` to lane `to` - 1. */
static const char between[] =
    "typedef struct {\n"
    "  int from, to;\n"
    "} lanes;\n"
    "static inline lanes lanes_between(int64_t from, int64_t to) { return (lanes){(int)from, "
    "(int)to}; }\n"
    "static inline int all_lanes(lanes l) { return l.from == 0 && l.to == LANES; }\n"
    "static inline vec load_lanes_step(const float *p, int64_t step, lanes l) {\n"
    "  float lane[LANES] = {0};\n"
    "  for (int i = l.from; i < l.to; i++) lane[i] = p[i * step];\n"
    "  return vec_load(lane);\n"
    "}\n";

static const char between_bf16[] =
    "static inline vec wide_lanes_step(const uint16_t *p, int64_t step, lanes l) {\n"
    "  float lane[LANES] = {0};\n"
    "  for (int i = l.from; i < l.to; i++) lane[i] = wide(p[i * step]);\n"
    "  return vec_load(lane);\n"
    "}\n"
    "static inline vec wide_lanes(const uint16_t *p, lanes l) { return wide_lanes_step(p, 1, l); "
    "}\n"
    "static inline vec wide_lanes_2(const uint16_t *p, lanes l) { return wide_lanes_step(p, 2, l); "
    "}\n";

static const char lanes_8[] =
    "static inline __m256i lane_mask(lanes l) {\n"
    "  const __m256i at = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);\n"
    "  return _mm256_andnot_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(l.from), at), "
    "_mm256_cmpgt_epi32(_mm256_set1_epi32(l.to), at));\n"
    "}\n"
    "static inline vec load_lanes(const float *p, lanes l) { return all_lanes(l) ? vec_load(p) : "
    "_mm256_maskload_ps(p, lane_mask(l)); }\n"
    "static inline void store_lanes(float *p, vec v, lanes l) {\n"
    "  if (all_lanes(l))\n"
    "    vec_store(p, v);\n"
    "  else\n"
    "    _mm256_maskstore_ps(p, lane_mask(l), v);\n"
    "}\n"
    "static inline vec lanes_or(vec v, lanes l, vec other) { return _mm256_blendv_ps(other, v, "
    "_mm256_castsi256_ps(lane_mask(l))); }\n"
    "static inline vec evens(vec a, vec b) { return "
    "_mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(_mm256_shuffle_ps(a, b, 0xd8)), "
    "0xd8)); }\n";

static const char lanes_4[] = "static inline vec load_lanes(const float *p, lanes l) { return "
                              "all_lanes(l) ? vec_load(p) : load_lanes_step(p, 1, l); }\n"
                              "static inline void store_lanes(float *p, vec v, lanes l) {\n"
                              "  float lane[LANES];\n"
                              "  vec_store(lane, v);\n"
                              "  if (all_lanes(l))\n"
                              "    vec_store(p, v);\n"
                              "  else\n"
                              "    for (int i = l.from; i < l.to; i++) p[i] = lane[i];\n"
                              "}\n"
                              "static inline vec lanes_or(vec v, lanes l, vec other) {\n"
                              "  float lane[LANES];\n"
                              "  vec_store(lane, other);\n"
                              "  store_lanes(lane, v, l);\n"
                              "  return vec_load(lane);\n"
                              "}\n";
static const char evens_sse2[] =
    "static inline vec evens(vec a, vec b) { return _mm_shuffle_ps(a, b, 0xd8); }\n";
static const char evens_neon[] =
    "static inline vec evens(vec a, vec b) { return vuzp1q_f32(a, vextq_f32(b, b, 1)); }\n";

/* Every second element.  a: a vector of neighbours; b: a vector of neighbours that begins at the
 * last of these, so that nothing after the last lane is read. */
static const char by_evens[] =
    "static inline vec load_lanes_2(const float *p, lanes l) { return all_lanes(l) ? "
    "evens(vec_load(p), vec_load(p + LANES - 1)) : load_lanes_step(p, 2, l); }\n";

/* Which of n lanes are in the image: the first is at column x, each `step` further; its columns are
 * lo .. hi - 1. */
static const char within[] = "static inline lanes lanes_within(int64_t x, int64_t step, int64_t "
                             "lo, int64_t hi, int64_t n) {\n"
                             "  const int64_t before = x < lo ? (lo - x + step - 1) / step : 0, "
                             "end = x < hi ? (hi - x + step - 1) / step : 0;\n"
                             "  const int64_t to = end < n ? end : n;\n"
                             "  return lanes_between(before < to ? before : to, to);\n"
                             "}\n";

void tf_micro_lanes_text(FILE *out, const tf_micro_isa *isa, bool bf16) {
  if (isa->lanes == 1) return;
  fputs(isa->lanes == 16 ? masks : between, out);
  if (isa->lanes == 8) fputs(lanes_8, out);
  if (isa->lanes == 4) fputs(lanes_4, out), fputs(isa->shuffle ? evens_sse2 : evens_neon, out);
  if (isa->lanes < 16) fputs(by_evens, out);
  if (bf16) fputs(isa->lanes == 16 ? masks_bf16 : between_bf16, out);
  fputs(within, out);
}

static const char round_8[] =
    "static inline vec vec_round(vec v) { return _mm256_round_ps(v, 8); }\n";
static const char round_16[] =
    "static inline vec vec_round(vec v) { return _mm512_roundscale_ps(v, 8); }\n";
static const char round_4[] = "static inline vec vec_round(vec v) {\n"
                              "  float lane[LANES];\n"
                              "  vec_store(lane, v);\n"
                              "  for (int i = 0; i < LANES; i++) lane[i] = rintf(lane[i]);\n"
                              "  return vec_load(lane);\n"
                              "}\n";

void tf_micro_vector_round(FILE *out, const tf_micro_isa *isa) {
  fputs(isa->lanes == 8 ? round_8 : isa->lanes == 16 ? round_16 : round_4, out);
}

/* Of bytes without a sign (u) or with one (i). */
static const char bytes_8[] =
    "static inline vec vec_of_%c8(const %s *p) {\n"
    "  return _mm256_cvtepi32_ps(_mm256_cvtep%c8_epi32(_mm_loadl_epi64((const void *)p)));\n"
    "}\n"
    "static inline void vec_to_%c8(%s *p, vec v) {\n"
    "  const __m256i all = _mm256_cvttps_epi32(v);\n"
    "  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(all), "
    "_mm256_extracti128_si256(all, 1));\n"
    "  _mm_storel_epi64((void *)p, _mm_pack%s_epi16(words, words));\n"
    "}\n";
static const char bytes_16[] =
    "static inline vec vec_of_%c8(const %s *p) {\n"
    "  return _mm512_cvtepi32_ps(_mm512_cvtep%c8_epi32(_mm_loadu_si128((const void *)p)));\n"
    "}\n"
    "static inline void vec_to_%c8(%s *p, vec v) {\n"
    "  _mm_storeu_si128((void *)p, _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v)));\n"
    "}\n";
/* Of numbers within the type's limits, of which it stores the nearest whole ones, ties to even. */
static const char near_8[] = "static inline void vec_near_%c8(%s *p, vec v) {\n"
                             "  const __m256i all = _mm256_cvtps_epi32(v);\n"
                             "  const __m128i words = _mm_packs_epi32(_mm256_castsi256_si128(all), "
                             "_mm256_extracti128_si256(all, 1));\n"
                             "  _mm_storel_epi64((void *)p, _mm_pack%s_epi16(words, words));\n"
                             "}\n";
static const char near_16[] = "static inline void vec_near_%c8(%s *p, vec v) {\n"
                              "  _mm_storeu_si128((void *)p, "
                              "_mm512_cvtepi32_epi8(_mm512_cvtps_epi32(v)));\n"
                              "}\n";
static const char bytes_part[] = "static inline vec vec_of_%c8_part(const %s *p, int n) {\n"
                                 "  %s lane[LANES] = {0};\n"
                                 "  memcpy(lane, p, (size_t)n);\n"
                                 "  return vec_of_%c8(lane);\n"
                                 "}\n"
                                 "static inline void vec_to_%c8_part(%s *p, vec v, int n) {\n"
                                 "  %s lane[LANES];\n"
                                 "  vec_to_%c8(lane, v);\n"
                                 "  memcpy(p, lane, (size_t)n);\n"
                                 "}\n";

/* Loads of bytes in selected lanes, 0 in the others, which are not touched; and stores.  Of eight
 * lanes, fewer than all are put together in a word. */
static const char some_bytes[] = "static inline uint64_t some_bytes(const void *p, int n) {\n"
                                 "  const uint8_t *const q = p;\n"
                                 "  if (n >= 4) {\n"
                                 "    uint32_t a, b;\n"
                                 "    memcpy(&a, q, sizeof a), memcpy(&b, q + n - 4, sizeof b);\n"
                                 "    return a | (uint64_t)b << 8 * (n - 4);\n"
                                 "  }\n"
                                 "  if (n >= 2) {\n"
                                 "    uint16_t a, b;\n"
                                 "    memcpy(&a, q, sizeof a), memcpy(&b, q + n - 2, sizeof b);\n"
                                 "    return a | (uint64_t)b << 8 * (n - 2);\n"
                                 "  }\n"
                                 "  return n > 0 ? *q : 0;\n"
                                 "}\n";
static const char bytes_lanes_8[] =
    "static inline vec %c8_lanes_step(const %s *p, int64_t step, lanes l) {\n"
    "  %s lane[LANES] = {0};\n"
    "  for (int i = l.from; i < l.to; i++) lane[i] = p[i * step];\n"
    "  return vec_of_%c8(lane);\n"
    "}\n"
    "static inline vec %c8_lanes(const %s *p, lanes l) {\n"
    "  if (all_lanes(l)) return vec_of_%c8(p);\n"
    "  const uint64_t part = l.from < LANES ? some_bytes(p + l.from, l.to - l.from) << 8 * l.from "
    ": 0;\n"
    "  return vec_of_%c8((const void *)&part);\n"
    "}\n"
    "static inline vec %c8_lanes_2(const %s *p, lanes l) {\n"
    "  if (!all_lanes(l)) return %c8_lanes_step(p, 2, l);\n"
    "  const __m128i both = _mm_unpacklo_epi64(_mm_loadl_epi64((const void *)p), "
    "_mm_loadl_epi64((const void *)(p + LANES - 1)));\n"
    "  return _mm256_cvtepi32_ps(_mm256_cvtep%c8_epi32(_mm_shuffle_epi8(both, _mm_setr_epi8(0, 2, "
    "4, 6, 9, 11, 13, 15, -1, -1, -1, -1, -1, -1, -1, -1))));\n"
    "}\n";
static const char bytes_store_8[] =
    "static inline void store_%c8_lanes(%s *p, vec v, lanes l) {\n"
    "  %s lane[LANES];\n"
    "  vec_to_%c8(all_lanes(l) ? p : lane, v);\n"
    "  for (int i = l.from; i < l.to && !all_lanes(l); i++) p[i] = lane[i];\n"
    "}\n";
static const char bytes_lanes_16[] =
    "static inline vec %c8_lanes_step(const %s *p, int64_t step, lanes l) {\n"
    "  %s lane[LANES] = {0};\n"
    "  for (int i = 0; i < LANES; i++)\n"
    "    if (l >> i & 1) lane[i] = p[i * step];\n"
    "  return vec_of_%c8(lane);\n"
    "}\n"
    "static inline vec %c8_lanes(const %s *p, lanes l) { return "
    "_mm512_cvtepi32_ps(_mm512_cvtep%c8_epi32(_mm_maskz_loadu_epi8(l, p))); }\n"
    "static inline vec %c8_lanes_2(const %s *p, lanes l) {\n"
    "  const uint32_t both = _pdep_u32(l, UINT32_C(0x55555555));\n"
    "  return "
    "_mm512_cvtepi32_ps(_mm512_cvtep%c8_epi32(_mm_packus_epi16(_mm_maskz_loadu_epi8((lanes)both, "
    "p), _mm_maskz_loadu_epi8((lanes)(both >> 16), p + LANES))));\n"
    "}\n";
static const char bytes_store_16[] =
    "static inline void store_%c8_lanes(%s *p, vec v, lanes l) {\n"
    "  if (l == 0xffff)\n"
    "    vec_to_%c8(p, v);\n"
    "  else\n"
    "    _mm_mask_storeu_epi8(p, l, _mm512_cvtepi32_epi8(_mm512_cvttps_epi32(v)));\n"
    "}\n";

/* Sums of whole numbers that float32 holds. */
static const char whole_lanes[] =
    "static inline vec whole_lanes(const int32_t *p, lanes l) { return "
    "_mm%s_cvtepi32_ps(_mm%s_castps_si%s(load_lanes((const void *)p, l))); }\n"
    "static inline void store_whole_lanes(int32_t *p, vec v, lanes l) { store_lanes((void *)p, "
    "_mm%s_castsi%s_ps(_mm%s_cvttps_epi32(v)), l); }\n";

static bool takes_bytes(const tf_micro_isa *isa) { return isa->lanes >= TF_MICRO_BYTES_LANES; }

bool tf_micro_takes_bytes(const tf_micro *u) { return takes_bytes(tf_micro_of(u)); }

void tf_micro_vector_bytes(FILE *out, const tf_micro_isa *isa) {
  if (!takes_bytes(isa)) return;
  fputs("#include <string.h>\n", out);
  for (int sign = 0; sign < 2; sign++) {
    const char l = sign ? 'i' : 'u', *const type = sign ? "int8_t" : "uint8_t";
    if (isa->lanes == 8)
      fprintf(out, bytes_8, l, type, l, l, type, sign ? "s" : "us");
    else
      fprintf(out, bytes_16, l, type, l, l, type);
    fprintf(out, isa->lanes == 8 ? near_8 : near_16, l, type, sign ? "s" : "us");
    fprintf(out, bytes_part, l, type, type, l, l, type, type, l);
    if (isa->lanes == 8 && !sign) fputs(some_bytes, out);
    if (isa->lanes == 8)
      fprintf(out, bytes_lanes_8, l, type, type, l, l, type, l, l, l, type, l, l),
          fprintf(out, bytes_store_8, l, type, type, l);
    else
      fprintf(out, bytes_lanes_16, l, type, type, l, l, type, l, l, type, l),
          fprintf(out, bytes_store_16, l, type, l);
  }
  const char *const mm = isa->lanes == 8 ? "256" : "512";
  fprintf(out, whole_lanes, mm, mm, mm, mm, mm, mm);
}
