#include "tests/draw_arch.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/input/arch_read.h"

typedef struct {
  char text[1024];
  size_t len;
} words;

static void say(words *w, const char *fmt, ...) TF_PRINTF(2, 3);
static void say(words *w, const char *fmt, ...) {
  va_list ap;
  va_start(ap, fmt);
  int n = vsnprintf(w->text + w->len, sizeof w->text - w->len, fmt, ap);
  va_end(ap);
  w->len += n > 0 ? (size_t)n : 0;
}

static int pick(tf_rng *g, int lo, int hi) {
  return lo + (int)tf_rng_below(g, (uint32_t)(hi - lo + 1));
}

static void add(tf_rng *g, words *w, draw_part part, const char *between, const char *but,
                bool all);

/* ---- values --------------------------------------------------------------------------------- */

static void one_of(tf_rng *g, words *w, const char *const *of, int n) {
  say(w, "%s", of[pick(g, 0, n - 1)]);
}
#define ONE_OF(g, w, ...)                                                                          \
  do {                                                                                             \
    static const char *const of[] = {__VA_ARGS__};                                                 \
    one_of((g), (w), of, (int)(sizeof of / sizeof *of));                                           \
  } while (0)

static void truth(tf_rng *g, words *w) { say(w, "%s", pick(g, 0, 3) ? "true" : "false"); }
static void mesh(tf_rng *g, words *w) { say(w, "[%d, %d]", pick(g, 1, 5), pick(g, 1, 5)); }
static void capacity(tf_rng *g, words *w) { say(w, "%d", pick(g, 4, pick(g, 0, 2) ? 200 : 900)); }
static void rate(tf_rng *g, words *w) {
  ONE_OF(g, w, "0.5", "1", "1", "1.5", "2", "3", "4", "7", "16");
}
static void picojoules(tf_rng *g, words *w) { say(w, "%d.%d pJ", pick(g, 0, 40), pick(g, 0, 9)); }
static void line(tf_rng *g, words *w) { say(w, "%d", pick(g, 1, 9)); }
static void cycles(tf_rng *g, words *w) { ONE_OF(g, w, "1", "2", "3", "5.5", "9", "4 ns"); }
static void bits(tf_rng *g, words *w) {
  say(w, "%d", pick(g, 0, 1) ? 8 * pick(g, 1, 4) : pick(g, 3, 40));
}
static void area(tf_rng *g, words *w) { say(w, "%d um2", pick(g, 1, 5000)); }
static void overlap(tf_rng *g, words *w) { ONE_OF(g, w, "perfect", "double-buffer", "none"); }
static void topology(tf_rng *g, words *w) {
  ONE_OF(g, w, "mesh", "mesh", "torus", "tree", "bus", "crossbar");
}
static void clock_rate(tf_rng *g, words *w) { ONE_OF(g, w, "1 GHz", "2 GHz", "750 MHz"); }
static void technology(tf_rng *g, words *w) { ONE_OF(g, w, "7 nm", "16 nm", "45 nm", "90 nm"); }
static void name(tf_rng *g, words *w) { say(w, "n%d", pick(g, 0, 99999)); }
static void kinds(tf_rng *g, words *w) {
  ONE_OF(g, w, "[mac, exp]", "[mac, exp, add]", "[mac, exp, max, div]");
}

static void bandwidth(tf_rng *g, words *w) {
  if (pick(g, 0, 2)) {
    rate(g, w);
    return;
  }
  say(w, "{write: ");
  rate(g, w);
  add(g, w, DRAW_BANDWIDTH, ", ", " write ", pick(g, 0, 1));
  say(w, "}");
}

static void energy(tf_rng *g, words *w) {
  if (pick(g, 0, 1)) {
    picojoules(g, w);
    return;
  }
  say(w, "{read: ");
  picojoules(g, w);
  add(g, w, DRAW_ENERGY, ", ", pick(g, 0, 1) ? " read " : " read drain ", true);
  say(w, "}");
}

static void network(tf_rng *g, words *w) {
  say(w, "{multicast: ");
  truth(g, w);
  add(g, w, DRAW_NETWORK, ", ", " multicast ", false);
  say(w, "}");
}

