/* oneDNN 2 or 3 in C: engine, stream, memories, and products. */
#ifndef BENCH_DNNL_HELP_H
#define BENCH_DNNL_HELP_H
#include <dnnl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

static dnnl_engine_t engine;
static dnnl_stream_t stream;

#define CHECK(call)                                                                                \
  do {                                                                                             \
    dnnl_status_t status_ = (call);                                                                \
    if (status_ != dnnl_success) {                                                                 \
      fprintf(stderr, "%s:%d: oneDNN says %d\n", __FILE__, __LINE__, status_);                     \
      exit(2);                                                                                     \
    }                                                                                              \
  } while (0)

static void start(void) {
  CHECK(dnnl_engine_create(&engine, dnnl_cpu, 0));
  CHECK(dnnl_stream_create(&stream, engine, dnnl_stream_default_flags));
}

#if DNNL_VERSION_MAJOR < 3
#define dnnl_memory_desc_create_with_strides dnnl_memory_desc_init_by_strides
#define dnnl_memory_desc_create_with_tag dnnl_memory_desc_init_by_tag
#endif

/* How a tensor stands in memory.  Of oneDNN 3 they are never given back: some for each primitive.
 */
#if DNNL_VERSION_MAJOR >= 3
typedef const_dnnl_memory_desc_t layout;
#define LAYOUT(d) (d)
#else
typedef dnnl_memory_desc_t layout;
#define LAYOUT(d) (&(d))
#endif

static layout strided(int n, const dnnl_dims_t dims, dnnl_data_type_t type,
                      const dnnl_dims_t strides) {
  dnnl_memory_desc_t d;
  CHECK(dnnl_memory_desc_create_with_strides(&d, n, dims, type, strides));
  return d;
}

static layout tagged(int n, const dnnl_dims_t dims, dnnl_data_type_t type, dnnl_format_tag_t tag) {
  dnnl_memory_desc_t d;
  CHECK(dnnl_memory_desc_create_with_tag(&d, n, dims, type, tag));
  return d;
}

/* What a primitive works on: dnnl_query_src_md and its like. */
static layout asked(const_dnnl_primitive_desc_t pd, dnnl_query_t what) {
#if DNNL_VERSION_MAJOR >= 3
  return dnnl_primitive_desc_query_md(pd, what, 0);
#else
  return *dnnl_primitive_desc_query_md(pd, what, 0);
#endif
}

static dnnl_memory_t memory(layout d, void *data) {
  dnnl_memory_t m;
  CHECK(dnnl_memory_create(&m, LAYOUT(d), engine, data ? data : DNNL_MEMORY_ALLOCATE));
  return m;
}

typedef struct {
  dnnl_primitive_t p;
  dnnl_exec_arg_t args[4];
  int n;
} step;

static void take(step *s) { CHECK(dnnl_primitive_execute(s->p, stream, s->n, s->args)); }
static void finish(void) { CHECK(dnnl_stream_wait(stream)); }

static void take_all(step *s, int n) {
  for (int i = 0; i < n; i++)
    take(&s[i]);
  finish();
}

/* One memory's content into another, in its layout and type. */
static step put(dnnl_memory_t from, dnnl_memory_t to) {
#if DNNL_VERSION_MAJOR >= 3
  layout a, b;
#else
  const dnnl_memory_desc_t *a, *b;
#endif
  dnnl_primitive_desc_t pd;
  step s = {.args = {{DNNL_ARG_FROM, from}, {DNNL_ARG_TO, to}}, .n = 2};
  CHECK(dnnl_memory_get_memory_desc(from, &a));
  CHECK(dnnl_memory_get_memory_desc(to, &b));
  CHECK(dnnl_reorder_primitive_desc_create(&pd, a, engine, b, engine, NULL));
  CHECK(dnnl_primitive_create(&s.p, pd));
  dnnl_primitive_desc_destroy(pd);
  return s;
}

/* The same, at once. */
static void reorder(dnnl_memory_t from, dnnl_memory_t to) {
  step s = put(from, to);
  take_all(&s, 1);
  dnnl_primitive_destroy(s.p);
}

