"""Networks whose training step is emitted and raced: each as a workload that ends in the loss L, and as the same in PyTorch.

A network is a function of nothing that returns Net: the workload's text, the names of its parameters, and `loss`, which takes tensors by
name and returns the loss.  Random values: `spread` gives the standard deviation of inputs, and what is added, where it is not 0.1 and 0."""
import dataclasses


@dataclasses.dataclass
class Net:
    text: str
    by: list
    loss: object
    spread: dict = dataclasses.field(default_factory=dict)


def workload(name, dims, ops, tensors=""):
    size = ", ".join(f"{k}: {v}" for k, v in dims.items())
    return f"workload:\n  name: {name}\n  dims: {{{size}}}\n{tensors}  ops:\n" + "".join(f"  - {x}\n" for x in ops)


def mlp(b=64, k=256, l=512, n=64):
    def loss(torch, v):
        y = torch.relu(v["X"] @ v["W1"] + v["B1"]) @ v["W2"] + v["B2"]
        return ((y - v["T"]) ** 2).sum()

    ops = ["H[m,l] += X[m,k] * W1[k,l]", "G[m,l] = relu(H[m,l] + B1[l])", "Y[m,n] += G[m,l] * W2[l,n]", "E[m,n] = Y[m,n] + B2[n] - T[m,n]",
           "L[] += E[m,n] * E[m,n]"]
    return Net(workload("mlp", dict(m=b, k=k, l=l, n=n), ops), ["W1", "B1", "W2", "B2"], loss)


def resnet_block(n=4, c=32, h=16):
    """Two 3 x 3 convolutions with batch normalisation (of the batch), ReLU and the input added."""

    def norm(torch, x, g, b):
        return torch.nn.functional.batch_norm(x, None, None, g, b, training=True, eps=1e-5)

    def loss(torch, v):
        f = torch.nn.functional
        y = torch.relu(norm(torch, f.conv2d(v["X"], v["W1"], padding=1), v["G1"], v["B1"]))
        y = torch.relu(norm(torch, f.conv2d(y, v["W2"], padding=1), v["G2"], v["B2"]) + v["X"])
        return ((y - v["T"]) ** 2).sum()

    def batch_norm(i, x, g, b):
        size = n * h * h
        return [f"M{i}[k] += {x}[n,k,p,q] * {1 / size!r}", f"C{i}[n,k,p,q] = {x}[n,k,p,q] - M{i}[k]", f"V{i}[k] += C{i}[n,k,p,q] * C{i}[n,k,p,q]",
                f"R{i}[k] = 1 / sqrt(V{i}[k] * {1 / size!r} + 0.00001)"]

    ops = ["Y1[n,k,p,q] += X[n,c,p + r - 1,q + s - 1] * W1[k,c,r,s]", *batch_norm(1, "Y1", "G1", "B1"),
           "A1[n,k,p,q] = relu(C1[n,k,p,q] * R1[k] * G1[k] + B1[k])", "Y2[n,k,p,q] += A1[n,c,p + r - 1,q + s - 1] * W2[k,c,r,s]",
           *batch_norm(2, "Y2", "G2", "B2"), "A2[n,k,p,q] = relu(C2[n,k,p,q] * R2[k] * G2[k] + B2[k] + X[n,k,p,q])",
           "E[n,k,p,q] = A2[n,k,p,q] - T[n,k,p,q]", "L[] += E[n,k,p,q] * E[n,k,p,q]"]
    pads = "  tensors: {X: {pad: [0, 0, 1, 1]}, A1: {pad: [0, 0, 1, 1]}}\n"
    return Net(workload("resnet-block", dict(n=n, k=c, c=c, p=h, q=h, r=3, s=3), ops, pads), ["W1", "G1", "B1", "W2", "G2", "B2"], loss,
               {"X": (1, 0), "T": (1, 0), "G1": (0.1, 1), "G2": (0.1, 1)})


