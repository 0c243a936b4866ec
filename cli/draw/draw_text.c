/* The tree as text: its nodes with their figures, then the tensors with their homes. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/draw/draw.h"
#include "cli/report/node_text.h"
#include "cli/report/report.h"
#include "cli/table.h"
#include "tileflow/tree.h"

/* The prefix of a node's line, and of the lines below it. */
typedef struct {
  const char *child, *last, *below, *below_last;
} lines;

static const lines ascii = {"|- ", "`- ", "|  ", "   "};
static const lines boxes = {"\u251c\u2500 ", "\u2514\u2500 ", "\u2502  ", "   "};

static bool utf8_locale(void) {
  static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
  for (size_t i = 0; i < 3; i++) {
    const char *value = getenv(names[i]);
    if (!value || !*value) continue;
    const char *dot = strchr(value, '.');
    return dot && (!strncasecmp(dot + 1, "utf-8", 5) || !strncasecmp(dot + 1, "utf8", 4));
  }
  return false;
}

static bool is_last(const tf_tree *t, int node) {
  int parent = t->nodes[node].parent;
  return parent < 0 || t->nodes[node].child_no + 1 == t->nodes[parent].n_children;
}

/* Prints the branch lines before a node, outermost first. */
static void put_lead(const tf_tree *t, const lines *l, int node, int self, cli_text *out) {
  int parent = t->nodes[node].parent;
  if (parent < 0) return;
  put_lead(t, l, parent, self, out);
  bool last = is_last(t, node);
  if (node == self)
    cli_printf(out, "%s", last ? l->last : l->child);
  else
    cli_printf(out, "%s", last ? l->below_last : l->below);
}

/* A figure of a node that has none is a dash. */
static void put_words(cli_table *t, bool any, double n) {
  cli_cell(t, "%s", any ? cli_real(n).s : "-");
}

static void put_node(const cli_session *s, const lines *l, int node, cli_table *t) {
  const tf_node_result *r = &s->result.nodes[node];
  const cli_words words = cli_node_words(s, node);
  bool holds = r->held || r->loads || r->stores;
  cli_text line = {0};
  put_lead(s->tree, l, node, node, &line);
  cli_node_line(s->tree, node, &line);
  cli_cell(t, "%s", cli_part(&line, &t->cells));
  cli_text_free(&line);
  cli_cell(t, "%s", cli_count(r->runs).s);
  put_words(t, holds, words.peak);
  put_words(t, holds, words.fill);
  put_words(t, holds, words.drain);
  cli_cell(t, "%s", cli_real(r->cycles).s);
  const char *wrong = "";
  for (int i = 0; i < s->result.n_violations; i++)
    if (s->result.violations[i].node == node) wrong = "<- does not fit";
  cli_cell(t, "%s", wrong);
}

static void put_nodes(const cli_session *s, cli_text *out) {
  static const char *const names[] = {"tile tree", "runs",   "holds", "loads",
                                      "stores",    "cycles", "",      NULL};
  const lines *l = utf8_locale() ? &boxes : &ascii;
  cli_table t = {.align = "lrrrrrl"};
  for (int i = 0; names[i]; i++)
    cli_cell(&t, "%s", names[i]);
  for (int i = 0; i < s->tree->n_nodes; i++)
    put_node(s, l, i, &t);
  cli_table_end(&t, out);
}

static const char *role(const tf_tensor *z) {
  return z->producer < 0 ? "input" : z->n_consumers ? "between ops" : "output";
}

static void put_homes(const cli_session *s, cli_text *out) {
  const tf_workload *wl = s->spec->workload;
  cli_table t = {.align = "lllrl"};
  cli_cell(&t, "tensor");
  cli_cell(&t, "role");
  cli_cell(&t, "lives in");
  cli_cell(&t, "words");
  cli_cell(&t, "during one run of");
  for (int z = 0; z < wl->n_tensors; z++) {
    int home = tf_tree_home(s->tree, z), scope = tf_tree_home_scope(s->tree, z);
    cli_text node = {0};
    if (scope >= 0) cli_node_line(s->tree, scope, &node);
    cli_cell(&t, "%s", wl->tensors[z].name);
    cli_cell(&t, "%s", role(&wl->tensors[z]));
    cli_cell(&t, "%s", s->spec->arch->memories[home].name);
    cli_cell(&t, "%s", cli_real(cli_tensor_words(s, home, z).peak).s);
    if (scope >= 0)
      cli_cell(&t, "%s, line %u", cli_part(&node, &t.cells),
               (unsigned)s->tree->nodes[scope].at.line);
    else
      cli_skip(&t, 1);
    cli_text_free(&node);
  }
  cli_table_end(&t, out);
}

void cli_draw_text(const cli_session *s, cli_text *out) {
  cli_printf(out, "%s on %s: %s cycles, %s\n\n", s->spec->workload->name, s->spec->arch->name,
             cli_real(s->result.cycles).s, cli_si(s->result.energy_pj * 1e-12, "J").s);
  put_nodes(s, out);
  cli_printf(out, "\n");
  put_homes(s, out);
  if (cli_word_sizes_differ(s)) {
    cli_printf(out, "\n");
    cli_put_word_sizes(s->spec->arch, out);
  }
}
