/* Sums over small windows of bytes, up to four neighbours at a time. */
#include <inttypes.h>

#include "codegen/target/cpu/print/window.h"

int c_window_beside(const c_window *w) { return w->fours < 0 ? 1 : (int)w->s->range[w->op->n_dims - 1].most; }

void c_window_bytes(c_printer *c, const c_window *w) {
  const tf_ref *ref = &w->op->reads[w->fours];
  const int last = c->wl->tensors[ref->tensor].rank - 1;
  c_line(c, "bytes there;\n");
  c_window_open_at(c, w, (cpu_at){-1, 0});
  c_line(c, "there = bytes_within("), c_index(c, &ref->index[last]);
  fprintf(c->out, ", %" PRId64 ");\n", c->wl->tensors[ref->tensor].extent[last]);
  c_close(c, 1);
}

void c_window_four(c_printer *c, const c_window *w, int i, int tap) {
  const int beside = c_window_beside(w);
  if (tap % beside) return;
  c_indent(c);
  fprintf(c->out, "fours_uis x%d_0_%d;\n{\n", i, tap);
  c->depth++;
  for (int k = 0; k < beside; k++) {
    c_indent(c);
    fprintf(c->out, "int w%d;\n", k);
    c_window_open_at(c, w, (cpu_at){-1, tap + k});
    c_indent(c);
    fprintf(c->out, "w%d = ", k), c_place(c, w->op, i), fputs(";\n", c->out);
    c_close(c, 1);
  }
  c_indent(c);
  fprintf(c->out, "x%d_0_%d = four(w0, w1, %s, %s);\n", i, tap, beside > 2 ? "w2" : "0", beside > 3 ? "w3" : "0");
  c_close(c, 1);
}

void c_window_neighbours(c_printer *c, const c_window *w) {
  fputs(cpu_window_step(c->wl, w->s, w->fours) == 2 ? "neighbours_2(&" : "neighbours(&", c->out);
  c_place(c, w->op, w->fours), fputs(", there", c->out);
}
