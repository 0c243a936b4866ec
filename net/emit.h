/* The files of a network while they are generated. */
#ifndef NET_EMIT_H
#define NET_EMIT_H
#include "codegen/backend/cpu/print/files.h"
#include "net/net.h"

/* The kernel that a group calls: its own, or an earlier group's, in which case only `first_group`
 * and `changes` are set. */
typedef struct {
  int first_group; /* the first group with equal key, mapping, choices and changes; its own number
             if there is none */
  char name[160];  /* prefix of its exported names */
  const tf_net_group *group;
  bool *may_pack;    /* [n_tensors] of the first group with an equal key: inputs whose panels may be
                   packed beforehand */
  bool *changes;     /* [n_tensors] those of them that other groups produce: their panels are not
                        offered */
  tf_emitted *files; /* from tf_emit */
  ir_program *program;
  bool packs; /* it has panels that may be packed beforehand */
} net_kernel;

typedef struct {
  const tf_net_plan *plan;
  const tf_workload *wl;
  const tf_emit_options *o;
  tf_diags *d;
  ir_type data; /* of inputs, outputs and all tensors between groups */
  tf_net_memory memory;
  net_kernel *kernel; /* [plan->n] */
  ir_program whole; /* the network as if it were one kernel, for the printers of a kernel's files */
  cpu_pack *packs;  /* of `whole` */
  tf_tree tree;     /* of it: only the workload */
  c_package package;
  const tf_micro_isa *isa;
  char within[24]; /* tolerance for the package, if it depends on the plan */
  const int *last; /* as in net_cutting; weights with permuted ranks are in the arena, packed */
  net_branches branches; /* of a device's graph, in the arena */
  tf_arena *a;
} net_emission;

static inline ir_type net_type_of(const net_emission *e, int z) {
  return e->data == IR_I8 ? ir_type_held(e->wl, z) : e->data;
}
static inline bool net_has_kernel(const net_emission *e, int i) {
  return e->kernel[i].first_group == i;
}
/* Whether it is a weight that kernels read in another layout than the argument's. */
static inline bool net_is_packed(const net_emission *e, int z) {
  return e->last && e->last[z] >= 0 && e->wl->tensors[z].producer < 0;
}
static inline const net_kernel *net_called(const net_emission *e, int i) {
  return &e->kernel[e->kernel[i].first_group];
}

/* A file of the folder that belongs to no kernel. */
typedef struct {
  const char *name;
  void (*print)(FILE *out, const net_emission *e);
} net_own_file;

/* emit_files.c: a folder of at most so many files (NULL: out of memory); adds a file, and takes
 * ownership of its text (NULL: out of memory); prints a file and adds it, with the network's
 * name. */
tf_emitted *net_files_new(int most);
bool net_add_file(tf_emitted *out, const char *name, char *text);
bool net_add_own(tf_emitted *out, const net_emission *e, const net_own_file *row, const char *name);
/* text with every `from` replaced, malloc'd; frees text. */
char *net_replace(char *text, const char *from, const char *to);
int net_kernels_of(const net_emission *e);

/* emit_calls.c: network.c: calls in the order of the plan; the declaration of group i's arguments,
 * k. */
void net_print_calls(FILE *out, const net_emission *e);
void net_bind_all(FILE *out, const net_emission *e, int i);
void net_say_arena(FILE *out, const net_emission *e);

/* emit_cuda.c: the folder for CUDA. emit_cuda_handle.c: additions to network_device.h and
 * network.cu for a network with its memory on the device; programs that use it. */
tf_emitted *net_emit_cuda(net_emission *e, const char *name);
/* npu/net_npu_emit.c: the folder for the NPU. */
tf_emitted *net_emit_npu(net_emission *e, const char *name);
void net_cuda_declare_handle(FILE *out, const net_emission *e);
void net_cuda_handle(FILE *out, const net_emission *e);
void net_cuda_test_handle(FILE *out, const net_emission *e);
void net_cuda_bench(FILE *out, const net_emission *e);

/* emit_calls.c: the number of threads in network.c and network.h. */
void net_print_threads(FILE *out);
void net_declare_threads(FILE *out);

/* emit_weights.c: the reader of weights in network.c and network.h. */
void net_print_weights(FILE *out, const net_emission *e);
void net_declare_weights(FILE *out);
#endif
