/* Writes a plan as the section `plan` of a file. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "model/yaml/quote.h"
#include "net/net.h"
#include "tileflow/tree.h"

/* The choices for the generator of a group's kernel; no line if there are none. */
static void put_choices(FILE *out, const tf_choices *all) {
  int n = 0;
  for (int c = 0; c < TF_N_CHOICES; c++) {
    const tf_choice_row *row = tf_choice_at((tf_choice)c);
    if (all->at[c])
      fprintf(out, "%s%s: %s", n++ ? ", " : "    choose: {", row->name, row->value[all->at[c]]);
  }
  if (n) fputs("}\n", out);
}

/* False: out of memory. */
static bool put_group(FILE *out, const tf_net_group *g, int i) {
  const tf_workload *wl = g->group->workload;
  fprintf(out, "  # %d", i + 1);
  if (g->like != i) fprintf(out, ", as %d", g->like + 1);
  fprintf(out, "\n  - ops: [");
  for (int o = 0; o < wl->n_ops; o++)
    fprintf(out, "%s%s", o ? ", " : "", wl->ops[o].name);
  fputs("]\n", out);
  put_choices(out, &g->choices);
  fputs("    mapping: |\n", out);
  char *text = tf_tree_text(g->tree);
  for (const char *line = text; line && *line;
       line += strcspn(line, "\n") + (strchr(line, '\n') != NULL))
    fprintf(out, "      %.*s\n", (int)strcspn(line, "\n"), line);
  free(text);
  return text;
}

/* No line if there is no word. */
static void put_word(FILE *out, const char *key, const char *word) {
  if (*word) fprintf(out, "  %s: %s\n", key, word);
}

char *tf_net_plan_text(const tf_net_plan *p, const tf_arch *arch, const tf_workload *wl) {
  TF_IN_C_LOCALE;
  char *text = NULL;
  size_t size = 0;
  FILE *out = open_memstream(&text, &size);
  if (!out) return NULL;
  fprintf(out, "plan:\n  network: ");
  tf_yaml_quote(out, wl->name);
  fprintf(out, "\n  architecture: ");
  tf_yaml_quote(out, arch->name);
  fprintf(out, "\n  objective: %s\n", tf_objective_key((int)p->objective));
  put_word(out, "target", p->target);
  put_word(out, "isa", p->isa);
  put_word(out, "dtype", p->dtype);
  fputs("  groups:\n", out);
  bool ok = true;
  for (int i = 0; i < p->n; i++)
    ok = put_group(out, &p->groups[i], i) && ok;
  if (fclose(out) == 0 && ok) return text;
  free(text);
  return NULL;
}
