/* The tree as SVG: a band of colour for each memory, the Tiles and scopes of the memory in it,
 * the ops at the bottom.  Self-contained: no font, script or file from elsewhere. */
#include <inttypes.h>

#include "cli/draw.h"
#include "cli/report.h"
#include "cli/svg_page.h"

enum { LEFT = 184, TOP = 62, MARGIN = 16 };

/* Of a band: its stripe, its boxes' lines. */
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

static void put_escaped(const char *text, cli_text *out) {
  for (; text && *text; text++)
    switch (*text) {
    case '<':
      cli_printf(out, "&lt;");
      break;
    case '>':
      cli_printf(out, "&gt;");
      break;
    case '&':
      cli_printf(out, "&amp;");
      break;
    default:
      cli_printf(out, "%c", *text);
    }
}

static void put_text(cli_text *out, double x, double y, const char *class, const char *text) {
  cli_printf(out, "<text x=\"%.1f\" y=\"%.1f\" class=\"%s\">", x, y, class);
  put_escaped(text, out);
  cli_printf(out, "</text>\n");
}

/* ---- page --------------------------------------------------------------------------- */
static void put_head(const cli_session *s, const svg_page *p, cli_text *out) {
  double w = p->w + MARGIN, h = p->h + MARGIN;
  cli_printf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" "
             "viewBox=\"0 0 %.0f %.0f\">\n<style>\n"
             "text { font-family: Helvetica, Arial, \"DejaVu Sans\", sans-serif; fill: #222 }\n"
             ".title { font-size: 17px; font-weight: bold }\n"
             ".head { font-size: 13px; font-weight: bold }\n"
             ".loops { font-size: 12px; font-family: \"DejaVu Sans Mono\", Menlo, Consolas, "
             "monospace }\n"
             ".small { font-size: 11px; fill: #555 }\n"
             ".box { text-anchor: middle }\n"
             ".wrong { font-size: 11px; font-weight: bold; fill: #b00020 }\n"
             "</style>\n<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
             w, h, w, h);
  cli_text line = {0};
  cli_printf(&line, "%s on %s", s->spec->workload->name, s->spec->arch->name);
  put_text(out, MARGIN, 28, "title", line.text);
  cli_text_free(&line);
  cli_printf(&line, "%s cycles (%s the bound), %s; the bottleneck is %s",
             cli_real(s->result.cycles).s, cli_times(s->result.cycles, s->bounds.cycles).s,
             cli_si(s->result.energy_pj * 1e-12, "J").s, s->result.bottleneck);
  put_text(out, MARGIN, 47, "small", line.text);
  cli_text_free(&line);
}

/* ---- bands -------------------------------------------------------------------------- */
static void put_memory(const cli_session *s, int l, double y, cli_text *out) {
  const tf_memory *m = &s->spec->arch->memories[l];
  const tf_level_result *r = &s->result.levels[l];
  const tf_counts c = cli_level_counts(s, l);
  cli_text line[3] = {{0}, {0}, {0}};
  cli_printf(&line[0], "%s", m->name);
  if (r->instances > 1) cli_printf(&line[0], " x %s", cli_count(r->instances).s);
  cli_printf(&line[1], "%s", cli_count(r->peak).s);
  if (m->capacity_words >= 0) cli_printf(&line[1], " of %s", cli_count(m->capacity_words).s);
  cli_printf(&line[1], " words");
  cli_printf(&line[2], "read %s, written %s", cli_real((double)c.read + (double)c.drain).s,
             cli_real((double)c.fill + (double)c.update).s);
  for (int i = 0; i < 3; i++) {
    put_text(out, MARGIN + 8, y + 22 + 17 * i, i ? "small" : "head", line[i].text);
    cli_text_free(&line[i]);
  }
}

static void put_units(const cli_session *s, double y, cli_text *out) {
  put_text(out, MARGIN + 8, y + 22, "head", "compute");
  int at = 0;
  for (int u = 0; u < s->spec->arch->n_units; u++) {
    if (!s->result.units[u].points) continue;
    cli_text line = {0};
    cli_printf(&line, "%s: %s of %s", s->spec->arch->units[u].name,
               cli_count(s->result.units[u].units).s,
               cli_real(tf_bounds_units(s->spec->arch, u)).s);
    if (++at <= 3) put_text(out, MARGIN + 8, y + 22 + 17 * at, "small", line.text);
    cli_text_free(&line);
  }
}

static void put_bands(const cli_session *s, const svg_page *p, cli_text *out) {
  double w = p->w - MARGIN;
  for (int b = 0; b <= s->spec->arch->n_memories; b++) {
    if (!p->band[b].rows) continue;
    cli_printf(out, "<rect x=\"%d\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" fill=\"%s\"/>\n",
               MARGIN, p->band[b].y, w, p->band[b].h - 2, tint_of(s, b).light);
    if (b < s->spec->arch->n_memories)
      put_memory(s, b, p->band[b].y, out);
    else
      put_units(s, p->band[b].y, out);
  }
}

/* ---- nodes -------------------------------------------------------------------------- */
static int band_at(const cli_session *s, const svg_page *p, const svg_box *b) {
  for (int i = s->spec->arch->n_memories; i > 0; i--)
    if (p->band[i].rows && b->y >= p->band[i].y) return i;
  return 0;
}

static void put_edge(const svg_box *from, const svg_box *to, cli_text *out) {
  double bottom = from->y + from->h;
  cli_printf(out, "<path d=\"M%.1f %.1fV%.1fH%.1fV%.1f\" fill=\"none\" stroke=\"#888888\"/>\n",
             from->cx, bottom, bottom + 12.5, to->cx, to->y);
}

static void put_box(const cli_session *s, const svg_page *p, int node, cli_text *out) {
  static const char *const class[] = {[SVG_HEAD] = "head box",
                                      [SVG_LOOPS] = "loops box",
                                      [SVG_SMALL] = "small box",
                                      [SVG_WRONG] = "wrong box"};
  const svg_box *b = &p->box[node];
  bool scope = s->tree->nodes[node].kind == TF_SCOPE;
  cli_printf(out,
             "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" rx=\"%d\" "
             "fill=\"#ffffff\" stroke=\"%s\" stroke-width=\"%s\"/>\n",
             b->cx - b->w / 2, b->y, b->w, b->h, scope ? 14 : 3,
             b->wrong ? "#b00020" : tint_of(s, band_at(s, p, b)).dark,
             b->wrong ? "2.5" : "1.2");
  for (int i = 0; i < b->n; i++)
    put_text(out, b->cx, b->y + 16 + SVG_LINE * i, class[b->style[i]], b -> line[i].text);
}

void cli_draw_svg(const cli_session *s, cli_text *out) {
  svg_page p;
  out->bad |= !svg_page_make(&p, s, LEFT, TOP);
  if (!out->bad) {
    put_head(s, &p, out);
    put_bands(s, &p, out);
    for (int i = 1; i < s->tree->n_nodes; i++)
      put_edge(&p.box[s->tree->nodes[i].parent], &p.box[i], out);
    for (int i = 0; i < s->tree->n_nodes; i++)
      put_box(s, &p, i, out);
    cli_printf(out, "</svg>\n");
  }
  svg_page_free(&p, s);
}
