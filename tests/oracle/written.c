#include "tests/oracle/written.h"

#include <stdio.h>

#include "tests/index_text.h"

enum { OPS = 4, REFS = 4, RANKS = 4 };

/* The references of each op: its left side, then its reads. */
static struct {
  bool used;
  int n_ranks[OPS][REFS];
  char index[OPS][REFS][RANKS][240];
  int64_t extent[OPS][RANKS]; /* of what it makes, as written */
} w;

static const char *read_indices(const char *at, int op, int ref) {
  int depth = 0, len = 0;
  w.n_ranks[op][ref] = 1;
  for (; *at != ']'; at++) {
    char *to = w.index[op][ref][w.n_ranks[op][ref] - 1];
    depth += *at == '(' ? 1 : *at == ')' ? -1 : 0;
    if (*at == ',' && depth == 0)
      w.n_ranks[op][ref]++, len = 0;
    else
      to[len++] = *at, to[len] = 0;
  }
  return at;
}

/* Where the parts stand; false past the last point. */
static bool next_point(const tf_op *op, const span *range, int64_t *part) {
  for (int i = op->n_dims - 1; i >= 0; i--) {
    if (++part[i] < range[i].lo + range[i].len) return true;
    part[i] = range[i].lo;
  }
  return false;
}

static void find_place(const tf_workload *wl, const tf_op *op, const int64_t *part, int64_t *spot) {
  memset(spot, 0, 26 * sizeof *spot);
  for (int i = 0; i < op->n_dims; i++) {
    const char *name = wl->dims[op->dims[i]].name, *div = strstr(name, "div");
    spot[name[0] - 'a'] += part[i] * (div ? atoll(div + 3) : 1);
  }
}

static void find_extents(const tf_workload *wl, int op) {
  const tf_op *p = &wl->ops[op];
  span range[MAX_DIMS];
  int64_t part[MAX_DIMS] = {0}, spot[26];
  for (int i = 0; i < p->n_dims; i++)
    range[i] = (span){0, wl->dims[p->dims[i]].extent};
  do {
    find_place(wl, p, part, spot);
    for (int r = 0; r < w.n_ranks[op][0]; r++) {
      const int64_t v = index_value(w.index[op][0][r], spot);
      if (v >= w.extent[op][r]) w.extent[op][r] = v + 1;
    }
  } while (next_point(p, range, part));
}

void written_use(const char *text, const tf_workload *wl) {
  memset(&w, 0, sizeof w);
  w.used = text != NULL;
  const char *at = text ? strstr(text, "  ops:\n") : NULL;
  for (int op = 0; at && op < wl->n_ops; op++) {
    at = strstr(at, "- \"");
    for (int ref = 0; ref <= wl->ops[op].n_reads; ref++)
      at = read_indices(strchr(at, '[') + 1, op, ref);
    find_extents(wl, op);
  }
}

bool written_in_use(void) { return w.used; }

/* Rank r of the tensor in a coordinate of one of its written ranks: the written extents are those
 * of ranks side by side, multiplied. */
static int64_t coordinate(const tf_tensor *z, int op, int read, int r, const int64_t *spot) {
  if (z->producer < 0) return index_value(w.index[op][read + 1][r], spot);
  int64_t inner = 1, all = 1;
  int written = 0;
  for (int k = 0; k < r; k++) {
    all *= z->extent[k];
    if (all == w.extent[z->producer][written] && written + 1 < w.n_ranks[z->producer][0])
      written++, all = 1;
  }
  for (int k = r + 1; all * z->extent[r] * inner < w.extent[z->producer][written]; k++)
    inner *= z->extent[k];
  return index_down(index_value(w.index[op][read + 1][written], spot), inner) % z->extent[r];
}

span written_span(const tf_workload *wl, int op, int read, int r, const span *range) {
  const tf_op *p = &wl->ops[op];
  int64_t part[MAX_DIMS], spot[26], lo = INT64_MAX, hi = INT64_MIN;
  for (int i = 0; i < p->n_dims; i++) {
    part[i] = range[i].lo;
    if (range[i].len <= 0) return (span){0, 0};
  }
  do {
    find_place(wl, p, part, spot);
    const int64_t v = coordinate(&wl->tensors[p->reads[read].tensor], op, read, r, spot);
    lo = v < lo ? v : lo;
    hi = v > hi ? v : hi;
  } while (next_point(p, range, part));
  return (span){lo, hi - lo + 1};
}
