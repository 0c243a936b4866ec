/* The NPU: a machine with memories side by side and queues that run side by side, its programs as text, and a simulator
 * that runs them (docs/NPU.md says what every instruction means, and how long it takes). */
#ifndef TILEFLOW_NPU_H
#define TILEFLOW_NPU_H
#include "tileflow/spec.h"

typedef struct tf_npu tf_npu;

/* A program with its machine, from text; every error is in d, with its place.  NULL if there was any.  The text is
 * registered in d, so that faults of a run can show its lines: d must outlive the program. */
tf_npu *tf_npu_read(const tf_text *text, tf_diags *d);
void tf_npu_free(tf_npu *p);

/* The program as text that tf_npu_read reads back to the same one: the disassembler.  Malloc'd; NULL: out of memory. */
char *tf_npu_text(const tf_npu *p);
/* The i-th tensor in global memory; false past the last. */
typedef struct {
  const char *name;
  int64_t words;
  bool in, out; /* given before the run; read behind it */
} tf_npu_tensor;
bool tf_npu_tensor_at(const tf_npu *p, int i, tf_npu_tensor *t);

/* One instruction's time in its queue, and the words it moved or made; multiply-adds of a product. */
typedef struct {
  const char *queue, *what, *tag; /* tag: what was written behind `@`; "" if nothing */
  uint32_t line;
  double begin, end;
  int64_t words;
} tf_npu_span;

/* Words that one path moved for one tag, and the cycles they took. */
typedef struct {
  const char *from, *to, *tag;
  int64_t words;
  double cycles;
} tf_npu_flow;

typedef struct {
  const char *queue;
  int64_t instructions; /* flags and barriers not counted */
  double busy;          /* cycles */
} tf_npu_busy;

typedef struct {
  double cycles;
  int n_flows, n_queues;
  tf_npu_flow *flows;
  tf_npu_busy *queues;
  int64_t mads;  /* multiply-adds */
  int64_t lanes; /* elements that the vector unit made */
  size_t n_spans;
  tf_npu_span *spans; /* by begin; only where they were asked for */
} tf_npu_result;

typedef struct {
  bool timing_only; /* no values, and so no faults but deadlocks: only cycles and words */
  bool spans;
  int64_t most; /* instructions that are run at most; 0: 16 million */
} tf_npu_options;

/* Runs it.  data[i]: of the i-th tensor, in doubles, rounded to its type on the way in; what `out` tensors hold is
 * written back; NULL (or an entry that is NULL): pseudo-random numbers in [-1, 1], and nothing is given back.  False
 * with every fault in d: accesses that no flag orders, a deadlock, an element that nobody wrote, a place outside a
 * memory or misaligned.  The result's names belong to the program.  To be freed whatever it returns. */
bool tf_npu_run(const tf_npu *p, const tf_npu_options *o, double *const *data, tf_npu_result *out, tf_diags *d);
void tf_npu_result_free(tf_npu_result *r);
#endif
