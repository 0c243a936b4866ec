/* Files of folders for the NPU. */
#ifndef CODEGEN_BACKEND_NPU_FILES_H
#define CODEGEN_BACKEND_NPU_FILES_H
#include <stdio.h>

#include "codegen/backend/npu/pass/chain.h"
#include "tileflow/emit.h"

typedef struct {
  const tf_workload *wl;
  const tf_arch *arch;
  const tf_emit_options *o;
  const tf_npu *p;
  const char *name;        /* of the program */
  const char *const *file; /* [n_tensors] the program's names of tensors; NULL: the workload's */
  int links;               /* mappings of which the program consists */
} npu_folder;

void npu_files_c(FILE *out, const npu_folder *k);
void npu_files_npu(FILE *out, const npu_folder *k);
void npu_files_h(FILE *out, const npu_folder *k);
void npu_files_test(FILE *out, const npu_folder *k);
void npu_files_make(FILE *out, const npu_folder *k);
/* manifest.json up to its tensors, and the parts of its cycles, left open; README.md up to the
 * files. */
void npu_files_begin_manifest(FILE *out, const npu_folder *k);
void npu_files_terms(FILE *out, const npu_folder *k, const npu_terms *t);
void npu_files_begin_readme(FILE *out, const npu_folder *k);
void npu_files_queue(FILE *out, const npu_folder *k, const npu_terms *t);

/* The tolerance of outputs, relative to their norm, if each of so many mappings rounds its
 * results. */
double npu_within(const tf_workload *wl, int links);
#endif
