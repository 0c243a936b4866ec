/* A search's log is recognised by a hash of everything that is searched (search/common/identity.h):
 * each key that a file may have, by the tables of its readers, changes it; so do names, extents and
 * expressions of the workload. */
#include <stdlib.h>

#include "model/input/workload_read.h"
#include "search/common/identity.h"
#include "tests/draw_arch.h"
#include "tests/unit/case.h"
#include "tests/unit/page.h"

/* ---- machines -------------------------------------------------------------------------------- */

/* `KEY: VALUE` of a part: the key's own value where it is that key's turn, else `usual`. */
static void give(page *p, draw_part part, const char *key, draw_part at, const char *own,
                 const char *usual, const char *value) {
  const bool turn = part == at && !strcmp(key, own);
  if (turn || usual) say(p, ", %s: %s", own, turn ? value : usual);
}

/* All other keys of the part that have no usual value here. */
static void give_rest(page *p, draw_part part, const char *key, draw_part at, const char *usual,
                      const char *value) {
  char word[80];
  snprintf(word, sizeof word, " %s ", key);
  if (part == at && !strstr(usual, word)) say(p, ", %s: %s", key, value);
}

static void machine(page *p, draw_part part, const char *key, const char *value) {
  p->len = 0;
  say(p, "architecture: {clock: %s", part == DRAW_ARCH && !strcmp(key, "clock") ? value : "1 GHz");
  give_rest(p, part, key, DRAW_ARCH, " clock ", value);
  say(p, ", memories: [{name: L0}, {name: K}, {name: %s",
      part == DRAW_MEMORY && !strcmp(key, "name") ? value : "L1");
  if (part == DRAW_MEMORY && !strncmp(key, "bank", 4)) say(p, ", line: 8"); /* banks hold lines */
  give_rest(p, part, key, DRAW_MEMORY, " name ", value);
  if (part == DRAW_NETWORK) /* neighbours are a mesh's */
    say(p, ", network: {%s%s: %s}", strcmp(key, "peers") ? "" : "topology: mesh, ", key, value);
  if (part == DRAW_BANDWIDTH) say(p, ", bandwidth: {%s: %s}", key, value);
  if (part == DRAW_ENERGY) {
    const bool read = !strcmp(key, "read");
    say(p, ", energy: {read: %s, write: %s}", read ? value : "1 pJ", read ? "1 pJ" : value);
  }
  say(p, "}], compute: [{name: %s", part == DRAW_UNIT && !strcmp(key, "name") ? value : "u");
  give(p, part, key, DRAW_UNIT, "ops", "[mac]", value);
  give(p, part, key, DRAW_UNIT, "below", NULL, value);
  give_rest(p, part, key, DRAW_UNIT, " name ops below ", value);
  say(p, "}]}\n");
}

static const char product[] =
    "workload:\n  dims: {m: 4, n: 4, k: 4}\n  ops: ['C[m,n] += A[m,k] * B[k,n]']\n";

static uint64_t identity_of(const char *arch, const char *workload) {
  test_case e = case_of(arch, workload);
  const uint64_t h = tf_identity(e.spec->arch, e.spec->workload, NULL, NULL, 0);
  case_drop(&e);
  return h;
}

static uint64_t identity_with(draw_part part, const char *key, const char *value) {
  page p;
  machine(&p, part, key, value);
  return identity_of(p.text, product);
}

/* Keys whose values are parts with keys of their own, each tried there; and names of memories as
 * values. */
static bool drawn_elsewhere(draw_part part, const char *key) {
  return part == DRAW_ARCH && (!strcmp(key, "memories") || !strcmp(key, "compute"));
}

/* Two values that do not mean the same; what may be written in several ways is tried key by key,
 * too. */
static void two_values(tf_rng *g, draw_part part, const char *key, char one[200], char other[200]) {
  const bool below = part == DRAW_UNIT && !strcmp(key, "below"), network = !strcmp(key, "network");
  snprintf(one, 200, "%s", below ? "L1" : network ? "{multicast: true}" : draw_value(g, part, key));
  do
    snprintf(other, 200, "%s",
             below     ? "K"
             : network ? "{multicast: false}"
                       : draw_value(g, part, key));
  while (!strcmp(one, other));
}

static void check_key(tf_rng *g, draw_part part, const char *key) {
  char one[200], other[200];
  two_values(g, part, key, one, other);
  const bool same = identity_with(part, key, one) == identity_with(part, key, other);
  const bool title = part == DRAW_ARCH && !strcmp(key, "name"); /* it says nothing of the machine */
  if (same != title) printf("key '%s': %s or %s\n", key, one, other);
  CHECK(same == title);
  CHECK(identity_with(part, key, one) == identity_with(part, key, one));
}

static void check_machines(void) {
  tf_rng g = tf_rng_new(11, 3);
  for (int part = 0; part < DRAW_N; part++) {
    const tf_keys keys = draw_keys_of((draw_part)part);
    for (size_t i = 0; i < keys.n; i++)
      if (!drawn_elsewhere((draw_part)part, keys.rows[i].key))
        check_key(&g, (draw_part)part, keys.rows[i].key);
  }
}

/* ---- workloads ------------------------------------------------------------------------------- */

static const char plain[] = "architecture:\n  memories: [{name: L0}]\n"
                            "  compute: [{name: u, ops: [mac, add, sub, mul, max, exp, select]}]\n";

