#include "cli.h"

int cmd_check(const cli_options *o) {
  cli_session s;
  int status = cli_open(&s, o);
  if (status == CLI_DONE && !o->quiet) {
    const tf_spec *p = s.spec;
    if (p->arch)
      printf("architecture %s: %d memories, %d kinds of compute unit\n", p->arch->name,
             p->arch->n_memories, p->arch->n_units);
    if (p->workload)
      printf("workload %s: %d ops, %d tensors, %d dims\n", p->workload->name, p->workload->n_ops,
             p->workload->n_tensors, p->workload->n_dims);
    if (s.tree)
      printf("mapping: %d nodes%s\n", s.tree->n_nodes, s.tree->open ? ", some trip counts open" : "");
    else if (p->mapping_text)
      printf("mapping: not checked without an architecture and a workload\n");
  }
  cli_close(&s);
  return status;
}
