/* Loads a version of kernel (live.h), calls it, and holds its results against those of the kernel
 * that this program is linked with.  Says "right" and ends with 0, or says what is not.  ./try
 * [FILE]; without: the file that is its stdin.
 */
#define _GNU_SOURCE /* prctl, setrlimit */
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "live.h"
#include "live_tensors.h"

enum { N = sizeof tensors / sizeof *tensors, GUARD = 256 };

static void say(const char *text, ...) {
  va_list ap;
  va_start(ap, text);
  vprintf(text, ap);
  va_end(ap);
  fflush(stdout);
}

static void end_with(const char *why) {
  say("%s\n", why);
  _exit(1);
}

static size_t width(int type) {
  return type == BFLOAT16 ? 2 : type == INT8 || type == UINT8 ? 1 : 4;
}
static size_t bytes_of(int t) { return tensors[t].words * width(tensors[t].type); }

/* Bytes with others before and behind that nobody may write. */
static char *guarded(size_t bytes) {
  char *p = malloc(bytes + 2 * GUARD);
  if (!p) end_with("no memory");
  memset(p, 0xa5, bytes + 2 * GUARD);
  return p + GUARD;
}

static int is_whole(const char *p, size_t bytes) {
  int whole = 1;
  for (size_t i = 0; i < GUARD; i++)
    whole &= p[-1 - (long)i] == (char)0xa5 && p[bytes + i] == (char)0xa5;
  return whole;
}

static double element(const char *p, int type, size_t i) {
  uint32_t bits = 0;
  float f;
  int32_t whole;
  if (type == INT8) return (double)((const signed char *)p)[i];
  if (type == UINT8) return (double)((const unsigned char *)p)[i];
  memcpy(&bits, p + i * width(type), width(type));
  if (type == INT32) {
    memcpy(&whole, &bits, sizeof whole);
    return whole;
  }
  if (type == BFLOAT16) bits <<= 16;
  memcpy(&f, &bits, sizeof f);
  return f;
}

static void put(char *p, int type, size_t i, double v) {
  const float f = (float)v;
  uint32_t bits;
  memcpy(&bits, &f, sizeof bits);
  if (type == BFLOAT16) { /* to nearest even */
    const uint16_t half = (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    memcpy(p + 2 * i, &half, sizeof half);
  } else if (type == INT8) {
    ((signed char *)p)[i] = (signed char)v;
  } else if (type == UINT8) {
    ((unsigned char *)p)[i] = (unsigned char)(v < 0 ? v + 256 : v);
  } else {
    memcpy(p + 4 * i, &bits, sizeof bits);
  }
}

static void set(kernel_args *args, int t, const char *p) {
  memcpy((char *)args + tensors[t].at, &p, sizeof p);
}

static void draw(char *const *data) {
  for (int t = 0; t < N; t++)
    for (size_t i = 0; !tensors[t].written && i < tensors[t].words; i++)
      put(data[t], tensors[t].type, i, number((unsigned long long)i, (unsigned)tensors[t].number));
}

/* Calls the version: outputs in `out`, panels laid out beforehand if packs. */
static void call(const kernel_live_table *v, char *const *data, char *const *out, int packs) {
  kernel_args args;
  memset(&args, 0, sizeof args);
  kernel_dense(&args);
  for (int t = 0; t < N; t++) {
    set(&args, t, tensors[t].written ? out[t] : data[t]);
    if (tensors[t].written) memset(out[t], 0xff, bytes_of(t));
  }
  const size_t bytes = v->workspace(), panels = packs ? v->packed() : 0;
  char *workspace = guarded(bytes), *packed = panels ? guarded(panels) : NULL;
  memset(workspace, 0xff, bytes);
  if (packed && v->pack(&args, packed, panels) != kernel_done)
    end_with("its panels cannot be packed");
  if (v->run(&args, packed, workspace, bytes) != kernel_done) end_with("its call fails");
  if (!is_whole(workspace, bytes) || (packed && !is_whole(packed, panels)))
    end_with("it writes beside its workspace, or beside its panels");
  free(workspace - GUARD);
  if (packed) free(packed - GUARD);
}

/* How far `got` is from `want`, of its norm; what both have as infinite or not a number is alike.
 */
static double distance(const char *got, const char *want, int t) {
  double off = 0, norm = 0;
  for (size_t i = 0; i < tensors[t].words; i++) {
    const double g = element(got, tensors[t].type, i), w = element(want, tensors[t].type, i);
    if ((isnan(g) && isnan(w)) || g == w) {
      norm += isfinite(w) ? w * w : 0;
      continue;
    }
    if (!isfinite(g) || !isfinite(w)) return INFINITY;
    off += (g - w) * (g - w);
    norm += w * w;
  }
  const double tiny = (double)tensors[t].words * 0x1p-126;
  return off == 0 || (tensors[t].type != INT32 && sqrt(off) <= tiny) ? 0
         : norm > 0                                                  ? sqrt(off / norm)
                                                                     : INFINITY;
}

static void compare(char *const *got, char *const *want, char *const *data, int packs) {
  for (int t = 0; t < N; t++) {
    const double off = tensors[t].written ? distance(got[t], want[t], t) : 0;
    if (!is_whole(tensors[t].written ? got[t] : data[t], bytes_of(t)))
      end_with("it writes beside an array");
    if (!tensors[t].written && memcmp(data[t], want[t], bytes_of(t)) != 0)
      end_with("it writes to an input");
    if (off <= (tensors[t].type == INT32 ? 0 : WITHIN)) continue;
    say("%s is off by %.2g of the norm%s\n", tensors[t].name, off,
        packs ? ", packed beforehand" : "");
    _exit(1);
  }
}

/* Allows the version so much more processor time, in seconds; what waits instead is ended from
 * outside. */
static void allow(double seconds) {
  const double most = (double)clock() / CLOCKS_PER_SEC + seconds;
  const struct rlimit limit = {(rlim_t)most + 1, (rlim_t)most + 1};
  setrlimit(RLIMIT_CPU, &limit);
}

int main(int argc, char **argv) {
  char *data[N], *want[N], *got[N];
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
  if (nice(5) == -1) { /* as it may */
  }
  for (int t = 0; t < N; t++)
    data[t] = guarded(bytes_of(t)), want[t] = guarded(bytes_of(t)), got[t] = guarded(bytes_of(t));
  draw(data);
  for (int t = 0; t < N; t++)
    memcpy(want[t], data[t], bytes_of(t));
  const clock_t from = clock();
  call(&kernel_live_own, data, want, 0);
  allow(1 + 100 * (double)(clock() - from) / CLOCKS_PER_SEC);
  void *library = dlopen(argc > 1 ? argv[1] : "/proc/self/fd/0", RTLD_NOW | RTLD_LOCAL);
  if (!library) end_with("it cannot be loaded");
  const kernel_live_table *next = dlsym(library, "kernel_live_next");
  if (!next || next->layout != kernel_live_layout) end_with("it is no version of kernel");
  if (strcmp(next->arguments, kernel_live_own.arguments) != 0) end_with("its arguments are others");
  for (int packs = 0; packs < 2; packs++) {
    call(next, data, got, packs);
    compare(got, want, data, packs);
  }
  dlclose(library);
  say("right\n");
  _exit(0); /* what it may have left to be done at the end is not done in the program either */
}
