/* Other tools' descriptions, as native YAML. */
#ifndef TILEFLOW_IMPORT_H
#define TILEFLOW_IMPORT_H
#include <stdio.h>

#include "tileflow/spec.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Reads Timeloop's architecture (version 0.2 to 0.4), problem (`shape`, `instance`) and mapping
 * (temporal, spatial and bypass directives) from n named texts, divided in any way, and writes the
 * equivalent sections `architecture`, `workload` and `mapping` of docs/FORMATS.md; sections that
 * the texts lack are left out.  What is read but has no counterpart in the model becomes a comment
 * in the result.  Malloc'd, the caller frees; NULL with every error in d, located in the foreign
 * text. */
TF_API char *tf_import_timeloop(const tf_text *texts, size_t n, tf_diags *d);

/* The same for TileFlow's files: architecture, problem (`ops`, `io`), mapping (as a tree of nodes,
 * or in loop-nest notation), macro, check.  A setting gives a macro its value.  What has no effect
 * here is also a warning in d. */
TF_API char *tf_import_tileflow(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set,
                                tf_diags *d);

/* The same for an ONNX model (the bytes of the file): its graph as a workload.  A setting gives a
 * named axis of an input its extent.  Weights are inputs; their values are not read.  What is not
 * understood is an error with its node: operators, attributes, opsets, types that change numbers;
 * data-dependent indexing (a Gather) becomes an input of the workload, with a warning. */
TF_API char *tf_import_onnx(const tf_text *text, const tf_setting *set, size_t n_set, tf_diags *d);

/* Moves the settings that give an axis of the model's inputs its extent, where the file has none,
 * to the front: their number.  Others may be params of files beside the model.  0 for what is no
 * model. */
TF_API size_t tf_import_onnx_axes(const tf_text *text, tf_setting *set, size_t n_set);

/* The weights that such a model holds for the tensors of its workload, as a file of weights
 * (docs/FORMATS.md) that the library of `emit` reads: initializers and constants, whatever their
 * type and place in the model, and scale and shift of each BatchNormalization, in float32 (dtype
 * NULL or f32), rounded to bfloat16 (bf16), or with integers of 8 bits as such and all others in
 * float32 (int8; other names are E_NAME).  text's name is the model's path: external data lies
 * beside it, in regular files.  Numbers are read and written piece by piece.
 * out: opened for writing; after an error its content is invalid.  False with every error in d. */
TF_API bool tf_import_onnx_weights(const tf_text *text, const tf_setting *set, size_t n_set,
                                   const char *dtype, FILE *out, tf_diags *d);

/* Whether a text is an ONNX model: it begins with the field of its version, as no YAML can. */
TF_API bool tf_import_is_onnx(const tf_text *text);

/* Whether a text is a foreign file of one of these tools. */
TF_API bool tf_import_foreign(const tf_text *text);

/* Imports by the format that the texts have: TileFlow's if one of them has what only TileFlow has.
 * An ONNX model must be alone. */
TF_API char *tf_import(const tf_text *texts, size_t n, const tf_setting *set, size_t n_set,
                       tf_diags *d);

#ifdef __cplusplus
}
#endif
#endif
