#include "tests/kernels/draw.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tileflow/emit.h"
#include "tileflow/tree.h"

draw_plan draw_options(int argc, char **argv, long cases) {
  draw_plan p = {.cases = cases, .seed = 1};
  for (int i = 1; i + 1 < argc; i++) {
    if (!strcmp(argv[i], "--cases")) p.cases = strtol(argv[i + 1], NULL, 10);
    if (!strcmp(argv[i], "--seed")) p.seed = strtoull(argv[i + 1], NULL, 10);
    if (!strcmp(argv[i], "--one")) p.only = strtoull(argv[i + 1], NULL, 10);
  }
  p.show = p.only != 0;
  return p;
}

void draw_each(const draw_plan *p, void (*one)(void *ctx, uint64_t seed), void *ctx) {
  if (p->only) one(ctx, p->only);
  for (long i = 0; i < p->cases && !p->only; i++)
    one(ctx, p->seed * 1000000007 + (uint64_t)i);
}

/* FNV-1a of the name, and the finalizer of SplitMix64 (Steele et al., OOPSLA 2014) over both. */
uint64_t draw_lot(uint64_t seed, const char *what, uint64_t n) {
  uint64_t x = UINT64_C(14695981039346656037);
  for (; *what; what++)
    x = (x ^ (unsigned char)*what) * UINT64_C(1099511628211);
  x += seed * UINT64_C(0x9e3779b97f4a7c15);
  x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
  x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
  return (x ^ x >> 31) % n;
}

int draw_named_kind(uint64_t seed) {
  const int number = (int)(seed >> 48 & 15);
  return number <= DRAW_N_NAMED ? number - 1 : -1;
}

void draw(drawn *c, uint64_t seed) {
  unsigned features = 0;
  const char *kind;
  *c = (drawn){.diags = tf_diags_new()};
  if (!c->diags) abort();
  if (seed & DRAW_CONV)
    draw_conv(&c->text, seed);
  else if (seed & DRAW_ROWS)
    draw_rows(&c->text, seed);
  else if (seed & DRAW_WILD)
    draw_wild(&c->text, seed);
  else if (seed & DRAW_FORKS)
    draw_forks(&c->text, seed);
  else if (seed & DRAW_STREAM)
    draw_stream(&c->text, seed);
  else if (seed & DRAW_FEW)
    draw_few(&c->text, seed);
  else if (seed & DRAW_PANELS)
    draw_panels(&c->text, seed);
  else if (seed & DRAW_DEALT)
    draw_dealt(&c->text, seed);
  else if (seed & DRAW_THIN)
    draw_thin(&c->text, seed);
  else if (seed & DRAW_SPELLED)
    draw_spelled(&c->text, seed);
  else if (seed & DRAW_WINDOW)
    draw_window(&c->text, seed);
  else if (seed & DRAW_SPACE)
    draw_space(&c->text, seed);
  else if (draw_named_kind(seed) >= 0)
    draw_named(&c->text, seed);
  else if (features = seed & DRAW_DIVIDED ? 1u << GEN_DIVIDED
                      : seed & DRAW_HOMES ? 1u << GEN_HOME
                                          : 0,
           !gen_case(seed, &c->text, &features, &kind))
    abort();
  tf_text t = {"case", c->text.text, c->text.len};
  c->spec = tf_spec_read_texts(&t, 1, NULL, 0, c->diags);
  if (c->spec)
    c->tree = tf_tree_parse(c->spec->mapping_text, c->spec->mapping_at, c->spec->arch,
                            c->spec->workload, c->diags);
}

void draw_close(drawn *c) {
  tf_tree_free(c->tree);
  tf_spec_free(c->spec);
  tf_diags_free(c->diags);
}

void draw_print(const drawn *c, uint64_t seed) {
  char *why = tf_diags_text(c->diags);
  printf("%s# seed %llu\n%s", c->text.text, (unsigned long long)seed, why ? why : "");
  free(why);
}

bool draw_can_emit(const drawn *c) {
  tf_diags *d = tf_diags_new();
  char *ir = tf_emit_ir(c->tree, NULL, NULL, d);
  tf_code code = tf_diags_count(d) ? tf_diags_at(d, 0)->code : TF_E_LIMIT;
  bool can = ir || code != TF_E_STREAM;
  free(ir);
  tf_diags_free(d);
  return can;
}

const char *draw_isa(uint64_t seed, bool (*can_run)(const char *isa), const char *more) {
#define KEY(key, what) key,
  static const char *const all[] = {TF_ISAS(KEY)};
#undef KEY
  const char *best = more;
  uint64_t most = more ? draw_lot(seed, more, UINT64_MAX) : 0;
  for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
    const uint64_t lot = can_run(all[i]) ? draw_lot(seed, all[i], UINT64_MAX) : 0;
    if (lot > most) best = all[i], most = lot;
  }
  return best;
}
