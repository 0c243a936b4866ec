/* A plan as one program of the NPU: its groups' instructions in sequence, on tensors of the network
 * in global memory; tensors between groups are in a workspace, placed by live ranges. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "codegen/backend/npu/files.h"
#include "codegen/backend/npu/text/roll.h"
#include "codegen/ir/page.h"
#include "net/emit.h"
#include "tileflow/tree.h"

typedef struct {
  net_emission *e;
  npu_folder f;
  tf_npu *flat;
  int *tensor; /* [n_tensors] the program's tensor; a view has its tensor's, an intermediate inside
                  a group one of the scratch */
  const char **name;   /* [n_tensors] its name in the program */
  npu_link *link;      /* [groups] */
  double *end, *alone; /* [groups] cycles at which it ends; its cycles as a program of its own */
  npu_terms terms;
} making;

static const tf_net_group *group_of(const making *m, int i) { return &m->e->plan->groups[i]; }

/* ---- tensors -------------------------------------------------------------------------------- */
enum { ALIGN = 64 };

static int64_t bytes_of(const tf_tensor *z) {
  return (tf_tensor_words(z) * npu_type_bytes(npu_type_of(z)) + ALIGN - 1) / ALIGN * ALIGN;
}

/* Whether one group produces and reads the tensor; it may be in global memory even so. */
static bool stays(const making *m, int z) {
  const tf_tensor *t = &m->e->wl->tensors[z];
  return t->producer >= 0 && t->n_consumers > 0 && !t->view_of && m->e->memory.offset[z] < 0;
}

/* Bytes of the intermediates inside group i. */
static int64_t scratch_of(const making *m, int i) {
  const tf_group *g = group_of(m, i)->group;
  int64_t bytes = 0;
  for (int t = 0; t < g->workload->n_tensors; t++)
    if (stays(m, g->tensor[t])) bytes += bytes_of(&m->e->wl->tensors[g->tensor[t]]);
  return bytes;
}

static bool add_tensor(making *m, int z, npu_tensor how) {
  npu_tensor new;
  if (!npu_tensor_new(m->flat, &m->e->wl->tensors[z], &new, m->e->d)) return false;
  new.in = how.in;
  new.out = how.out;
  new.within = how.within;
  new.offset = how.offset;
  m->tensor[z] = m->flat->n_tensors;
  m->name[z] = new.name;
  return npu_add_tensor(m->flat, new) || tf_out_of_memory(m->e->d);
}

static bool add_arguments(making *m) {
  const tf_workload *wl = m->e->wl;
  bool ok = true;
  for (int z = 0; z < wl->n_tensors && ok; z++) {
    const tf_tensor *t = &wl->tensors[z];
    if (c_is_argument(t) && !t->view_of)
      ok = add_tensor(m, z, (npu_tensor){.in = t->producer < 0, .out = t->producer >= 0});
  }
  return ok;
}

/* Adds the workspace; returns its number; -1: none is needed, or out of memory. */
static int add_workspace(making *m) {
  int64_t most = 0;
  for (int i = 0; i < m->e->plan->n; i++)
    most = scratch_of(m, i) > most ? scratch_of(m, i) : most;
  const int64_t bytes = m->e->memory.bytes + most;
  const char *name = bytes ? npu_name_new(m->flat, "workspace") : NULL;
  if (!bytes) return -1;
  const npu_tensor space = {
      .name = name, .type = NPU_F16, .words = bytes / npu_type_bytes(NPU_F16)};
  if (name && npu_add_tensor(m->flat, space)) return m->flat->n_tensors - 1;
  tf_out_of_memory(m->e->d);
  return -1;
}

/* Fills the workspace: first tensors between groups, then those inside each group, all at the same
 * offset. */
static bool add_inner(making *m, int space) {
  const tf_workload *wl = m->e->wl;
  bool ok = true;
  for (int z = 0; z < wl->n_tensors && ok; z++)
    if (m->e->memory.offset[z] >= 0 && !wl->tensors[z].view_of)
      ok = add_tensor(m, z, (npu_tensor){.within = space + 1, .offset = m->e->memory.offset[z]});
  for (int i = 0; i < m->e->plan->n && ok; i++) {
    const tf_group *g = group_of(m, i)->group;
    int64_t at = m->e->memory.bytes;
    for (int t = 0; t < g->workload->n_tensors && ok; t++) {
      if (!stays(m, g->tensor[t])) continue;
      ok = add_tensor(m, g->tensor[t], (npu_tensor){.within = space + 1, .offset = at});
      at += bytes_of(&wl->tensors[g->tensor[t]]);
    }
  }
  for (int z = 0; z < wl->n_tensors; z++)
    if (wl->tensors[z].view_of) m->tensor[z] = m->tensor[wl->tensors[z].view_of - 1];
  return ok;
}

