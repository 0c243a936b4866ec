/* A device where there is none: the CUDA text beside this file, compiled as C++ with -DTILEFLOW_EMULATE (`make emulate`),
 * runs on the processor.  A block's threads are fibers, which go on in an order by seed (TILEFLOW_SEED) from barrier to
 * barrier; a copy comes at a moment between its begin and its wait, also by seed, and until then its place holds NaN.  What
 * the 32 lanes of a warp do together is done when all have come.  A barrier that some threads of a block do not come to,
 * lanes that do different things together, an address that is misaligned or in no array end the program, and so do races:
 * two threads at one place, one of which writes, that no barrier orders; and whoever touches what a copy brings before it
 * has been waited for.  These are told whatever the order.  TILEFLOW_WORDS=1 prints the elements of each array that went
 * between memories and registers. */
#ifndef TILEFLOW_EMULATE_HPP
#define TILEFLOW_EMULATE_HPP
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>

struct dim3 {
  unsigned x, y, z;
  dim3(unsigned a = 1, unsigned b = 1, unsigned c = 1) : x(a), y(b), z(c) {}
};
typedef int cudaError_t;
typedef void *cudaStream_t;
enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorInvalidDeviceFunction = 98,
  cudaErrorNoDevice = 100,
  cudaErrorNoKernelImageForDevice = 209,
  cudaErrorInvalidPtx = 218,
  cudaErrorUnsupportedPtxVersion = 222,
  cudaErrorLaunchOutOfResources = 701
};
enum { cudaFuncAttributeMaxDynamicSharedMemorySize = 8 };
enum { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost };

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)

inline dim3 blockIdx, gridDim, blockDim, threadIdx;

