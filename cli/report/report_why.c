/* How often tensors pass from memory to memory, and the causes of repeated passes. */
#include "cli/report/report.h"
#include "cli/table.h"
#include "tileflow/tree.h"

/* The share of a memory's served words from which a cause gets a line, and the most lines. */
#define WORTH 0.05
enum { MOST_LINES = 12 };

int64_t cli_cause_words(const tf_why_row *r) { return r->words.read + r->words.update; }

/* "m=4 of DRAM (line 22)" */
static void put_loop(const cli_session *s, const tf_why_row *r, cli_text *out) {
  static const char *const axis[] = {
      [TF_TEMPORAL] = "", [TF_SPATIAL_X] = "@x", [TF_SPATIAL_Y] = "@y"};
  const tf_node *n = &s->tree->nodes[r->at];
  const tf_loop *l = &n->loops[r->slot];
  cli_printf(out, "%s=%lld%s of %s (line %u)", s->spec->workload->dims[l->dim].name,
             (long long)l->trip, axis[l->axis], s->spec->arch->memories[n->level].name,
             (unsigned)l->at.line);
}

static void put_after_loop(const cli_session *s, const tf_why_row *r, const char *before,
                           const char *after, cli_text *out) {
  cli_printf(out, "%s", before);
  put_loop(s, r, out);
  cli_printf(out, "%s", after);
}

/* Whether the node's words go out: the op that makes the tensor is below it. */
static bool goes_out(const cli_session *s, const tf_why_row *r) {
  const int maker = s->spec->workload->tensors[r->tensor].producer;
  return maker >= 0 && s->tree->op_node[maker] >= r->node &&
         s->tree->op_node[maker] < s->tree->nodes[r->node].end;
}

void cli_cause(const cli_session *s, const tf_why_row *r, cli_text *out) {
  const bool makes = goes_out(s, r);
  const unsigned line = s->tree->nodes[r->node].at.line;
  switch (r->cause) {
  case TF_WHY_FIRST: cli_printf(out, "needed once"); break;
  case TF_WHY_LOOP: put_after_loop(s, r, "loop ", " steps outside of it", out); break;
  case TF_WHY_SEQ:
    cli_printf(out, "Seq (line %u) gives it up between visits",
               (unsigned)s->tree->nodes[r->at].at.line);
    break;
  case TF_WHY_SPLIT:
    cli_printf(out, "children side by side read it each for itself (line %u)", line);
    break;
  case TF_WHY_PRODUCTION: put_after_loop(s, r, "loop ", " begins a new production", out); break;
  case TF_WHY_LAYOUT:
    cli_printf(out, "the child before spread it otherwise (line %u)", line);
    break;
  case TF_WHY_HALO:
    cli_printf(out,
               makes ? "overlapping parts are recomputed" : "overlapping boxes are read again");
    break;
  case TF_WHY_COPIES: put_after_loop(s, r, "each instance of ", " takes its own copy", out); break;
  case TF_WHY_PARTIAL:
    put_after_loop(s, r, "partial sums leave and come back: loop ", " steps outside", out);
    break;
  case TF_WHY_AGAIN: cli_printf(out, "another Tile takes it, too (line %u)", line); break;
  case TF_WHY_UNITS: cli_printf(out, "units keep nothing between steps"); break;
  case TF_WHY_STREAM: cli_printf(out, "the streamed sum is corrected (line %u)", line); break;
  case TF_N_CAUSES: break;
  }
}

static bool same_edge(const tf_why_row *a, const tf_why_row *b) {
  return a->tensor == b->tensor && a->above == b->above && a->level == b->level;
}

/* Words that memory `above` serves to other memories. */
static double served(const cli_session *s, int above) {
  double sum = 0;
  for (int i = 0; i < s->why.n; i++)
    if (s->why.rows[i].above == above && s->why.rows[i].level >= 0)
      sum += (double)cli_cause_words(&s->why.rows[i]);
  return sum;
}

static bool worth_a_line(const cli_session *s, const tf_why_row *r) {
  return r->level >= 0 && r->cause != TF_WHY_FIRST &&
         (double)cli_cause_words(r) >= WORTH * served(s, r->above) && cli_cause_words(r) > 0;
}