static void unit_network(tf_rng *g, words *w) {
  say(w, "{multicast: ");
  truth(g, w);
  add(g, w, DRAW_NETWORK, ", ", " multicast energy-per-hop topology width hop-latency ",
      false); /* no unit has hops */
  say(w, "}");
}

/* What zeros save: nothing without densities, which the workloads of these machines lack; so only
 * where asked for. */
static void format(tf_rng *g, words *w) {
  ONE_OF(g, w, "[{ranks: [bitmask]}]",
         "[{tensors: '*', ranks: [offsets, {as: coordinate, bits: 5}], energy: 0.1 pJ}]");
}
static void rules(tf_rng *g, words *w) {
  ONE_OF(g, w, "[{target: '*'}]", "[{target: '*', on: '*'}, {target: '*'}]", "[]");
}
/* One to three parts, which hold all, or some, of the operands. */
static void parts(tf_rng *g, words *w) {
  static const char *const list[][3] = {
      {"left", "right", "result"}, {"left, right", "result"}, {"result, left"}, {"right"},
      {"right", "left"},           {"right, left, result"}};
  const int one = pick(g, 0, (int)(sizeof list / sizeof *list) - 1);
  for (int i = 0; i < 3 && list[one][i]; i++) {
    say(w, "%s{name: P%d, holds: [%s], capacity: %d", i ? ", " : "[", i, list[one][i],
        pick(g, 2, pick(g, 0, 2) ? 60 : 400));
    if (!pick(g, 0, 3)) say(w, ", double-buffered: true");
    if (!pick(g, 0, 3)) say(w, ", word-bits: %d", 8 * pick(g, 1, 5));
    say(w, "}");
  }
  say(w, "]");
}
static void voids(tf_rng *g, words *w) { ONE_OF(g, w, "[{on: '*'}]", "[{}, {}]", "[]"); }

/* Figures of kernels: one of them. */
static void core(tf_rng *g, words *w) { say(w, "{tile: %d}", pick(g, 1, 50)); }
static void multiprocessor(tf_rng *g, words *w) { say(w, "{threads: %d}", pick(g, 1, 50) * 64); }

/* ---- keys ----------------------------------------------------------------------------------- */

static const struct {
  draw_part part;
  const char *key;
  int often; /* in 12; 0: only where it is asked for, as other parts of the text follow from it; -1:
                the same, and nothing is drawn for it, so that machines stay those that tests know
                by their seeds */
  void (*draw)(tf_rng *g, words *w);
} keys[] = {
    {DRAW_ARCH, "name", 4, name},
    {DRAW_ARCH, "clock", 12, clock_rate}, /* for times in ns */
    {DRAW_ARCH, "word-bits", 3, bits},
    {DRAW_ARCH, "overlap", 9, overlap},
    {DRAW_ARCH, "memories", 0, NULL},
    {DRAW_ARCH, "compute", 0, NULL},
    {DRAW_ARCH, "technology", 4, technology},
    {DRAW_ARCH, "core", 2, core},
    {DRAW_ARCH, "multiprocessor", 2, multiprocessor},
    {DRAW_MEMORY, "name", 0, name},
    {DRAW_MEMORY, "mesh", 8, mesh},
    {DRAW_MEMORY, "capacity", 4, capacity},
    {DRAW_MEMORY, "bandwidth", 10, bandwidth},
    {DRAW_MEMORY, "energy", 4, energy},
    {DRAW_MEMORY, "network", 7, network},
    {DRAW_MEMORY, "leakage", 3, picojoules},
    {DRAW_MEMORY, "power-gated", 4, truth},
    {DRAW_MEMORY, "access", 3, line},
    {DRAW_MEMORY, "line", -1, line}, /* not beside access and zeros; gen_input.c draws them */
    {DRAW_MEMORY, "banks", -1, line},
    {DRAW_MEMORY, "bank-ports", -1, line},
    {DRAW_MEMORY, "latency", 3, cycles},
    {DRAW_MEMORY, "issue", 3, cycles},
    {DRAW_MEMORY, "double-buffered", 3, truth},
    {DRAW_MEMORY, "word-bits", 3, bits},
    {DRAW_MEMORY, "area", 2, area},
    {DRAW_MEMORY, "format", -1, format},
    {DRAW_MEMORY, "parts", -1, parts},
    {DRAW_MEMORY, "gating", -1, rules},
    {DRAW_MEMORY, "skipping", -1, rules},
    {DRAW_UNIT, "name", 0, name},
    {DRAW_UNIT, "ops", 0, kinds},
    {DRAW_UNIT, "below", 0, NULL},
    {DRAW_UNIT, "mesh", 10, mesh},
    {DRAW_UNIT, "rate", 6, rate},
    {DRAW_UNIT, "energy", 4, picojoules},
    {DRAW_UNIT, "leakage", 3, picojoules},
    {DRAW_UNIT, "power-gated", 4, truth},
    {DRAW_UNIT, "pipeline", 4, cycles},
    {DRAW_UNIT, "network", 6, unit_network},
    {DRAW_UNIT, "area", 2, area},
    {DRAW_UNIT, "gating", -1, voids},
    {DRAW_UNIT, "skipping", -1, voids},
    {DRAW_NETWORK, "multicast", 8, truth},
    {DRAW_NETWORK, "reduce", 8, truth},
    {DRAW_NETWORK, "energy-per-hop", 5, picojoules},
    {DRAW_NETWORK, "topology", 4, topology},
    {DRAW_NETWORK, "width", 4, rate},
    {DRAW_NETWORK, "hop-latency", 4, cycles},
    {DRAW_NETWORK, "peers", -1, truth}, /* asks for a mesh or a torus */
    {DRAW_BANDWIDTH, "read", 8, rate},
    {DRAW_BANDWIDTH, "write", 8, rate},
    {DRAW_ENERGY, "read", 12, picojoules},
    {DRAW_ENERGY, "write", 12, picojoules},
    {DRAW_ENERGY, "drain", 6, picojoules}};