namespace emulation {
enum { LANES = 32, MOST_SHARED = 227 << 10, STACK = 64 << 10, UNSET = 16 << 10 };
struct copy {
  unsigned char *to;
  const unsigned char *from;
  int there, all; /* bytes of `from`; bytes of `to`, the others of which become zero */
  int group;
  bool came;
};
enum waiting { NOWHERE, AT_BARRIER, IN_WARP };
struct fiber {
  ucontext_t at;
  char *stack;
  copy *copies; /* not waited for */
  int n_copies, most_copies;
  dim3 thread;
  int groups;
  bool done;
  waiting waits;
  const char *what; /* IN_WARP: what the lanes do together, and its operands */
  void *operands;
  void (*act)(void **);
};
/* Bytes that all blocks moved, from or to an array. */
struct counters {
  long long to_shared, to_registers, from_registers;
};
/* Who touched some bytes last, and when.  All threads of a block meet in every barrier, so of their vector clocks one
 * number is left: how many barriers there have been; it goes on from block to block. */
struct cell {
  uint32_t wrote, read, first; /* moments: of the last write, the last read, the first read of this launch */
  int16_t writer, reader;      /* threads of the block; SEVERAL: more than one */
  bool coming;                 /* a copy brings it that has not been waited for */
};
enum { SEVERAL = -1 };
inline size_t grain = 4; /* bytes of a cell: of the smallest element */
/* What cudaMalloc gave: an argument of the kernel, once it has a name, or a workspace. */
struct array {
  unsigned char *base;
  size_t bytes;
  cell *cells;
  const char *name;
  int element; /* bytes */
  counters counted;
};
inline array *arrays;
inline size_t n_arrays;
inline long long multiplied; /* of tensor cores */
inline counters of_shared; /* to_registers, from_registers */
inline cell *shared_cells;
inline uint32_t moment, block_began, launch_began;
inline fiber *fibers;
inline size_t n_fibers, n_threads; /* that there are; of the block */
inline ucontext_t outside;
inline size_t now;
inline unsigned char *shared;
inline size_t shared_bytes, shared_from; /* of all blocks that run side by side; where that at hand has its own */
inline void (*part)(void *arguments);
inline void *arguments;
inline uint64_t state;
/* Who else says how a block's threads take turns, and what touches of shared memory mean (hopper.hpp); NULL: the below. */
struct roles {
  void (*begin)(size_t threads);
  bool (*go_on)(size_t threads);
  void (*end)();
  void (*touch)(const void *at, size_t bytes, bool write);
  size_t members; /* blocks that run side by side, with shared memory one behind the other; 0: one */
  void (*turn)(size_t thread);
};
inline roles other_turns;

static inline unsigned draw(unsigned n) {
  if (!state) {
    const char *seed = getenv("TILEFLOW_SEED");
    state = 0x9e3779b97f4a7c15u * (seed ? strtoull(seed, NULL, 10) * 2 + 1 : 1);
  }
  state ^= state << 13, state ^= state >> 7, state ^= state << 17;
  return (unsigned)(state >> 33) % n;
}

static inline void fail(const char *why) {
  fprintf(stderr, "emulation: block %u, thread %u %u: %s\n", blockIdx.x, threadIdx.x, threadIdx.y, why);
  exit(3);
}

static inline void *room(void *old, size_t bytes) {
  void *const p = realloc(old, bytes);
  if (!p) fail("out of memory");
  return p;
}

/* ---- races ---- */

static inline array *array_of(const void *at, size_t bytes) {
  const uintptr_t from = (uintptr_t)at;
  for (size_t i = 0; i < n_arrays; i++)
    if (from >= (uintptr_t)arrays[i].base && from + bytes <= (uintptr_t)arrays[i].base + arrays[i].bytes)
      return &arrays[i];
  return NULL;
}

static inline bool is_shared(const void *at, size_t bytes) {
  const uintptr_t from = (uintptr_t)at, base = (uintptr_t)shared;
  return from >= base && from + bytes <= base + shared_bytes;
}

static inline void race(const char *what, const array *a, size_t byte, int other) {
  char why[200];
  if (a)
    snprintf(why, sizeof why, "a race: %s %s, element %zu, of thread %d", what, a->name ? a->name : "the workspace",
             byte / (size_t)(a->element ? a->element : 4), other);
  else
    snprintf(why, sizeof why, "a race: %s shared memory, byte %zu, of thread %d", what, byte, other);
  fail(why);
}

/* One cell is read or written by thread `me`. */
static inline void touch(cell *c, int me, bool write, const array *a, size_t byte) {
  if (c->coming) race("before a copy has been waited for", a, byte, c->writer);
  if (c->wrote == moment && c->writer != me) race(write ? "two writes of" : "a read beside the write of", a, byte, c->writer);
  if (write && c->read == moment && c->reader != me) race("a write beside the read of", a, byte, c->reader);
  if (a && c->wrote >= launch_began && c->wrote < block_began) race("another block wrote", a, byte, c->writer);
  if (a && write && c->first >= launch_began && c->first < block_began) race("another block read", a, byte, c->reader);
  if (write) {
    c->wrote = moment, c->writer = (int16_t)me;
    return;
  }
  c->reader = (int16_t)(c->read == moment && c->reader != me ? (int)SEVERAL : me);
  c->read = moment;
  if (c->first < launch_began) c->first = moment;
}

static inline void touch_all(const void *at, size_t bytes, int me, bool write, const array *a) {
  if (!a && other_turns.touch) return other_turns.touch(at, bytes, write);
  const size_t from = (size_t)((uintptr_t)at - (uintptr_t)(a ? a->base : shared));
  cell *const cells = a ? a->cells : shared_cells;
  for (size_t i = from / grain; i < (from + bytes + grain - 1) / grain; i++)
    touch(&cells[i], me, write, a, i * grain);
}

static inline array *found(const void *at, size_t bytes) {
  if ((uintptr_t)at % bytes) fail("a misaligned address");
  if (is_shared(at, bytes)) return NULL;
  array *a = array_of(at, bytes);
  if (!a) fail("an address in no array");
  return a;
}

/* A thread's registers and memory. */
static inline void reads(const void *at, size_t bytes) {
  array *a = found(at, bytes);
  (a ? a->counted : of_shared).to_registers += (long long)bytes;
  touch_all(at, bytes, (int)now, false, a);
}
static inline void writes(const void *at, size_t bytes) {
  array *a = found(at, bytes);
  (a ? a->counted : of_shared).from_registers += (long long)bytes;
  touch_all(at, bytes, (int)now, true, a);
}

/* An element as a thread sees it. */
template <class T> struct element {
  T *at;
  operator T() const {
    reads(at, sizeof(T));
    return *at;
  }
  T *operator&() const { return at; }
  const element &operator=(T x) const {
    writes(at, sizeof(T));
    *at = x;
    return *this;
  }
  const element &operator=(const element &x) const { return *this = (T)x; }
  const element &operator*=(T x) const { return *this = (T)*this * x; }
  const element &operator/=(T x) const { return *this = (T)*this / x; }
};
template <class T> struct element<const T> {
  const T *at;
  operator T() const {
    reads(at, sizeof(T));
    return *at;
  }
  const T *operator&() const { return at; }
};
template <class T> struct pointer {
  T *at;
  pointer(T *p) : at(p) {}
  template <class I> element<T> operator[](I i) const { return element<T>{at + i}; }
  template <class I> pointer operator+(I i) const { return pointer(at + i); }
  operator T *() const { return at; }
};

static inline void name(const char *what, const void *at, size_t element) {
  array *a = array_of(at, element);
  if (!a) fail("an argument that is not on the device");
  a->name = what, a->element = (int)element;
  if (element < grain) grain = element;
}

static inline void say_words(const array &a) {
  const long long by = a.element ? a.element : 4;
  if (getenv("TILEFLOW_WORDS") && a.name)
    printf("words %s: %lld to shared memory, %lld to registers, %lld from registers\n", a.name, a.counted.to_shared / by,
           a.counted.to_registers / by, a.counted.from_registers / by);
}
static inline void say_fragments() {
  if (getenv("TILEFLOW_WORDS"))
    printf("shared memory: %lld bytes to registers, %lld from registers; %lld products on tensor cores\n",
           of_shared.to_registers, of_shared.from_registers, multiplied);
  of_shared = counters{0, 0, 0}, multiplied = 0;
}

/* ---- threads ---- */

static void begin() {
  part(arguments);
  fibers[now].done = true;
  swapcontext(&fibers[now].at, &outside);
}

static inline void resume(size_t i) {
  now = i;
  threadIdx = fibers[i].thread;
  if (other_turns.turn) other_turns.turn(i);
  swapcontext(&outside, &fibers[i].at);
}

static inline void stop(waiting w) {
  fibers[now].waits = w;
  swapcontext(&fibers[now].at, &outside);
}

static inline void come(copy &c) {
  c.came = true;
  memcpy(c.to, c.from, (size_t)c.there);
  memset(c.to + c.there, 0, (size_t)(c.all - c.there));
}

/* Copies end when they like. */
static inline void some_come() {
  for (size_t k = 0; k < n_threads; k++)
    for (int i = 0; i < fibers[k].n_copies; i++)
      if (!fibers[k].copies[i].came && !draw(8)) come(fibers[k].copies[i]);
}

/* All lanes of the warp have stopped: whether what they do together let them go on. */
static inline bool act(size_t first, size_t n) {
  void *operands[LANES];
  size_t in = 0;
  for (size_t i = first; i < first + n; i++)
    in += !fibers[i].done && fibers[i].waits == IN_WARP;
  if (!in) return false;
  const fiber &one = fibers[first];
  for (size_t i = first; i < first + n; i++)
    if (in < LANES || fibers[i].what != one.what) fail("lanes of a warp that do different things together");
    else operands[i - first] = fibers[i].operands;
  one.act(operands);
  for (size_t i = first; i < first + n; i++)
    fibers[i].waits = NOWHERE;
  return true;
}

static inline void run_warp(size_t first) {
  const size_t lanes = LANES, left = n_threads - first, n = left < lanes ? left : lanes;
  do {
    const size_t from = draw((unsigned)n);
    for (size_t i = 0; i < n; i++) {
      const fiber &f = fibers[first + (from + i) % n];
      if (!f.done && f.waits == NOWHERE) resume(first + (from + i) % n);
    }
  } while (act(first, n));
}

/* Every thread from one barrier to the next; whether any is left. */
static inline bool go_on() {
  const size_t n = n_threads, warps = (n + LANES - 1) / LANES, first = draw((unsigned)warps);
  const size_t step = draw(2) ? 1 : warps - 1;
  size_t done = 0;
  moment++;
  for (size_t i = 0; i < n; i++)
    fibers[i].waits = NOWHERE;
  for (size_t i = 0; i < warps; i++) {
    run_warp((first + i * step) % warps * LANES);
    some_come();
  }
  for (size_t i = 0; i < n; i++)
    done += fibers[i].done;
  if (done && done < n) fail("a barrier that not all threads come to");
  return done == 0;
}

/* As many as were ever needed; their stacks stay. */
static inline void make_fibers(size_t n) {
  for (; n_fibers < n; n_fibers++) {
    fibers = (fiber *)room(fibers, (n_fibers + 1) * sizeof *fibers);
    memset((void *)&fibers[n_fibers], 0, sizeof *fibers);
    fibers[n_fibers].stack = (char *)room(NULL, STACK);
  }
}

static inline void run_block(dim3 threads) {
  const size_t n = (size_t)threads.x * threads.y * threads.z;
  make_fibers(n);
  n_threads = n;
  block_began = moment + 1;
  for (size_t i = 0; i < n; i++) {
    fiber &f = fibers[i];
    f.n_copies = 0, f.groups = 0, f.done = false;
    f.thread = dim3((unsigned)i % threads.x, (unsigned)i / threads.x);
    memset(f.stack + STACK - UNSET, 0xff, UNSET); /* whoever reads what nobody set finds what is not a number */
    getcontext(&f.at);
    f.at.uc_stack.ss_sp = f.stack;
    f.at.uc_stack.ss_size = STACK;
    f.at.uc_link = &outside;
    makecontext(&f.at, begin, 0);
  }
  if (other_turns.begin) other_turns.begin(n);
  while (other_turns.go_on ? other_turns.go_on(n) : go_on()) {
  }
  if (other_turns.end) other_turns.end();
  for (size_t i = 0; i < n; i++)
    if (fibers[i].n_copies) fail("a copy that nobody waits for");
}

template <class F> static void call(void *f) { (*(F *)f)(); }
template <class F> static inline void start(size_t blocks, dim3 threads, size_t bytes, F what) {
  part = call<F>, arguments = &what;
  gridDim = dim3((unsigned)blocks), blockDim = threads;
  if (bytes > MOST_SHARED * (other_turns.members ? other_turns.members : 1)) fail("more shared memory than a block may have");
  void *const all = room(NULL, bytes + 2048);
  shared = (unsigned char *)(((uintptr_t)all + 1023) / 1024 * 1024), shared_bytes = bytes;
  shared_cells = (cell *)room(NULL, (bytes / grain + 1) * sizeof *shared_cells);
  launch_began = moment + 1;
  for (size_t i = 0; i < blocks; i++) {
    blockIdx = dim3((unsigned)i);
    memset(shared, 0xff, bytes);
    memset((void *)shared_cells, 0, (bytes / grain + 1) * sizeof *shared_cells);
    run_block(threads);
  }
  free(all);
  free(shared_cells);
}

/* Done when all lanes have come: act(operands of each). */
static inline void together(const char *what, void *operands, void (*act)(void **)) {
  fiber &f = fibers[now];
  f.what = what, f.operands = operands, f.act = act;
  stop(IN_WARP);
}

static inline void check(const void *at, size_t bytes, const char *why) {
  const uintptr_t from = (uintptr_t)at, base = (uintptr_t)shared;
  if (from < base || from + bytes > base + shared_bytes || from % bytes) fail(why);
}

/* From its begin to its wait nobody may touch what a copy brings. */
static inline void set_coming(const copy &c, bool coming) {
  for (size_t i = (size_t)(c.to - shared) / grain, k = 0; k < ((size_t)c.all + grain - 1) / grain; i++, k++) {
    shared_cells[i].coming = coming;
    shared_cells[i].wrote = moment, shared_cells[i].writer = (int16_t)now;
  }
}

/* Elements on their way to shared memory that go through registers. */
static inline void passes(void *to, const void *from, int there, int all) {
  array *a = there > 0 ? array_of(from, (size_t)there) : NULL;
  if (there > 0 && !a) fail("a copy from an address in no array");
  if (a) touch_all(from, (size_t)there, (int)now, false, a), a->counted.to_shared += there;
  if (!is_shared(to, (size_t)all)) fail("a copy to where no shared memory is");
  touch_all(to, (size_t)all, (int)now, true, NULL);
}

static inline void send(void *to, const void *from, int there, int all) {
  check(to, (size_t)all, "a copy to where no shared memory is, or misaligned");
  if ((uintptr_t)from % (unsigned)all) fail("a copy from a misaligned address");
  fiber &f = fibers[now];
  copy c = {(unsigned char *)to, (const unsigned char *)from, there, all, f.groups, false};
  if (there) {
    array *a = array_of(from, (size_t)there);
    if (!a) fail("a copy from an address in no array");
    touch_all(from, (size_t)there, (int)now, false, a);
    a->counted.to_shared += there;
  }
  touch_all(to, (size_t)all, (int)now, true, NULL);
  set_coming(c, true);
  if (!draw(3))
    come(c);
  else
    memset(to, 0xff, (size_t)all);
  if (f.n_copies == f.most_copies) {
    f.most_copies = 2 * f.most_copies + 16;
    f.copies = (copy *)room(f.copies, (size_t)f.most_copies * sizeof *f.copies);
  }
  f.copies[f.n_copies++] = c;
}
} // namespace emulation

