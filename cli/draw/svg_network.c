/* A plan as SVG: a row a group in the order in which they run, with a bar as long as its time in
 * the colour of what bounds it, and arcs for what passes to groups further down.  Self-contained:
 * no font, script or file from elsewhere. */
#include <math.h>
#include <string.h>

#include "cli/draw/draw_network.h"
#include "cli/draw/svg_page.h"

enum {
  MARGIN = 16,
  TOP = 132,     /* of the first row */
  ROW = 22,      /* from one to the next */
  LANE = 9,      /* between arcs */
  NUMBER = 34,   /* room for the group's number, at the right of which bars begin */
  BAR = 260,     /* of the longest */
  FIGURES = 330, /* room for a row's figures */
  OPS = 470,     /* for its ops */
  FOLD = 60,     /* for "12 times" */
  LETTERS = 66   /* of the ops, at most */
};

/* Colours that differ for colour-blind people, too: of units, and of memories from the outermost
 * in. */
static const char *const of_units[] = {"#0072b2", "#56b4e9", "#009e73", "#7a579b"};
static const char *const of_memories[] = {"#d55e00", "#e69f00", "#c9a400", "#cc79a7"};

/* Attributes, as ImageMagick's own renderer keeps the class of a path for what comes after it. */
#define LINE "fill=\"none\" stroke-width=\"1.2\" stroke=\""

/* The colour of a kind: memories have theirs by level, units in the order in which they come. */
static const char *colour_of(const net_picture *p, int kind) {
  int before = 0;
  const int l = p->kind[kind].memory;
  if (l >= 0) return of_memories[l % 4];
  for (int k = 0; k < kind; k++)
    before += p->kind[k].memory < 0;
  return of_units[before % 4];
}

/* ---- head ----------------------------------------------------------------------------------- */
static void put_titles(const cli_plan *plan, cli_text *out) {
  const tf_net_plan *q = plan->plan;
  cli_text head = {0}, sub = {0};
  cli_printf(&head, "%s on %s", plan->spec->workload->name, plan->spec->arch->name);
  cli_printf(&sub,
             "%s, %s the lower bound; %s words of %s; %d ops in %d groups, %d of them different; "
             "between groups %lld bytes",
             cli_si(q->total.cycles / plan->spec->arch->clock_hz, "s").s,
             cli_times(q->total.cycles, q->bounds.cycles).s, cli_real(q->total.traffic_words).s,
             plan->spec->arch->memories[0].name, plan->spec->workload->n_ops, q->n, q->n_distinct,
             (long long)plan->memory->bytes);
  svg_text(out, NULL, MARGIN, 30, "title", cli_part(&head, out));
  svg_text(out, NULL, MARGIN, 50, "small", cli_part(&sub, out));
  cli_text_free(&head);
  cli_text_free(&sub);
}

/* What bounds which part of the time: one bar over the page, and its key. */
static void put_kinds(const net_picture *p, const cli_plan *plan, double width, cli_text *out) {
  const double all = plan->plan->total.cycles, room = width - 2 * MARGIN;
  double x = MARGIN, key = MARGIN;
  for (int k = 0; k < p->n_kinds; k++) {
    cli_text line = {0};
    const double w = all > 0 ? room * p->kind[k].cycles / all : 0;
    cli_printf(&line, "%s %s", p->kind[k].name, cli_percent(p->kind[k].cycles, all).s);
    cli_printf(out, "<rect x=\"%.1f\" y=\"62\" width=\"%.1f\" height=\"16\" fill=\"%s\"><title>", x,
               w, colour_of(p, k));
    cli_escaped(out, cli_part(&line, out));
    cli_printf(
        out,
        "</title></rect>\n<rect x=\"%.1f\" y=\"88\" width=\"10\" height=\"10\" fill=\"%s\"/>\n",
        key, colour_of(p, k));
    svg_text(out, NULL, key + 15, 97, "small", cli_part(&line, out));
    key += 34 + 6.6 * (double)cli_columns(cli_part(&line, out));
    x += w;
    cli_text_free(&line);
  }
}

