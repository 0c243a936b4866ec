/* Device functions: PTX here, their emulation in emulate.hpp. */
#include "codegen/backend/cuda/pass/pass.h"
#include "codegen/backend/cuda/print/cuda.h"

static const char plain[] =
    "/* Of these a kernel calls some. */\n"
    "#define DEVICE [[maybe_unused]] static __device__ __forceinline__\n"
    "#if !defined(START) /* an emulation may say otherwise */\n"
    "#define START(part, blocks, threads, bytes, stream, ...) part<<<(unsigned)(blocks), threads, "
    "bytes, stream>>>(__VA_ARGS__)\n"
    "#define SHARED(name) extern __shared__ __align__(1024) unsigned char name[]\n"
    "#define POINTER(T) T *\n"
    "/* What an emulation must be told: bytes read and written; those that go to shared memory; "
    "what an "
    "array is. */\n"
    "#define READS(at, bytes) (void)0\n#define WRITES(at, bytes) (void)0\n#define PASSES(to, from, "
    "there, all) (void)0\n"
    "#define TENSOR(what, at, element) (void)0\n"
    "/* One element on its way to shared memory; the end of a group; until at most `left` groups "
    "are under way. */\n"
    "DEVICE void copy_async(float *to, const float *from) {\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" "
    "::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from) : \"memory\");\n"
    "#else\n  *to = *from;\n#endif\n}\n"
    "/* LANE, its warp, and THREAD; but what is computed from them is not kept in registers for "
    "all turns of the loops around. */\n"
    "DEVICE int lane_here(void) {\n  int lane = LANE;\n"
    "  asm volatile(\"\" : \"+r\"(lane));\n  return lane;\n}\n"
    "/* Of the first lane: so that machine code knows the warp's lanes to go the same way. */\n"
    "DEVICE int row_here(void) {\n  int row = (int)threadIdx.y;\n"
    "  asm volatile(\"\" : \"+r\"(row));\n"
    "  return __shfl_sync(0xffffffffu, row, 0);\n}\n"
    "DEVICE int thread_here(void) {\n  int thread = THREAD;\n"
    "  asm volatile(\"\" : \"+r\"(thread));\n  return thread;\n}\n"
    "/* What the lane has. */\n"
    "DEVICE float of_lane(float x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }\n"
    "DEVICE void copy_end(void) {\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n#endif\n}\n"
    "template <int left> DEVICE void copy_wait(void) {\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(left) : \"memory\");\n#endif\n}\n";

static const char tensor[] =
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n"
    "#error \"tensor cores: sm_80 or later\"\n#endif\n"
    "/* exp, 1e-5 relative or better above -100; 0 below -87.3. */\n"
    "DEVICE float exp_near(float x) {\n  float y;\n"
    "  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x * 1.44269504f));\n"
    "  return y;\n}\n"
    "/* exp(x - top), off by no more than a rounding of top; top may be what no element of a "
    "masked row is above. */\n"
    "DEVICE float exp_below(float x, float top) {\n  float y;\n"
    "  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(fmaf(x, 1.44269504f, -fmaxf(top * "
    "1.44269504f, -3.40282347e38f))));\n"
    "  return y;\n}\n"
    "/* Four matrices of 8 rows of 16 bytes, which stand at the addresses that eight lanes each "
    "have; turned: their columns of two bytes. */\n"
    "DEVICE void load_matrices(uint32_t *r, const void *at) {\n"
    "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\" : "
    "\"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : "
    "\"r\"((unsigned)__cvta_generic_to_shared(at)) : \"memory\");\n"
    "}\n"
    "DEVICE void load_matrices_turned(uint32_t *r, const void *at) {\n"
    "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\" : "
    "\"=r\"(r[0]), \"=r\"(r[1]), \"=r\"(r[2]), \"=r\"(r[3]) : "
    "\"r\"((unsigned)__cvta_generic_to_shared(at)) : \"memory\");\n"
    "}\n"
    "/* 16 bytes on their way to shared memory, of which `bytes` are there and the others zero. "
    "*/\n"
    "DEVICE void copy_16(void *to, const void *from, int bytes) {\n"
    "  asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\" "
    "::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), \"r\"(bytes) : \"memory\");\n"
    "}\n"
    "/* The same of 4 bytes. */\n"
    "DEVICE void copy_4(void *to, const void *from, int bytes) {\n"
    "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4, %2;\" "
    "::\"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), \"r\"(bytes) : \"memory\");\n"
    "}\n";

