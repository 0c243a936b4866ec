/* What each code means: a row a code, in the order of TF_CODES. */
#include "cli/first/codes.h"

/* What most examples are of: nothing is wrong with these parts. */
/* clang-format off */
#define MACHINE \
  "architecture:\n" \
  "  memories:\n" \
  "  - {name: DRAM}\n" \
  "  - {name: SRAM, capacity: 64 KiB}\n" \
  "  compute:\n" \
  "  - {name: mac, ops: [mac], below: SRAM, mesh: [4, 4]}\n"
#define PRODUCT \
  "workload:\n" \
  "  dims: {m: 8, n: 8, k: 8}\n" \
  "  ops:\n" \
  "  - C[m,n] += A[m,k] * B[k,n]\n"
#define CHAIN \
  "workload:\n" \
  "  dims: {m: 8, k: 8, l: 8, n: 8}\n" \
  "  ops:\n" \
  "  - C[m,l] += A[m,k] * B[k,l]\n" \
  "  - E[m,n] += C[m,l] * D[l,n]\n"
/* clang-format on */

const cli_code_row cli_codes[TF_N_CODES] = {
    [TF_E_IO] = {"a file cannot be read or written",
                 "A file that was named is not there, is a folder, may not be read, or is larger "
                 "than 16 MiB; or one cannot be written.",
                 "Look for a slip in the name (ls), and from which folder it is meant. A shipped "
                 "file: tileflow example NAME.",
                 NULL, "check machine.yaml",
                 "machine.yaml: error[E_IO]: cannot read: No such file or directory\n"},
    [TF_E_YAML] = {"the file is not YAML",
                   "The text breaks a rule of YAML itself: a bracket or quote that nothing closes, "
                   "indentation that jumps, a tab. Nothing of the file is read.",
                   "Close the bracket, quote or list that begins at or before the place shown.",
                   "workload:\n"
                   "  dims: {m: 8, n: 8\n"
                   "  ops:\n"
                   "  - C[m] = A[m]\n",
                   "check example.yaml",
                   "example.yaml:3:6: error[E_YAML]: did not find expected ',' or '}'\n"
                   "    3 |   ops:\n"
                   "      |      ^\n"
                   "example.yaml:2:9: note: while parsing a flow mapping\n"
                   "    2 |   dims: {m: 8, n: 8\n"
                   "      |         ^\n"},
    [TF_E_TYPE] = {"a value of the wrong kind",
                   "A key has a map, a list, a number or a text where it takes another of them.",
                   "Write the kind that the message asks for: dims: {m: 8, n: 8}. docs/FORMATS.md "
                   "lists what each key takes.",
                   "workload:\n"
                   "  dims: [m, n]\n"
                   "  ops:\n"
                   "  - C[m,n] = A[m,n]\n",
                   "check example.yaml",
                   "example.yaml:2:9: error[E_TYPE]: 'dims' must be a map, not a list\n"
                   "    2 |   dims: [m, n]\n"
                   "      |         ^~~~~~\n"},
    [TF_E_KEY] = {"a key that does not exist",
                  "The section has no key of that name; a slip, mostly. An unknown key is never "
                  "ignored, as its value would be.",
                  "Take the name that the message proposes, or one of those it lists.",
                  "architecture:\n"
                  "  memories:\n"
                  "  - {name: DRAM}\n"
                  "  - {name: SRAM, capcity: 64 KiB}\n"
                  "  compute:\n"
                  "  - {name: mac, ops: [mac], below: SRAM, mesh: [4, 4]}\n",
                  "check example.yaml",
                  "example.yaml:4:18: error[E_KEY]: unknown key 'capcity' in a memory, did you "
                  "mean 'capacity'?\n"
                  "    4 |   - {name: SRAM, capcity: 64 KiB}\n"
                  "      |                  ^~~~~~~\n"},
    [TF_E_MISSING] = {"something that must be there is not",
                      "A key that has no default, or a whole section, is absent.",
                      "Add it. A section may stand in any of the files given.",
                      "architecture:\n"
                      "  memories:\n"
                      "  - {capacity: 64 KiB}\n"
                      "  compute:\n"
                      "  - {name: mac, ops: [mac], below: SRAM}\n",
                      "check example.yaml",
                      "example.yaml:3:5: error[E_MISSING]: a memory needs the key 'name'\n"
                      "    3 |   - {capacity: 64 KiB}\n"
                      "      |     ^~~~~~~~~~~~~~~~~~\n"},
    [TF_E_DUP] =
        {"something is said twice",
         "A name, key or section is defined a second time, in one file or in two that are given "
         "together.",
         "Keep one. Of two files with a mapping each, name one alone, or use tileflow diff.",
         "workload:\n"
         "  dims: {m: 8, n: 8, k: 8, m: 4}\n"
         "  ops:\n"
         "  - C[m,n] += A[m,k] * B[k,n]\n",
         "check example.yaml",
         "example.yaml:2:28: error[E_DUP]: key 'm' given twice\n"
         "    2 |   dims: {m: 8, n: 8, k: 8, m: 4}\n"
         "      |                            ^\n"
         "example.yaml:2:10: note: first given here\n"
         "    2 |   dims: {m: 8, n: 8, k: 8, m: 4}\n"
         "      |          ^\n"},
    [TF_E_NAME] = {"a name that nothing defines",
                   "An index, an expression, a mapping or an option names a dim, tensor, op, "
                   "memory or param that does not exist.",
                   "Define it, or take the name that the message proposes.",
                   "workload:\n"
                   "  dims: {m: 8, n: 8, k: 8}\n"
                   "  ops:\n"
                   "  - C[m,q] += A[m,k] * B[k,n]\n",
                   "check example.yaml",
                   "example.yaml:4:9: error[E_NAME]: no dim 'q'; known: m, n, k\n"
                   "    4 |   - C[m,q] += A[m,k] * B[k,n]\n"
                   "      |         ^\n"},
    [TF_E_UNIT] =
        {"an unknown or unsuitable unit",
         "The unit of a number is not known, or measures something else than the key wants.",
         "Use one that the message lists: bytes are B, KiB, MiB, KB, MB, or no unit for words.",
         "architecture:\n"
         "  memories:\n"
         "  - {name: DRAM}\n"
         "  - {name: SRAM, capacity: 64 ms}\n"
         "  compute:\n"
         "  - {name: mac, ops: [mac], below: SRAM, mesh: [4, 4]}\n",
         "check example.yaml",
         "example.yaml:4:31: error[E_UNIT]: unknown unit 'ms' for 'capacity'; known: B KiB MiB GiB "
         "KB MB GB TB\n"
         "    4 |   - {name: SRAM, capacity: 64 ms}\n"
         "      |                               ^~\n"},
    [TF_E_SYNTAX] = {"an expression or mapping that cannot be read",
                     "The text of an op, an index, a number or a line of the mapping does not "
                     "follow its grammar.",
                     "Complete what the caret points at. docs/FORMATS.md has the grammar of ops "
                     "and of mappings.",
                     "workload:\n"
                     "  dims: {m: 8, n: 8, k: 8}\n"
                     "  ops:\n"
                     "  - C[m,n] += A[m,k\n",
                     "check example.yaml",
                     "example.yaml:4:20: error[E_SYNTAX]: expected ',' or ']' after an index, but "
                     "the text ends here\n"
                     "    4 |   - C[m,n] += A[m,k\n"
                     "      |                    ^\n"},
    [TF_E_RANGE] = {"a number that is not allowed",
                    "A number is outside of what the key allows, is no number (0/0), or is a "
                    "product above 2^63 - 1.",
                    "Give a number of the range in the message; where it comes from params, look "
                    "at their values.",
                    "workload:\n"
                    "  dims: {m: 8, n: 8, k: 0}\n"
                    "  ops:\n"
                    "  - C[m,n] += A[m,k] * B[k,n]\n",
                    "check example.yaml",
                    "example.yaml:2:25: error[E_RANGE]: 'k' is 0, must be 1 or more\n"
                    "    2 |   dims: {m: 8, n: 8, k: 0}\n"
                    "      |                         ^\n"},
    [TF_E_RANK] = {"a tensor with another number of indices",
                   "A tensor is written with two indices in one place and with three in another.",
                   "Give the tensor all its indices wherever it is read.",
                   PRODUCT "  - R[m,n] = max(C[m], 0)\n", "check example.yaml",
                   "example.yaml:5:18: error[E_RANK]: 'C' has rank 1 here, rank 2 elsewhere\n"
                   "    5 |   - R[m,n] = max(C[m], 0)\n"
                   "      |                  ^~~~\n"
                   "example.yaml:4:5: note: rank 2 here\n"
                   "    4 |   - C[m,n] += A[m,k] * B[k,n]\n"
                   "      |     ^~~~~~\n"},
    [TF_E_INDEX] =
        {"an index that is not affine",
         "An index is a sum of dims times whole numbers, plus a whole number; dims that it "
         "divides, h / 2 and h % 2, are cut where their steps allow. Products of dims, fractions, "
         "windows that are divided and what leaves the tensor are no indices.",
         "Write A[m,n], or a view of the tensor by strides: A[8*m+n].",
         "workload:\n"
         "  dims: {m: 8, n: 8}\n"
         "  ops:\n"
         "  - C[m,n] = A[m*n]\n",
         "check example.yaml",
         "example.yaml:4:17: error[E_INDEX]: dims of an index are multiplied by numbers only\n"
         "    4 |   - C[m,n] = A[m*n]\n"
         "      |                 ^\n"},
    [TF_E_CYCLE] = {"ops or params that need each other",
                    "An op reads what is made from its own result, or a param is defined by "
                    "itself, over any number of steps.",
                    "Break the circle: read an input, or the result of an earlier op.",
                    "workload:\n"
                    "  dims: {m: 8}\n"
                    "  ops:\n"
                    "  - A[m] = exp(B[m])\n"
                    "  - B[m] = exp(A[m])\n",
                    "check example.yaml",
                    "example.yaml:4:16: error[E_CYCLE]: op 'A' needs 'B', which needs it in turn\n"
                    "    4 |   - A[m] = exp(B[m])\n"
                    "      |                ^~~~\n"
                    "example.yaml:5:16: note: 'B' needs 'A'\n"
                    "    5 |   - B[m] = exp(A[m])\n"
                    "      |                ^~~~\n"},
    [TF_E_OUTPUT] =
        {"a result that is not plain",
         "The left side of an op has plain, different dims, or sums of them that meet each "
         "coordinate once, and each tensor is made by one op.",
         "Give each index of the result a dim of its own, and each op a result of its own.",
         "workload:\n"
         "  dims: {m: 4}\n"
         "  ops:\n"
         "  - C[m,m] = A[m]\n",
         "check example.yaml",
         "example.yaml:4:9: error[E_OUTPUT]: dim 'm' twice on the left side\n"
         "    4 |   - C[m,m] = A[m]\n"
         "      |         ^\n"},
    [TF_E_UNITKIND] =
        {"no unit runs the op",
         "The workload has a kind of op (exp, max, div, ..) that no unit of the architecture "
         "lists.",
         "Add the kind to the ops of a unit: ops: [mac, exp], or add a unit that runs it.",
         MACHINE "workload:\n"
                 "  dims: {m: 8}\n"
                 "  ops:\n"
                 "  - E[m] = exp(A[m])\n",
         "check example.yaml",
         "example.yaml:10:5: error[E_UNITKIND]: no compute unit runs op 'E': none lists exp\n"
         "   10 |   - E[m] = exp(A[m])\n"
         "      |     ^~~~~~~~~~~~~~~~\n"
         "example.yaml:6:12: note: the compute units are listed from here\n"
         "    6 |   - {name: mac, ops: [mac], below: SRAM, mesh: [4, 4]}\n"
         "      |            ^~~\n"},
    [TF_E_LEVEL] = {"a level that rises on the way down",
                    "From the root to an op the tiles go inward: the outermost memory first, then "
                    "the same or further in, until the one above the unit.",
                    "Order the tiles as the memories stand in the architecture.",
                    MACHINE PRODUCT "mapping: |\n"
                                    "  DRAM for m=8\n"
                                    "    SRAM for n=8\n"
                                    "      DRAM for k=8\n"
                                    "        op C\n",
                    "check example.yaml",
                    "example.yaml:14:7: error[E_LEVEL]: 'DRAM' below 'SRAM': levels never rise on "
                    "the way down\n"
                    "   14 |       DRAM for k=8\n"
                    "      |       ^~~~\n"
                    "example.yaml:13:5: note: the Tile above\n"
                    "   13 |     SRAM for n=8\n"
                    "      |     ^~~~\n"},
    [TF_E_SHAPE] =
        {"a tree of the wrong shape",
         "A tile has one child, a scope two or more, and each op stands in the tree once.",
         "Put every op into the tree; where two tiles stand side by side, put a scope (Seq, Shar, "
         "Para, Pipe) above them.",
         MACHINE CHAIN "mapping: |\n"
                       "  DRAM for m=8\n"
                       "    SRAM for k=8 l=8\n"
                       "      op C\n",
         "check example.yaml",
         "example.yaml:13:3: error[E_SHAPE]: no leaf for op 'E': every op of the workload has one\n"
         "   13 |   DRAM for m=8\n"
         "      |   ^\n"},
    [TF_E_ORDER] = {"an op runs before what it reads",
                    "Children of a scope run from the first to the last, and one reads what a "
                    "later one makes.",
                    "Write the op that makes the tensor first.",
                    MACHINE CHAIN "mapping: |\n"
                                  "  DRAM for m=8\n"
                                  "    Seq\n"
                                  "      SRAM for l=8 n=8\n"
                                  "        op E\n"
                                  "      SRAM for k=8 l=8\n"
                                  "        op C\n",
                    "check example.yaml",
                    "example.yaml:16:9: error[E_ORDER]: op 'E' reads 'C' before it is made: move "
                    "the branch that makes it in front\n"
                    "   16 |         op E\n"
                    "      |         ^~~~\n"
                    "example.yaml:18:9: note: 'C' is made here\n"
                    "   18 |         op C\n"
                    "      |         ^~~~\n"
                    "example.yaml:14:5: note: the scope that runs both\n"
                    "   14 |     Seq\n"
                    "      |     ^~~\n"},
    [TF_E_COVER] =
        {"the loops do not reach the extent",
         "The trip counts of a dim, multiplied from the root down to the op, are less than its "
         "extent: some points would never be computed.",
         "Raise one of the trip counts: m=8. Write ? and run tileflow search to have them chosen.",
         MACHINE PRODUCT "mapping: |\n"
                         "  DRAM for m=4\n"
                         "    SRAM for n=8 k=8\n"
                         "      op C\n",
         "check example.yaml",
         "example.yaml:12:12: error[E_COVER]: trip counts on 'm' multiply to 4, the range of op "
         "'C' is 8: raise one\n"
         "   12 |   DRAM for m=4\n"
         "      |            ^~~\n"},
    [TF_E_LOOP] = {"a loop that is not allowed there",
                   "A loop above several ops runs over a dim that one of them does not have, so "
                   "that it would run again for nothing, or that one sums over, so that its "
                   "readers would see unfinished sums.",
                   "Move the loop into the branch of the op that has it: SRAM for k=8 l=8.",
                   MACHINE CHAIN "mapping: |\n"
                                 "  DRAM for m=8 k=4\n"
                                 "    Seq\n"
                                 "      SRAM for k=2 l=8\n"
                                 "        op C\n"
                                 "      SRAM for l=8 n=8\n"
                                 "        op E\n",
                   "check example.yaml",
                   "example.yaml:13:16: error[E_LOOP]: op 'E' leads here and has no dim 'k', it "
                   "would run again: move the loop to the branch of op 'C'\n"
                   "   13 |   DRAM for m=8 k=4\n"
                   "      |                ^~~\n"
                   "example.yaml:18:9: note: the op that would run again\n"
                   "   18 |         op E\n"
                   "      |         ^~~~\n"},
    [TF_E_KEEP] =
        {"a tensor cannot live there",
         "keep T@MEMORY says where an intermediate lives between the op that makes it and those "
         "that read it. Inputs, outputs and memories outside of both cannot be named.",
         "Name what one op of the scope makes and another reads: keep C@SRAM.",
         MACHINE CHAIN "mapping: |\n"
                       "  DRAM for m=8\n"
                       "    Seq keep A@SRAM\n"
                       "      SRAM for k=8 l=8\n"
                       "        op C\n"
                       "      SRAM for l=8 n=8\n"
                       "        op E\n",
         "check example.yaml",
         "example.yaml:14:14: error[E_KEEP]: 'A' cannot be kept in 'SRAM': it is no intermediate, "
         "inputs and outputs live in the outermost memory\n"
         "   14 |     Seq keep A@SRAM\n"
         "      |              ^~~~~~\n"},
    [TF_E_RETAIN] = {"a tensor cannot be retained",
                     "retain T holds on to what a scope has made of an intermediate, so that it is "
                     "not made again. Inputs and outputs are none.",
                     "Name an intermediate of the scope: retain C.",
                     MACHINE CHAIN "mapping: |\n"
                                   "  DRAM for m=8\n"
                                   "    Seq retain B\n"
                                   "      SRAM for k=8 l=8\n"
                                   "        op C\n"
                                   "      SRAM for l=8 n=8\n"
                                   "        op E\n",
                     "check example.yaml",
                     "example.yaml:14:16: error[E_RETAIN]: 'B' is no intermediate: only what one "
                     "op makes and another reads can be retained\n"
                     "   14 |     Seq retain B\n"
                     "      |                ^\n"},
    [TF_E_STREAM] = {"a reduction cannot be streamed",
                     "stream T lets readers see unfinished sums or maxima and corrects them later, "
                     "as online softmax does. That needs an exponential of a streamed maximum, and "
                     "a result that is linear in what is streamed.",
                     "Leave stream out and put the loop into the branch of the op that sums. "
                     "docs/SEMANTICS.md has what can be streamed.",
                     MACHINE CHAIN "mapping: |\n"
                                   "  DRAM for m=8\n"
                                   "    Seq stream C\n"
                                   "      SRAM for k=8 l=8\n"
                                   "        op C\n"
                                   "      SRAM for l=8 n=8\n"
                                   "        op E\n",
                     "check example.yaml",
                     "example.yaml:14:16: error[E_STREAM]: 'C' cannot be streamed: no exponential "
                     "of a streamed maximum feeds it\n"
                     "   14 |     Seq stream C\n"
                     "      |                ^\n"},
    [TF_E_BYPASS] = {"bypass where it means nothing",
                     "bypass T says that a memory does not hold T: on the first tile of a memory "
                     "that is not the outermost, for a tensor that passes there.",
                     "Write it on the tile of an inner memory: SRAM for n=8 k=8 bypass A.",
                     MACHINE PRODUCT "mapping: |\n"
                                     "  DRAM for m=8 bypass A\n"
                                     "    SRAM for n=8 k=8\n"
                                     "      op C\n",
                     "check example.yaml",
                     "example.yaml:12:23: error[E_BYPASS]: 'A' cannot bypass 'DRAM': inputs and "
                     "outputs live in the outermost memory, and nothing lies further out\n"
                     "   12 |   DRAM for m=8 bypass A\n"
                     "      |                       ^\n"},
    [TF_E_OPEN] = {"open choices that nothing completes",
                   "The mapping has trip counts that are left open (?), and the command does not "
                   "choose, or no choice fits.",
                   "tileflow search completes them, and --mapping FILE writes the mapping.",
                   MACHINE PRODUCT "mapping: |\n"
                                   "  DRAM for m=?\n"
                                   "    SRAM for n=8 k=8\n"
                                   "      op C\n",
                   "best example.yaml",
                   "example.yaml:12:3: error[E_OPEN]: best begins with whole mappings, and this "
                   "one has open parts\n"
                   "   12 |   DRAM for m=?\n"
                   "      |   ^~~~\n"
                   "tileflow: note: 'tileflow search' completes it; '--mapping FILE' there writes "
                   "what best can begin with\n"},
    [TF_E_STORE] = {"not a store, or not this one",
                    "The file is no store of a sweep or of tune, is damaged, is of a newer "
                    "version, or holds another sweep than the one asked for.",
                    "Name the .tfdb that the sweep wrote; a new sweep takes a new --store FILE.",
                    "sweep: {method: bound}\n", "results example.yaml",
                    "example.yaml: error[E_STORE]: is no store of a sweep, or is damaged\n"},
    [TF_E_LIMIT] = {"beyond a documented limit",
                    "More dims, ops, levels, steps or bytes than the program takes; "
                    "docs/FORMATS.md, \"Limits\", has all of them.",
                    "Say it with less: split the workload, or the file.",
                    "workload:\n"
                    "  dims: {m: 8}\n"
                    "  ops:\n"
                    "  - C[m] = A[m,m,m,m,m,m,m,m,m,m,m,m,m,m,m,m,m]\n",
                    "check example.yaml",
                    "example.yaml:4:46: error[E_LIMIT]: more than 16 indices\n"
                    "    4 |   - C[m] = A[m,m,m,m,m,m,m,m,m,m,m,m,m,m,m,m,m]\n"
                    "      |                                              ^\n"},
    [TF_E_OVERFLOW] =
        {"a count above 2^63 - 1",
         "Counts are exact integers of 63 bits, and one of this mapping is larger. It is an error, "
         "never a wrong number.",
         "Look for a unit or a factor too many in the extents.",
         "architecture:\n"
         "  memories:\n"
         "  - {name: DRAM}\n"
         "  - {name: SRAM, capacity: 64 KiB}\n"
         "  compute:\n"
         "  - {name: mac, ops: [mac], below: SRAM}\n"
         "workload:\n"
         "  dims: {m: 2000000, n: 2000000, k: 2000000}\n"
         "  ops:\n"
         "  - C[m,n] += A[m,k] * B[k,n]\n"
         "mapping: |\n"
         "  DRAM for m=2000000 n=2000000 k=2000000\n"
         "    SRAM\n"
         "      op C\n",
         "eval example.yaml",
         "example.yaml:12:3: error[E_OVERFLOW]: a count of this mapping passes 2^63 - 1\n"
         "   12 |   DRAM for m=2000000 n=2000000 k=2000000\n"
         "      |   ^~~~\n"},
    [TF_E_USAGE] =
        {"a wrong command line",
         "A command, option or value does not exist, is missing, or is given twice.",
         "tileflow COMMAND --help lists the options, and an example that runs.", NULL,
         "eval --evals many machine.yaml",
         "tileflow: error[E_USAGE]: --evals needs a whole number of 1 or more, not 'many'\n"},
    [TF_E_CAPACITY] =
        {"a memory overflows: the mapping does not fit",
         "At the worst moment the mapping holds more in a memory than it has. The counts are "
         "printed as if it fitted; the exit status is 3.",
         "Move trip counts outward (DRAM for m=8 n=4, SRAM for n=2 k=8), keep or bypass less, or "
         "give the memory more.",
         "architecture:\n"
         "  memories:\n"
         "  - {name: DRAM}\n"
         "  - {name: SRAM, capacity: 128 B}\n"
         "  compute:\n"
         "  - {name: mac, ops: [mac], below: SRAM, mesh: [4, 4]}\n" PRODUCT "mapping: |\n"
         "  DRAM for m=8\n"
         "    SRAM for n=8 k=8\n"
         "      op C\n",
         "eval example.yaml --quiet",
         "example.yaml:13:5: error[E_CAPACITY]: SRAM needs 80 words, has 64: 16 too many\n"
         "   13 |     SRAM for n=8 k=8\n"
         "      |     ^~~~\n"
         "example.yaml:4:28: note: its capacity\n"
         "    4 |   - {name: SRAM, capacity: 128 B}\n"
         "      |                            ^~~~~\n"},
    [TF_E_FANOUT] =
        {"more instances or units than there are",
         "Spatial loops spread over more instances of a memory, or more units, than the mesh has "
         "on that axis. The exit status is 3.",
         "Spread less (n=4@x, and n=2 in time), use the other axis too, or give the machine a "
         "larger mesh.",
         MACHINE PRODUCT "mapping: |\n"
                         "  DRAM for m=8\n"
                         "    SRAM for k=8 spatial n=8@x\n"
                         "      op C\n",
         "eval example.yaml --quiet",
         "example.yaml:13:5: error[E_FANOUT]: mac needs 8 units along x, has 4: 4 too many\n"
         "   13 |     SRAM for k=8 spatial n=8@x\n"
         "      |     ^~~~\n"
         "example.yaml:6:12: note: these units\n"
         "    6 |   - {name: mac, ops: [mac], below: SRAM, mesh: [4, 4]}\n"
         "      |            ^~~\n"},
    [TF_E_HAZARD] =
        {"NPU: two accesses that no flag orders",
         "Two queues touch the same bytes, one of them writes, and no flag puts one behind the "
         "other.",
         "Put set FROM TO N behind the first of them and wait FROM TO N before the second.",
         "machine m\n"
         "memory GM\n"
         "memory UB bytes 1024 align 32\n"
         "queue mte2\n"
         "queue vector\n"
         "queue mte3\n"
         "path GM UB mte2 words 8\n"
         "path UB GM mte3 words 8\n"
         "vector vector UB lanes 16\n"
         "tensor A f16 64 in\n"
         "tensor C f16 64 out\n"
         "copy UB[0]:f16 A[0] 64:1:1\n"
         "exp UB[128]:f16 UB[0]:f16 64:1:1\n"
         "set vector mte3 0\n"
         "wait vector mte3 0\n"
         "copy C[0] UB[128]:f16 64:1:1\n",
         "npu example.yaml",
         "example.yaml:13:17: error[E_HAZARD]: reads byte 0 of 'UB', and no flag puts it behind "
         "the 'copy' of queue 'mte2'\n"
         "   13 | exp UB[128]:f16 UB[0]:f16 64:1:1\n"
         "      |                 ^~~~~~~~~\n"
         "example.yaml:12:1: note: that one\n"
         "   12 | copy UB[0]:f16 A[0] 64:1:1\n"
         "      | ^~~~\n"},
    [TF_E_DEADLOCK] =
        {"NPU: queues that wait for what never comes",
         "A queue waits for a flag that nothing sets, or queues wait for each other in a circle.",
         "Set the flag before it is waited for, in a queue that does not itself wait for what "
         "comes after.",
         "machine m\n"
         "memory GM\n"
         "memory UB bytes 1024 align 32\n"
         "queue mte2\n"
         "queue vector\n"
         "queue mte3\n"
         "path GM UB mte2 words 8\n"
         "path UB GM mte3 words 8\n"
         "vector vector UB lanes 16\n"
         "tensor A f16 64 in\n"
         "tensor C f16 64 out\n"
         "wait vector mte2 0\n"
         "copy UB[0]:f16 A[0] 64:1:1\n"
         "set mte3 mte2 0\n",
         "npu example.yaml",
         "example.yaml:12:1: error[E_DEADLOCK]: queue 'mte2' waits here for a flag that 'vector' "
         "never sets\n"
         "   12 | wait vector mte2 0\n"
         "      | ^~~~\n"},
    [TF_E_UNWRITTEN] =
        {"NPU: an element that was never written is read",
         "An instruction reads bytes, or the end needs an output, that no instruction has written.",
         "Write all of it: look at counts and offsets of the copies.",
         "machine m\n"
         "memory GM\n"
         "memory UB bytes 1024 align 32\n"
         "queue mte2\n"
         "queue vector\n"
         "queue mte3\n"
         "path GM UB mte2 words 8\n"
         "path UB GM mte3 words 8\n"
         "vector vector UB lanes 16\n"
         "tensor A f16 64 in\n"
         "tensor C f16 64 out\n"
         "copy UB[0]:f16 A[0] 32:1:1\n"
         "set mte2 mte3 0\n"
         "wait mte2 mte3 0\n"
         "copy C[0] UB[0]:f16 32:1:1\n",
         "npu example.yaml",
         "example.yaml:11:17: error[E_UNWRITTEN]: byte 64 of 'C' is not written\n"
         "   11 | tensor C f16 64 out\n"
         "      |                 ^~~\n"},
};
