/* A plan as a folder of source code; for C17 a kernel for each distinct group, and network.c, which
 * calls them. */
#include "net/emit.h"

#include <stdlib.h>
#include <string.h>

#include "base/locale.h"
#include "codegen/backend/cpu/cpu.h"
#include "codegen/backend/cpu/print/live.h"
#include "codegen/backend/target.h"

enum { FILES_EACH = 3, FILES_MORE = 8 + C_LIVE_FILES, FILE_NAME = 40 };

/* ---- kernels -------------------------------------------------------------------------------- */
/* Whether the kernel has panels that may be packed beforehand. */
static bool packs_some(const net_kernel *k) {
  bool any = k->program->n_notes > 0;
  for (int i = 0; i < k->files->n; i++)
    if (!strcmp(k->files->file[i].name, "kernel.h"))
      any = any && strstr(k->files->file[i].text, "_packed(void)");
  return any;
}

/* The lowered program of group i's kernel, with the options with which it is emitted. */
static ir_program *lower(const net_emission *e, int i, const tf_emit_options *o) {
  ir_machine machine = tf_cpu_machine(e->isa, e->data, e->plan->groups[i].tree->workload);
  machine.choices = o->choices;
  machine.changes = o->changes;
  return lower_kernel(e->plan->groups[i].tree, &tf_target_cpu.lower, &machine, e->d);
}

/* Sets `may_pack` of group i. */
static bool find_panels(net_emission *e, int i, const tf_emit_options *o) {
  const tf_workload *wl = e->plan->groups[i].group->workload;
  ir_program *p = lower(e, i, o);
  bool *may = p ? calloc((size_t)wl->n_tensors + 1, sizeof *may) : NULL;
  for (int k = 0; may && k < p->n_notes; k++)
    may[wl->ops[cpu_pack_at(p, k)->op].reads[cpu_pack_at(p, k)->product->b].tensor] = true;
  e->kernel[i].may_pack = may;
  ir_free(p);
  return may || (p && tf_out_of_memory(e->d));
}

/* Sets `changes` and `first_group` of group i: groups with equal keys have the same panels, but
 * different ones may change between calls. */
static bool find_changes(net_emission *e, int i) {
  const tf_net_group *g = &e->plan->groups[i];
  const size_t n = (size_t)g->group->workload->n_tensors;
  net_kernel *k = &e->kernel[i];
  const bool *may = e->kernel[g->like].may_pack;
  k->changes = calloc(n + 1, sizeof *k->changes);
  if (!may || !k->changes) return tf_out_of_memory(e->d);
  for (size_t t = 0; t < n; t++)
    k->changes[t] = may[t] && e->wl->tensors[g->group->tensor[t]].producer >= 0;
  for (k->first_group = g->like; k->first_group < i; k->first_group++)
    if (e->plan->groups[k->first_group].like == g->like &&
        !memcmp(e->kernel[k->first_group].changes, k->changes, n * sizeof(bool)))
      break;
  return true;
}

/* Integer sums must be of a kernel's inputs: a plan written by hand may violate that. */
static bool check_sums(const net_emission *e, int i) {
  const tf_workload *wl = e->plan->groups[i].group->workload;
  for (int o = 0; e->data == IR_I8 && o < wl->n_ops; o++)
    for (int r = 0; r < wl->ops[o].n_reads; r++)
      if (wl->tensors[wl->ops[o].out].held == TF_HELD_SUMS &&
          wl->tensors[wl->ops[o].reads[r].tensor].producer >= 0)
        return tf_fail(e->d, wl->ops[o].at, TF_E_OUTPUT,
                       "op '%.60s' multiplies bytes that its own group makes: int8 needs them in a "
                       "group before it",
                       wl->ops[o].name);
  return true;
}