/* What follows while results are at hand: an element-wise function. */
static dnnl_primitive_attr_t after(dnnl_alg_kind_t function) {
  dnnl_post_ops_t ops;
  dnnl_primitive_attr_t attr;
  CHECK(dnnl_post_ops_create(&ops));
#if DNNL_VERSION_MAJOR >= 3
  CHECK(dnnl_post_ops_append_eltwise(ops, function, 0, 0));
#else
  CHECK(dnnl_post_ops_append_eltwise(ops, 1, function, 0, 0));
#endif
  CHECK(dnnl_primitive_attr_create(&attr));
  CHECK(dnnl_primitive_attr_set_post_ops(attr, ops));
  dnnl_post_ops_destroy(ops);
  return attr;
}

/* Row-major [b,r,c]; turned: it stands as [b,c,r]. */
static layout matrices(dnnl_data_type_t type, int b, int r, int c, bool turned) {
  dnnl_dims_t dims = {b, r, c}, strides = {(dnnl_dim_t)r * c, turned ? 1 : c, turned ? r : 1};
  return strided(3, dims, type, strides);
}

typedef struct {
  dnnl_data_type_t a, w, c;
} types;

static dnnl_primitive_desc_t product_of(layout a, layout w, layout c, dnnl_primitive_attr_t attr) {
  dnnl_primitive_desc_t pd;
#if DNNL_VERSION_MAJOR >= 3
  CHECK(dnnl_matmul_primitive_desc_create(&pd, engine, a, w, NULL, c, attr));
#else
  dnnl_matmul_desc_t d;
  CHECK(dnnl_matmul_desc_init(&d, &a, &w, NULL, &c));
  CHECK(dnnl_primitive_desc_create(&pd, &d, attr, engine, NULL));
#endif
  return pd;
}

/* c[b,m,n] = a[b,m,k] w[b,k,n] */
typedef struct {
  types t;
  int b, m, n, k;
  void *a, *w, *c;
  bool w_t;     /* w stands as [b,n,k] */
  bool blocked; /* w in the layout that oneDNN likes best, put so beforehand */
} matmul;

/* attr: what follows; NULL: nothing. */
static step product(matmul x, dnnl_primitive_attr_t attr) {
  const dnnl_dims_t dims = {x.b, x.k, x.n};
  layout ma = matrices(x.t.a, x.b, x.m, x.k, false), plain = matrices(x.t.w, x.b, x.k, x.n, x.w_t),
         mc = matrices(x.t.c, x.b, x.m, x.n, false);
  dnnl_primitive_desc_t pd =
      product_of(ma, x.blocked ? tagged(3, dims, x.t.w, dnnl_format_tag_any) : plain, mc, attr);
  step s;
  CHECK(dnnl_primitive_create(&s.p, pd));
  dnnl_memory_t weights = memory(plain, x.w);
  if (x.blocked) {
    dnnl_memory_t packed = memory(asked(pd, dnnl_query_weights_md), NULL);
    reorder(weights, packed);
    weights = packed;
  }
  s.args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, memory(ma, x.a)};
  s.args[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, weights};
  s.args[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, memory(mc, x.c)};
  s.n = 3;
  return s;
}

/* Softmax over the last of [b,m,l], in place. */
static step softmax(dnnl_data_type_t type, int b, int m, int l, void *x) {
  layout md = matrices(type, b, m, l, false);
  dnnl_primitive_desc_t pd;
  step s;
#if DNNL_VERSION_MAJOR >= 3
  CHECK(dnnl_softmax_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference,
                                                   dnnl_softmax_accurate, md, md, 2, NULL));
#else
  dnnl_softmax_desc_t d;
  CHECK(dnnl_softmax_forward_desc_init(&d, dnnl_forward_inference, &md, 2));
  CHECK(dnnl_primitive_desc_create(&pd, &d, NULL, engine, NULL));
#endif
  CHECK(dnnl_primitive_create(&s.p, pd));
  s.args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, memory(md, x)};
  s.args[1] = (dnnl_exec_arg_t){DNNL_ARG_DST, s.args[0].memory};
  s.n = 2;
  return s;
}

/* [b,r,c] in another type, within the clock. */
static step converted(dnnl_data_type_t from, void *x, dnnl_data_type_t to, void *y, int b, int r,
                      int c) {
  return put(memory(matrices(from, b, r, c, false), x), memory(matrices(to, b, r, c, false), y));
}
#endif
