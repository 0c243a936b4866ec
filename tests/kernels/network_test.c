/* Networks drawn at random, planned, emitted, compiled and run: the emitted test holds each against
 * a plain evaluation in double.
 *
 * - network_test [--cases N] [--seed S]: N networks; exit 77 where there is no compiler */
#include <stdlib.h>
#include <unistd.h>

#include "tests/kernels/draw.h"
#include "tests/unit/case.h"
#include "tests/unit/net_draw.h"
#include "tileflow/budget.h"
#include "tileflow/emit.h"
#include "tileflow/net.h"

/* Of two cores: what both have to do is spread over threads. */
static const char arch[] =
    "architecture:\n"
    "  name: small\n"
    "  clock: 1 GHz\n"
    "  memories:\n"
    "  - {name: DRAM, bandwidth: 64}\n"
    "  - {name: L1, mesh: [2, 1], capacity: 4 KiB, bandwidth: 64}\n"
    "  compute:\n"
    "  - {name: u, ops: [mac, add, mul, max, div, abs, relu, copy], below: L1}\n";

static int n_spread; /* kernels whose loops run on threads */
static bool openmp;  /* the compiler has it */

static bool write_file(const char *folder, const tf_emitted_file *f) {
  char path[300];
  snprintf(path, sizeof path, "%s/%s", folder, f->name);
  FILE *out = fopen(path, "w");
  const bool ok = out && fputs(f->text, out) >= 0;
  return out && fclose(out) == 0 && ok;
}

/* What the emitted test says; written, compiled without optimisation, and run.  clang, where there
 * is one, has to find nothing to warn of in network.c. */
static bool passes(const tf_emitted *e) {
  char folder[] = "/tmp/network_test_XXXXXX", command[700];
  bool ok = mkdtemp(folder) != NULL;
  for (int i = 0; ok && i < e->n; i++)
    ok = write_file(folder, &e->file[i]);
  for (int i = 0; i < e->n; i++)
    n_spread += strstr(e->file[i].text, "#pragma omp parallel") != NULL;
  snprintf(command, sizeof command,
           "cd %s && ${CC:-cc} -std=c17 -O0 -Wall -Wextra -Werror -Wno-unknown-pragmas %s -o test "
           "test.c network.c g*.c -lm >said 2>&1 && ./test >>said 2>&1 || { cat said; false; }",
           folder, openmp ? "-fopenmp" : "");
  ok = ok && system(command) == 0;
  snprintf(command, sizeof command,
           "cd %s && { ! command -v clang >/dev/null || clang -std=c17 -fsyntax-only -Wall -Wextra "
           "-Werror network.c; }",
           folder);
  ok = ok && system(command) == 0;
  snprintf(command, sizeof command, "rm -rf %s", folder);
  return system(command) == 0 && ok;
}

static void one(uint64_t seed) {
  const int ops = 4 + (int)draw_lot(seed, "ops", 9);
  test_case e = case_of(arch, net_draw_text(seed, ops));
  tf_net_opts o = {.objective = TF_LATENCY, .max_ops = 1 + (int)draw_lot(seed, "most ops", 4)};
  o.budget = (tf_budget){.max_evals = 40, .seed = seed, .threads = 1};
  tf_net_plan *p = tf_net_plan_of(e.spec->arch, e.spec->workload, &o, e.d);
  const tf_emit_options emit = {
      .isa = "portable", .dtype = draw_lot(seed, "type", 2) ? NULL : "bf16", .name = "net"};
  tf_emitted *files = p ? tf_net_emit_cpu(p, e.spec->arch, e.spec->workload, &emit, e.d) : NULL;
  if (!CHECK(files != NULL)) case_complain(e.d);
  if (files && !CHECK(passes(files)))
    printf("seed %llu: %d groups\n%s", (unsigned long long)seed, p->n, net_draw_text(seed, ops));
  tf_emitted_free(files);
  tf_net_plan_free(p);
  case_drop(&e);
}

/* ---- what is packed beforehand, of plans that are given ------------------------------------- */
/* S reads what a group before makes, Y weights alone. */
static const char mixed[] = "workload:\n"
                            "  name: mixed\n"
                            "  dims: {m: 8, n: 16, k: 16, h: 16}\n"
                            "  ops:\n"
                            "  - K[k,n] = relu(X[k,n])\n"
                            "  - S[m,n] += Q[m,k] * K[k,n]\n"
                            "  - Y[m,h] += S[m,n] * W[n,h]\n";
