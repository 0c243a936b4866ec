/* The tree as SVG: a band of colour for each memory, the Tiles and scopes of the memory in it,
 * the ops at the bottom.  Self-contained: no font, script or file from elsewhere. */
#include <math.h>

#include "cli/draw/draw.h"
#include "cli/draw/svg_page.h"
#include "cli/report/report.h"
#include "tileflow/tree.h"

enum { TOP = 62, MARGIN = 16, BAR = 120, LABELS = 5 };
#define ALARM "#c0271f" /* the bottleneck */

/* Colours of a band: of its stripe, and of its boxes' lines. */
typedef struct {
  const char *light, *dark;
} tint;
static const tint tints[] = {{"#e6eff8", "#44709c"}, {"#e8f3e4", "#55874a"},
                             {"#fbf3d9", "#a5811f"}, {"#faeade", "#b5673a"},
                             {"#f0e8f5", "#7a579b"}, {"#e0f2f1", "#3b8681"}};
static const tint of_ops = {"#f1f1f1", "#666666"};
enum { N_TINTS = sizeof tints / sizeof tints[0] };

static tint tint_of(const cli_session *s, int band) {
  return band == s->spec->arch->n_memories ? of_ops : tints[band % N_TINTS];
}

/* ---- page --------------------------------------------------------------------------- */
static const char legend[] =
    "words are those of the memory that holds them; the wider an edge, the more passes";

/* The extents of the dims, below the tree. */
static void put_dims(const cli_session *s, const svg_page *p, cli_text *out) {
  const tf_workload *wl = s->spec->workload;
  cli_text line = {0};
  double y = p->h + 18;
  svg_text(out, NULL, MARGIN + 8, y, "small", legend);
  y += SVG_LINE;
  cli_printf(&line, "dims:");
  for (int d = 0; d < wl->n_dims; d++) {
    cli_printf(&line, "%s %s = %lld", d ? "," : "", wl->dims[d].name,
               (long long)wl->dims[d].extent);
    if (d + 1 < wl->n_dims && svg_width(SVG_SMALL, line.text) < p->w - 120) continue;
    svg_text(out, NULL, MARGIN + 8, y, "small", line.text);
    cli_text_free(&line);
    y += SVG_LINE;
  }
}

static int dim_lines(const cli_session *s, const svg_page *p) {
  double w = 0;
  for (int d = 0; d < s->spec->workload->n_dims; d++)
    w +=
        svg_width(SVG_SMALL, s->spec->workload->dims[d].name) + svg_width(SVG_SMALL, ", = 1000000");
  return 2 + (int)(w / (p->w - 120));
}

/* The two lines on top. */
typedef struct {
  cli_text head, sub;
} titles;

static titles titles_of(const cli_session *s) {
  titles t = {{0}, {0}};
  cli_printf(&t.head, "%s on %s", s->spec->workload->name, s->spec->arch->name);
  cli_printf(&t.sub, "%s cycles (%s the bound), %s; the bottleneck is %s",
             cli_real(s->result.cycles).s, cli_times(s->result.cycles, s->bounds.cycles).s,
             cli_si(s->result.energy_pj * 1e-12, "J").s, s->result.bottleneck);
  return t;
}

static void titles_free(titles *t) {
  cli_text_free(&t->head);
  cli_text_free(&t->sub);
}

static double titles_width(const cli_session *s) {
  titles t = titles_of(s);
  double w = fmax(1.35 * svg_width(SVG_HEAD, t.head.text), svg_width(SVG_SMALL, t.sub.text));
  titles_free(&t);
  return w + MARGIN;
}