static void put_edge(const cli_session *s, const tf_why_row *r, cli_table *t) {
  const char *above = s->spec->arch->memories[r->above].name,
             *own = s->spec->arch->memories[r->level].name;
  double all = 0;
  for (int i = 0; i < s->why.n; i++)
    if (same_edge(&s->why.rows[i], r)) all += (double)cli_cause_words(&s->why.rows[i]);
  cli_cell(t, "%s", s->spec->workload->tensors[r->tensor].name);
  cli_cell(t, "%s %s %s", above, goes_out(s, r) ? "<-" : "->", own);
  cli_cell(t, "%s", cli_times(all, (double)r->size).s);
}

/* One line: where words pass and how often in total (first: of its edge), and the share of this
 * cause. */
static void put_row(const cli_session *s, const tf_why_row *r, bool first, cli_table *t) {
  cli_text why = {0};
  if (first)
    put_edge(s, r, t);
  else
    cli_skip(t, 3);
  cli_cell(t, "%s", cli_times((double)cli_cause_words(r), (double)r->size).s);
  cli_cause(s, r, &why);
  cli_cell(t, "%s", cli_part(&why, &t->cells));
  cli_text_free(&why);
}

/* The scope below which an intermediate is made and read; -1: no such node is a scope. */
static int scope_of(const cli_session *s, int tensor) {
  const tf_tree *t = s->tree;
  const tf_workload *wl = s->spec->workload;
  int at = t->op_node[wl->tensors[tensor].producer];
  for (bool all = false; !all && at >= 0;) {
    at = t->nodes[at].parent;
    all = at >= 0 && t->nodes[at].kind == TF_SCOPE;
    for (int o = 0; all && o < wl->n_ops; o++)
      for (int k = 0; k < wl->ops[o].n_reads; k++)
        if (wl->ops[o].reads[k].tensor == tensor)
          all = all && t->op_node[o] > at && t->op_node[o] < t->nodes[at].end;
  }
  return at;
}

/* The memory further in that all who read it read it from; -1: some read it in the outermost one.
 */
static int read_in(const cli_session *s, int tensor) {
  const int n = s->spec->workload->n_tensors;
  const tf_counts *outer = &s->result.counts[tensor];
  if (outer->update == 0 || outer->read > 0) return -1;
  for (int l = 1; l < s->spec->arch->n_memories; l++)
    if (s->result.counts[l * n + tensor].read > 0) return l;
  return -1;
}

/* Intermediates that are written to the outermost memory although nothing reads them there: keep
 * would leave them further in. */
static void put_unread(const cli_session *s, cli_text *out) {
  const tf_workload *wl = s->spec->workload;
  bool any = false;
  for (int z = 0; z < wl->n_tensors; z++) {
    const bool between = wl->tensors[z].producer >= 0 && wl->tensors[z].n_consumers > 0;
    const int l = between ? read_in(s, z) : -1, scope = l > 0 ? scope_of(s, z) : -1;
    if (scope < 0) continue;
    const char *name = wl->tensors[z].name, *inner = s->spec->arch->memories[l].name;
    cli_printf(out,
               "%s%s is written to %s, and nothing reads it there: 'keep %s@%s' in line %u leaves "
               "it in %s.\n",
               any ? "" : "\n", name, s->spec->arch->memories[0].name, name, inner,
               (unsigned)s->tree->nodes[scope].at.line, inner);
    any = true;
  }
}

static void put_passes(const cli_session *s, cli_text *out) {
  cli_table t = {.align = "llrrl"};
  const tf_why_row *last = NULL;
  int lines = 0, left = 0;
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    for (int i = 0; i < s->why.n; i++) {
      const tf_why_row *r = &s->why.rows[i];
      if (r->above != l || !worth_a_line(s, r)) continue;
      if (lines == MOST_LINES) {
        left++;
        continue;
      }
      if (!lines++) {
        static const char *const names[] = {"tensor", "passes", "times", "of these", "because"};
        for (int k = 0; k < 5; k++)
          cli_cell(&t, "%s", names[k]);
      }
      put_row(s, r, !last || !same_edge(last, r), &t);
      last = r;
    }
  if (!lines) return;
  cli_printf(out, "\nWhat passes more than once (times: words over those of the tensor):\n");
  cli_table_end(&t, out);
  if (left) cli_printf(out, "and %d more such terms: --json has all\n", left);
}

void cli_report_why(const cli_session *s, cli_text *out) {
  put_passes(s, out);
  put_unread(s, out);
}