static bool make_kernel(net_emission *e, int i, const char *name) {
  if (!check_sums(e, i)) return false;
  net_kernel *k = &e->kernel[i];
  tf_emit_options o = *e->o;
  k->group = &e->plan->groups[i];
  o.choices = k->group->choices;
  o.result = NULL;
  o.measured = NULL;
  o.live = false; /* the network is replaced as a whole */
  if ((k->group->like == i && !find_panels(e, i, &o)) || !find_changes(e, i)) return false;
  if (!net_has_kernel(e, i)) return true;
  snprintf(k->name, sizeof k->name, "%.120s_g%d", name, i + 1);
  o.name = k->name;
  o.changes = k->changes;
  k->files = tf_emit(k->group->tree, "cpu", &o, e->d);
  k->program = k->files ? lower(e, i, &o) : NULL;
  if (!k->program) return false;
  k->packs = packs_some(k);
  return true;
}

/* ---- the network as the printers of a kernel's files see it --------------------------------- */
/* Collects the panels of the network's inputs, with the network's numbers. */
static bool gather_packs(net_emission *e) {
  int most = 0;
  for (int i = 0; i < e->plan->n; i++)
    if (e->kernel[i].program) most += e->plan->n * e->kernel[i].program->n_notes;
  e->packs = calloc((size_t)most + 1, sizeof *e->packs);
  e->whole.notes = calloc((size_t)most + 1, sizeof *e->whole.notes);
  if (!e->packs || !e->whole.notes) return tf_out_of_memory(e->d);
  for (int i = 0; i < e->plan->n; i++) {
    const net_kernel *k = net_called(e, i);
    if (!k->program) continue; /* unreachable: the group has a kernel */
    bool inputs = k->packs;
    const int from = e->whole.n_notes;
    for (int p = 0; p < k->program->n_notes; p++) {
      const int op = e->plan->groups[i].group->op[cpu_pack_at(k->program, p)->op];
      const cpu_product *product = cpu_pack_at(k->program, p)->product;
      inputs = inputs && e->wl->tensors[e->wl->ops[op].reads[product->b].tensor].producer < 0;
      cpu_pack *pack = &e->packs[e->whole.n_notes];
      *pack = (cpu_pack){.note = {&cpu_no_note}, .op = op, .product = product};
      e->whole.notes[e->whole.n_notes++] = &pack->note;
    }
    if (!inputs) e->whole.n_notes = from;
  }
  return true;
}

static void begin_package(net_emission *e) {
  e->tree.workload = e->wl;
  e->whole.tree = &e->tree;
  e->whole.machine = tf_micro_machine(e->isa, e->data);
  e->package = (c_package){.p = &e->whole,
                           .o = e->o,
                           .isa = e->isa,
                           .source = tf_micro_source_find(e->o->micro),
                           .name = C_NAME,
                           .entry = C_NAME,
                           .within = e->data == IR_BF16 ? "3e-2"
                                     : e->data == IR_I8 ? "5e-2"
                                                        : "1e-4",
                           .packed = e->whole.n_notes,
                           .on_threads = true};
}

/* ---- files ---------------------------------------------------------------------------------- */
static bool add_kernel(tf_emitted *out, const net_kernel *k, int i) {
  static const char *const names[FILES_EACH] = {"kernel.c", "kernel.h", "parts.h"},
                           *const ends[] = {".c", ".h", "_parts.h"};
  char header[FILE_NAME], parts[FILE_NAME], name[FILE_NAME];
  snprintf(header, sizeof header, "\"g%d.h\"", i + 1);
  snprintf(parts, sizeof parts, "\"g%d_parts.h\"", i + 1);
  bool ok = true;
  for (int f = 0; f < k->files->n; f++)
    for (int r = 0; r < FILES_EACH; r++) {
      if (strcmp(k->files->file[f].name, names[r]) != 0) continue;
      snprintf(name, sizeof name, "g%d%s", i + 1, ends[r]);
      char *text = net_replace(net_replace(strdup(k->files->file[f].text), "\"kernel.h\"", header),
                               "\"parts.h\"", parts);
      ok = net_add_file(out, name, text) && ok;
    }
  return ok;
}