static void put_head(const cli_session *s, const svg_page *p, cli_text *out) {
  double w = p->w + MARGIN, h = p->h + MARGIN + SVG_LINE * dim_lines(s, p);
  cli_printf(
      out,
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 0 %.0f "
      "%.0f\">\n"
      "<style>\n"
      "text { font-family: Helvetica, Arial, \"DejaVu Sans\", sans-serif; fill: #222 }\n"
      ".title { font-size: 17px; font-weight: bold }\n"
      ".head { font-size: 13px; font-weight: bold }\n"
      ".loops { font-size: 12px; font-family: \"DejaVu Sans Mono\", Menlo, Consolas, monospace }\n"
      ".small { font-size: 11px; fill: #555 }\n"
      ".limit { font-size: 11px; font-weight: bold; fill: " ALARM " }\n"
      ".wrong { font-size: 11px; font-weight: bold; fill: #b00020 }\n"
      "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
      w, h, w, h);
  titles t = titles_of(s);
  svg_text(out, NULL, MARGIN, 28, "title", t.head.text);
  svg_text(out, NULL, MARGIN, 47, "small", t.sub.text);
  titles_free(&t);
}

/* ---- bands -------------------------------------------------------------------------- */
/* The labels at the left of a band, at most LABELS lines; the first is its name. */
typedef struct {
  int n;
  cli_text line[LABELS];
  double busy[LABELS]; /* share of the time, drawn as a bar below the line; negative: none */
  bool limits[LABELS]; /* it is the bottleneck */
} labels;

static cli_text *new_label(labels *k) {
  int at = k->n < LABELS ? k->n++ : LABELS - 1;
  cli_text_free(&k->line[at]);
  k->busy[at] = -1;
  k->limits[at] = false;
  return &k->line[at];
}

static double share(const cli_session *s, double cycles) {
  double all = s->result.cycles;
  return all > 0 && cycles < all ? cycles / all : all > 0;
}

static void put_busy(const cli_session *s, const char *before, bool limits, double cycles,
                     labels *k) {
  cli_text *line = new_label(k);
  k->busy[k->n - 1] = share(s, cycles);
  k->limits[k->n - 1] = limits;
  cli_printf(line, "%sbusy %s%s", before, cli_percent(share(s, cycles), 1).s,
             limits ? ": the bottleneck" : "");
}

/* "tiles 81.92k + kept 262.4k": where the peak consists of the largest Tile and what scopes keep.
 */
static void put_parts(const cli_session *s, int l, labels *k) {
  double tiles = 0, kept = 0;
  for (int n = 0; n < s->tree->n_nodes; n++)
    if (s->tree->nodes[n].kind == TF_TILE && s->tree->nodes[n].level == l &&
        (double)s->result.nodes[n].held > tiles)
      tiles = (double)s->result.nodes[n].held;
  for (int z = 0; z < s->spec->workload->n_tensors; z++)
    if (tf_tree_home_scope(s->tree, z) >= 0 && tf_tree_home(s->tree, z) == l)
      kept += cli_tensor_words(s, l, z).peak;
  if (tiles > 0 && kept > 0 && tiles + kept == (double)s->result.levels[l].peak)
    cli_printf(new_label(k), "= %s in Tiles + %s kept", cli_real(tiles).s, cli_real(kept).s);
}

static void label_memory(const cli_session *s, int l, labels *k) {
  const tf_memory *m = &s->spec->arch->memories[l];
  const tf_level_result *r = &s->result.levels[l];
  const cli_words c = cli_level_words(s, l);
  cli_text *line = new_label(k);
  cli_printf(line, "%s", m->name);
  if (r->instances > 1) cli_printf(line, " x %s", cli_count(r->instances).s);
  put_busy(s, "", cli_is_bottleneck(s, m->name, false), r->cycles, k);
  line = new_label(k);
  cli_printf(line, "%s", cli_count(r->peak).s);
  if (m->capacity_words >= 0) cli_printf(line, " of %s", cli_count(m->capacity_words).s);
  cli_printf(line, " words of %d bits", m->word_bits);
  put_parts(s, l, k);
  cli_printf(new_label(k), "read %s, written %s", cli_real(c.read + c.drain).s,
             cli_real(c.fill + c.update).s);
}

