/* A device where there is none: the CUDA text beside this file, compiled as C++ with -DTILEFLOW_EMULATE (`make emulate`),
 * runs on the processor.  A block's threads are fibers, which go on in an order by seed from barrier to barrier; a copy
 * comes at once or when it is waited for, also by seed, and until then its place holds NaN.  A barrier that some threads
 * of a block do not come to ends the program. */
#ifndef TILEFLOW_EMULATE_HPP
#define TILEFLOW_EMULATE_HPP
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

#include <functional>
#include <vector>

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
typedef int cudaError_t;
typedef void *cudaStream_t;
enum { cudaSuccess = 0, cudaFuncAttributeMaxDynamicSharedMemorySize };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(n)

static dim3 blockIdx, gridDim, blockDim, threadIdx;

namespace emulation {
struct copy {
  float *to;
  const float *from;
  int group;
};
struct fiber {
  ucontext_t at;
  std::vector<char> stack;
  std::vector<copy> copies;
  dim3 thread;
  int groups = 0;
  bool done = false, waits = false;
};
static std::vector<fiber> fibers;
static ucontext_t outside;
static size_t now;
static std::vector<float> shared;
static std::function<void()> part;
static uint64_t state = 0x9e3779b97f4a7c15u;

static inline unsigned draw(unsigned n) {
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (unsigned)(state >> 33) % n;
}

static inline void fail(const char *why) {
  fprintf(stderr, "emulation: %s\n", why);
  exit(3);
}

static void begin() {
  part();
  fibers[now].done = true;
  swapcontext(&fibers[now].at, &outside);
}

static inline void resume(size_t i) {
  now = i;
  threadIdx = fibers[i].thread;
  swapcontext(&outside, &fibers[i].at);
}

/* Every thread from one barrier to the next; whether any is left. */
static inline bool go_on() {
  const size_t n = fibers.size(), first = draw((unsigned)n), step = draw(2) ? 1 : n - 1;
  size_t done = 0;
  for (size_t i = 0; i < n; i++)
    if (!fibers[(first + i * step) % n].done) resume((first + i * step) % n);
  for (size_t i = 0; i < n; i++)
    done += fibers[i].done;
  if (done && done < n) fail("a barrier that not all threads come to");
  return done == 0;
}

static inline void run_block(dim3 threads) {
  const size_t n = (size_t)threads.x * threads.y * threads.z;
  if (fibers.size() != n) fibers = std::vector<fiber>(n);
  for (size_t i = 0; i < n; i++) {
    fiber &f = fibers[i];
    f.stack.resize(64 << 10);
    f.copies.clear();
    f.groups = 0, f.done = false;
    f.thread = dim3((unsigned)i % threads.x, (unsigned)i / threads.x);
    getcontext(&f.at);
    f.at.uc_stack.ss_sp = f.stack.data();
    f.at.uc_stack.ss_size = f.stack.size();
    f.at.uc_link = &outside;
    makecontext(&f.at, begin, 0);
  }
  while (go_on()) {
  }
  for (size_t i = 0; i < n; i++)
    if (!fibers[i].copies.empty()) fail("a copy that nobody waits for");
}

static inline void start(size_t blocks, dim3 threads, size_t bytes, std::function<void()> what) {
  part = what;
  gridDim = dim3((unsigned)blocks), blockDim = threads;
  if (bytes > 227 << 10) fail("more shared memory than a block may have");
  for (size_t i = 0; i < blocks; i++) {
    blockIdx = dim3((unsigned)i);
    shared.assign(bytes / sizeof(float) + 1, NAN);
    run_block(threads);
  }
}
} // namespace emulation

#define START(part, blocks, threads, bytes, stream, ...)                                                               \
  ((void)(stream), emulation::start(blocks, threads, bytes, [&] { part(__VA_ARGS__); }))
#define SHARED(name) float *const name = emulation::shared.data()

static inline void __syncthreads() { swapcontext(&emulation::fibers[emulation::now].at, &emulation::outside); }

static inline void copy_async(float *to, const float *from) {
  emulation::fiber &f = emulation::fibers[emulation::now];
  if (emulation::draw(2)) {
    *to = *from;
    return;
  }
  *to = NAN;
  f.copies.push_back({to, from, f.groups});
}
static inline void copy_end() { emulation::fibers[emulation::now].groups++; }
template <int left> static inline void copy_wait() {
  emulation::fiber &f = emulation::fibers[emulation::now];
  std::vector<emulation::copy> later;
  for (const emulation::copy &c : f.copies)
    if (c.group < f.groups - left)
      *c.to = *c.from;
    else
      later.push_back(c);
  f.copies = later;
}

static inline cudaError_t cudaMalloc(void **p, size_t n) {
  *p = malloc(n ? n : 1);
  if (*p) memset(*p, 0xff, n);
  return *p ? cudaSuccess : 1;
}
static inline cudaError_t cudaFree(void *p) { return free(p), cudaSuccess; }
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int) {
  return memcpy(to, from, n), cudaSuccess;
}
static inline cudaError_t cudaGetLastError() { return cudaSuccess; }
static inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static inline cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
template <class F> static inline cudaError_t cudaFuncSetAttribute(F, int, int) { return cudaSuccess; }
#endif