/* For each 16-bit type: to float, rounded from it, and two of them packed, the first in the lower
 * half. */
static const char halves[] =
    "DEVICE float wide_%s(uint16_t h) {\n%s}\n"
    "DEVICE uint16_t narrow_%s(float x) {\n  uint16_t h;\n"
    "  asm(\"cvt.rn.%s.f32 %%0, %%1;\" : \"=h\"(h) : \"f\"(x));\n"
    "  return h;\n}\n"
    "DEVICE uint32_t pack_%s(float x, float y) {\n  uint32_t two;\n"
    "  asm(\"cvt.rn.%sx2.f32 %%0, %%1, %%2;\" : \"=r\"(two) : \"f\"(y), \"f\"(x));\n"
    "  return two;\n}\n";
static const char wide_bf16[] = "  return __uint_as_float((uint32_t)h << 16);\n";
static const char wide_f16[] =
    "  float x;\n  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"(h));\n  return x;\n";
static const char tf32[] =
    "DEVICE uint32_t pack_tf32(float x) {\n  uint32_t r;\n"
    "  asm(\"cvt.rna.tf32.f32 %0, %1;\" : \"=r\"(r) : \"f\"(x));\n  return r;\n}\n";

static const char e4m3[] =
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 890\n#error \"float8: sm_89 or later\"\n#endif\n"
    "DEVICE float wide_e4m3(uint8_t h) {\n  uint32_t two;\n  float x;\n"
    "  asm(\"cvt.rn.f16x2.e4m3x2 %0, %1;\" : \"=r\"(two) : \"h\"((uint16_t)h));\n"
    "  asm(\"cvt.f32.f16 %0, %1;\" : \"=f\"(x) : \"h\"((uint16_t)two));\n  return x;\n}\n"
    "DEVICE uint32_t pack_e4m3(float a, float b, float c, float d) {\n  uint16_t low, high;\n"
    "  asm(\"cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;\" : \"=h\"(low) : \"f\"(b), \"f\"(a));\n"
    "  asm(\"cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;\" : \"=h\"(high) : \"f\"(d), \"f\"(c));\n"
    "  return (uint32_t)high << 16 | low;\n}\n"
    "DEVICE uint16_t pack_two_e4m3(float a, float b) {\n  uint16_t two;\n"
    "  asm(\"cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;\" : \"=h\"(two) : \"f\"(b), \"f\"(a));\n"
    "  return two;\n}\n"
    "DEVICE uint8_t narrow_e4m3(float x) { return (uint8_t)pack_two_e4m3(x, 0.0f); }\n";

/* For float8 where bfloat16 is multiplied. */
static const char pairs[] =
    "/* Two float8 as bfloat16, the first in the lower half. */\n"
    "DEVICE uint32_t wide_pair(uint32_t two) {\n  uint32_t r;\n"
    "  asm(\"{.reg .b16 a, b, c; .reg .b32 h; .reg .f32 x, y; cvt.u16.u32 a, %1; "
    "cvt.rn.f16x2.e4m3x2 h, a; mov.b32 {b, c}, h; cvt.f32.f16 x, b; cvt.f32.f16 y, c; "
    "cvt.rn.bf16x2.f32 %0, y, x;}\" : \"=r\"(r) : \"r\"(two));\n"
    "  return r;\n}\n";

