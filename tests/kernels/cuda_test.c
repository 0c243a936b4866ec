/* Random cases lowered for CUDA and OpenCL: the loops are sound, the interpreter sees no race and
 * no missing wait, and what they make equals the whole workload.
 *
 *   cuda_test [--cases N] [--seed S] [--one SEED]
 *   cuda_test --yaml DIR [--cases N] [--seed S]
 *
 * --yaml: writes N that can be emitted, of all that is drawn, as files for random.sh, which runs
 * their text. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/cuda/note/note.h"
#include "codegen/backend/target.h"
#include "tests/kernels/draw.h"
#include "tests/kernels/whole.h"
#include "tileflow/tree.h"

typedef struct {
  long equal, wrong, refused, unlike, staged, fragments, merged;
  const tf_target *target;
  ir_machine machine;
  bool show;
} session;

static bool copies(const ir_program *p) {
  bool any = false;
  for (int i = 0; i < p->n_buffers; i++)
    any |= p->buffers[i].role == IR_COPIED;
  return any;
}

static bool multiplies(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n; i++)
    any |= (b->s[i]->kind == IR_NEST && cu_of(b->s[i])->fragments) || multiplies(&b->s[i]->body);
  return any;
}

static bool merges(const ir_body *b) {
  bool any = false;
  for (int i = 0; i < b->n; i++)
    any |= b->s[i]->kind == IR_MERGE || merges(&b->s[i]->body);
  return any;
}

static bool runs_equal(session *s, const ir_program *p) {
  const tf_workload *wl = p->asked ? p->asked : p->tree->workload;
  double **want = whole_new(wl), **got = whole_new(wl);
  char why[200] = "";
  bool ok = want && got && ir_check(p, why, sizeof why);
  if (ok) whole_run(wl, want);
  ok = ok && ir_run_why(p, got, NULL, why, sizeof why);
  if (*why) printf("# %s\n", why);
  ok = ok && whole_equal(wl, want, got);
  s->staged += ok && copies(p);
  s->fragments += ok && multiplies(&p->body);
  s->merged += ok && merges(&p->body);
  whole_free(wl, want);
  whole_free(wl, got);
  return ok;
}

static bool says(const tf_diags *d, const char *what) {
  bool any = false;
  for (size_t i = 0; i < tf_diags_count(d); i++)
    any |= strstr(tf_diags_at(d, i)->msg, what) != NULL;
  return any;
}

static void one(void *ctx, uint64_t seed) {
  session *s = ctx;
  drawn c;
  draw(&c, seed);
  ir_program *p = NULL;
  if (!c.tree)
    s->refused++;
  else if (!draw_can_emit(&c) ||
           (!(p = lower_kernel(c.tree, &s->target->lower, &s->machine, c.diags)) &&
            says(c.diags, "keep nothing from run to run")))
    s->unlike++;
  else {
    if (p && s->show) ir_dump(stdout, p);
    if (p && runs_equal(s, p))
      s->equal++;
    else if (s->wrong++ < 3)
      draw_print(&c, seed);
  }
  ir_free(p);
  draw_close(&c);
}

/* ---- files ---- */

/* The seed as one of any kind. */
static uint64_t of_any_kind(uint64_t seed) {
  static const uint64_t kinds[] = {0,           DRAW_CONV, DRAW_ROWS,  DRAW_STREAM,  DRAW_FORKS,
                                   DRAW_WINDOW, DRAW_FEW,  DRAW_SPACE, DRAW_SPELLED, DRAW_DIVIDED};
  return seed | kinds[draw_lot(seed, "kind", sizeof kinds / sizeof *kinds)];
}

typedef struct {
  const char *dir;
  long left;
  bool ok;
} files;

static void write_one(void *ctx, uint64_t seed) {
  files *f = ctx;
  drawn c;
  char path[512];
  draw(&c, seed);
  if (f->left > 0 && c.tree && draw_can_emit(&c)) {
    snprintf(path, sizeof path, "%.400s/%ld.yaml", f->dir, f->left--);
    FILE *out = fopen(path, "w");
    f->ok &= out && fputs(c.text.text, out) >= 0;
    f->ok &= out && fclose(out) == 0;
  }
  draw_close(&c);
}

static int write_all(const draw_plan *plan, const char *dir) {
  files f = {dir, plan->cases, true};
  for (uint64_t i = 0; f.left > 0 && f.ok; i++)
    write_one(&f, of_any_kind(plan->seed * 1000000007 + i));
  return !f.ok;
}

static void one_conv(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_CONV); }
static void one_rows(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_ROWS); }
static void one_space(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_SPACE); }
static void one_spelled(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_SPELLED); }
static void one_divided(void *ctx, uint64_t seed) { one(ctx, seed | DRAW_DIVIDED); }

int main(int argc, char **argv) {
  const draw_plan plan = draw_options(argc, argv, 300);
  for (int i = 1; i + 1 < argc; i++)
    if (!strcmp(argv[i], "--yaml")) return write_all(&plan, argv[i + 1]);
  session s = {.show = plan.show};
  const draw_plan few = {.cases = plan.only ? 0 : plan.cases / 50, .seed = plan.seed};
  const draw_plan some = {.cases = plan.only ? 0 : plan.cases / 10, .seed = plan.seed};
  static const struct {
    const tf_target *target;
    const char *dtype;
    int part; /* of the cases: one in so many */
  } types[] = {{&tf_target_cuda, "f32", 1},   {&tf_target_cuda, "bf16", 2},
               {&tf_target_cuda, "f16", 8},   {&tf_target_cuda, "tf32", 4},
               {&tf_target_cuda, "int8", 4},  {&tf_target_cuda, "f8", 8},
               {&tf_target_opencl, "f32", 4}, {&tf_target_opencl, "bf16", 8}};
  for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
    draw_plan share = plan;
    if (!plan.only) share.cases /= types[i].part;
    s.target = types[i].target;
    s.target->machine(&(tf_emit_options){.dtype = types[i].dtype}, &s.machine, NULL);
    draw_each(&share, one, &s);
    draw_each(&few, one_conv, &s);
    draw_each(&few, one_rows, &s);
    draw_each(&some, one_space, &s);
    draw_each(&some, one_spelled, &s);
    draw_each(&some, one_divided, &s);
  }
  printf("cuda and opencl: %ld cases equal, %ld of them with staged tiles, %ld with fragments, %ld "
         "with sums in parts, %ld wrong; %ld mappings refused by the tree's rules, %ld that emit "
         "refuses\n",
         s.equal, s.staged, s.fragments, s.merged, s.wrong, s.refused, s.unlike);
  return s.wrong != 0 || s.equal == 0 ||
         (!plan.only && (s.staged == 0 || s.fragments == 0 || s.merged == 0));
}