def gpt_block(tokens=128, heads=4, a=64):
    """A transformer block with causal attention, layer normalisation before each half, and GELU."""
    d = heads * a

    def loss(torch, v):
        f = torch.nn.functional

        def split(x, w):
            return (x @ w.reshape(d, d)).reshape(tokens, heads, a).transpose(0, 1)

        x = v["X"]
        u = f.layer_norm(x, (d,), v["G1"], v["B1"], 1e-5)
        o = f.scaled_dot_product_attention(split(u, v["WQ"])[None], split(u, v["WK"])[None], split(u, v["WV"])[None], is_causal=True)[0]
        x = x + o.transpose(0, 1).reshape(tokens, d) @ v["WO"].reshape(d, d)
        u = f.layer_norm(x, (d,), v["G2"], v["B2"], 1e-5)
        x = x + f.gelu(u @ v["W1"] + v["C1"]) @ v["W2"] + v["C2"]
        return ((x - v["T"]) ** 2).sum()

    def norm(i, x):
        return [f"M{i}[m] += {x}[m,d] * {1 / d!r}", f"Z{i}[m,d] = {x}[m,d] - M{i}[m]", f"V{i}[m] += Z{i}[m,d] * Z{i}[m,d]",
                f"R{i}[m] = 1 / sqrt(V{i}[m] * {1 / d!r} + 0.00001)", f"U{i}[m,d] = Z{i}[m,d] * R{i}[m] * G{i}[d] + B{i}[d]"]

    ops = [*norm(1, "X"), "Q[h,m,a] += U1[m,d] * WQ[d,h,a]", "K[h,l,a] += U1[l,d] * WK[d,h,a]", "VV[h,l,a] += U1[l,d] * WV[d,h,a]",
           "S[h,m,l] += Q[h,m,a] * K[h,l,a]", f"SM[h,m,l] = select(l <= m, S[h,m,l] * {a ** -0.5!r}, -inf)", "MX[h,m] max= SM[h,m,l]",
           "EX[h,m,l] = exp(SM[h,m,l] - MX[h,m])", "SUM[h,m] += EX[h,m,l]", "P[h,m,l] = EX[h,m,l] / SUM[h,m]",
           "O[h,m,a] += P[h,m,l] * VV[h,l,a]", "Y[m,d] += O[h,m,a] * WO[h,a,d]", "X2[m,d] = X[m,d] + Y[m,d]", *norm(2, "X2"),
           "H[m,f] += U2[m,d] * W1[d,f]", "HG[m,f] = gelu(H[m,f] + C1[f])", "Y2[m,d] += HG[m,f] * W2[f,d]",
           "E[m,d] = X2[m,d] + Y2[m,d] + C2[d] - T[m,d]", "L[] += E[m,d] * E[m,d]"]
    return Net(workload("gpt-block", dict(m=tokens, l=tokens, d=d, h=heads, a=a, f=4 * d), ops),
               ["G1", "B1", "WQ", "WK", "WV", "WO", "G2", "B2", "W1", "C1", "W2", "C2"], loss,
               {"X": (1, 0), "T": (1, 0), "G1": (0.1, 1), "G2": (0.1, 1), **{w: (0.06, 0) for w in ("WQ", "WK", "WV", "WO", "W1", "W2")}})


# ---- recurrent cells over some steps; X1 .. and the loss of the last state --------------------------------------------------------
def unroll(name, dims, steps, cell, start, by, loss, spread=None):
    """cell(t): ops of step t; reads H{t-1}."""
    ops = [x for t in range(1, steps + 1) for x in cell(t)]
    ops += [f"E[b,h] = H{steps}[b,h] - T[b,h]", "L[] += E[b,h] * E[b,h]"]
    return Net(workload(name, dims, ops), by, loss, {**{f"X{t}": (1, 0) for t in range(1, steps + 1)}, "T": (1, 0), **(spread or {})})


def loss_of(steps, cell, start):
    def loss(torch, v):
        state = tuple(v[s] for s in start)
        for t in range(1, steps + 1):
            state = cell(torch, v, v[f"X{t}"], state)
        return ((state[0] - v["T"]) ** 2).sum()

    return loss


def mi_lstm(b=16, x=128, h=256, steps=4):
    """Wu et al., 2016: gates of alpha Wx Uh + beta1 Uh + beta2 Wx + bias."""

    def cell(torch, v, xt, state):
        hidden, c = state
        a, u = xt @ v["W"].reshape(x, -1), hidden @ v["U"].reshape(h, -1)
        p = (v["AL"].flatten() * a * u + v["BU"].flatten() * u + v["BW"].flatten() * a + v["BI"].flatten()).chunk(4, 1)
        i, f, o, g = torch.sigmoid(p[0]), torch.sigmoid(p[1]), torch.sigmoid(p[2]), torch.tanh(p[3])
        c = f * c + i * g
        return o * torch.tanh(c), c

    def ops(t):
        a, u = f"A{t}[b,g,h]", f"C{t}[b,g,h]"
        return [f"A{t}[b,g,h] += X{t}[b,x] * W[x,g,h]", f"C{t}[b,g,h] += H{t - 1}[b,k] * U[k,g,h]",
                f"P{t}[b,g,h] = AL[g,h] * {a} * {u} + BU[g,h] * {u} + BW[g,h] * {a} + BI[g,h]",
                *[f"{n}{t}[b,h] = {f}(P{t}[b,{g},h])" for g, (n, f) in enumerate([("I", "sigmoid"), ("F", "sigmoid"), ("O", "sigmoid"), ("G", "tanh")])],
                f"S{t}[b,h] = F{t}[b,h] * S{t - 1}[b,h] + I{t}[b,h] * G{t}[b,h]", f"TS{t}[b,h] = tanh(S{t}[b,h])", f"H{t}[b,h] = O{t}[b,h] * TS{t}[b,h]"]

    return unroll("mi-lstm", dict(b=b, x=x, g=4, h=h, k=h), steps, ops, ("H0", "S0"), ["W", "U", "AL", "BU", "BW", "BI"], loss_of(steps, cell, ("H0", "S0")),
                  {"AL": (0.1, 1), "BU": (0.1, 0.5), "BW": (0.1, 0.5)})