#define START(part, blocks, threads, bytes, stream, ...)                                                               \
  ((void)(stream), emulation::start(blocks, threads, bytes, [&] { part(__VA_ARGS__); }))
#define SHARED(name) unsigned char *const name = emulation::shared + emulation::shared_from
#define POINTER(T) emulation::pointer<T>
#define READS(at, bytes) emulation::reads(at, bytes)
#define WRITES(at, bytes) emulation::writes(at, bytes)
#define PASSES(to, from, there, all) emulation::passes(to, from, there, all)
#define TENSOR(what, at, element) emulation::name(what, at, element)

static inline void __syncthreads() { emulation::stop(emulation::AT_BARRIER); }

static inline void copy_async(float *to, const float *from) { emulation::send(to, from, 4, 4); }
static inline void copy_16(void *to, const void *from, int bytes) { emulation::send(to, from, bytes, 16); }
static inline void copy_4(void *to, const void *from, int bytes) { emulation::send(to, from, bytes, 4); }
static inline void copy_end() { emulation::fibers[emulation::now].groups++; }
template <int left> static inline void copy_wait() {
  emulation::fiber &f = emulation::fibers[emulation::now];
  int later = 0;
  for (int i = 0; i < f.n_copies; i++)
    if (f.copies[i].group < f.groups - left) {
      if (!f.copies[i].came) emulation::come(f.copies[i]);
      emulation::set_coming(f.copies[i], false);
    } else
      f.copies[later++] = f.copies[i];
  f.n_copies = later;
}