static const char mixed_plan[] = "plan:\n"
                                 "  network: mixed\n"
                                 "  architecture: small\n"
                                 "  objective: latency\n"
                                 "  groups:\n"
                                 "  - ops: [K]\n"
                                 "    mapping: |\n"
                                 "      DRAM for n=16 k=4\n"
                                 "        L1 for k=4\n"
                                 "          op K\n"
                                 "  - ops: [S, Y]\n"
                                 "    mapping: |\n"
                                 "      DRAM\n"
                                 "        Seq keep S@L1\n"
                                 "          L1 for m=8 k=16 n=16\n"
                                 "            op S\n"
                                 "          L1 for h=16 m=8 n=16\n"
                                 "            op Y\n";
/* Two products of one kind: of weights, and of what the first makes. */
static const char alike[] = "workload:\n"
                            "  name: alike\n"
                            "  dims: {a: 16, b: 16, c: 16, d: 16}\n"
                            "  ops:\n"
                            "  - T[b,c] += X[b,a] * W[a,c]\n"
                            "  - Y[d,c] += Z[d,b] * T[b,c]\n";
static const char alike_plan[] = "plan:\n"
                                 "  network: alike\n"
                                 "  architecture: small\n"
                                 "  objective: latency\n"
                                 "  groups:\n"
                                 "  - ops: [T]\n"
                                 "    mapping: |\n"
                                 "      DRAM\n"
                                 "        L1 for b=16 a=16 c=16\n"
                                 "          op T\n"
                                 "  - ops: [Y]\n"
                                 "    mapping: |\n"
                                 "      DRAM\n"
                                 "        L1 for d=16 b=16 c=16\n"
                                 "          op Y\n";

/* Whether the file of that name has the words. */
static bool has(const tf_emitted *e, const char *name, const char *words) {
  bool found = false;
  for (int i = 0; i < e->n; i++)
    found |= !strcmp(e->file[i].name, name) && strstr(e->file[i].text, words) != NULL;
  return found;
}

/* W is packed once, in group `packs` alone; what is made in the network is read as it lies. */
static void packed_once(const char *network, const char *plan, int packs) {
  test_case e = case_of(arch, network);
  const tf_text text = {.name = "plan.yaml", .text = plan, .len = strlen(plan)};
  tf_net_plan *p = tf_net_plan_read(e.spec->arch, e.spec->workload, &text, e.d);
  const tf_emit_options emit = {.isa = "portable", .name = "net"};
  tf_emitted *files = p ? tf_net_emit_cpu(p, e.spec->arch, e.spec->workload, &emit, e.d) : NULL;
  if (!CHECK(files != NULL)) case_complain(e.d);
  for (int g = 1; files && g <= 2; g++) {
    char pack[40], header[40], size[40];
    snprintf(pack, sizeof pack, "int pack_%d(", g);
    snprintf(header, sizeof header, "g%d.h", g);
    snprintf(size, sizeof size, "net_g%d_packed(void)", g);
    CHECK(has(files, "network.c", pack) == (g == packs));
    CHECK(has(files, header, size) == (g == packs));
  }
  CHECK(files && has(files, "network.c", "!packed || !args->W) return") && passes(files));
  tf_emitted_free(files);
  tf_net_plan_free(p);
  case_drop(&e);
}

int main(int argc, char **argv) {
  long cases = 6, seed = 1;
  for (int i = 1; i + 1 < argc; i += 2)
    *(strcmp(argv[i], "--seed") == 0 ? &seed : &cases) = atol(argv[i + 1]);
  if (system("command -v ${CC:-cc} >/dev/null") != 0) return puts("SKIP: no C compiler"), 77;
  openmp = system("echo 'int main(void) { return 0; }' | ${CC:-cc} -fopenmp -x c -o /dev/null - "
                  "2>/dev/null") == 0;
  for (long k = 0; k < cases; k++)
    one((uint64_t)(seed + k));
  packed_once(mixed, mixed_plan, 2);
  packed_once(alike, alike_plan, 1);
  CHECK(n_spread > 0 || cases == 0);
  return check_report();
}