static const char both[] =
    "/* Where a piece of row eights + row stands, eights being a multiple of 8: eight rows of a "
    "column of pieces lie in different banks. */\n"
    "template <int pitch, int shift, int mask> DEVICE int spot(int eights, int row, int piece) {\n"
    "  return (eights + row) * pitch + (piece ^ (row >> shift & mask));\n}\n"
    "/* A piece of 16 bytes, of whose elements `n` are there: as words, if those in global memory "
    "stand on 4 bytes; of halves that do not, the words between the first and the last, shifted; "
    "else one by one. */\n"
    "struct alignas(16) copy_words {\n  uint32_t w[4];\n};\n"
    "template <class T> DEVICE void copy_elements(T *to, const T *from, int n) {\n"
    "  if ((uintptr_t)from % 4 == 0 && n == 16 / (int)sizeof(T)) {\n"
    "#pragma unroll\n"
    "    for (int i = 0; i < 4; i++) copy_4((unsigned char *)to + 4 * i, (const unsigned char "
    "*)from + 4 * i, 4);\n"
    "    return;\n  }\n"
    "  if ((uintptr_t)from % 4 == 0) {\n"
    "#pragma unroll\n    for (int i = 0; i < 4; i++) {\n"
    "      const int left = n * (int)sizeof(T) - 4 * i;\n"
    "      copy_4((unsigned char *)to + 4 * i, (const unsigned char *)from + 4 * i, left < 0 ? 0 : "
    "left < 4 ? left : 4);\n"
    "    }\n    return;\n  }\n"
    "  PASSES(to, from, n > 0 ? n * (int)sizeof(T) : 0, 16);\n"
    "  if (sizeof(T) == 2 && n == 8) {\n"
    "    const uint32_t *const in = (const uint32_t *)(from + 1);\n"
    "    const uint32_t first = (uint16_t)from[0], a = in[0], b = in[1], c = in[2], last = "
    "(uint16_t)from[7];\n"
    "    *(copy_words *)to = copy_words{{first | a << 16, a >> 16 | b << 16, b >> 16 | c << 16, c "
    ">> 16 | last << 16}};\n"
    "    return;\n  }\n"
    "#pragma unroll\n"
    "  for (int i = 0; i < 16 / (int)sizeof(T); i++) to[i] = i < n ? from[i] : T(0);\n}\n"
    "/* So, or (whole: those in global memory stand on 16 bytes) as one. */\n"
    "template <class T> DEVICE void copy_piece(T *to, const T *from, int n, bool whole) {\n"
    "  if (whole)\n    copy_16(to, from, n > 0 ? n * (int)sizeof(T) : 0);\n"
    "  else\n    copy_elements(to, from, n);\n}\n"
    "template <int n, class T> DEVICE void zero_fragments(T *x) {\n"
    "#pragma unroll\n  for (int i = 0; i < n; i++) x[i] = T(0);\n}\n";

/* For products of float8 whose operand is an intermediate. */
static const char both_pack[] =
    "DEVICE uint32_t pack(float x, float y) { return pack_bf16(x, y); }\n";
static const char both_wide[] =
    "struct alignas(8) copy_bytes {\n  uint32_t w[2];\n};\n"
    "DEVICE copy_bytes bytes_apart(const uint8_t *from, int64_t step, int n) {\n"
    "  copy_bytes in = {{0, 0}};\n"
    "#pragma unroll\n  for (int i = 0; i < 8; i++)\n"
    "    if (i < n) in.w[i / 4] |= (uint32_t)from[i * step] << (8 * (i % 4));\n"
    "  return in;\n}\n"
    "DEVICE void put_wide(uint16_t *to, copy_bytes in) {\n"
    "  *(copy_words *)to = copy_words{{wide_pair(in.w[0]), wide_pair(in.w[0] >> 16), "
    "wide_pair(in.w[1]), wide_pair(in.w[1] >> 16)}};\n"
    "}\n"
    "DEVICE void copy_eight(uint16_t *to, const uint8_t *from, int n) {\n"
    "  PASSES(to, from, n, 16);\n"
    "  put_wide(to, *(const copy_bytes *)from);\n}\n"
    "/* A piece of bfloat16 from eight of float8, of which `n` are there; whole: those in global "
    "memory stand on 8 bytes. */\n"
    "DEVICE void copy_wide(uint16_t *to, const uint8_t *from, int n, bool whole) {\n"
    "  PASSES(to, from, n > 0 ? n : 0, 16);\n  copy_bytes in = {{0, 0}};\n"
    "  if (whole && n == 8)\n    in = *(const copy_bytes *)from;\n  else\n"
    "    in = bytes_apart(from, 1, n);\n"
    "  put_wide(to, in);\n}\n"
    "/* The same of those `step` from each other. */\n"
    "DEVICE void copy_wide_apart(uint16_t *to, const uint8_t *from, int64_t step, int n) {\n"
    "#pragma unroll\n  for (int i = 0; i < 8; i++) PASSES(to + i, from + i * step, i < n, 2);\n"
    "  put_wide(to, bytes_apart(from, step, n));\n}\n";

