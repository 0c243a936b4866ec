#!/usr/bin/env python3
"""Writes the families of workloads that come from tables, one file per row of a table.

    python3 workloads/generate.py

The files are kept in the repository; run this after changing a table or a text below.
"""
import os

HERE = os.path.dirname(os.path.abspath(__file__))
THESIS = "thesis"


def write(path, text):
    full = os.path.join(HERE, path)
    os.makedirs(os.path.dirname(full), exist_ok=True)
    with open(full, "w", encoding="utf-8") as f:
        f.write(text)


def params(**kw):
    return "params: {" + ", ".join(f"{k}: {v}" for k, v in kw.items()) + "}\n"


# Thesis, table 3.5: batch, M, N, K, L, where the shape comes from.
CHAINS = [
    (8, 512, 64, 64, 512, "Bert-Small"),
    (12, 512, 64, 64, 512, "Bert-Base"),
    (16, 512, 64, 64, 512, "Bert-Large"),
    (12, 256, 64, 64, 256, "ViT-Base/14"),
    (16, 256, 64, 64, 256, "ViT-Large/14"),
    (16, 256, 80, 80, 256, "ViT-Huge/14"),
    (12, 208, 64, 64, 208, "ViT-Base/16"),
    (16, 208, 64, 64, 208, "ViT-Large/16"),
    (16, 208, 80, 80, 208, "ViT-Huge/16"),
    (1, 512, 64, 64, 256, "MLP-Mixer"),
    (1, 768, 64, 64, 384, "MLP-Mixer"),
    (1, 1024, 64, 64, 512, "MLP-Mixer"),
]

ATTENTION = """workload:
  name: attention-g{no}
  dims: {{b: batch, h: heads, m: seq, l: kv_seq, a: qk_dim, n: v_dim}}
  ops:
  - S[b,h,m,l] += Q[b,h,m,a] * K[b,h,l,a]
  - X[b,h,m] max= S[b,h,m,l]
  - D[b,h,m,l] = S[b,h,m,l] - X[b,h,m]
  - E[b,h,m,l] = exp(D[b,h,m,l])
  - Z[b,h,m] += E[b,h,m,l]
  - P[b,h,m,l] = E[b,h,m,l] / Z[b,h,m]
  - O[b,h,m,n] += P[b,h,m,l] * V[b,h,l,n]
"""

GEMM_CHAIN = """workload:
  name: gemm-chain-g{no}
  dims: {{b: batch, m: M, k: K, l: L, n: N}}
  ops:
  - C[b,m,l] += A[b,m,k] * B[b,k,l]
  - E[b,m,n] += C[b,m,l] * D[b,l,n]
"""


def chains():
    for no, (batch, m, n, k, l, net) in enumerate(CHAINS, 1):
        mixer = "" if batch > 1 else (
            "# (MLP-Mixer has no attention; the thesis runs the row's shape as one.)\n")
        write(f"attention/g{no}.yaml",
              f"# Self-attention with the shape of {net}: {THESIS} table 3.5, row G{no}.\n"
              "# The table's batch is the number of heads, its M and L the queries and keys, K and N the\n"
              "# widths of a head.  Softmax is its five ops: max, subtract, exp, sum, divide.\n" + mixer +
              params(batch=1, heads=batch, seq=m, kv_seq=l, qk_dim=k, v_dim=n) +
              ATTENTION.format(no=no))
        write(f"gemm-chain/g{no}.yaml",
              f"# Two batched matrix products in a row, shape of {net}: {THESIS} table 3.5, row G{no}.\n"
              "# (batch, M, K) x (batch, K, L), then (batch, M, L) x (batch, L, N).\n" +
              params(batch=batch, M=m, N=n, K=k, L=l) + GEMM_CHAIN.format(no=no))


# Thesis, table 3.6: IC, H, W, OC1, OC2, st1, st2, k1, k2.
CONV_CHAINS = [
    (64, 112, 112, 192, 128, 2, 1, 3, 1),
    (32, 147, 147, 64, 80, 2, 1, 3, 1),
    (64, 56, 56, 128, 64, 1, 1, 3, 1),
    (128, 28, 28, 256, 128, 1, 1, 3, 1),
    (16, 227, 227, 64, 16, 4, 1, 3, 1),
    (64, 56, 56, 64, 64, 1, 1, 1, 3),
    (64, 56, 56, 64, 64, 1, 1, 1, 1),
    (256, 56, 56, 256, 64, 1, 1, 1, 1),
]

