/* Convolutions of oneDNN 2 in C. */
#ifndef BENCH_DNNL_CONV_H
#define BENCH_DNNL_CONV_H
#include "dnnl_help.h"
#include "window.h"

/* A convolution, and where its operands stand. */
typedef struct {
  step s, lay; /* lay: weights, plain, into the layout of s; whoever runs s within the clock runs it before */
  dnnl_memory_desc_t src_md, dst_md; /* in the layouts it works on */
  dnnl_memory_t src, dst;
} convolved;

static dnnl_memory_desc_t described(const dnnl_dims_t dims, dnnl_format_tag_t tag) {
  dnnl_memory_desc_t d;
  CHECK(dnnl_memory_desc_init_by_tag(&d, 4, dims, dnnl_f32, tag));
  return d;
}

/* The plain source without the last rows and columns that no window reaches: oneDNN knows no negative padding. */
static dnnl_memory_desc_t reached(window w) {
  int h = (w.p - 1) * w.stride + w.r - w.pad, v = (w.q - 1) * w.stride + w.r - w.pad;
  dnnl_dims_t dims = {w.batch, w.c, h < w.h ? h : w.h, v < w.w ? v : w.w},
              strides = {(dnnl_dim_t)w.c * w.h * w.w, w.h * w.w, w.w, 1};
  dnnl_memory_desc_t d;
  CHECK(dnnl_memory_desc_init_by_strides(&d, 4, dims, dnnl_f32, strides));
  return d;
}

/* blocked: all layouts as oneDNN likes them best.  src_md: where the source already stands; NULL: it may choose, or
 * plain. The weights, plain at `weights`, are put so here.  Memory is oneDNN's own where it is not plain. */
static convolved convolution(window w, const dnnl_memory_desc_t *src_md, dnnl_memory_t src, float *plain_src,
                             float *weights, float *plain_dst, bool blocked, bool relu) {
  dnnl_memory_desc_t from = reached(w);
  dnnl_dims_t dw = {w.f, w.c, w.r, w.r}, dd = {w.batch, w.f, w.p, w.q}, stride = {w.stride, w.stride},
              before = {w.pad, w.pad},
              behind = {(w.p - 1) * w.stride + w.r - from.dims[2] - w.pad,
                        (w.q - 1) * w.stride + w.r - from.dims[3] - w.pad};
  dnnl_format_tag_t tag = blocked ? dnnl_format_tag_any : dnnl_nchw;
  dnnl_memory_desc_t ms = src_md ? *src_md : described(from.dims, tag), mw = described(dw, dnnl_format_tag_any),
                     md = described(dd, tag), plain = described(dw, dnnl_oihw);
  dnnl_convolution_desc_t d;
  dnnl_primitive_desc_t pd;
  convolved c;
  CHECK(dnnl_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_auto, &ms, &mw, NULL, &md,
                                           stride, before, behind));
  dnnl_primitive_attr_t attr = relu ? after(dnnl_eltwise_relu) : NULL;
  CHECK(dnnl_primitive_desc_create(&pd, &d, attr, engine, NULL));
  CHECK(dnnl_primitive_create(&c.s.p, pd));
  c.src_md = *dnnl_primitive_desc_query_md(pd, dnnl_query_src_md, 0);
  c.dst_md = *dnnl_primitive_desc_query_md(pd, dnnl_query_dst_md, 0);
  dnnl_memory_t packed = memory(dnnl_primitive_desc_query_md(pd, dnnl_query_weights_md, 0), NULL);
  reorder(memory(&plain, weights), packed);
  c.lay = put(memory(&plain, weights), packed);
  bool whole = from.dims[2] == w.h && from.dims[3] == w.w; /* else without gaps, beforehand: it is slow with them */
  c.src = src ? src : memory(&c.src_md, blocked || !whole ? NULL : plain_src);
  c.dst = memory(&c.dst_md, blocked ? NULL : plain_dst);
  if ((blocked || !whole) && !src) reorder(memory(&from, plain_src), c.src);
  c.s.args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, c.src};
  c.s.args[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, packed};
  c.s.args[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, c.dst};
  c.s.n = 3;
  return c;
}
#endif