/* For stacked rows whose channels are not contiguous. */
static const char both_apart[] =
    "/* A piece of 16 bytes, of whose elements `n` are there, `step` from each other. */\n"
    "template <class T> DEVICE void copy_apart(T *to, const T *from, int64_t step, int n) {\n"
    "#pragma unroll 1\n  for (int i = 0; i < 16 / (int)sizeof(T); i++) {\n"
    "    PASSES(to + i, from + i * step, i < n ? (int)sizeof(T) : 0, (int)sizeof(T));\n"
    "    to[i] = i < n ? from[i * step] : T(0);\n  }\n}\n";

/* For elements at known distances. */
static const char both_gathered[] =
    "/* A piece of 16 bytes from its elements. */\n"
    "template <class T> DEVICE void put_piece(T *to, const T *e) {\n"
    "  copy_words all;\n  memcpy(&all, e, sizeof all);\n  *(copy_words *)to = all;\n}\n"
    "/* One whose elements are `step` from each other; not there: zero, and those at `from` may be "
    "read. */\n"
    "template <int64_t step, class T> DEVICE void copy_steps(T *to, const T *from, bool there) {\n"
    "  T e[16 / sizeof(T)];\n  copy_words all;\n"
    "#pragma unroll\n  for (int i = 0; i < 16 / (int)sizeof(T); i++) {\n"
    "    PASSES(to + i, from + i * step, there ? (int)sizeof(T) : 0, (int)sizeof(T));\n"
    "    e[i] = from[i * step];\n  }\n"
    "  memcpy(&all, e, sizeof all);\n"
    "#pragma unroll\n  for (int i = 0; i < 4; i++) all.w[i] = there ? all.w[i] : 0;\n"
    "  *(copy_words *)to = all;\n}\n";

/* For columns that are a window and its channels. */
static const char both_across[] =
    "/* An element, or zero. */\n"
    "template <class T> DEVICE void copy_one(T *to, const T *from, bool there) {\n"
    "  PASSES(to, from, there ? (int)sizeof(T) : 0, (int)sizeof(T));\n"
    "  *to = there ? *from : T(0);\n}\n";

static const char both_halves[] =
    "DEVICE float wide(uint16_t h) { return wide_%s(h); }\n"
    "DEVICE uint16_t narrow(float x) { return narrow_%s(x); }\n"
    "DEVICE uint32_t pack(float x, float y) { return pack_%s(x, y); }\n"
    "DEVICE void copy_async(uint16_t *to, const uint16_t *from) {\n"
    "  PASSES(to, from, 2, 2);\n  *to = *from;\n}\n"
    "/* Two neighbours that stand on 4 bytes, by one load. */\n"
    "DEVICE void get_pair(uint16_t *to, const uint16_t *from) {\n"
    "  READS(from, 4);\n  const uint32_t two = *(const uint32_t *)from;\n"
    "#if defined(__CUDA_ARCH__)\n"
    "  asm(\"mov.b32 {%%0, %%1}, %%2;\" : \"=h\"(to[0]), \"=h\"(to[1]) : \"r\"(two));\n"
    "#else\n  to[0] = (uint16_t)(two & 0xffff), to[1] = (uint16_t)(two >> 16);\n#endif\n}\n"
    "/* Two neighbours, that stand on 4 bytes, as one; of which `left` or fewer are there. */\n"
    "DEVICE void put_word(uint16_t *to, float x, float y) {\n"
    "  WRITES(to, 4);\n  *(uint32_t *)to = pack(x, y);\n}\n"
    "DEVICE void put_pair(uint16_t *to, float x, float y, int64_t left) {\n"
    "  if (left >= 2 && (uintptr_t)to %% 4 == 0) return put_word(to, x, y);\n"
    "  for (int i = 0; i < 2 && i < left; i++) {\n    WRITES(to + i, 2);\n"
    "    to[i] = narrow(i ? y : x);\n  }\n}\n";
static const char both_tf32[] =
    "DEVICE uint32_t pack(float x) { return pack_tf32(x); }\n"
    "/* float32 as they stand in memory, rounded. */\n"
    "DEVICE void settle(uint32_t *r) {\n"
    "#pragma unroll\n  for (int i = 0; i < 4; i++) r[i] = pack(__uint_as_float(r[i]));\n}\n";
