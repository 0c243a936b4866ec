/* The sections of files, and the keys of workloads, as tables for readers and for the JSON Schema.
 * A row: id, key, kinds of YAML nodes, required, how a value reads in JSON Schema, words. */
#ifndef MODEL_INPUT_TABLE_SECTIONS_H
#define MODEL_INPUT_TABLE_SECTIONS_H
#include "model/yaml/schema.h"

/* clang-format off */
#define TF_SECTIONS(X)                                                                                                 \
  X(ARCH, "architecture", TF_Y_MAP, false, "architecture", "memories from the outermost inwards, and units")           \
  X(WORKLOAD, "workload", TF_Y_MAP, false, "workload", "a graph of operations on tensors")                             \
  X(MAPPING, "mapping", TF_Y_SCALAR, false, "mapping", "the tree of tiles, a literal block")                           \
  X(HOME, "home", TF_Y_MAP, false, "section", "the memories in which inputs and outputs live")                         \
  X(LAYOUT, "layout", TF_Y_MAP, false, "section", "how tensors lie in memories with lines")                              \
  X(INSTR, "instructions", TF_Y_LIST, false, "instructions", "what compute units execute")                             \
  X(PARAMS, "params", TF_Y_MAP, false, "params", "named numbers that the other sections of the file may use")          \
  X(SEARCH, "search", TF_Y_MAP, false, "section", "what an import says of a search")                                   \
  X(SWEEP, "sweep", TF_Y_MAP, false, "section", "a study over params, machines and workloads")                         \
  X(PLAN, "plan", TF_Y_MAP, false, "section", "a network cut into groups, each with its mapping")
#define TF_WORKLOAD_KEYS(X)                                                                                            \
  X(NAME, "name", TF_Y_SCALAR, false, "title", "what reports call it")                                                 \
  X(DIMS, "dims", TF_Y_MAP, true, "dims", "the loops: names, each with its extent")                                    \
  X(TENSORS, "tensors", TF_Y_MAP, false, "rows", "tensors that differ from the default")                            \
  X(OPS, "ops", TF_Y_LIST, true, "graph", "what is computed, an op a line")                                            \
  X(ROUTING, "routing", TF_Y_MAP, false, "routing", "tokens that a router sends to experts")
#define TF_ROUTING_KEYS(X)                                                                                             \
  X(DIM, "dim", TF_Y_SCALAR, true, "symbol", "the dim whose steps are experts")                                        \
  X(TOKENS, "tokens", TF_Y_SCALAR, true, "number", "tokens that are routed")                                           \
  X(TOP, "top", TF_Y_SCALAR, true, "number", "experts to which each token goes")                                       \
  X(EXPERTS, "experts", TF_Y_SCALAR, true, "number", "experts of which they are chosen")
#define TF_TENSOR_KEYS(X)                                                                                              \
  X(BITS, "word-bits", TF_Y_SCALAR, false, "number", "width of an element")                                            \
  X(NO_SIGN, "unsigned", TF_Y_SCALAR, false, "flag", "whether an input's elements are whole numbers from 0 on")         \
  X(PAD, "pad", TF_Y_LIST, false, "numbers", "how far outside it may be read, as zero: a number for each rank")        \
  X(SHAPE, "shape", TF_Y_LIST, false, "numbers", "its extents, where they are not what the reads span")                \
  X(VIEW, "view", TF_Y_SCALAR, false, "symbol", "the tensor of which these are the words, in other coordinates")       \
  X(RANGE, "range", TF_Y_LIST, false, "numbers", "the least and the greatest number that its elements may be")         \
  X(DENSITY, "density", TF_Y_SCALAR | TF_Y_MAP, false, "density",                                                      \
    "which elements are not zero: a share, n of every m along a dim, whole blocks, a band, or those of a file")
#define TF_DENSITY_KEYS(X)                                                                                             \
  X(N, "n", TF_Y_SCALAR, true, "number", "so many of every m elements are not zero")                                   \
  X(M, "m", TF_Y_SCALAR, true, "number", "elements of a block")                                                        \
  X(DIM, "dim", TF_Y_SCALAR, true, "symbol", "the dim that indexes the rank of the blocks")
#define TF_TILES_KEYS(X)                                                                                               \
  X(BLOCKS, "blocks", TF_Y_LIST, true, "numbers", "extents of a block, all of whose elements are zero or none")        \
  X(SHARE, "share", TF_Y_SCALAR, true, "number", "the share of blocks that are not zero")
#define TF_BAND_KEYS(X)                                                                                                \
  X(BAND, "band", TF_Y_LIST, true, "symbols", "the dims i and j of a band around the diagonal")                        \
  X(BELOW, "below", TF_Y_SCALAR, true, "number", "elements are zero where j < i - below")                              \
  X(ABOVE, "above", TF_Y_SCALAR, true, "number", "elements are zero where j > i + above")
#define TF_LISTED_KEYS(X)                                                                                              \
  X(FILE, "file", TF_Y_SCALAR, true, "name", "a file that lists the coordinates of those that are not zero")
#define TF_OP_KEYS(X)                                                                                                  \
  X(NAME, "name", TF_Y_SCALAR, false, "name", "the op's, where it is not that of the tensor which it makes")           \
  X(EXPR, "expr", TF_Y_SCALAR, true, "expr", "what it computes")
#define TF_POINT_KEYS(X)                                                                                               \
  X(ON, "on", TF_Y_SCALAR | TF_Y_LIST, false, "tensors", "whose zeros are looked at")
#define TF_RULE_KEYS(X)                                                                                                \
  TF_POINT_KEYS(X)                                                                                                     \
  X(TARGET, "target", TF_Y_SCALAR | TF_Y_LIST, true, "tensors", "whose accesses are left out")                         \
  X(TILES, "tiles", TF_Y_SCALAR, false, "flag", "whether whole tiles that an inner memory fetches are left out")
/* clang-format on */

#define TF_KEY_ROW(id, key, kinds, required, json, words) {key, kinds, required},
#endif
