/* The page of a plan: its groups with their mappings, and what lies in the arena while which groups run. */
#include "cli/page/page.h"

/* The numbers of the first and the last group that has tensor z of the network, or a view of it. */
static void lives(const cli_plan *p, int z, int *first, int *last) {
  const tf_tensor *all = p->spec->workload->tensors;
  *first = *last = -1;
  for (int g = 0; g < p->plan->n; g++) {
    const tf_group *group = p->plan->groups[g].group;
    for (int k = 0; k < group->workload->n_tensors; k++)
      if (group->tensor[k] == z || all[group->tensor[k]].view_of == z + 1) {
        if (*first < 0) *first = g;
        *last = g;
      }
  }
}

/* Tensors that pass between groups. */
static json_t *passing(const cli_plan *p) {
  const tf_workload *wl = p->spec->workload;
  json_t *out = json_array();
  for (int z = 0; z < wl->n_tensors; z++) {
    int first, last;
    const tf_tensor *t = &wl->tensors[z];
    if (p->memory->offset[z] < 0 || t->view_of) continue;
    lives(p, z, &first, &last);
    json_array_append_new(out, json_pack("{s:s, s:I, s:o, s:i, s:i}", "name", t->name, "offset",
                                         (json_int_t)p->memory->offset[z], "bytes",
                                         cli_json_real((double)tf_tensor_words(t) * t->word_bits / 8), "first", first,
                                         "last", last));
  }
  return out;
}

bool cli_page_plan(const char *path, const cli_plan *p) {
  page_data data = {json_object(), false, false};
  cli_text plan = {0}, terminal = {0};
  cli_plan_json(p, &plan);
  cli_plan_text(p, &terminal);
  page_set(&data, "kind", json_string("plan"));
  page_set_report(&data, "plan", &plan);
  page_set(&data, "passing", passing(p));
  page_set_text(&data, "terminal", &terminal);
  cli_text_free(&terminal);
  return page_write(path, p->spec->workload->name, &data);
}