/* ---- rows ----------------------------------------------------------------------------------- */
static double y_of(int row) { return TOP + ROW * row; }

/* As many ops as there is room for. */
static void ops_of(const tf_workload *wl, size_t room, cli_text *out) {
  for (int o = 0; o < wl->n_ops; o++) {
    const size_t n = cli_columns(wl->ops[o].name) + 1;
    if (o && n > room) {
      cli_printf(out, " + %d", wl->n_ops - o);
      return;
    }
    cli_printf(out, "%s%.*s", o ? " " : "", LETTERS, wl->ops[o].name);
    room = n > room ? 0 : room - n;
  }
}

/* What is shown where the pointer rests. */
static void put_hover(const cli_plan *plan, const net_row *r, cli_text *out) {
  const tf_net_group *g = &plan->plan->groups[r->group];
  cli_text t = {0};
  cli_printf(&t, "group %d", r->group + 1);
  if (r->times > 1) cli_printf(&t, " and %d like it", r->times - 1);
  cli_printf(&t,
             "\n%s%s, %s of the network's time\n"
             "bounded by %s; %s the least time of these ops, %s their least words",
             cli_si(g->figures.cycles / plan->spec->arch->clock_hz, "s").s,
             r->times > 1 ? " each" : "", cli_percent(r->cycles, plan->plan->total.cycles).s,
             g->bottleneck, cli_times(g->figures.cycles, g->bounds.cycles).s,
             cli_times(g->figures.traffic_words, (double)g->bounds.traffic_words).s);
  cli_printf(&t, "\n%s words of %s, %s", cli_real(g->figures.traffic_words).s,
             plan->spec->arch->memories[0].name, cli_si(g->figures.energy_pj * 1e-12, "J").s);
  for (int o = 0; o < g->group->workload->n_ops; o++)
    cli_printf(&t, "\n%s", g->group->workload->ops[o].name);
  cli_printf(out, "<title>");
  cli_escaped(out, cli_part(&t, out));
  cli_printf(out, "</title>\n");
  cli_text_free(&t);
}

static void put_row(const net_picture *p, const cli_plan *plan, int i, double longest, double left,
                    cli_text *out) {
  const net_row *r = &p->row[i];
  const tf_net_group *g = &plan->plan->groups[r->group];
  const double y = y_of(i), w = longest > 0 ? BAR * r->cycles / longest : 0, at = left + NUMBER;
  cli_text number = {0}, ops = {0};
  cli_printf(&number, "%d", r->group + 1);
  ops_of(g->group->workload, LETTERS, &ops);
  cli_printf(out, "<g class=\"row\">\n");
  put_hover(plan, r, out);
  cli_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" class=\"under\"/>\n",
             left, y, NUMBER + BAR + FIGURES + (double)OPS, ROW - 4);
  cli_printf(out, "<rect x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%d\" fill=\"%s\"/>\n", at, y,
             fmax(w, 1), ROW - 4, colour_of(p, r->kind));
  svg_text(out, "end", at - 6, y + 13, "small", cli_part(&number, out));
  const double x = at + BAR;
  svg_text(out, "end", x + 76, y + 13, "figure",
           cli_si(r->cycles / plan->spec->arch->clock_hz, "s").s);
  svg_text(out, "end", x + 122, y + 13, "figure",
           cli_percent(r->cycles, plan->plan->total.cycles).s);
  svg_text(out, "end", x + 190, y + 13, "figure", cli_real(r->times * g->figures.traffic_words).s);
  svg_text(out, "end", x + 246, y + 13, "figure", cli_times(g->figures.cycles, g->bounds.cycles).s);
  svg_text(out, NULL, x + 258, y + 13, "small", g->bottleneck);
  svg_text(out, NULL, x + FIGURES + 8, y + 13, "small", cli_part(&ops, out));
  cli_printf(out, "</g>\n");
  cli_text_free(&number);
  cli_text_free(&ops);
}