static void label_units(const cli_session *s, labels *k) {
  cli_printf(new_label(k), "compute");
  for (int u = 0; u < s->spec->arch->n_units && k->n < LABELS; u++) {
    const tf_unit_result *r = &s->result.units[u];
    if (!r->points) continue;
    cli_text what = {0};
    cli_printf(&what, "%s, %s of %s, ", s->spec->arch->units[u].name, cli_count(r->units).s,
               cli_real(tf_bounds_units(s->spec->arch, u)).s);
    put_busy(s, what.text ? what.text : "",
             cli_is_bottleneck(s, s->spec->arch->units[u].name, true), r->cycles, k);
    cli_text_free(&what);
  }
}

static labels labels_of(const cli_session *s, int band) {
  labels k = {.n = 0};
  if (band < s->spec->arch->n_memories)
    label_memory(s, band, &k);
  else
    label_units(s, &k);
  return k;
}

static void labels_free(labels *k) {
  for (int i = 0; i < k->n; i++)
    cli_text_free(&k->line[i]);
}

/* The largest width of all bands' labels. */
static double labels_width(const cli_session *s) {
  double most = BAR;
  for (int b = 0; b <= s->spec->arch->n_memories; b++) {
    labels k = labels_of(s, b);
    for (int i = 0; i < k.n; i++)
      most = fmax(most, svg_width(i == 0        ? SVG_HEAD
                                  : k.limits[i] ? SVG_WRONG
                                                : SVG_SMALL,
                                  k.line[i].text));
    labels_free(&k);
  }
  return most + MARGIN + 24;
}

static void put_labels(const cli_session *s, int band, double y, cli_text *out) {
  labels k = labels_of(s, band);
  for (int i = 0; i < k.n; i++) {
    y += i ? 17 : 22;
    svg_text(out, NULL, MARGIN + 8, y,
             i == 0        ? "head"
             : k.limits[i] ? "limit"
                           : "small",
             k.line[i].text);
    if (k.busy[i] < 0) continue;
    y += 9;
    cli_printf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"5\" fill=\"#ffffff\"/>\n",
               MARGIN + 8, y - 5, BAR);
    cli_printf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"5\" fill=\"%s\"/>\n",
               MARGIN + 8, y - 5, BAR * k.busy[i], k.limits[i] ? ALARM : tint_of(s, band).dark);
  }
  labels_free(&k);
}

/* Is something in the band the bottleneck? */
static bool limits(const cli_session *s, int band) {
  labels k = labels_of(s, band);
  bool any = false;
  for (int i = 0; i < k.n; i++)
    any |= k.limits[i];
  labels_free(&k);
  return any;
}

static void put_bands(const cli_session *s, const svg_page *p, cli_text *out) {
  double w = p->w - MARGIN;
  for (int b = 0; b <= s->spec->arch->n_memories; b++) {
    if (!p->band[b].rows) continue;
    cli_printf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"%s/>\n",
               MARGIN, p->band[b].y, w, p->band[b].h - 2, tint_of(s, b).light,
               limits(s, b) ? " stroke=\"" ALARM "\" stroke-width=\"2\"" : "");
    put_labels(s, b, p->band[b].y, out);
  }
}

/* ---- nodes -------------------------------------------------------------------------- */
static int band_at(const cli_session *s, const svg_page *p, const svg_box *b) {
  for (int i = s->spec->arch->n_memories; i > 0; i--)
    if (p->band[i].rows && b->y >= p->band[i].y) return i;
  return 0;
}

/* Whether the words of row r pass between node n and its parent: it is of a Tile or op below n,
 * served from above. */
static bool passes(const cli_session *s, int n, const tf_why_row *r) {
  const int parent = s->tree->nodes[n].parent;
  return r->node >= n && r->node < s->tree->nodes[n].end && r->above <= svg_band_of(s, parent);
}