static void print_makefile(FILE *out, const net_emission *e) {
  fprintf(out,
          "# make, make test, make bench; CFLAGS and OPENMP may be set (OPENMP= for one thread).\n"
          "CFLAGS ?= -O3\nOPENMP ?= -fopenmp\nALL = -std=c17 %s $(CFLAGS) $(OPENMP)\n"
          "LIBS = %s%s-lm\nOBJECTS = network.o",
          e->isa->flags, e->package.source->libraries, *e->package.source->libraries ? " " : "");
  for (int i = 0; i < e->plan->n; i++)
    if (net_has_kernel(e, i)) fprintf(out, " g%d.o", i + 1);
  fputs("\n\nall: libnetwork.a test bench\nlibnetwork.a: $(OBJECTS)\n\t$(AR) rcs $@ $(OBJECTS)\n"
        "network.o: network.c network.h\n\t$(CC) $(ALL) -c -o $@ network.c\n"
        "g%.o: g%.c g%.h g%_parts.h\n\t$(CC) $(ALL) -c -o $@ $<\n"
        "test: test.c $(OBJECTS)\n\t$(CC) $(ALL) -o $@ test.c $(OBJECTS) $(LIBS)\n\t./test\n"
        "bench: bench.c $(OBJECTS)\n\t$(CC) $(ALL) -o $@ bench.c $(OBJECTS) $(LIBS)\n"
        "clean:\n\trm -f $(OBJECTS) libnetwork.a test bench\n.PHONY: all clean\n",
        out);
}

static void print_readme(FILE *out, const net_emission *e) {
  fputs("# ", out), c_plain_text(out, e->wl->name);
  fprintf(out,
          "\n\n"
          "A network of %d ops as %d fused kernels, called in order (%d different ones).  "
          "`network.h` says how to call it, `make test` holds it against a plain evaluation in "
          "double (within %s of the norm of each output), `make bench` times it.\n",
          e->wl->n_ops, e->plan->n, net_kernels_of(e), e->package.within);
  fprintf(out, "\nInstruction set: %s.  Between kernels: %lld bytes.\n", e->isa->name,
          (long long)e->memory.bytes);
  if (e->o->command) fprintf(out, "\nWritten by\n\n    %s\n", e->o->command);
}

/* The header of a kernel, followed by additions for networks. */
static void print_header(FILE *out, const net_emission *e) {
  c_kernel_h_begin(out, &e->package);
  net_declare_threads(out);
  net_declare_weights(out);
  c_kernel_h_end(out);
}
static void print_test(FILE *out, const net_emission *e) { c_test_c(out, &e->package); }
static void print_bench(FILE *out, const net_emission *e) { c_bench_c(out, &e->package); }

static const net_own_file rows[] = {{"network.h", print_header},  {"network.c", net_print_calls},
                                    {"test.c", print_test},       {"bench.c", print_bench},
                                    {"Makefile", print_makefile}, {"README.md", print_readme}};

/* The files by which the network can be replaced while the program runs. */
static bool add_live(tf_emitted *out, const net_emission *e, const char *name) {
  bool ok = true;
  for (int i = 0; i < C_LIVE_FILES && ok; i++) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f) c_live_file(f, &e->package, i);
    ok = f && fclose(f) == 0;
    char *own = ok ? net_replace(c_with_name(text, name), "\"kernel.h\"", "\"network.h\"") : NULL;
    free(text);
    ok = net_add_file(out, c_live_name(i), own);
  }
  return ok;
}

static tf_emitted *write_files(const net_emission *e, const char *name) {
  tf_emitted *out = net_files_new(net_kernels_of(e) * FILES_EACH + FILES_MORE);
  bool ok = out != NULL;
  for (int i = 0; ok && i < e->plan->n; i++)
    if (net_has_kernel(e, i)) ok = add_kernel(out, &e->kernel[i], i);
  for (size_t r = 0; ok && r < sizeof rows / sizeof *rows; r++)
    ok = net_add_own(out, e, &rows[r], name);
  if (e->o->live) ok = ok && add_live(out, e, name);
  if (ok) return out;
  tf_emitted_free(out);
  tf_out_of_memory(e->d);
  return NULL;
}