enum { N_KEYS = sizeof keys / sizeof *keys };

static const char *const part_name[DRAW_N] = {
    [DRAW_ARCH] = "an architecture",  [DRAW_MEMORY] = "a memory",
    [DRAW_UNIT] = "a compute unit",   [DRAW_NETWORK] = "a network",
    [DRAW_BANDWIDTH] = "a bandwidth", [DRAW_ENERGY] = "an energy"};

tf_keys draw_keys_of(draw_part part) {
  static const struct {
    const tf_table *of;
    const char *map;
  } tables[DRAW_N] = {[DRAW_ARCH] = {&tf_arch_table, ""},
                      [DRAW_MEMORY] = {&tf_memory_table, ""},
                      [DRAW_UNIT] = {&tf_unit_table, ""},
                      [DRAW_NETWORK] = {&tf_memory_table, "network"}};
  static tf_yrow rows[DRAW_N][TF_MOST_KEYS];
  size_t from[TF_MOST_KEYS];
  if (part == DRAW_BANDWIDTH) return tf_bandwidth_keys();
  if (part == DRAW_ENERGY) return tf_energy_keys();
  const size_t n = tf_key_rows(tables[part].of, tables[part].map, rows[part], from);
  return (tf_keys){rows[part], n};
}

static int find(draw_part part, const char *key) {
  for (int i = 0; i < N_KEYS; i++)
    if (keys[i].part == part && !strcmp(keys[i].key, key)) return i;
  fprintf(stderr, "tests/draw_arch.c: no test draws the key '%s' of %s: add how\n", key,
          part_name[part]);
  exit(2);
}

static void add(tf_rng *g, words *w, draw_part part, const char *between, const char *but,
                bool all) {
  const tf_keys table = draw_keys_of(part);
  for (size_t i = 0; i < table.n; i++) {
    const int k = find(part, table.rows[i].key);
    char word[80];
    snprintf(word, sizeof word, " %s ", keys[k].key);
    if (strstr(but, word) || keys[k].often < 0 || (!all && pick(g, 1, 12) > keys[k].often) ||
        !keys[k].often)
      continue;
    say(w, "%s%s: ", between, keys[k].key);
    keys[k].draw(g, w);
  }
}

const char *draw_some(tf_rng *g, draw_part part, const char *between, const char *but) {
  static words w;
  w.len = 0;
  w.text[0] = 0;
  add(g, &w, part, between, but, false);
  return w.text;
}

const char *draw_value(tf_rng *g, draw_part part, const char *key) {
  static words w;
  const int k = find(part, key);
  w.len = 0;
  w.text[0] = 0;
  if (keys[k].draw) keys[k].draw(g, &w);
  return w.text;
}
