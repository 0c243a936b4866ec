#include "cli/draw/svg_page.h"

#include <math.h>
#include <stdlib.h>

#include "cli/report/node_text.h"
#include "cli/report/report.h"
#include "tileflow/tree.h"

enum { PAD = 8, GAP_X = 14, GAP_Y = 24, WRAP = 60, LEAST_W = 560, LEAST_BAND = 106, BAR_LINE = 26 };

/* Estimated for DejaVu Sans, which is wider than Helvetica and Arial, and which many systems use in
 * place of these. */
double svg_width(svg_style style, const char *text) {
  static const double letter[] = {
      [SVG_HEAD] = 9.2, [SVG_LOOPS] = 7.4, [SVG_SMALL] = 6.9, [SVG_WRONG] = 7.8};
  return text ? letter[style] * (double)cli_columns(text) : 0;
}

/* ---- contents of a box ---------------------------------------------------------------- */
static cli_text *add_line(svg_box *b, svg_style style) {
  int at = b->n < SVG_LINES ? b->n++ : SVG_LINES - 1;
  b->style[at] = style;
  return &b->line[at];
}

static void drop_empty_line(svg_box *b) {
  if (b->line[b->n - 1].len == 0) b->n--;
}

static void describe_tile(const cli_session *s, int node, svg_box *b) {
  const tf_node_result *r = &s->result.nodes[node];
  cli_node_head(s->tree, node, add_line(b, SVG_HEAD));
  cli_node_temporal(s->tree, node, add_line(b, SVG_LOOPS));
  drop_empty_line(b);
  cli_node_spatial(s->tree, node, add_line(b, SVG_LOOPS));
  drop_empty_line(b);
  cli_node_rest(s->tree, node, add_line(b, SVG_LOOPS));
  drop_empty_line(b);
  if (!r->held && !r->loads && !r->stores) return;
  const cli_words w = cli_node_words(s, node);
  cli_printf(add_line(b, SVG_SMALL), "holds %s words", cli_real(w.peak).s);
  cli_printf(add_line(b, SVG_SMALL), "fill %s, drain %s", cli_real(w.fill).s, cli_real(w.drain).s);
}

/* The tensors that live in one memory at a scope: "in L1: S 65.54k, X 128". */
static void describe_homes(const cli_session *s, int node, int level, svg_box *b) {
  const tf_workload *wl = s->spec->workload;
  cli_text *line = NULL;
  for (int z = 0; z < wl->n_tensors; z++) {
    if (tf_tree_home_scope(s->tree, z) != node || tf_tree_home(s->tree, z) != level) continue;
    if (!line || line->len > WRAP) {
      const char *lead = line ? "" : "in ";
      line = add_line(b, SVG_SMALL);
      if (*lead) cli_printf(line, "keeps in %s: ", s->spec->arch->memories[level].name);
    } else {
      cli_printf(line, ", ");
    }
    cli_printf(line, "%s %s", wl->tensors[z].name, cli_real(cli_tensor_words(s, level, z).peak).s);
  }
}

static void describe_scope(const cli_session *s, int node, svg_box *b) {
  cli_node_head(s->tree, node, add_line(b, SVG_HEAD));
  cli_node_rest(s->tree, node, add_line(b, SVG_LOOPS));
  drop_empty_line(b);
  for (int l = 0; l < s->spec->arch->n_memories; l++)
    describe_homes(s, node, l, b);
}

static void describe_op(const cli_session *s, int node, svg_box *b) {
  const tf_op_result *r = &s->result.ops[s->tree->nodes[node].op];
  cli_node_head(s->tree, node, add_line(b, SVG_HEAD));
  cli_printf(add_line(b, SVG_SMALL), "%s points", cli_count(r->points).s);
  cli_printf(add_line(b, SVG_SMALL), "%s x %s", s->spec->arch->units[r->unit].name,
             cli_count(r->units).s);
}

static bool violates(const cli_session *s, int node) {
  for (int i = 0; i < s->result.n_violations; i++)
    if (s->result.violations[i].node == node) return true;
  return false;
}

static void describe(const cli_session *s, int node, svg_box *b) {
  static void (*const how[])(const cli_session *, int, svg_box *) = {
      [TF_TILE] = describe_tile, [TF_SCOPE] = describe_scope, [TF_OP] = describe_op};
  how[s->tree->nodes[node].kind](s, node, b);
  b->wrong = violates(s, node);
  if (b->wrong) cli_printf(add_line(b, SVG_WRONG), "does not fit");
  for (int i = 0; i < b->n; i++) {
    double w = svg_width(b->style[i], b->line[i].text);
    if (w > b->w) b->w = w;
  }
  b->w += 2 * PAD;
  b->h = SVG_LINE * b->n + PAD;
}