static inline float __uint_as_float(uint32_t u) {
  float x;
  memcpy(&x, &u, sizeof x);
  return x;
}
static inline uint32_t __float_as_uint(float x) {
  uint32_t u;
  memcpy(&u, &x, sizeof u);
  return u;
}
static inline float wide_bf16(uint16_t h) { return __uint_as_float((uint32_t)h << 16); }
static inline uint16_t narrow_bf16(float x) {
  const uint32_t u = __float_as_uint(x);
  return x != x ? 0x7fff : (uint16_t)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
static inline uint32_t pack_bf16(float x, float y) { return (uint32_t)narrow_bf16(y) << 16 | narrow_bf16(x); }
/* float16: five bits of exponent, ten behind the point; 2^-24 is the least. */
static inline float wide_f16(uint16_t h) {
  const int exponent = h >> 10 & 31, rest = h & 1023;
  const float x = exponent == 31 ? (rest ? NAN : INFINITY)
                                 : ldexpf((float)(exponent ? rest + 1024 : rest), (exponent ? exponent : 1) - 25);
  return h >> 15 ? -x : x;
}
static inline uint16_t narrow_f16(float x) {
  const uint16_t sign = signbit(x) ? 0x8000 : 0;
  const float size = fabsf(x);
  int exponent = 0;
  if (x != x) return 0x7fff;
  if (size >= 65520) return sign | 0x7c00;
  frexpf(size, &exponent);
  if (size == 0 || exponent < -13) return (uint16_t)(sign | (int)rintf(ldexpf(size, 24)));
  return (uint16_t)(sign | (((exponent + 14) << 10) + (int)rintf(ldexpf(size, 11 - exponent)) - 1024));
}
static inline uint32_t pack_f16(float x, float y) { return (uint32_t)narrow_f16(y) << 16 | narrow_f16(x); }
/* float8 (e4m3): four bits of exponent, three behind the point; 448 at most, 2^-9 is the least. */
static inline float wide_e4m3(uint8_t h) {
  const int exponent = h >> 3 & 15, rest = h & 7;
  const float x = (h & 127) == 127 ? NAN : ldexpf((float)(exponent ? rest + 8 : rest), (exponent ? exponent : 1) - 10);
  return h >> 7 ? -x : x;
}
static inline uint8_t narrow_e4m3(float x) {
  const int sign = signbit(x) ? 128 : 0;
  const float size = fabsf(x);
  int exponent = 0;
  if (x != x) return 0x7f;
  if (size >= 448) return (uint8_t)(sign | 0x7e);
  frexpf(size, &exponent);
  if (size == 0 || exponent < -5) exponent = -5;
  return (uint8_t)(sign | (((exponent + 6) << 3) + (int)rintf(ldexpf(size, 4 - exponent)) - 8));
}
static inline uint16_t pack_two_e4m3(float a, float b) { return (uint16_t)(narrow_e4m3(a) | narrow_e4m3(b) << 8); }
static inline uint32_t pack_e4m3(float a, float b, float c, float d) {
  return (uint32_t)narrow_e4m3(a) | (uint32_t)narrow_e4m3(b) << 8 | (uint32_t)narrow_e4m3(c) << 16 | (uint32_t)narrow_e4m3(d) << 24;
}
/* To the nearest of ten bits behind the point, of two alike away from zero. */
static inline uint32_t wide_pair(uint32_t two) { return pack_bf16(wide_e4m3((uint8_t)two), wide_e4m3((uint8_t)(two >> 8))); }
static inline uint32_t pack_tf32(float x) { return (__float_as_uint(x) + 0x1000) & 0xffffe000u; }

static inline float exp_near(float x) { return expf(x); }
static inline float exp_below(float x, float top) { return expf(x - top); }

static inline int lane_here(void) { return (int)threadIdx.x; }
static inline int row_here(void) { return (int)threadIdx.y; }
static inline int thread_here(void) { return (int)(threadIdx.y * 32 + threadIdx.x); }
static inline float of_lane(float x, int lane) {
  struct operands {
    float x, got;
    int lane;
  } mine = {x, 0, lane};
  emulation::together("of_lane", &mine, [](void **all) {
    for (int i = 0; i < emulation::LANES; i++)
      ((operands *)all[i])->got = ((operands *)all[((operands *)all[i])->lane % emulation::LANES])->x;
  });
  return mine.got;
}

namespace emulation {
struct matrices {
  uint32_t *r;
  const void *at;
};
/* Lane l has, of each matrix, elements 2 * (l % 4) and the next of row l / 4 (turned: of column l / 4). */
static inline void load(void **all, bool turned) {
  for (int i = 0; i < LANES; i++) {
    check(((matrices *)all[i])->at, 16, "matrices from where no shared memory is, or misaligned");
    touch_all(((matrices *)all[i])->at, 16, SEVERAL, false, NULL);
  }
  for (int k = 0; k < 4; k++)
    for (int i = 0; i < LANES; i++) {
      uint16_t two[2];
      for (int e = 0; e < 2; e++) {
        const int row = turned ? i % 4 * 2 + e : i / 4, column = turned ? i / 4 : i % 4 * 2 + e;
        two[e] = ((const uint16_t *)((matrices *)all[8 * k + row])->at)[column];
      }
      ((matrices *)all[i])->r[k] = (uint32_t)two[1] << 16 | two[0];
    }
  of_shared.to_registers += 4 * 128;
}
template <class T> struct operands {
  T *d;
  const uint32_t *a, *b;
};
/* What tensor cores take of a register: `many` neighbours along the sum. */
struct type_bf16 {
  typedef float sum;
  enum { many = 2 };
  static float part(uint32_t r, int e) { return wide_bf16((uint16_t)(r >> (16 * e))); }
};
struct type_f16 {
  typedef float sum;
  enum { many = 2 };
  static float part(uint32_t r, int e) { return wide_f16((uint16_t)(r >> (16 * e))); }
};
struct type_tf32 {
  typedef float sum;
  enum { many = 1 };
  static float part(uint32_t r, int) { return __uint_as_float(r & 0xffffe000u); }
};
struct type_s8 {
  typedef int32_t sum;
  enum { many = 4 };
  static int32_t part(uint32_t r, int e) { return (int8_t)(r >> (8 * e)); }
};
/* Sum and n products of float8 as tensor cores add them up (SageAttention2, arXiv 2411.10958, 3.2; DeepSeek-V3, arXiv
 * 2412.19437, 3.5.2): cut to 13 bits behind the point of the greatest. */
static inline float short_sum(float sum, const float *product, int n) {
  float most = fabsf(sum);
  bool none = sum != sum;
  int exponent = 0;
  for (int i = 0; i < n; i++)
    most = fabsf(product[i]) > most ? fabsf(product[i]) : most, none = none || product[i] != product[i];
  if (none) return NAN;
  frexpf(most, &exponent);
  const float unit = ldexpf(1, exponent - 14), all = ldexpf(1, 14 - exponent);
  int64_t units = (int64_t)(sum * all);
  for (int i = 0; i < n; i++)
    units += (int64_t)(product[i] * all);
  frexpf((float)units, &exponent);
  const int64_t more = exponent > 14 ? INT64_C(1) << (exponent - 14) : 1;
  return (float)(units / more * more) * unit;
}
struct type_e4m3 {
  typedef float sum;
  enum { many = 4 };
  static float part(uint32_t r, int e) { return wide_e4m3((uint8_t)(r >> (8 * e))); }
};
template <class T> static inline typename T::sum sum_of(const typename T::sum *product, int n) {
  typename T::sum s = 0;
  for (int k = 0; k < n; k++)
    s += product[k];
  return s;
}
template <> inline float sum_of<type_e4m3>(const float *product, int n) { return short_sum(0, product, n); }
template <class T> static inline void multiply(void **all) {
  typedef typename T::sum sum;
  typedef operands<sum> given;
  const int many = T::many;
  sum a[16][8 * T::many], b[8 * T::many][8];
  for (int l = 0; l < LANES; l++) {
    const given *o = (given *)all[l];
    for (int i = 0; i < 4; i++)
      for (int e = 0; e < many; e++)
        a[l / 4 + i % 2 * 8][l % 4 * many + i / 2 * 4 * many + e] = T::part(o->a[i], e);
    for (int i = 0; i < 2; i++)
      for (int e = 0; e < many; e++)
        b[l % 4 * many + i * 4 * many + e][l / 4] = T::part(o->b[i], e);
  }
  for (int l = 0; l < LANES; l++)
    for (int i = 0; i < 4; i++) {
      sum product[8 * T::many];
      for (int k = 0; k < 8 * many; k++)
        product[k] = a[l / 4 + i / 2 * 8][k] * b[k][l % 4 * 2 + i % 2];
      ((given *)all[l])->d[i] += sum_of<T>(product, 8 * many);
    }
  multiplied++;
}
template <class T> static inline void products(const char *what, typename T::sum *d, const uint32_t *a, const uint32_t *b) {
  operands<typename T::sum> mine = {d, a, b};
  together(what, &mine, multiply<T>);
}
} // namespace emulation
static inline void load_matrices(uint32_t *r, const void *at) {
  emulation::matrices mine = {r, at};
  emulation::together("load_matrices", &mine, [](void **all) { emulation::load(all, false); });
}
static inline void load_matrices_turned(uint32_t *r, const void *at) {
  emulation::matrices mine = {r, at};
  emulation::together("load_matrices_turned", &mine, [](void **all) { emulation::load(all, true); });
}
static inline void multiply_bf16(float *d, const uint32_t *a, const uint32_t *b) {
  emulation::products<emulation::type_bf16>("multiply_bf16", d, a, b);
}
static inline void multiply_f16(float *d, const uint32_t *a, const uint32_t *b) {
  emulation::products<emulation::type_f16>("multiply_f16", d, a, b);
}
static inline void multiply_tf32(float *d, const uint32_t *a, const uint32_t *b) {
  emulation::products<emulation::type_tf32>("multiply_tf32", d, a, b);
}
static inline void multiply_e4m3(float *d, const uint32_t *a, const uint32_t *b) {
  emulation::products<emulation::type_e4m3>("multiply_e4m3", d, a, b);
}
static inline void multiply_s8(int32_t *d, const uint32_t *a, const uint32_t *b) {
  emulation::products<emulation::type_s8>("multiply_s8", d, a, b);
}

/* Fragments as C++ has them: lane l has of a matrix the half l % 2 of row l / 2, which nobody may rely on. */
struct wmma_rows {
  static size_t at(int row, int column, int pitch) { return (size_t)row * (size_t)pitch + (size_t)column; }
};
struct wmma_columns {
  static size_t at(int row, int column, int pitch) { return (size_t)column * (size_t)pitch + (size_t)row; }
};
template <class L> struct wmma_a {
  typedef L layout;
  uint16_t x[8];
};
template <class L> struct wmma_b {
  typedef L layout;
  uint16_t x[8];
};
struct wmma_sums {
  float x[8];
};
namespace emulation {
struct wmma_loading {
  uint16_t *x;
  const void *at;
  int pitch;
};
template <class L> static inline void wmma_loads(void **all) {
  const wmma_loading *first = (wmma_loading *)all[0];
  for (int i = 1; i < LANES; i++) {
    const wmma_loading *o = (wmma_loading *)all[i];
    if (o->at != first->at || o->pitch != first->pitch) fail("lanes load different fragments");
  }
  if (first->pitch % 8) fail("a fragment whose rows do not stand on 16 bytes");
  check(first->at, 32, "a fragment from where no shared memory is, or misaligned");
  for (int line = 0; line < 16; line++)
    touch_all((const uint16_t *)first->at + line * first->pitch, 32, SEVERAL, false, NULL);
  for (int i = 0; i < LANES; i++)
    for (int e = 0; e < 8; e++)
      ((wmma_loading *)all[i])->x[e] = ((const uint16_t *)first->at)[L::at(i / 2, i % 2 * 8 + e, first->pitch)];
  of_shared.to_registers += 256;
}
struct wmma_factors {
  float *d;
  const uint16_t *a, *b;
};
template <class T> static inline void wmma_multiplies(void **all) {
  for (int i = 0; i < LANES; i++)
    for (int e = 0; e < 8; e++) {
      float s = 0;
      for (int k = 0; k < 16; k++)
        s += T::part(((wmma_factors *)all[i / 2 * 2 + k / 8])->a[k % 8], 0) *
             T::part(((wmma_factors *)all[k * 2 + i % 2])->b[e], 0);
      ((wmma_factors *)all[i])->d[e] += s;
    }
  multiplied += 2;
}
struct wmma_taken {
  float (*x)[4];
  const float *d;
};
static inline void wmma_unloads(void **all) {
  for (int i = 0; i < LANES; i++)
    for (int e = 0; e < 8; e++) {
      const int row = i / 4 + e % 4 / 2 * 8, column = e / 4 * 8 + 2 * (i % 4) + e % 2;
      ((wmma_taken *)all[i])->x[e / 4][e % 4] = ((wmma_taken *)all[row * 2 + column / 8])->d[column % 8];
    }
}
} // namespace emulation
static inline void wmma_zero(wmma_sums &d) {
  for (int i = 0; i < 8; i++) d.x[i] = 0;
}
template <class F> static inline void wmma_load(F &f, const void *at, int pitch) {
  emulation::wmma_loading mine = {f.x, at, pitch};
  emulation::together("wmma_load", &mine, emulation::wmma_loads<typename F::layout>);
}
template <class A, class B> static inline void wmma_multiply_bf16(wmma_sums &d, const A &a, const B &b) {
  emulation::wmma_factors mine = {d.x, a.x, b.x};
  emulation::together("wmma_multiply", &mine, emulation::wmma_multiplies<emulation::type_bf16>);
}
template <class A, class B> static inline void wmma_multiply_f16(wmma_sums &d, const A &a, const B &b) {
  emulation::wmma_factors mine = {d.x, a.x, b.x};
  emulation::together("wmma_multiply", &mine, emulation::wmma_multiplies<emulation::type_f16>);
}
/* `room` is where a device has them in between. */
static inline void wmma_unload(float (*x)[4], const wmma_sums &d, const emulation::pointer<float> &room) {
  emulation::wmma_taken mine = {x, d.x};
  emulation::check(room.at, 32, "fragments to where no shared memory is, or misaligned");
  emulation::check(room.at + 248, 32, "fragments to where no shared memory is");
  emulation::together("wmma_unload", &mine, emulation::wmma_unloads);
}

static inline cudaError_t cudaMalloc(void **p, size_t n) {
  using namespace emulation;
  *p = malloc(n ? n : 1);
  if (!*p) return 1;
  memset(*p, 0xff, n);
  arrays = (array *)room(arrays, (n_arrays + 1) * sizeof *arrays);
  cell *const cells = (cell *)calloc(n + 1, sizeof *cells);
  arrays[n_arrays++] = array{(unsigned char *)*p, n, cells, NULL, 0, counters{0, 0, 0}};
  return cells ? cudaSuccess : 1;
}
static inline cudaError_t cudaFree(void *p) {
  using namespace emulation;
  for (size_t i = 0; p && i < n_arrays; i++) {
    if (arrays[i].base != p) continue;
    say_words(arrays[i]);
    free(arrays[i].cells);
    arrays[i] = arrays[--n_arrays];
    if (!n_arrays) say_fragments();
    break;
  }
  return free(p), cudaSuccess;
}
static inline cudaError_t cudaMemcpy(void *to, const void *from, size_t n, int) {
  return memcpy(to, from, n), cudaSuccess;
}
/* As a device that fails would say: TILEFLOW_BEFORE, before a start; TILEFLOW_AFTER, behind one. */
static inline cudaError_t emulation_error(const char *name) {
  const char *number = getenv(name);
  return number ? atoi(number) : cudaSuccess;
}
static inline cudaError_t cudaPeekAtLastError() { return emulation_error("TILEFLOW_BEFORE"); }
static inline cudaError_t cudaGetLastError() { return emulation_error("TILEFLOW_AFTER"); }
static inline cudaError_t cudaGetDevice(int *device) { return *device = 0, cudaSuccess; }
static inline cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }
static inline cudaError_t cudaGetDeviceCount(int *n) { return *n = 1, cudaSuccess; }
template <class F> static inline cudaError_t cudaFuncSetAttribute(F, int, int) { return cudaSuccess; }
#endif