/* ---- groups --------------------------------------------------------------------------------- */
static void dense(const tf_tensor *z, int64_t *step) {
  int64_t all = 1;
  for (int r = z->rank - 1; r >= 0; r--) {
    step[r] = all;
    all *= z->extent[r];
  }
}

/* The place of the group's tensor t. */
static bool find_place(const making *m, const tf_group *g, int t, npu_place *to) {
  const tf_tensor *inside = &g->workload->tensors[t], *outside = &m->e->wl->tensors[g->tensor[t]];
  const tf_group_place *p = &g->place[t];
  int64_t step[TF_MAX_RANK], *stride = TF_ARRAY(m->e->a, int64_t, (size_t)inside->rank + 1);
  *to = (npu_place){.tensor = m->tensor[g->tensor[t]], .stride = stride};
  if (!stride) return tf_out_of_memory(m->e->d);
  dense(p->along ? outside : inside, p->along ? step : stride);
  for (int r = 0; p->along && r < outside->rank; r++)
    to->begin += p->begin[r] * step[r];
  for (int q = 0; p->along && q < inside->rank; q++)
    stride[q] = p->step[q] * step[p->along[q]];
  return true;
}

static bool add_links(making *m) {
  tf_arena *a = m->e->a;
  for (int i = 0; i < m->e->plan->n; i++) {
    const tf_group *g = group_of(m, i)->group;
    npu_place *at = TF_ARRAY(a, npu_place, (size_t)g->workload->n_tensors);
    if (!at) return tf_out_of_memory(m->e->d);
    for (int t = 0; t < g->workload->n_tensors; t++)
      if (!find_place(m, g, t, &at[t])) return false;
    m->link[i] = (npu_link){group_of(m, i)->tree, at};
  }
  return true;
}

/* Times each group as a program of its own. */
static bool time_alone(making *m) {
  for (int i = 0; i < m->e->plan->n; i++) {
    const int like = group_of(m, i)->like;
    npu_terms t = {.cycles = m->alone[like]};
    if (like == i && !npu_predict(group_of(m, i)->tree, NPU_UNLIMITED, &t, m->e->d)) {
      const tf_op *op = &group_of(m, i)->group->workload->ops[0];
      return tf_note(m->e->d, op->at, "op '%.60s' is in this group, the plan's %d", op->name,
                     i + 1),
             false;
    }
    m->alone[i] = t.cycles;
  }
  return true;
}

/* ---- files ---------------------------------------------------------------------------------- */
static double begin_of(const making *m, int i) { return i ? m->end[i - 1] : 0; }
static double alone_all(const making *m) {
  double sum = 0;
  for (int i = 0; i < m->e->plan->n; i++)
    sum += m->alone[i];
  return sum;
}

static void manifest(FILE *out, const making *m) {
  npu_files_begin_manifest(out, &m->f);
  npu_files_terms(out, &m->f, &m->terms);
  fprintf(out, ", \"alone\": %.17g},\n  \"workspace\": %" PRId64 ",\n  \"groups\": [", alone_all(m),
          m->e->memory.bytes);
  for (int i = 0; i < m->e->plan->n; i++) {
    const tf_workload *wl = group_of(m, i)->group->workload;
    char *mapping = tf_tree_text(group_of(m, i)->tree);
    fprintf(out, "%s\n    {\"ops\": [", i ? "," : "");
    for (int o = 0; o < wl->n_ops; o++)
      fputs(o ? ", " : "", out), c_json_text(out, wl->ops[o].name);
    fprintf(out, "], \"like\": %d, \"cycles\": %.17g, \"alone\": %.17g, \"mapping\": ",
            group_of(m, i)->like + 1, m->end[i] - begin_of(m, i), m->alone[i]);
    c_json_text(out, mapping ? mapping : "");
    fputc('}', out);
    free(mapping);
  }
  fputs("\n  ]\n}\n", out);
}