/* ---- layout ---------------------------------------------------------------------------- */
/* The band of a node: that of the nearest Tile, itself included; ops have one of their own. */
int svg_band_of(const cli_session *s, int node) {
  const tf_tree *t = s->tree;
  if (t->nodes[node].kind == TF_OP) return s->spec->arch->n_memories;
  while (node >= 0 && t->nodes[node].kind != TF_TILE)
    node = t->nodes[node].parent;
  return node < 0 ? 0 : t->nodes[node].level;
}

/* The row of a node in its band: the number of nodes of that band above it; a band has as many rows
 * as its deepest node. */
static void place_in_band(const cli_session *s, int node, svg_page *p) {
  int band = svg_band_of(s, node), row = 0;
  for (int a = s->tree->nodes[node].parent; a >= 0; a = s->tree->nodes[a].parent)
    row += svg_band_of(s, a) == band;
  p->box[node].row = row;
  if (row + 1 > p->band[band].rows) p->band[band].rows = row + 1;
}

/* What a band's labels need: a memory's five lines, or the kinds of unit in use. */
static double least_band(const cli_session *s, int band) {
  int kinds = 0;
  for (int u = 0; u < s->spec->arch->n_units; u++)
    kinds += s->result.units[u].points > 0;
  return band < s->spec->arch->n_memories ? LEAST_BAND : 36 + BAR_LINE * fmin(kinds, 4);
}

/* The height of each band: a row is as high as its highest box. */
static void stack_bands(const cli_session *s, svg_page *p, double top) {
  p->h = top;
  for (int b = 0; b <= s->spec->arch->n_memories; b++) {
    p->band[b].y = p->h;
    if (p->band[b].rows) p->h += GAP_Y / 2.0;
    for (int row = 0; row < p->band[b].rows; row++) {
      double highest = 0;
      for (int i = 0; i < s->tree->n_nodes; i++) {
        if (p->box[i].row != row || svg_band_of(s, i) != b) continue;
        p->box[i].y = p->h;
        if (p->box[i].h > highest) highest = p->box[i].h;
      }
      p->h += highest + (row + 1 < p->band[b].rows ? GAP_Y : GAP_Y / 2);
    }
    if (p->band[b].rows && p->h < p->band[b].y + least_band(s, b))
      p->h = p->band[b].y + least_band(s, b);
    p->band[b].h = p->h - p->band[b].y;
  }
}

/* Children are placed side by side, their parent above their middle.  Nodes are in preorder, so
 * that going backwards children are measured before their parent. */
static void measure_spans(const tf_tree *t, svg_page *p) {
  for (int i = t->n_nodes - 1; i >= 0; i--) {
    double below = 0;
    for (int c = 0; c < t->nodes[i].n_children; c++)
      below += p->box[t->nodes[i].children[c]].span;
    double own = p->box[i].w + GAP_X;
    p->box[i].span = below > own ? below : own;
  }
}

static void place_boxes(const tf_tree *t, svg_page *p, double left) {
  p->w = left + p->box[0].span > LEAST_W ? left + p->box[0].span : LEAST_W;
  p->box[0].cx = (left + p->w) / 2;
  for (int i = 0; i < t->n_nodes; i++) {
    double below = 0;
    for (int c = 0; c < t->nodes[i].n_children; c++)
      below += p->box[t->nodes[i].children[c]].span;
    double x = p->box[i].cx - below / 2;
    for (int c = 0; c < t->nodes[i].n_children; c++) {
      svg_box *child = &p->box[t->nodes[i].children[c]];
      child->cx = x + child->span / 2;
      x += child->span;
    }
  }
  for (int i = 0; i < t->n_nodes; i++)
    p->box[i].cx = floor(p->box[i].cx) + 0.5; /* a thin line fills one pixel */
}

bool svg_page_make(svg_page *p, const cli_session *s, double left, double top) {
  int n = s->tree->n_nodes;
  *p = (svg_page){.box = calloc((size_t)n, sizeof *p->box),
                  .band = calloc((size_t)s->spec->arch->n_memories + 1, sizeof *p->band)};
  if (!p->box || !p->band) return false;
  bool bad = false;
  for (int i = 0; i < n; i++) {
    describe(s, i, &p->box[i]);
    for (int k = 0; k < SVG_LINES; k++)
      bad |= p->box[i].line[k].bad;
    place_in_band(s, i, p);
  }
  measure_spans(s->tree, p);
  place_boxes(s->tree, p, left);
  stack_bands(s, p, top);
  return !bad;
}

void svg_page_free(svg_page *p, const cli_session *s) {
  for (int i = 0; p->box && i < s->tree->n_nodes; i++)
    for (int k = 0; k < SVG_LINES; k++)
      cli_text_free(&p->box[i].line[k]);
  free(p->box);
  free(p->band);
}

void svg_text(cli_text *out, const char *anchor, double x, double y, const char *class,
              const char *text) {
  cli_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\"", x, y, class);
  if (anchor) cli_printf(out, " text-anchor=\"%s\"", anchor);
  cli_printf(out, ">");
  cli_escaped(out, text);
  cli_printf(out, "</text>\n");
}