static void put_heads(double left, cli_text *out) {
  static const struct {
    double x;
    const char *text;
  } heads[] = {{76, "time"}, {122, "share"}, {190, "words"}, {246, "of bound"}};
  const double x = left + NUMBER + BAR;
  for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
    svg_text(out, "end", x + heads[i].x, TOP - 8, "small", heads[i].text);
  svg_text(out, NULL, x + 258, TOP - 8, "small", "limit");
  svg_text(out, NULL, x + FIGURES + 8, TOP - 8, "small", "ops");
}

/* ---- between rows --------------------------------------------------------------------------- */
static void put_arc(const net_picture *p, const cli_plan *plan, const net_arc *a, double left,
                    cli_text *out) {
  const tf_tensor *z = &plan->spec->workload->tensors[a->tensor];
  const double from = y_of(a->from) + ROW - 8, to = y_of(a->to) + 4,
               x = left - LANE * (1 + fmax(a->lane, 0));
  cli_text t = {0};
  cli_printf(&t, "%s: %s words from group %d to group %d", z->name,
             cli_real((double)tf_tensor_words(z)).s, p->row[a->from].group + 1,
             p->row[a->to].group + 1);
  cli_printf(out, "<path " LINE "#8a8a8a\" d=\"M%.1f %.1f H%.1f V%.1f H%.1f\"><title>", left, from,
             x, to, left);
  cli_escaped(out, cli_part(&t, out));
  cli_printf(out, "</title></path>\n");
  cli_text_free(&t);
}

static void put_fold(const net_fold *f, double right, cli_text *out) {
  const double from = y_of(f->first), to = y_of(f->last) + ROW - 4;
  cli_text t = {0};
  cli_printf(&t, "%d times", f->times);
  cli_printf(out, "<path " LINE "#222222\" d=\"M%.1f %.1f h6 V%.1f h-6\"/>\n", right, from, to);
  svg_text(out, NULL, right + 12, (from + to) / 2 + 4, "small", cli_part(&t, out));
  cli_text_free(&t);
}

static const char style[] =
    "<style>\n"
    "text { font-family: Helvetica, Arial, \"DejaVu Sans\", sans-serif; fill: #222 }\n"
    ".title { font-size: 17px; font-weight: bold }\n"
    ".small { font-size: 11px; fill: #444 }\n"
    ".figure { font-size: 12px }\n"
    ".under { fill: #f5f5f5 }\n"
    ".row:hover .under { fill: #e2e8ee }\n"
    "path:hover { stroke: #000 }\n"
    "</style>\n";

static void put_picture(const net_picture *p, const cli_plan *plan, cli_text *out) {
  const double left = MARGIN + LANE * (p->n_lanes + 1.0),
               right = left + NUMBER + BAR + FIGURES + OPS,
               width = right + MARGIN + (p->n_folds ? FOLD : 0), height = y_of(p->n_rows) + MARGIN;
  double longest = 0;
  for (int i = 0; i < p->n_rows; i++)
    longest = fmax(longest, p->row[i].cycles);
  cli_printf(out,
             "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%.0f\" height=\"%.0f\" viewBox=\"0 "
             "0 %.0f %.0f\">\n"
             "%s<rect width=\"100%%\" height=\"100%%\" fill=\"#ffffff\"/>\n",
             width, height, width, height, style);
  put_titles(plan, out);
  put_kinds(p, plan, width, out);
  put_heads(left, out);
  for (int i = 0; i < p->n_rows; i++)
    put_row(p, plan, i, longest, left, out);
  for (int i = 0; i < p->n_arcs; i++)
    put_arc(p, plan, &p->arc[i], left, out);
  for (int i = 0; i < p->n_folds; i++)
    put_fold(&p->fold[i], right + 4, out);
  cli_printf(out, "</svg>\n");
}

void cli_draw_network(const cli_plan *plan, bool page, cli_text *out) {
  net_picture p;
  if (page) {
    cli_printf(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>");
    cli_escaped(out, plan->spec->workload->name);
    cli_printf(out, "</title>\n<body style=\"margin: 0\">\n");
  }
  if (net_picture_make(&p, plan))
    put_picture(&p, plan, out);
  else
    out->bad = true;
  if (page) cli_printf(out, "</body>\n</html>\n");
  net_picture_free(&p);
}
