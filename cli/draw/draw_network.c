/* A plan as rows, folds and arcs. */
#include "cli/draw/draw_network.h"

#include <stdlib.h>
#include <string.h>

enum { LANES = 14 }; /* arcs beside each other at most; more share the last lane */

/* ---- rows and folds ------------------------------------------------------------------------- */
static bool alike(const tf_net_plan *q, int a, int b, int n) {
  for (int i = 0; i < n; i++)
    if (q->groups[a + i].like != q->groups[b + i].like) return false;
  return true;
}

/* The length of the sequence at i whose repetitions save most rows, and how often it occurs there;
 * 0: none does. */
static int period_at(const tf_net_plan *q, int i, int *times) {
  int best = 0, saved = 1;
  *times = 1;
  for (int n = 1; 2 * n <= q->n - i; n++) {
    int k = 1;
    while (i + (k + 1) * n <= q->n && alike(q, i, i + k * n, n))
      k++;
    if ((k - 1) * n <= saved) continue;
    saved = (k - 1) * n;
    best = n;
    *times = k;
  }
  return best;
}

static int kind_of(net_picture *p, const tf_arch *arch, const char *name) {
  for (int k = 0; k < p->n_kinds; k++)
    if (!strcmp(p->kind[k].name, name)) return k;
  net_kind *x = &p->kind[p->n_kinds];
  *x = (net_kind){.name = name, .memory = -1};
  for (int l = 0; l < arch->n_memories; l++) {
    const size_t n = strlen(arch->memories[l].name);
    if (!strncmp(arch->memories[l].name, name, n) && (name[n] == '\0' || name[n] == ' '))
      x->memory = l;
  }
  return p->n_kinds++;
}

/* Row by row; row_of: of each group, the row that stands for it; turn_of: the how many-th of its
 * row. */
static void take_rows(net_picture *p, const cli_plan *plan, int *row_of, int *turn_of) {
  const tf_net_plan *q = plan->plan;
  for (int i = 0; i < q->n;) {
    int times, n = period_at(q, i, &times);
    if (!n) n = 1;
    if (times > 1) p->fold[p->n_folds++] = (net_fold){p->n_rows, p->n_rows + n - 1, times};
    for (int k = 0; k < n; k++, p->n_rows++) {
      const tf_net_group *g = &q->groups[i + k];
      net_row *r = &p->row[p->n_rows];
      *r = (net_row){.group = i + k, .times = times, .fold = times > 1 ? p->n_folds : 0};
      r->cycles = times * g->figures.cycles;
      r->kind = kind_of(p, plan->spec->arch, g->bottleneck);
      p->kind[r->kind].cycles += r->cycles;
      for (int t = 0; t < times; t++) {
        row_of[i + k + t * n] = p->n_rows;
        turn_of[i + k + t * n] = t;
      }
    }
    i += n * times;
  }
}

/* The kind that takes most time becomes the first. */
static void sort_kinds(net_picture *p) {
  for (int a = 1; a < p->n_kinds; a++)
    for (int b = a; b > 0 && p->kind[b].cycles > p->kind[b - 1].cycles; b--) {
      const net_kind x = p->kind[b];
      p->kind[b] = p->kind[b - 1];
      p->kind[b - 1] = x;
      for (int r = 0; r < p->n_rows; r++)
        p->row[r].kind = p->row[r].kind == b ? b - 1 : p->row[r].kind == b - 1 ? b : p->row[r].kind;
    }
}

/* ---- arcs ----------------------------------------------------------------------------------- */
static void add_arc(net_picture *p, int from, int to, int tensor) {
  for (int i = p->n_arcs - 1; i >= 0 && p->arc[i].to == to; i--)
    if (p->arc[i].from == from) return;
  p->arc[p->n_arcs++] = (net_arc){from, to, tensor, -1};
}

/* What a group reads of what others make; between two turns of a fold there is no arc, as its rows
 * stand for all. */
static void take_arcs(net_picture *p, const cli_plan *plan, const int *row_of, const int *turn_of,
                      const int *group_of) {
  const tf_workload *wl = plan->spec->workload;
  for (int r = 0; r < p->n_rows; r++) {
    const int i = p->row[r].group;
    const tf_group *g = plan->plan->groups[i].group;
    for (int t = 0; t < g->workload->n_tensors; t++) {
      const int maker = wl->tensors[g->tensor[t]].producer, from = maker < 0 ? i : group_of[maker];
      if (g->workload->tensors[t].producer >= 0 || row_of[from] >= r) continue;
      const bool same = p->row[r].fold && p->row[row_of[from]].fold == p->row[r].fold;
      if (!same || turn_of[from] == turn_of[i]) add_arc(p, row_of[from], r, g->tensor[t]);
    }
  }
}

static bool crosses(const net_arc *a, const net_arc *b) {
  return a->from < b->to && b->from < a->to;
}

/* Short arcs get the lanes next to the rows. */
static void choose_lanes(net_picture *p) {
  for (int length = 2; length <= p->n_rows; length++)
    for (int i = 0; i < p->n_arcs; i++) {
      net_arc *a = &p->arc[i];
      if (a->to - a->from != length) continue;
      a->lane = 0;
      for (int k = 0; k < p->n_arcs; k++)
        if (k != i && p->arc[k].lane == a->lane && crosses(a, &p->arc[k]) && a->lane + 1 < LANES) {
          a->lane++;
          k = -1;
        }
      if (a->lane >= p->n_lanes) p->n_lanes = a->lane + 1;
    }
}

bool net_picture_make(net_picture *p, const cli_plan *plan) {
  const tf_net_plan *q = plan->plan;
  const size_t n = (size_t)q->n + 1;
  size_t reads = 1;
  for (int i = 0; i < q->n; i++)
    reads += (size_t)q->groups[i].group->workload->n_tensors;
  *p = (net_picture){.row = calloc(n, sizeof *p->row),
                     .fold = calloc(n, sizeof *p->fold),
                     .arc = calloc(reads, sizeof *p->arc),
                     .kind = calloc(n, sizeof *p->kind)};
  int *row_of = calloc(n, sizeof *row_of), *turn_of = calloc(n, sizeof *turn_of),
      *group_of = calloc((size_t)plan->spec->workload->n_ops + 1, sizeof *group_of);
  const bool ok = p->row && p->fold && p->arc && p->kind && row_of && turn_of && group_of;
  for (int i = 0; ok && i < q->n; i++)
    for (int o = 0; o < q->groups[i].group->workload->n_ops; o++)
      group_of[q->groups[i].group->op[o]] = i;
  if (ok) {
    take_rows(p, plan, row_of, turn_of);
    sort_kinds(p);
    take_arcs(p, plan, row_of, turn_of, group_of);
    choose_lanes(p);
  }
  free(row_of);
  free(turn_of);
  free(group_of);
  return ok;
}

void net_picture_free(net_picture *p) {
  free(p->row);
  free(p->fold);
  free(p->arc);
  free(p->kind);
  *p = (net_picture){0};
}
