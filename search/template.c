/* The fused template: all ops in one Seq under the loops they can share, their own loops below, every trip count open. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tileflow/search.h"

enum { MAX_DIMS = 64 };

typedef struct {
  const tf_arch *arch;
  const tf_workload *wl;
  uint64_t reach[MAX_DIMS][MAX_DIMS]; /* [op][dim] dims of outputs of the workload that move the dim's range */
  int home;                  /* level whose instances work apart: intermediates live there */
  FILE *out;
} builder;

static bool is_output(const builder *b, int o) { return b->wl->tensors[b->wl->ops[o].out].n_consumers == 0; }

/* What moves the dims of op o's output through consumer c's read of it. */
static void pass_on(builder *b, int o, int c, const tf_ref *ref) {
  for (int r = 0; r < b->wl->ops[o].n_out_dims; r++)
    for (int t = 0; t < ref->index[r].n_terms; t++)
      b->reach[o][b->wl->ops[o].dims[r]] |= b->reach[c][ref->index[r].terms[t].dim];
}

static void find_reach(builder *b) {
  for (int i = b->wl->n_ops - 1; i >= 0; i--) {
    int o = b->wl->topo[i];
    const tf_op *op = &b->wl->ops[o];
    for (int k = 0; k < op->n_out_dims && is_output(b, o); k++)
      b->reach[o][op->dims[k]] |= UINT64_C(1) << op->dims[k];
    const tf_tensor *z = &b->wl->tensors[op->out];
    for (int i_c = 0; i_c < z->n_consumers; i_c++) {
      int c = z->consumers[i_c];
      for (int k = 0; k < b->wl->ops[c].n_reads; k++)
        if (b->wl->ops[c].reads[k].tensor == op->out) pass_on(b, o, c, &b->wl->ops[c].reads[k]);
    }
  }
}

/* Dims that all ops share: loops over them may stand above all. */
static uint64_t shared(const builder *b) {
  uint64_t all = ~UINT64_C(0);
  for (int o = 0; o < b->wl->n_ops; o++) {
    uint64_t any = 0;
    for (int d = 0; d < b->wl->n_dims; d++)
      any |= b->reach[o][d];
    all &= any;
  }
  return all;
}

static void open_loops(builder *b, uint64_t dims, const char *axis) {
  const char *word = axis ? " spatial" : " for";
  for (int d = 0; d < b->wl->n_dims; d++)
    if (dims >> d & 1) {
      fprintf(b->out, "%s %s=?%s", word, b->wl->dims[d].name, axis ? axis : "");
      word = "";
    }
}

static void line(builder *b, int depth, int level) {
  fprintf(b->out, "%*s%s", 2 * depth, "", b->arch->memories[level].name);
}

static void mesh_of(const builder *b, int level, int o, int64_t mesh[2]) {
  mesh[0] = mesh[1] = 1;
  if (level + 1 < b->arch->n_memories) {
    memcpy(mesh, b->arch->memories[level + 1].mesh, 2 * sizeof *mesh);
    return;
  }
  for (int u = b->arch->n_units - 1; u >= 0; u--)
    if (o >= 0 && !(b->wl->ops[o].kinds & ~b->arch->units[u].kinds)) memcpy(mesh, b->arch->units[u].mesh, 2 * sizeof *mesh);
}

/* The op's own loops at one level: the neighbours first, what is reduced last. */
static void own_loops(builder *b, const tf_op *op) {
  const char *word = " for";
  int last = op->n_out_dims - 1;
  for (int k = last; k < op->n_dims; k++) {
    if (k < 0) continue;
    if (k == last + 1)
      for (int i = 0; i < last; i++, word = "")
        fprintf(b->out, "%s %s=?", word, b->wl->dims[op->dims[i]].name);
    fprintf(b->out, "%s %s=?", word, b->wl->dims[op->dims[k]].name);
    word = "";
  }
  for (int i = 0; i < last && last + 1 == op->n_dims; i++, word = "")
    fprintf(b->out, "%s %s=?", word, b->wl->dims[op->dims[i]].name);
}

static void own_tiles(builder *b, int o, int depth, int from) {
  const tf_op *op = &b->wl->ops[o];
  for (int l = from; l < b->arch->n_memories; l++) {
    int64_t mesh[2];
    mesh_of(b, l, o, mesh);
    int n = op->n_out_dims ? op->dims[op->n_out_dims - 1] : op->n_dims ? op->dims[0] : -1;
    line(b, depth++, l);
    own_loops(b, op);
    const char *word = " spatial";
    for (int axis = 0; axis < 2 && n >= 0; axis++)
      if (mesh[axis] > 1) {
        fprintf(b->out, "%s %s=?@%c", word, b->wl->dims[n].name, axis ? 'y' : 'x');
        word = "";
      }
    fputc('\n', b->out);
  }
  fprintf(b->out, "%*sop %s\n", 2 * depth, "", op->name);
}

static int first_apart(const tf_arch *a) {
  for (int l = 1; l < a->n_memories; l++)
    if (a->memories[l].mesh[0] * a->memories[l].mesh[1] > 1) return l;
  return a->n_memories > 1;
}

/* " keep Z@LEVEL ..." for all intermediates. */
static void keep_homes(builder *b) {
  const char *word = " keep";
  for (int z = 0; z < b->wl->n_tensors; z++)
    if (b->wl->tensors[z].producer >= 0 && b->wl->tensors[z].n_consumers) {
      fprintf(b->out, "%s %s@%s", word, b->wl->tensors[z].name, b->arch->memories[b->home].name);
      word = "";
    }
}

static void whole(builder *b, bool streams) {
  uint64_t dims = shared(b);
  int depth = 0;
  for (int l = 0; l < b->home; l++) {
    int64_t mesh[2];
    mesh_of(b, l, -1, mesh);
    line(b, depth++, l);
    if (l == 0) open_loops(b, dims, NULL);
    if (mesh[0] > 1) open_loops(b, dims, "@x");
    fputc('\n', b->out);
  }
  if (!streams) {
    line(b, depth++, b->home);
    fputc('\n', b->out);
  }
  if (b->wl->n_ops > 1) {
    fprintf(b->out, "%*sSeq", 2 * depth++, "");
    if (streams) keep_homes(b);
    fputc('\n', b->out);
  }
  for (int i = 0; i < b->wl->n_ops; i++)
    own_tiles(b, b->wl->topo[i], depth, b->home - streams);
}

char *tf_search_template(const tf_arch *arch, const tf_workload *wl, bool streams) {
  builder b = {.arch = arch, .wl = wl, .home = first_apart(arch)};
  char *text = NULL;
  size_t n = 0;
  if (wl->n_ops > MAX_DIMS || wl->n_dims > MAX_DIMS) return NULL;
  find_reach(&b);
  if (!shared(&b) || b.home == 0) return NULL;
  b.out = open_memstream(&text, &n);
  if (!b.out) return NULL;
  whole(&b, streams);
  if (fclose(b.out) == 0) return text;
  free(text);
  return NULL;
}
