/* Convolutions of oneDNN 2 or 3 in C. */
#ifndef BENCH_DNNL_CONV_H
#define BENCH_DNNL_CONV_H
#include "dnnl_help.h"
#include "window.h"

/* A convolution, and where its operands stand. */
typedef struct {
  step s, lay; /* lay: weights, plain, into the layout of s; whoever runs s within the clock runs it
                  before */
  layout src_md, dst_md; /* those it works on */
  dnnl_memory_t src, dst;
} convolved;

static layout described(const dnnl_dims_t dims, dnnl_format_tag_t tag) {
  return tagged(4, dims, dnnl_f32, tag);
}

typedef struct {
  dnnl_dims_t dims, strides;
} extents;

/* The plain source without the last rows and columns that no window reaches: oneDNN knows no
 * negative padding. */
static extents reached(window w) {
  int h = (w.p - 1) * w.stride + w.r - w.pad, v = (w.q - 1) * w.stride + w.r - w.pad;
  return (extents){{w.batch, w.c, h < w.h ? h : w.h, v < w.w ? v : w.w},
                   {(dnnl_dim_t)w.c * w.h * w.w, w.h * w.w, w.w, 1}};
}

static dnnl_primitive_desc_t convolution_of(layout src, layout weights, layout dst,
                                            const dnnl_dims_t stride, const dnnl_dims_t before,
                                            const dnnl_dims_t behind, dnnl_primitive_attr_t attr) {
  dnnl_primitive_desc_t pd;
#if DNNL_VERSION_MAJOR >= 3
  const dnnl_dims_t close = {0, 0};
  CHECK(dnnl_convolution_forward_primitive_desc_create(&pd, engine, dnnl_forward_inference,
                                                       dnnl_convolution_auto, src, weights, NULL,
                                                       dst, stride, close, before, behind, attr));
#else
  dnnl_convolution_desc_t d;
  CHECK(dnnl_convolution_forward_desc_init(&d, dnnl_forward_inference, dnnl_convolution_auto, &src,
                                           &weights, NULL, &dst, stride, before, behind));
  CHECK(dnnl_primitive_desc_create(&pd, &d, attr, engine, NULL));
#endif
  return pd;
}

/* Arrays of a convolution.  The weights, plain here, are put as oneDNN likes them best.  Memory is
 * oneDNN's own where it is not plain. */
typedef struct {
  const layout *src_md; /* where the source already stands, in src; NULL: it may choose, or plain */
  dnnl_memory_t src;
  float *plain_src, *weights, *plain_dst;
  bool blocked; /* all layouts as oneDNN likes them best */
} arrays;

static convolved convolution(window w, arrays a, bool relu) {
  const bool blocked = a.blocked;
  extents from = reached(w);
  dnnl_dims_t dw = {w.f, w.c, w.r, w.r}, dd = {w.batch, w.f, w.p, w.q},
              stride = {w.stride, w.stride}, before = {w.pad, w.pad},
              behind = {(w.p - 1) * w.stride + w.r - from.dims[2] - w.pad,
                        (w.q - 1) * w.stride + w.r - from.dims[3] - w.pad};
  dnnl_format_tag_t tag = blocked ? dnnl_format_tag_any : dnnl_nchw;
  layout plain = described(dw, dnnl_oihw);
  convolved c;
  dnnl_primitive_desc_t pd = convolution_of(
      a.src_md ? *a.src_md : described(from.dims, tag), described(dw, dnnl_format_tag_any),
      described(dd, tag), stride, before, behind, relu ? after(dnnl_eltwise_relu) : NULL);
  CHECK(dnnl_primitive_create(&c.s.p, pd));
  c.src_md = asked(pd, dnnl_query_src_md);
  c.dst_md = asked(pd, dnnl_query_dst_md);
  dnnl_memory_t packed = memory(asked(pd, dnnl_query_weights_md), NULL);
  reorder(memory(plain, a.weights), packed);
  c.lay = put(memory(plain, a.weights), packed);
  bool whole = from.dims[2] == w.h &&
               from.dims[3] == w.w; /* else without gaps, beforehand: it is slow with them */
  c.src = a.src ? a.src : memory(c.src_md, blocked || !whole ? NULL : a.plain_src);
  c.dst = memory(c.dst_md, blocked ? NULL : a.plain_dst);
  if ((blocked || !whole) && !a.src)
    reorder(memory(strided(4, from.dims, dnnl_f32, from.strides), a.plain_src), c.src);
  c.s.args[0] = (dnnl_exec_arg_t){DNNL_ARG_SRC, c.src};
  c.s.args[1] = (dnnl_exec_arg_t){DNNL_ARG_WEIGHTS, packed};
  c.s.args[2] = (dnnl_exec_arg_t){DNNL_ARG_DST, c.dst};
  c.s.n = 3;
  return c;
}
#endif
