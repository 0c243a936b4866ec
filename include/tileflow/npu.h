/* The NPU: a machine with several memories and concurrent queues, its programs as text, and a
 * simulator that runs them (docs/NPU.md defines every instruction and its duration). */
#ifndef TILEFLOW_NPU_H
#define TILEFLOW_NPU_H
#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tf_npu tf_npu;

/* Reads a program with its machine from text.  NULL with every error in d, at its place.  The text
 * is registered in d, so that faults of a run can show its lines: d must outlive the program. */
TF_API tf_npu *tf_npu_read(const tf_text *text, tf_diags *d);
TF_API void tf_npu_free(tf_npu *p);

/* The program as text that tf_npu_read reads back to the same program (the disassembler). Malloc'd,
 * the caller frees; NULL: no memory. */
TF_API char *tf_npu_text(const tf_npu *p);
/* The i-th tensor in global memory; false past the last. */
typedef struct {
  const char *name;
  int64_t words;
  bool in, out; /* filled before the run; read after it */
} tf_npu_tensor;
TF_API bool tf_npu_tensor_at(const tf_npu *p, int i, tf_npu_tensor *t);

/* One instruction's time in its queue, and the words that it moved or produced; for a product, its
 * multiply-adds. */
typedef struct {
  const char *queue, *what, *tag; /* tag: the text after `@`; "" if there is none */
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
  int64_t instructions; /* without flags and barriers */
  double busy;          /* cycles */
} tf_npu_busy;

typedef struct {
  double cycles;
  int n_flows, n_queues;
  tf_npu_flow *flows;
  tf_npu_busy *queues;
  int64_t mads;  /* multiply-adds */
  int64_t lanes; /* elements that the vector unit computed */
  size_t n_spans;
  tf_npu_span *spans; /* by begin; only if the options ask for them */
} tf_npu_result;

typedef struct {
  bool timing_only; /* without values, hence without faults other than deadlocks: only cycles and
                       words */
  bool spans;
  int64_t most; /* most instructions that are run; 0: 16 million */
} tf_npu_options;

/* Runs the program.  data[i]: the i-th tensor, in doubles, rounded to its type on input; `out`
 * tensors are written back; NULL (or a NULL entry): pseudo-random inputs in [-1, 1], and no output.
 * False with every fault in d: accesses that no flag orders, a deadlock, an element that was never
 * written, an address outside a memory or misaligned.  The result's names belong to the program.
 * Free the result in either case. */
TF_API bool tf_npu_run(const tf_npu *p, const tf_npu_options *o, double *const *data,
                       tf_npu_result *out, tf_diags *d);
TF_API void tf_npu_result_free(tf_npu_result *r);

#ifdef __cplusplus
}
#endif
#endif
