/* Which params files have. */
#include <string.h>

#include "sweep/grid/grid.h"

bool sweep_file_has(const sweep_input *in, const char *name) {
  return in->params && tf_ymap_get(in->params, name);
}

bool sweep_has_param(const sweep_input *const *files, int n, const char *name) {
  const char *dot = strchr(name, '.');
  bool of_arch = dot && (!strncmp(name, "arch.", 5) || !strncmp(name, "architecture.", 13));
  bool of_workload = dot && !strncmp(name, "workload.", 9),
       of_mapping = dot && !strncmp(name, "mapping.", 8);
  bool there = !dot, has = false;
  for (int i = 0; i < n; i++) {
    there |= (of_arch && files[i]->arch) || (of_workload && files[i]->workload) ||
             (of_mapping && files[i]->mapping);
    has |= sweep_file_has(files[i], dot ? dot + 1 : name);
  }
  return there && has;
}
