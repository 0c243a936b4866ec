/* Calls of kernel by the best version of it that there is, while better ones are still being looked
 * for: `tileflow tune
 * --serve FOLDER` writes each that it finds to FOLDER/next.so, and a program that calls
 * kernel_live_run takes it over between two calls, without a pause.  A version is taken over only
 * if a process of its own (FOLDER/try) has loaded it, called it, and found the results of the
 * kernel that the program was linked with, but for rounding: one that crashes, hangs, is damaged,
 * or computes something else never comes into the program.  Linux; link liblive.a, -ldl, -pthread.
 */
#ifndef TILEFLOW_kernel_LIVE_H
#define TILEFLOW_kernel_LIVE_H
#include "kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct kernel_live kernel_live;

/* folder: where this file and `try` are; NULL: nothing is ever replaced.  watch: a thread looks
 * there ten times a second; 0: the program calls kernel_live_look when it likes.  NULL: no memory,
 * or no thread. */
kernel_live *kernel_live_open(const char *folder, int watch);
/* After the last call has returned. */
void kernel_live_close(kernel_live *live);

/* As kernel(args, NULL, 0), by the version of now; its workspace is kept for the next call.
 * args->packed is not looked at.  Any number of threads may call at once. */
int kernel_live_run(kernel_live *live, const kernel_args *args);

/* Once, before the first call: the inputs that kernel_pack lays out stay the same in all calls, and
 * are laid out for each version before it is taken over.  The arrays have to stay as long as
 * `live`. */
int kernel_live_weights(kernel_live *live, const kernel_args *args);

/* Looks for a new version now, tries it, and takes it over: 1; 0: there is none; -1: it was
 * refused.  Waits until no call is in the version before, which is then unloaded; not to be called
 * within a call. */
int kernel_live_look(kernel_live *live);

/* Versions that were taken over, 0 at first, and that were refused. */
long kernel_live_version(const kernel_live *live);
long kernel_live_refused(const kernel_live *live);

/* ---- for live.c, try.c and next.so ---------------------------------------------------------- */
/* A version: kernel, its arguments without their type. */
typedef struct {
  int layout;            /* of this table */
  const char *arguments; /* names, types, extents */
  int (*run)(const void *args, const void *packed, void *workspace, size_t bytes);
  size_t (*workspace)(void);
  size_t (*packed)(void); /* 0: nothing can be packed */
  int (*pack)(const void *args, void *packed, size_t bytes);
} kernel_live_table;
enum { kernel_live_layout = 1 };
extern const kernel_live_table kernel_live_own;

#ifdef __cplusplus
}
#endif
#endif