static void readme(FILE *out, const making *m) {
  const net_emission *e = m->e;
  npu_files_begin_readme(out, &m->f);
  fprintf(out,
          "`manifest.json`: tensors, each group's mapping and cycles.\n\n"
          "A network of %d ops as %d groups (%d different ones), which run in turn in one program; "
          "what comes\n"
          "next begins while what comes before ends.  Inputs and weights are tensors of global "
          "memory in row-major order, as they are\n"
          "given: paths carry any strides at the same rate, so nothing is packed.  Between groups: "
          "%" PRId64 " bytes.\n",
          e->wl->n_ops, e->plan->n, e->plan->n_distinct, e->memory.bytes);
  npu_files_queue(out, &m->f, &m->terms);
  fprintf(out, "  Groups one after the other, each a program of its own: %.6g cycles.\n\n",
          alone_all(m));
  fputs("| Group | Has ended after | Of its own | Ops |\n|---|---|---|---|\n", out);
  for (int i = 0; i < e->plan->n; i++) {
    const tf_workload *wl = group_of(m, i)->group->workload;
    fprintf(out, "| %d | %.6g | %.6g |", i + 1, m->end[i], m->alone[i]);
    for (int o = 0; o < wl->n_ops; o++)
      fputc(' ', out), c_plain_text(out, wl->ops[o].name);
    fputs(" |\n", out);
  }
}

static void network_c(FILE *out, const making *m) { npu_files_c(out, &m->f); }
static void network_npu(FILE *out, const making *m) { npu_files_npu(out, &m->f); }
static void npu_h(FILE *out, const making *m) { npu_files_h(out, &m->f); }
static void test_c(FILE *out, const making *m) { npu_files_test(out, &m->f); }
static void makefile(FILE *out, const making *m) { npu_files_make(out, &m->f); }

static const struct {
  const char *name;
  void (*print)(FILE *out, const making *m);
} rows[] = {{"network.c", network_c},   {"network.npu", network_npu}, {"npu.h", npu_h},
            {"test.c", test_c},         {"Makefile", makefile},       {"README.md", readme},
            {"manifest.json", manifest}};
enum { N_ROWS = sizeof rows / sizeof *rows };

static tf_emitted *write_files(const making *m) {
  tf_emitted *out = net_files_new(N_ROWS);
  bool ok = out != NULL;
  for (int r = 0; r < N_ROWS && ok; r++) {
    char *text = NULL;
    size_t size = 0;
    FILE *f = open_memstream(&text, &size);
    if (f) rows[r].print(f, m);
    ok = f && fclose(f) == 0 && net_add_file(out, rows[r].name, text);
  }
  if (ok) return out;
  tf_emitted_free(out);
  tf_out_of_memory(m->e->d);
  return NULL;
}

/* ---- the whole network ---------------------------------------------------------------------- */
static bool begin_network(making *m) {
  net_emission *e = m->e;
  const size_t tensors = (size_t)e->wl->n_tensors, groups = (size_t)e->plan->n;
  e->a = tf_arena_new();
  if (!e->a) tf_out_of_memory(e->d);
  if (!e->a || !tf_net_memory_of(e->plan, e->wl, 0, &e->memory, e->d)) return false;
  m->tensor = TF_ARRAY(e->a, int, tensors);
  m->name = TF_ARRAY(e->a, const char *, tensors);
  m->link = TF_ARRAY(e->a, npu_link, groups);
  m->end = TF_ARRAY(e->a, double, groups);
  m->alone = TF_ARRAY(e->a, double, groups);
  if (m->tensor && m->name && m->link && m->end && m->alone)
    m->flat = npu_head_of(e->tree.arch, e->d);
  else
    tf_out_of_memory(e->d);
  return m->flat != NULL;
}

static bool lay(making *m) {
  if (!add_arguments(m)) return false;
  const size_t errors = tf_diags_errors(m->e->d);
  const int space = add_workspace(m);
  return tf_diags_errors(m->e->d) == errors && add_inner(m, space) && add_links(m);
}

tf_emitted *net_emit_npu(net_emission *e, const char *name) {
  making m = {.e = e};
  (void)name; /* programs have no names for a linker */
  bool ok = begin_network(&m) && lay(&m) && time_alone(&m) &&
            npu_chain_predict(m.flat, m.link, e->plan->n, m.end, &m.terms, e->d);
  if (!ok) tf_npu_free(m.flat);
  m.flat = ok ? npu_chain_compile(m.flat, m.link, e->plan->n, e->d) : NULL;
  tf_npu *rolled = m.flat ? npu_roll(m.flat) : NULL;
  m.f = (npu_folder){.wl = e->wl,
                     .arch = e->tree.arch,
                     .o = e->o,
                     .p = rolled,
                     .name = "network",
                     .file = m.name,
                     .links = e->plan->n};
  tf_emitted *out = rolled ? write_files(&m) : NULL;
  if (m.flat && !rolled) tf_out_of_memory(e->d);
  tf_npu_free(rolled);
  tf_npu_free(m.flat);
  return out;
}