def sub_lstm(b=16, x=128, h=256, steps=4):
    """Costa et al., 2017: gates subtract."""

    def cell(torch, v, xt, state):
        hidden, c = state
        p = torch.sigmoid(xt @ v["W"].reshape(x, -1) + hidden @ v["U"].reshape(h, -1) + v["BI"].flatten()).chunk(4, 1)
        i, f, o, z = p
        c = f * c + z - i
        return torch.sigmoid(c) - o, c

    def ops(t):
        return [f"A{t}[b,g,h] += X{t}[b,x] * W[x,g,h]", f"C{t}[b,g,h] += H{t - 1}[b,k] * U[k,g,h]", f"P{t}[b,g,h] = sigmoid(A{t}[b,g,h] + C{t}[b,g,h] + BI[g,h])",
                f"S{t}[b,h] = P{t}[b,1,h] * S{t - 1}[b,h] + P{t}[b,3,h] - P{t}[b,0,h]", f"TS{t}[b,h] = sigmoid(S{t}[b,h])", f"H{t}[b,h] = TS{t}[b,h] - P{t}[b,2,h]"]

    return unroll("sublstm", dict(b=b, x=x, g=4, h=h, k=h), steps, ops, ("H0", "S0"), ["W", "U", "BI"], loss_of(steps, cell, ("H0", "S0")))


def lltm(b=16, x=128, h=256, steps=4):
    """The cell of PyTorch's tutorial on extensions: three gates, an ELU, no forget gate."""

    def cell(torch, v, xt, state):
        hidden, c = state
        i, o, g = (xt @ v["W"].reshape(x, -1) + hidden @ v["U"].reshape(h, -1) + v["BI"].flatten()).chunk(3, 1)
        c = c + torch.nn.functional.elu(g) * torch.sigmoid(i)
        return torch.tanh(c) * torch.sigmoid(o), c

    def ops(t):
        return [f"A{t}[b,g,h] += X{t}[b,x] * W[x,g,h]", f"C{t}[b,g,h] += H{t - 1}[b,k] * U[k,g,h]", f"P{t}[b,g,h] = A{t}[b,g,h] + C{t}[b,g,h] + BI[g,h]",
                f"I{t}[b,h] = sigmoid(P{t}[b,0,h])", f"O{t}[b,h] = sigmoid(P{t}[b,1,h])", f"Z{t}[b,h] = P{t}[b,2,h]", f"G{t}[b,h] = select(0 < Z{t}[b,h], Z{t}[b,h], exp(Z{t}[b,h]) - 1)", f"S{t}[b,h] = S{t - 1}[b,h] + G{t}[b,h] * I{t}[b,h]",
                f"TS{t}[b,h] = tanh(S{t}[b,h])", f"H{t}[b,h] = TS{t}[b,h] * O{t}[b,h]"]

    return unroll("lltm", dict(b=b, x=x, g=3, h=h, k=h), steps, ops, ("H0", "S0"), ["W", "U", "BI"], loss_of(steps, cell, ("H0", "S0")))


def scrnn(b=16, x=128, h=256, s=64, steps=4):
    """Mikolov et al., 2014: a slow context beside the hidden state."""

    def cell(torch, v, xt, state):
        hidden, c = state
        c = 0.05 * (xt @ v["WB"]) + 0.95 * c
        return torch.sigmoid(c @ v["WP"] + xt @ v["WA"] + hidden @ v["WR"]), c

    def ops(t):
        return [f"B{t}[b,s] += X{t}[b,x] * WB[x,s]", f"S{t}[b,s] = 0.05 * B{t}[b,s] + 0.95 * S{t - 1}[b,s]", f"P{t}[b,h] += S{t}[b,s] * WP[s,h]",
                f"A{t}[b,h] += X{t}[b,x] * WA[x,h]", f"R{t}[b,h] += H{t - 1}[b,k] * WR[k,h]", f"H{t}[b,h] = sigmoid(P{t}[b,h] + A{t}[b,h] + R{t}[b,h])"]

    return unroll("scrnn", dict(b=b, x=x, s=s, h=h, k=h), steps, ops, ("H0", "S0"), ["WB", "WP", "WA", "WR"], loss_of(steps, cell, ("H0", "S0")))


