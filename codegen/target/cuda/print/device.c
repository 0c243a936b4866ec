/* Operations of a device, each named once: PTX here, what they mean in emulate.hpp. */
#include "codegen/target/cuda/print/cuda.h"

static const char plain[] =
    "#define DEVICE static __device__ __forceinline__\n"
    "#if !defined(START) /* an emulation may say otherwise */\n"
    "#define START(part, blocks, threads, bytes, stream, ...) part<<<(unsigned)(blocks), threads, bytes, "
    "stream>>>(__VA_ARGS__)\n"
    "#define SHARED(name) extern __shared__ __align__(128) unsigned char name[]\n"
    "/* One element on its way to shared memory; the end of a group; until at most `left` groups are under way. */\n"
    "DEVICE void copy_async(float *to, const float *from) {\n"
    "#if __CUDA_ARCH__ >= 800\n"
    "  asm volatile(\"cp.async.ca.shared.global [%0], [%1], 4;\" ::\"r\"((unsigned)__cvta_generic_to_shared(to)), "
    "\"l\"(from) : \"memory\");\n"
    "#else\n  *to = *from;\n#endif\n}\n"
    "DEVICE void copy_end(void) {\n"
    "#if __CUDA_ARCH__ >= 800\n  asm volatile(\"cp.async.commit_group;\" ::: \"memory\");\n#endif\n}\n"
    "template <int left> DEVICE void copy_wait(void) {\n"
    "#if __CUDA_ARCH__ >= 800\n  asm volatile(\"cp.async.wait_group %0;\" ::\"n\"(left) : \"memory\");\n#endif\n}\n";

static const char tensor[] =
    "#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800\n#error \"tensor cores of bfloat16: sm_80 or later\"\n#endif\n"
    "DEVICE float wide(uint16_t h) { return __uint_as_float((uint32_t)h << 16); }\n"
    "DEVICE uint16_t narrow(float x) {\n  uint16_t h;\n  asm(\"cvt.rn.bf16.f32 %0, %1;\" : \"=h\"(h) : \"f\"(x));\n  "
    "return "
    "h;\n}\n"
    "/* Two bfloat16, the first in the lower half. */\n"
    "DEVICE uint32_t pack(float x, float y) {\n  uint32_t two;\n  asm(\"cvt.rn.bf16x2.f32 %0, %1, %2;\" : \"=r\"(two) "
    ": "
    "\"f\"(y), \"f\"(x));\n  return two;\n}\n"
    "/* exp, 1e-5 relative or better above -100; 0 below -87.3. */\n"
    "DEVICE float exp_near(float x) {\n  float y;\n  asm(\"ex2.approx.ftz.f32 %0, %1;\" : \"=f\"(y) : \"f\"(x * "
    "1.44269504f));\n  return y;\n}\n"
    "/* What the lane has. */\n"
    "DEVICE float of_lane(float x, int lane) { return __shfl_sync(0xffffffffu, x, lane); }\n"
    "/* Four matrices of 8 x 8, whose rows stand at the addresses that eight lanes each have; turned: their columns. "
    "*/\n"
    "DEVICE void load_matrices(uint32_t *r, const uint16_t *at) {\n"
    "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];\" : \"=r\"(r[0]), \"=r\"(r[1]), "
    "\"=r\"(r[2]), \"=r\"(r[3]) : \"r\"((unsigned)__cvta_generic_to_shared(at)) : \"memory\");\n}\n"
    "DEVICE void load_matrices_turned(uint32_t *r, const uint16_t *at) {\n"
    "  asm volatile(\"ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];\" : \"=r\"(r[0]), "
    "\"=r\"(r[1]), "
    "\"=r\"(r[2]), \"=r\"(r[3]) : \"r\"((unsigned)__cvta_generic_to_shared(at)) : \"memory\");\n}\n"
    "/* 16 x 8 sums += 16 x 16 by 16 x 8. */\n"
    "DEVICE void multiply_bf16(float *d, const uint32_t *a, const uint32_t *b) {\n"
    "  asm volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
    "{%0,%1,%2,%3};\" : \"+f\"(d[0]), \"+f\"(d[1]), \"+f\"(d[2]), \"+f\"(d[3]) : \"r\"(a[0]), \"r\"(a[1]), "
    "\"r\"(a[2]), "
    "\"r\"(a[3]), \"r\"(b[0]), \"r\"(b[1]));\n}\n"
    "/* 16 bytes on their way to shared memory, of which `bytes` are there and the others zero. */\n"
    "DEVICE void copy_16(uint16_t *to, const uint16_t *from, int bytes) {\n"
    "  asm volatile(\"cp.async.cg.shared.global [%0], [%1], 16, %2;\" ::\"r\"((unsigned)__cvta_generic_to_shared(to)), "
    "\"l\"(from), \"r\"(bytes) : \"memory\");\n}\n";

static const char both[] =
    "DEVICE void copy_async(uint16_t *to, const uint16_t *from) { *to = *from; }\n"
    "/* Where a piece of row eights + row stands, eights being a multiple of 8: eight rows of a column of pieces lie "
    "in "
    "different banks. */\n"
    "template <int pitch, int shift, int mask> DEVICE int spot(int eights, int row, int piece) {\n"
    "  return (eights + row) * pitch + (piece ^ (row >> shift & mask));\n}\n"
    "/* Eight elements, of which `n` are there; whole: those in global memory stand on 16 bytes. */\n"
    "DEVICE void copy_piece(uint16_t *to, const uint16_t *from, int n, bool whole) {\n"
    "  if (whole) {\n    copy_16(to, from, n > 0 ? 2 * n : 0);\n    return;\n  }\n"
    "#pragma unroll\n  for (int i = 0; i < 8; i++) to[i] = i < n ? from[i] : (uint16_t)0;\n}\n"
    "/* Two neighbours, of which `left` or fewer are there. */\n"
    "DEVICE void put_pair(uint16_t *to, float x, float y, int64_t left) {\n"
    "  if (left >= 2 && (uintptr_t)to % 4 == 0) {\n    *(uint32_t *)to = pack(x, y);\n    return;\n  }\n"
    "  if (left >= 1) to[0] = narrow(x);\n  if (left >= 2) to[1] = narrow(y);\n}\n"
    "template <int n> DEVICE void zero_fragments(float *x) {\n"
    "#pragma unroll\n  for (int i = 0; i < n; i++) x[i] = 0.0f;\n}\n";

void cu_device(FILE *out, const ir_program *p) {
  const bool tensors = p->machine.data == IR_BF16;
  fputs(plain, out);
  if (tensors) fputs(tensor, out);
  fputs("#endif\n", out);
  if (tensors) fputs(both, out);
}