/* ---- the whole network ---------------------------------------------------------------------- */
static bool check(net_emission *e) {
  const tf_micro_isa *isas[TF_MICRO_MOST_ISAS];
  const int n = tf_micro_isas(e->o, isas, e->d);
  if (!n) return false;
  e->isa = isas[0];
  if (n > 1)
    return tf_fail(e->d, (tf_loc){0}, TF_E_NAME,
                   "a network is emitted for one instruction set, not for 'multi'");
  if (!tf_micro_data(e->o->dtype, &e->data, e->d)) return false;
  return tf_net_memory_of(e->plan, e->wl, ir_bytes(e->data), &e->memory, e->d);
}

static tf_emitted *emit(net_emission *e, const char *name) {
  if (!check(e)) return NULL;
  e->kernel = calloc((size_t)e->plan->n + 1, sizeof *e->kernel);
  if (!e->kernel) return NULL;
  for (int i = 0; i < e->plan->n; i++)
    if (!make_kernel(e, i, name)) return NULL;
  if (!gather_packs(e)) return NULL;
  begin_package(e);
  return write_files(e, name);
}

static void emission_free(net_emission *e) {
  for (int i = 0; e->kernel && i < e->plan->n; i++) {
    tf_emitted_free(e->kernel[i].files);
    ir_free(e->kernel[i].program);
    free(e->kernel[i].may_pack);
    free(e->kernel[i].changes);
  }
  free(e->kernel);
  free(e->whole.notes);
  free(e->packs);
  tf_net_memory_free(&e->memory);
  tf_arena_free(e->a);
}

/* The targets whose kernels can be called in sequence (TF_EMIT_NETWORKS); types: the data types
 * that all of them have. */
static const struct {
  const char *name;
  tf_emitted *(*emit)(net_emission *e, const char *name);
  const char *types[5], *say;
} targets[] = {{"cpu", emit, {"f32", "bf16", "int8"}, "a network is emitted in f32, bf16 or int8"},
               {"cuda",
                net_emit_cuda,
                {"f32", "tf32", "bf16", "f16"},
                "a network is emitted for cuda in f32, tf32, bf16 or f16"},
               {"npu", net_emit_npu, {"f32"}, "a network for npu is in what word-bits say"}};

bool tf_net_has_dtype(const char *target, const char *dtype, tf_diags *d) {
  TF_IN_C_LOCALE;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    if (target && strcmp(target, targets[i].name) != 0) continue;
    for (int k = 0; targets[i].types[k]; k++)
      if (!dtype || !strcmp(dtype, targets[i].types[k])) return true;
    return tf_fail(d, (tf_loc){0}, TF_E_USAGE, "%s, not in '%.40s'", targets[i].say, dtype);
  }
  return tf_fail(d, (tf_loc){0}, TF_E_NAME, "target '%.40s' has no networks", target);
}

tf_emitted *tf_net_emit(const tf_net_plan *p, const tf_arch *arch, const tf_workload *wl,
                        const char *target, const tf_emit_options *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  net_emission e = {.plan = p, .wl = wl, .o = o, .d = d, .tree = {.arch = arch}};
  if (!tf_net_has_dtype(target, o->dtype, d)) return NULL;
  for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
    if (target && strcmp(target, targets[i].name) != 0) continue;
    tf_emitted *out = targets[i].emit(&e, o->name ? o->name : "network");
    emission_free(&e);
    return out;
  }
  return NULL; /* unreachable: some type is available */
}

tf_emitted *tf_net_emit_cpu(const tf_net_plan *p, const tf_arch *arch, const tf_workload *wl,
                            const tf_emit_options *o, tf_diags *d) {
  TF_IN_C_LOCALE;
  return tf_net_emit(p, arch, wl, "cpu", o, d);
}