def capsules(b=16, i=128, d=8, j=10, e=16, rounds=3):
    """The capsule layer of Sabour et al., 2017, with its routing, behind primary capsules that are given; the margin loss."""

    def squash(torch, s):
        n = (s * s).sum(-1, keepdim=True)
        return s * (n / (1 + n) / torch.sqrt(n + 1e-9))

    def loss(torch, v):
        u = torch.einsum("bid,ijde->bije", v["X"], v["W"])
        logits = torch.zeros(b, i, j)
        for r in range(rounds):
            out = squash(torch, torch.einsum("bij,bije->bje", torch.softmax(logits, 2), u))
            if r < rounds - 1:
                logits = logits + torch.einsum("bije,bje->bij", u, out)
        n = torch.sqrt((out * out).sum(-1) + 1e-9)
        return (v["T"] * torch.relu(0.9 - n) ** 2 + 0.5 * (1 - v["T"]) * torch.relu(n - 0.1) ** 2).sum()

    ops, logits = ["U[b,i,j,e] += X[b,i,d] * W[i,j,d,e]"], None
    for r in range(1, rounds + 1):
        if logits:
            ops += [f"MX{r}[b,i] max= {logits}[b,i,j]", f"EX{r}[b,i,j] = exp({logits}[b,i,j] - MX{r}[b,i])", f"Z{r}[b,i] += EX{r}[b,i,j]", f"C{r}[b,i,j] = EX{r}[b,i,j] / Z{r}[b,i]",
                    f"S{r}[b,j,e] += C{r}[b,i,j] * U[b,i,j,e]"]
        else:
            ops += [f"S{r}[b,j,e] += U[b,i,j,e] * {1 / j!r}"]
        ops += [f"N{r}[b,j] += S{r}[b,j,e] * S{r}[b,j,e]", f"Q{r}[b,j] = N{r}[b,j] / (1 + N{r}[b,j]) / sqrt(N{r}[b,j] + 0.000000001)", f"V{r}[b,j,e] = S{r}[b,j,e] * Q{r}[b,j]"]
        if r < rounds:
            ops += [f"D{r}[b,i,j] += U[b,i,j,e] * V{r}[b,j,e]"] + ([f"B{r}[b,i,j] = {logits}[b,i,j] + D{r}[b,i,j]"] if logits else [])
            logits = f"B{r}" if logits else f"D{r}"
    ops += [f"LN[b,j] += V{rounds}[b,j,e] * V{rounds}[b,j,e]", "NV[b,j] = sqrt(LN[b,j] + 0.000000001)", "P1[b,j] = relu(0.9 - NV[b,j])", "P2[b,j] = relu(NV[b,j] - 0.1)",
            "L[] += T[b,j] * P1[b,j] * P1[b,j] + 0.5 * (1 - T[b,j]) * P2[b,j] * P2[b,j]"]
    return Net(workload("capsules", dict(b=b, i=i, d=d, j=j, e=e), ops), ["W"], loss, {"X": (0.5, 0)})


NETS = {"mlp": mlp, "resnet-block": resnet_block, "gpt-block": gpt_block, "mi-lstm": mi_lstm, "capsules": capsules, "scrnn": scrnn, "sublstm": sub_lstm, "lltm": lltm}

SOURCES = {"mlp": "The feed-forward half of a transformer layer with ReLU, and a squared error", "resnet-block": "He et al., 2016, figure 2, with batch normalisation of the batch",
           "gpt-block": "Radford et al., 2019: normalisation before attention and before the two products with GELU", "mi-lstm": "Wu et al., 2016: multiplicative integration",
           "capsules": "Sabour et al., 2017: the layer of digit capsules with three rounds of routing, and the margin loss", "scrnn": "Mikolov et al., 2014: structurally constrained",
           "sublstm": "Costa et al., 2017: subtractive gates", "lltm": "PyTorch's tutorial on C++ extensions: long long-term memory"}


def main(folder):
    for name, net in NETS.items():
        made = net()
        with open(f"{folder}/{name}.yaml", "w") as f:
            f.write(f"# {SOURCES[name]}.\n# Parameters: {','.join(made.by)}.  Written by bench/training/models.py, which has the same in PyTorch.\n{made.text}")


if __name__ == "__main__":
    import sys

    main(sys.argv[1])
