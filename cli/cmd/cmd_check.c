/* tileflow check: a line for each section that was read. */
#include <stdio.h>

#include "cli/cmd/commands.h"
#include "cli/session/session.h"
#include "tileflow/tree.h"

static const char *s_of(int n) { return n == 1 ? "" : "s"; }

static int count_open(const tf_tree *t) {
  int n = 0;
  for (int i = 0; i < t->n_nodes; i++)
    for (int k = 0; t->nodes[i].kind == TF_TILE && k < t->nodes[i].n_loops; k++)
      n += t->nodes[i].loops[k].trip == 0;
  return n;
}

static void print_workload(const tf_workload *wl) {
  int in = 0, out = 0;
  for (int z = 0; z < wl->n_tensors; z++) {
    in += wl->tensors[z].producer < 0;
    out += wl->tensors[z].producer >= 0 && wl->tensors[z].n_consumers == 0;
  }
  printf("workload %s: %d op%s on %d dim%s, %d tensor%s (%d read, %d written, %d between)\n",
         wl->name, wl->n_ops, s_of(wl->n_ops), wl->n_dims, s_of(wl->n_dims), wl->n_tensors,
         s_of(wl->n_tensors), in, out, wl->n_tensors - in - out);
}

static void print_mapping(const tf_tree *t) {
  int kinds[3] = {0};
  for (int i = 0; i < t->n_nodes; i++)
    kinds[t->nodes[i].kind]++;
  printf("mapping: %d tile%s, %d scope%s", kinds[TF_TILE], s_of(kinds[TF_TILE]), kinds[TF_SCOPE],
         s_of(kinds[TF_SCOPE]));
  int open = count_open(t);
  if (open) printf(", %d open trip count%s", open, s_of(open));
  printf("\n");
}

static void print_mapping_alone(const tf_spec *p) {
  const char *lacks = p->arch       ? "a workload"
                      : p->workload ? "an architecture"
                                    : "an architecture and a workload";
  printf("mapping: read, not checked: that needs %s\n", lacks);
}

static cli_status run_check(const void *options) {
  const cli_input *o = options;
  cli_session s;
  cli_status status = cli_open(&s, o);
  if (status == CLI_DONE && !o->quiet) {
    const tf_spec *p = s.spec;
    if (p->arch)
      printf("architecture %s: %d memor%s, %d unit%s\n", p->arch->name, p->arch->n_memories,
             p->arch->n_memories == 1 ? "y" : "ies", p->arch->n_units, s_of(p->arch->n_units));
    if (p->workload) print_workload(p->workload);
    if (s.tree) print_mapping(s.tree);
    if (p->mapping_text && !s.tree) print_mapping_alone(p);
    if (p->n_instrs) printf("instructions: %d\n", p->n_instrs);
    if (!p->arch && !p->workload && !p->mapping_text && !p->n_instrs)
      printf("no architecture, workload or mapping in these files\n");
  }
  cli_close(&s);
  return status;
}

const cli_command cmd_check = {
    .name = "check",
    .summary = "read and check only",
    .about = "Reads the files and prints a line for each section, or every error in them. A file "
             "may hold any of the sections; a mapping is checked where all three are given.\n"
             "Exit status: 0, or 2 if there is an error.\n",
    .example = "arch-specs/edge.yaml workloads/attention/g1.yaml",
    .size = sizeof(cli_input),
    .run = run_check,
};