/* Two values of each key of a tensor, in a workload of A[m,k], which is read at m + k. */
static const struct {
  const char *key, *one, *other;
} tensor_values[] = {{"word-bits", "8", "16"},
                     {"unsigned", "true", "false"},
                     {"range", "[0, 7]", "[0, 8]"},
                     {"pad", "[1]", "[0]"},
                     {"shape", "[9]", "[12]"},
                     {"density", "0.5", "0.25"},
                     {"density", "{blocks: [2], share: 0.5}", "{blocks: [3], share: 0.5}"}};

static uint64_t with_tensor(const char *key, const char *value) {
  char text[400];
  snprintf(text, sizeof text,
           "workload:\n  dims: {m: 4, k: 3}\n  tensors: {A: {%s: %s}}\n"
           "  ops: ['C[m] += A[m + k] * B[k]']\n",
           key, value);
  return identity_of(plain, text);
}

static void check_tensors(void) {
  const tf_keys keys = tf_tensor_keys();
  for (size_t i = 0; i < keys.n; i++) {
    bool known =
        !strcmp(keys.rows[i].key, "view"); /* of networks, which are not searched as a whole */
    for (size_t k = 0; k < sizeof tensor_values / sizeof *tensor_values; k++) {
      if (strcmp(keys.rows[i].key, tensor_values[k].key) != 0) continue;
      known = true;
      CHECK(with_tensor(keys.rows[i].key, tensor_values[k].one) !=
            with_tensor(keys.rows[i].key, tensor_values[k].other));
    }
    if (!known)
      printf("no values of the key '%s' of a tensor are tried: add two\n", keys.rows[i].key);
    CHECK(known);
  }
}

/* Workloads of which no two are the same. */
static const char *const workloads[] = {
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = select(l <= m, S[m,l], -inf)']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = select(l <= m + 1, S[m,l], -inf)']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = select(m <= l, S[m,l], -inf)']",
    "dims: {m: 4, l: 5}\n  ops: ['T[m,l] = select(l <= m, S[m,l], -inf)']",
    "dims: {m: 4, q: 4}\n  ops: ['T[m,q] = select(q <= m, S[m,q], -inf)']",
    "dims: {l: 4, m: 4}\n  ops: ['T[m,l] = select(l <= m, S[m,l], -inf)']",
    "dims: {m: 4, l: 4}\n  ops: ['T[l,m] = select(l <= m, S[m,l], -inf)']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = max(S[m,l], 0)']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = max(S[m,l], 1)']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m] += S[m,l]']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m] max= S[m,l]']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = S[m,l] - R[m,l]']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = S[m,l] - R[l,m]']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = S[m,l] - R[2*l,m]']",
    "dims: {m: 4, l: 4}\n  ops: ['T[m,l] = R[m,l] - S[m,l]']",
    "dims: {m: 4, l: 4}\n  tensors: {S: {density: {band: [m, l], below: 1, above: 0}}}\n"
    "  ops: ['T[m] += S[m,l]']",
    "dims: {m: 4, l: 4}\n  tensors: {S: {density: {band: [m, l], below: 0, above: 1}}}\n"
    "  ops: ['T[m] += S[m,l]']",
};

static void check_workloads(void) {
  enum { N = sizeof workloads / sizeof *workloads };
  uint64_t h[N];
  for (int i = 0; i < N; i++) {
    char text[400];
    snprintf(text, sizeof text, "workload:\n  %s\n", workloads[i]);
    h[i] = identity_of(plain, text);
    for (int k = 0; k < i; k++)
      CHECK(h[k] != h[i]);
  }
}

/* Each key of a core as an earlier version spelt it is the same machine, and a log from then holds.
 */
static void check_earlier(void) {
  static const char *const spelt[][2] = {
      {"transpose", "turn"},         {"gather", "element"},     {"page-crossing", "jump"},
      {"exponential", "factor"},     {"strided-access", "far"}, {"l1-resident", "stays"},
      {"exposed-bandwidth", "seen"}, {"tlb-entries", "pages"},  {"tlb-miss", "lookup"}};
  for (size_t i = 0; i < sizeof spelt / sizeof *spelt; i++) {
    uint64_t h[2];
    for (int k = 0; k < 2; k++) {
      page p = {.len = 0};
      say(&p,
          "architecture: {memories: [{name: D}, {name: L, capacity: 64}], core: {%s: %s}, compute: "
          "[{name: u, ops: [mac]}]}\n",
          spelt[i][k], i == 5 ? "7 KiB" : "7");
      h[k] = identity_of(p.text, product);
    }
    CHECK(h[0] == h[1]);
    CHECK(h[0] != identity_of(plain, product));
  }
  /* as the program told it that spelt it so */
  page p = {.len = 0};
  say(&p, "%s",
      "architecture: {memories: [{name: D}, {name: L, capacity: 64}], core: {turn: 7}, compute: "
      "[{name: u, ops: [mac]}]}\n");
  CHECK(identity_of(p.text, product) == UINT64_C(0xfd9852bdb3b87191));
}

/* `tiles` stands in rules of memories that serve others, which keys by themselves are not drawn in.
 */
static void check_tiles(void) {
  uint64_t h[2];
  for (int k = 0; k < 2; k++) {
    page p = {.len = 0};
    say(&p,
        "architecture: {memories: [{name: D, skipping: [{target: '*', on: '*', tiles: %s}]}, "
        "{name: L, capacity: 64}], compute: [{name: u, ops: [mac]}]}\n",
        k ? "true" : "false");
    h[k] = identity_of(p.text, product);
  }
  CHECK(h[0] != h[1]);
}

int main(void) {
  check_machines();
  check_tiles();
  check_earlier();
  check_tensors();
  check_workloads();
  return check_report();
}