static const char both_bytes[] =
    "DEVICE uint32_t pack(float a, float b, float c, float d) {\n"
    "  return (uint32_t)(uint8_t)(int8_t)a | (uint32_t)(uint8_t)(int8_t)b << 8 | "
    "(uint32_t)(uint8_t)(int8_t)c << 16 |\n"
    "         (uint32_t)(uint8_t)(int8_t)d << 24;\n}\n"
    "DEVICE void copy_async(int8_t *to, const int8_t *from) {\n"
    "  PASSES(to, from, 1, 1);\n  *to = *from;\n}\n";

static const char both_f8[] =
    "DEVICE float wide(uint8_t h) { return wide_e4m3(h); }\n"
    "DEVICE uint32_t pack(float a, float b, float c, float d) { return pack_e4m3(a, b, c, d); }\n"
    "DEVICE void copy_async(uint8_t *to, const uint8_t *from) {\n"
    "  PASSES(to, from, 1, 1);\n  *to = *from;\n}\n"
    "/* Sums of a part to those of all. */\n"
    "template <int n> DEVICE void add_part(float *d, const float *part, bool fresh) {\n"
    "#pragma unroll\n  for (int i = 0; i < n; i++) d[i] = fresh ? part[i] : d[i] + part[i];\n}\n";

/* C++'s fragments. Which lane has which sums is not specified by mma.h: to access them they pass
 * through `room`, 16 rows of 16 for each warp. */
static void wmma(FILE *out, const cu_mma *m) {
  const char *type = m->kernel.a == IR_F16 ? "half" : "__nv_bfloat16";
  fprintf(out, "#include <mma.h>\n#include <%s.h>\n",
          m->kernel.a == IR_F16 ? "cuda_fp16" : "cuda_bf16");
  fprintf(
      out,
      "typedef nvcuda::wmma::row_major wmma_rows;\ntypedef nvcuda::wmma::col_major wmma_columns;\n"
      "typedef nvcuda::wmma::fragment<nvcuda::wmma::accumulator, 16, 16, 16, float> wmma_sums;\n"
      "template <class L> using wmma_a = nvcuda::wmma::fragment<nvcuda::wmma::matrix_a, 16, 16, "
      "16, %s, L>;\n"
      "template <class L> using wmma_b = nvcuda::wmma::fragment<nvcuda::wmma::matrix_b, 16, 16, "
      "16, %s, L>;\n"
      "DEVICE void wmma_zero(wmma_sums &d) { nvcuda::wmma::fill_fragment(d, 0.0f); }\n"
      "template <class F> DEVICE void wmma_load(F &f, const uint16_t *at, int pitch) {\n"
      "  nvcuda::wmma::load_matrix_sync(f, (const %s *)at, pitch);\n}\n"
      "template <class A, class B> DEVICE void wmma_multiply_%s(wmma_sums &d, const A &a, const B "
      "&b) {\n"
      "  nvcuda::wmma::mma_sync(d, a, b, d);\n}\n",
      type, type, type, m->type);
  fputs("/* Rows LANE / 4 and 8 below, columns 2 * (LANE % 4) and the next, of each eight. */\n"
        "DEVICE void wmma_unload(float (*x)[4], const wmma_sums &d, float *room) {\n"
        "  nvcuda::wmma::store_matrix_sync(room, d, 16, nvcuda::wmma::mem_row_major);\n"
        "  __syncwarp();\n"
        "#pragma unroll\n  for (int i = 0; i < 8; i++)\n"
        "    x[i / 4][i % 4] = room[(LANE / 4 + i % 4 / 2 * 8) * 16 + i / 4 * 8 + 2 * (LANE % 4) + "
        "i % 2];\n"
        "  __syncwarp();\n}\n",
        out);
}

/* The same for tensor cores that accumulate with fewer bits than float32: results are added to the
 * sums. */
static void multiply_short(FILE *out, const cu_mma *m) {
  fprintf(out,
          "DEVICE void multiply_%s(float *d, const uint32_t *a, const uint32_t *b) {\n"
          "  float part[4];\n"
          "  asm volatile(\"mma.sync.aligned.%s {%%0,%%1,%%2,%%3}, {%%4,%%5,%%6,%%7}, {%%8,%%9}, "
          "{%%10,%%10,%%10,%%10};\" : \"=f\"(part[0]), \"=f\"(part[1]), \"=f\"(part[2]), "
          "\"=f\"(part[3])\n"
          "               : \"r\"(a[0]), \"r\"(a[1]), \"r\"(a[2]), \"r\"(a[3]), \"r\"(b[0]), "
          "\"r\"(b[1]), \"f\"(0.0f));\n"
          "#pragma unroll\n  for (int i = 0; i < 4; i++) d[i] += part[i];\n}\n",
          m->type, m->ptx);
}