CONV_CHAIN = """workload:
  name: {name}-c{no}
  dims:
    b: batch
    c: IC                           # first convolution: reads c, makes k at (p, q) with a window (r, s)
    k: OC1
    p: floor(H / st1)
    q: floor(W / st1)
    r: k1
    s: k1
    f: OC2                          # second: reads k, makes f at (x, y) with a window (u, v)
    x: floor(floor(H / st1) / st2)
    y: floor(floor(W / st1) / st2)
    u: k2
    v: k2
  tensors:
    I: {{pad: [0, 0, pad1, pad1], shape: [batch, IC, H, W]}}
    {mid}: {{pad: [0, 0, pad2, pad2]}}
  ops:
  - M[b,k,p,q] += I[b, c, st1*p + r - pad1, st1*q + s - pad1] * W1[k,c,r,s]
{relu}  - O[b,f,x,y] += {mid}[b, k, st2*x + u - pad2, st2*y + v - pad2] * W2[f,k,u,v]
"""


def conv_chains():
    for no, row in enumerate(CONV_CHAINS, 1):
        ic, h, w, oc1, oc2, st1, st2, k1, k2 = row
        for name, relu, mid, what in (
                ("conv-chain", "", "M", "Two convolutions in a row"),
                ("conv-chain-relu", "  - A[b,k,p,q] = relu(M[b,k,p,q])\n", "A",
                 "Two convolutions with a ReLU between them")):
            write(f"{name}/c{no}.yaml",
                  f"# {what}: {THESIS} table 3.6, row C{no}.\n"
                  "# The table gives the second one a map of floor(H / st1) by floor(W / st1), so windows of 3\n"
                  "# are padded by 1 (same padding).  `shape` is needed where a stride leaves rows unread.\n" +
                  params(batch=1, IC=ic, H=h, W=w, OC1=oc1, OC2=oc2, st1=st1, st2=st2, k1=k1, k2=k2,
                         pad1="floor(k1 / 2)", pad2="floor(k2 / 2)") +
                  CONV_CHAIN.format(name=name, no=no, relu=relu, mid=mid))


# Thesis, table 4.3: C, K, H and W, window, stride.
YOLO = [
    (3, 64, 448, 7, 2), (64, 192, 112, 3, 1), (192, 128, 56, 1, 1), (128, 256, 56, 3, 1),
    (256, 256, 56, 1, 1), (256, 512, 56, 3, 1), (512, 256, 28, 1, 1), (256, 512, 28, 3, 1),
    (512, 512, 28, 1, 1), (512, 1024, 28, 3, 1), (1024, 512, 14, 1, 1), (512, 1024, 14, 3, 1),
    (1024, 1024, 14, 3, 1), (1024, 1024, 14, 3, 2), (1024, 1024, 7, 3, 1),
]

# Thesis, table 5.4: c, k, p (= q), r (= s); the stride is ResNet-18's.
RESNET18 = [
    (3, 64, 112, 7, 2), (64, 64, 56, 3, 1), (64, 64, 56, 1, 1), (64, 128, 28, 3, 2),
    (64, 128, 28, 1, 2), (128, 128, 28, 3, 1), (128, 256, 14, 3, 2), (128, 256, 14, 1, 2),
    (256, 256, 14, 3, 1), (256, 512, 7, 3, 2), (256, 512, 7, 1, 2), (512, 512, 7, 3, 1),
]

CONV = """workload:
  name: {name}
  dims: {{n: batch, k: K, p: floor(H / st), q: floor(W / st), c: C, r: R, s: R}}
  tensors:
    I: {{pad: [0, 0, pad, pad], shape: [batch, C, H, W]}}
  ops:
  - O[n,k,p,q] += I[n, c, st*p + r - pad, st*q + s - pad] * F[k,c,r,s]
"""


def convs():
    for no, (c, k, hw, r, st) in enumerate(YOLO, 1):
        write(f"conv/yolo-c{no}.yaml",
              f"# Convolution of YOLO v1: {THESIS} table 4.3, layer C{no}, batch 1 (4.7.1), same padding.\n" +
              params(batch=1, C=c, K=k, H=hw, W=hw, R=r, st=st, pad="floor(R / 2)") +
              CONV.format(name=f"yolo-c{no}"))
    for no, (c, k, pq, r, st) in enumerate(RESNET18):
        write(f"conv/resnet18-c{no}.yaml",
              f"# Convolution of ResNet-18: {THESIS} table 5.4, layer C{no}, batch 16.\n"
              "# The table gives the output map; stride and padding are ResNet-18's (layers that halve the\n"
              "# map have stride 2), which makes the input map H by W.\n" +
              params(batch=16, C=c, K=k, H=pq * st, W=pq * st, R=r, st=st, pad="floor(R / 2)") +
              CONV.format(name=f"resnet18-c{no}"))


chains()
conv_chains()
convs()
