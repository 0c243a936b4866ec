/* Descriptions that other tools read, as native YAML. */
#ifndef TILEFLOW_IMPORT_H
#define TILEFLOW_IMPORT_H
#include <stdio.h>

#include "tileflow/spec.h"

/* Reads Timeloop's architecture (version 0.2 to 0.4), problem (`shape`, `instance`) and
 * mapping (temporal, spatial and bypass directives) from n named texts, in any split, and writes the
 * sections `architecture`, `workload` and `mapping` of docs/FORMATS.md that mean the same; what the texts lack is left
 * out.  What is read but has no place in the model stands as a comment in the result.  Malloc'd, the caller
 * frees; NULL with every error in d, placed in the foreign text. */
char *tf_import_timeloop(const tf_text *texts, size_t n, tf_diags *d);

/* The same of TileFlow's files: architecture, problem (`ops`, `io`), mapping (as a tree of nodes, or in loop-nest
 * notation), macro, check.  A setting gives a macro its value.  What is said and has no effect here is a warning in d,
 * too. */
char *tf_import_tileflow(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d);

/* The same of an ONNX model (the bytes of the file): its graph as a workload.  A setting gives an axis of an input that
 * has a name its extent.  Weights are inputs; what they hold is not read.  Operators that are not known are errors,
 * each once with its nodes; what data choose (a Gather) is an input of the workload, with a warning. */
char *tf_import_onnx(const tf_text *text, const tf_setting *set, size_t n_set, tf_diags *d);

/* What such a model holds for the tensors of its workload, as a file of weights (docs/FORMATS.md) that the library of
 * `emit` reads: initializers and constants in float32, whatever type and place they have in the model; scale and shift
 * of each BatchNormalization.  text's name is the model's path: data of files of their own lie beside it.  out: opened
 * to be written; what is in it after an error is of no use.  False with every error in d. */
bool tf_import_onnx_weights(const tf_text *text, const tf_setting *set, size_t n_set, FILE *out, tf_diags *d);

/* Whether a text is an ONNX model: it begins with the field of its version, with which no YAML can. */
bool tf_import_is_onnx(const tf_text *text);

/* Whether a text is a file of one of them, and no native one. */
bool tf_import_foreign(const tf_text *text);

/* Whichever of them the texts are: TileFlow's where one of them has what only TileFlow has.  An ONNX model stands
 * alone. */
char *tf_import(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set, tf_diags *d);

#endif