/* Sums of 16 rows and 8 columns += rows of a by columns of b. */
static void multiply(FILE *out, const cu_mma *m) {
  const bool whole = m->kernel.c == IR_I32;
  fprintf(out, "/* 16 x 8 sums += 16 x %d by %d x 8. */\n", m->kernel.k_round, m->kernel.k_round);
  if (m->kernel.a == IR_F8) {
    multiply_short(out, m);
    return;
  }
  fprintf(out,
          "DEVICE void multiply_%s(%s *d, const uint32_t *a, const uint32_t *b) {\n"
          "  asm volatile(\"mma.sync.aligned.%s {%%0,%%1,%%2,%%3}, {%%4,%%5,%%6,%%7}, {%%8,%%9}, "
          "{%%0,%%1,%%2,%%3};\" :",
          m->type, whole ? "int32_t" : "float", m->ptx);
  for (int i = 0; i < 4; i++)
    fprintf(out, "%s \"+%c\"(d[%d])", i ? "," : "", whole ? 'r' : 'f', i);
  for (int i = 0; i < 6; i++)
    fprintf(out, "%s \"r\"(%c[%d])", i ? "," : " :", i < 4 ? 'a' : 'b', i % 4);
  fputs(");\n}\n", out);
}

static void halves_of(FILE *out, const cu_mma *m) {
  const char *t = m->type;
  fprintf(out, halves, t, m->kernel.a == IR_F16 ? wide_f16 : wide_bf16, t, t, t, t);
}

/* The other instruction that the program's products use; NULL: there is none. */
static const cu_mma *other_of(const ir_program *p) {
  const cu_mma *other = NULL;
  for (int i = 0; i < p->tree->workload->n_ops && !other; i++) {
    const tf_op *op = &p->tree->workload->ops[i];
    if (ir_is_product(op) && cu_mma_for(p, op) != cu_mma_of(p)) other = cu_mma_for(p, op);
  }
  return other;
}

/* Whether bfloat16 leaves beside a type that is multiplied. */
static bool has_halves_beside(const ir_program *p) {
  return p->machine.data == IR_F8 && c_has_arrays_of(p, IR_BF16);
}

static void operations(FILE *out, const ir_program *p, const cu_mma *m, const cu_mma *other) {
  fputs(tensor, out);
  if (m->kernel.a == IR_F32) fputs(tf32, out);
  if (m->kernel.a == IR_F8) fputs(e4m3, out);
  if (ir_is_half(m->kernel.a)) halves_of(out, m);
  if (other || has_halves_beside(p)) halves_of(out, other ? other : cu_mma_at(0));
  if (other) multiply(out, other), fputs(pairs, out);
  if (m->wmma)
    wmma(out, m);
  else
    multiply(out, m);
}

void cu_device(FILE *out, const ir_program *p) {
  const cu_mma *m = cu_mma_of(p);
  fputs(plain, out);
  const cu_mma *other = m ? other_of(p) : NULL;
  if (m) operations(out, p, m, other);
  fputs("#endif\n", out);
  if (!m) return;
  if (ir_is_half(m->kernel.a)) fprintf(out, both_halves, m->type, m->type, m->type);
  if (m->kernel.a == IR_F32) fputs(both_tf32, out);
  if (m->kernel.a == IR_I8) fputs(both_bytes, out);
  const char *beside = has_halves_beside(p) ? cu_mma_at(0)->type : NULL;
  if (beside) fprintf(out, both_halves, beside, beside, beside);
  if (m->kernel.a == IR_F8) fputs(both_f8, out);
  fputs(both, out);
  if (other && !beside) fputs(both_pack, out);
  if (other) fputs(both_wide, out);
  bool apart = false, across = false;
  for (int i = 0; i < p->n_buffers; i++) {
    const ir_buffer *b = &p->buffers[i];
    const bool stacked = b->role == IR_COPIED && cu_stack(b);
    apart |= stacked && !cu_across(b) && cu_column_rank(b) < b->rank - 1,
        across |= stacked && cu_across(b);
  }
  if (apart || across) fputs(both_gathered, out);
  if (apart) fputs(both_apart, out);
  if (across) fputs(both_across, out);
}