/* Bits that pass an edge. */
static double edge_bits(const cli_session *s, int n) {
  double bits = 0;
  for (int i = 0; i < s->why.n; i++)
    if (passes(s, n, &s->why.rows[i]))
      bits += (double)cli_cause_words(&s->why.rows[i]) *
              s->spec->workload->tensors[s->why.rows[i].tensor].word_bits;
  return bits;
}

/* "Q: 262.1k words down, 0 up", in words of the memory that serves; shown as a tooltip. */
static void put_edge_words(const cli_session *s, int n, cli_text *out) {
  for (int z = 0; z < s->spec->workload->n_tensors; z++) {
    double down = 0, up = 0;
    for (int i = 0; i < s->why.n; i++)
      if (s->why.rows[i].tensor == z && passes(s, n, &s->why.rows[i])) {
        const double k = (double)s->spec->workload->tensors[z].word_bits /
                         s->spec->arch->memories[s->why.rows[i].above].word_bits;
        down += k * (double)s->why.rows[i].words.read;
        up += k * (double)s->why.rows[i].words.update;
      }
    if (down <= 0 && up <= 0) continue;
    cli_escaped(out, s->spec->workload->tensors[z].name);
    cli_printf(out, ": %s words down, %s up\n", cli_real(down).s, cli_real(up).s);
  }
}

/* The width of an edge grows with the square root of the bits that pass it, relative to the busiest
 * edge. */
static void put_edge(const cli_session *s, const svg_page *p, int n, double most, cli_text *out) {
  const svg_box *from = &p->box[s->tree->nodes[n].parent], *to = &p->box[n];
  const double bottom = from->y + from->h, bits = edge_bits(s, n);
  cli_printf(out,
             "<path d=\"M%.1f %.1fV%.1fH%.1fV%.1f\" fill=\"none\" stroke=\"#888888\" "
             "stroke-width=\"%.1f\">",
             from->cx, bottom, bottom + 12.5, to->cx, to->y,
             most > 0 ? 1 + 5 * sqrt(bits / most) : 1);
  cli_printf(out, "<title>");
  put_edge_words(s, n, out);
  cli_printf(out, "</title></path>\n");
}

static void put_edges(const cli_session *s, const svg_page *p, cli_text *out) {
  double most = 0;
  for (int i = 1; i < s->tree->n_nodes; i++)
    most = fmax(most, edge_bits(s, i));
  for (int i = 1; i < s->tree->n_nodes; i++)
    put_edge(s, p, i, most, out);
}

static void put_box(const cli_session *s, const svg_page *p, int node, cli_text *out) {
  static const char *const class[] = {
      [SVG_HEAD] = "head", [SVG_LOOPS] = "loops", [SVG_SMALL] = "small", [SVG_WRONG] = "wrong"};
  const svg_box *b = &p->box[node];
  bool scope = s->tree->nodes[node].kind == TF_SCOPE;
  cli_printf(out,
             "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" "
             "fill=\"#ffffff\" stroke=\"%s\" stroke-width=\"%s\"/>\n",
             b->cx - b->w / 2, b->y, b->w, b->h, scope ? 14 : 3,
             b->wrong ? "#b00020" : tint_of(s, band_at(s, p, b)).dark, b->wrong ? "2.5" : "1.2");
  for (int i = 0; i < b->n; i++)
    svg_text(out, "middle", b->cx, b->y + 16 + SVG_LINE * i, class[b->style[i]], b -> line[i].text);
}

void cli_draw_svg(const cli_session *s, cli_text *out) {
  svg_page p;
  out->bad |= !svg_page_make(&p, s, labels_width(s), TOP);
  p.w = fmax(p.w, fmax(titles_width(s), svg_width(SVG_SMALL, legend) + MARGIN));
  if (!out->bad) {
    put_head(s, &p, out);
    put_bands(s, &p, out);
    put_edges(s, &p, out);
    for (int i = 0; i < s->tree->n_nodes; i++)
      put_box(s, &p, i, out);
    put_dims(s, &p, out);
    cli_printf(out, "</svg>\n");
  }
  svg_page_free(&p, s);
}
