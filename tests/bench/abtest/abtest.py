#!/usr/bin/env python3
"""Simulation harness for A/B verdicts.  Needs numpy and scipy only.
  abtest.py methods  [--reps 2000]      methods x scenarios: sessions to verdict, false verdicts
  abtest.py cluster  [--reps 2000]      intra-session correlation: per-response against per-session
  abtest.py onearm                      zero-failure bounds; one-arm 'removes it' prediction
  abtest.py product  --call mod:fn | --cmd "..."   drive the product's own verdict function, two words, response by response
                                        (whole blocks and every verdict word: verdict.py)
  abtest.py serve                       reference engine speaking the command protocol (self-test)
Arms: c = suspected-bad arm (predicted to fail more), t = arm expected to be better; delta = p_c - p_t.
'present' = delta <= 0 rejected; 'falsified' = delta >= margin rejected; else 'continue'."""

import argparse, importlib, json, subprocess, sys, time
import numpy as np
from scipy import stats, special

ALPHA, BETA, MARGIN = 0.01, 0.05, 0.05
UP, LO = np.log((1 - BETA) / ALPHA), np.log(BETA / (1 - ALPHA))
SCEN = [(0.17, 0.0), (0.17, 0.05), (0.17, 0.17), (0.02, 0.0), (0.0, 0.0)]


# ---------- information bounds -------------------------------------------------------------
def kl(a, b):
    return special.rel_entr(a, b) + special.rel_entr(1 - a, 1 - b)


def project(pc, pt, d):
    """Nearest (sum of the two KL) Bernoulli pair with p_c - p_t = d: bisection on the score in p_t."""
    pc, pt, d = np.broadcast_arrays(*(np.asarray(v, float) for v in (pc, pt, d)))
    lo, hi = np.maximum(0, -d), np.minimum(1, 1 - d)
    lo, hi = lo + 1e-12 * (hi - lo), hi - 1e-12 * (hi - lo)
    for _ in range(48):
        q = (lo + hi) / 2
        s = (pt - q) / (q * (1 - q)) + (pc - q - d) / ((q + d) * (1 - q - d))
        lo, hi = np.where(s > 0, q, lo), np.where(s > 0, hi, q)
    q = (lo + hi) / 2
    return np.clip(q + d, 0, 1), q


def info(pc, pt, d):
    qc, qt = project(pc, pt, d)
    return float(kl(pc, qc) + kl(pt, qt))


def bound(pc, pt, margin=MARGIN, alpha=ALPHA, beta=BETA):
    """Wald/KL lower bound on expected SESSIONS (both arms) to the quickest true verdict."""
    need = kl(1 - beta, alpha)
    d = max(info(pc, pt, 0.0) if pc > pt else 0, info(pc, pt, margin) if pc - pt < margin else 0)
    return 2 * need / d


# ---------- methods: (yc, yt) shape (R, N), looks -> (present, falsified) log evidence - threshold >= 0 ----
def counts(y, looks):
    return np.cumsum(y, axis=1)[:, looks - 1]


def fisher_n(pc, pt, alpha=ALPHA, power=1 - BETA, step=1, nmax=2000):
    """Smallest n per arm where one-sided Fisher has the power."""

    def pw(n):
        kc = np.arange(n + 1)
        wc, wt = stats.binom.pmf(kc, n, pc), stats.binom.pmf(kc, n, pt)
        C, T = kc[wc > 1e-9], kc[wt > 1e-9]
        p = stats.hypergeom.sf(C[:, None] - 1, 2 * n, C[:, None] + T[None], n)
        return float((wc[C][:, None] * wt[T][None] * (p <= alpha)).sum())

    n = 5
    while n < nmax and pw(n) < power:
        n += max(step, n // 40)
    return n


_crit = {}


def fisher_crit(n, k):
    """Smallest control count that one-sided Fisher calls significant, n per arm, k failures in all."""
    if (n, k) not in _crit:
        x = np.arange(max(0, k - n), min(n, k) + 1)
        g = special.gammaln
        lp = (
            2 * g(n + 1)
            - g(x + 1)
            - g(n - x + 1)
            - g(k - x + 1)
            - g(n - k + x + 1)
            - (g(2 * n + 1) - g(k + 1) - g(2 * n - k + 1))
        )
        ok = np.cumsum(np.exp(lp)[::-1])[::-1] <= ALPHA
        _crit[n, k] = x[ok.argmax()] if ok.any() else n + 1
    return _crit[n, k]


def fisher_peek(yc, yt, looks, **_):
    xc, xt = counts(yc, looks).astype(int), counts(yt, looks).astype(int)
    hit = np.zeros(xc.shape)
    for j, n in enumerate(looks):
        ks, inv = np.unique(xc[:, j] + xt[:, j], return_inverse=True)
        hit[:, j] = xc[:, j] >= np.array([fisher_crit(int(n), int(k)) for k in ks])[inv]
    return hit - 0.5, np.full(hit.shape, -1.0)


def wald(yc, yt, looks, pc=0.17, pt=0.0, margin=MARGIN, **_):
    """Known-p SPRT of the truth against its nearest rival: the practical limit."""
    true_present = pc > pt and not (pc - pt < margin and info(pc, pt, margin) > info(pc, pt, 0.0))
    a = (pc, pt)
    b = project(pc, pt, 0.0 if true_present else margin)
    xc, xt = counts(yc, looks), counts(yt, looks)
    L = lambda q: sum(
        special.xlogy(x, p) + special.xlog1py(looks - x, -p) for x, p in ((xc, q[0]), (xt, q[1]))
    )
    llr = L(a) - L(b)
    return (llr - UP, LO - llr) if true_present else (LO - llr, llr - UP)


def gsprt(yc, yt, looks, d1=0.05, **_):
    """Generalised SPRT, delta = d1 against delta = 0, nuisance rate maximised under each."""
    xc, xt = counts(yc, looks), counts(yt, looks)

    def ll(d):
        qc, qt = project(xc / looks, xt / looks, d)
        return sum(
            special.xlogy(x, q) + special.xlog1py(looks - x, -q) for x, q in ((xc, qc), (xt, qt))
        )

    llr = ll(d1) - ll(0.0)
    return llr - UP, LO - llr


def bf_betabin(yc, yt, looks, **_):
    """Beta(1,1) Bayes factor, two rates against one (not an e-process: the null is composite)."""
    xc, xt = counts(yc, looks), counts(yt, looks)
    B = special.betaln
    lb = B(xc + 1, looks - xc + 1) + B(xt + 1, looks - xt + 1) - B(xc + xt + 1, 2 * looks - xc - xt + 1)
    return np.where(xc > xt, lb + np.log(ALPHA), -1), -lb + np.log(ALPHA)


def msprt(yc, yt, looks, margin=MARGIN, tau=0.1, **_):
    """Normal-mixture mSPRT with plug-in variance (the web-platform form)."""
    a, b = counts(yc, looks) / looks, counts(yt, looks) / looks
    V = a * (1 - a) + b * (1 - b)

    def lam(d0):
        with np.errstate(all="ignore"):
            z = 0.5 * np.log(V / (V + looks * tau**2)) + looks**2 * tau**2 * (a - b - d0) ** 2 / (
                2 * V * (V + looks * tau**2)
            )
        return np.where(V > 0, z + np.log(ALPHA), -1)

    return np.where(a > b, lam(0.0), -1), np.where(a - b < margin, lam(margin), -1)


def discordant(yc, yt, looks, **_):
    """Exact pair e-process: only pairs where the arms differ count; uniform prior on (1/2, 1)."""
    n10, n01 = counts(yc * (1 - yt), looks), counts(yt * (1 - yc), looks)
    le = (
        (n10 + n01 + 1) * np.log(2)
        + special.betaln(n10 + 1, n01 + 1)
        + np.log(np.maximum(special.betaincc(n10 + 1, n01 + 1, 0.5), 1e-300))
    )
    return le + np.log(ALPHA), np.full(le.shape, -1.0)


def safe2x2(yc, yt, looks, margin=MARGIN, g=0.18, **_):
    """Plug-in safe 2x2 e-process (Beta(.18,.18) start), KL-projected on the boundary of each null."""
    R, N = yc.shape
    N = int(looks[-1])
    Sc, St = np.cumsum(yc, 1), np.cumsum(yt, 1)
    out = []
    for d0, side in ((0.0, 1), (margin, -1)):
        n = np.arange(N)
        z = np.zeros((R, 1))
        a = (np.hstack([z, Sc[:, : N - 1]]) + g) / (n + 2 * g)
        b = (np.hstack([z, St[:, : N - 1]]) + g) / (n + 2 * g)
        qa, qb = project(a, b, d0)
        inc = sum(
            np.log(y * p / q + (1 - y) * (1 - p) / (1 - q))
            for y, p, q in ((yc[:, :N], a, qa), (yt[:, :N], b, qb))
        )
        inc[(side * (a - b - d0) <= 0)] = 0  # no bet while the estimate sits inside the null
        out.append(np.cumsum(inc, 1)[:, looks - 1] + np.log(ALPHA))
    return out


def betting(yc, yt, looks, margin=MARGIN, cap=0.75, **_):
    """Betting on pair differences D in [-1,1] (Waudby-Smith/Ramdas style plug-in stake)."""
    D = yc - yt
    R, N = D.shape
    n = np.arange(N)
    z = np.zeros((R, 1))
    out = []
    m = (np.hstack([z, np.cumsum(D, 1)[:, :-1]])) / (n + 1)
    s2 = (np.hstack([z, np.cumsum(D * D, 1)[:, :-1]]) + 0.25) / (n + 1)
    for d0, s in ((0.0, 1), (margin, -1)):
        e = s * (m - d0)
        lamb = np.clip(e / (s2 - 2 * m * d0 + d0 * d0), 0, cap / (1 + s * d0))
        out.append(np.cumsum(np.log1p(lamb * s * (D - d0)), 1)[:, looks - 1] + np.log(ALPHA))
    return out


GC = np.array([0.01, 0.02, 0.035, 0.06, 0.1, 0.14, 0.19, 0.26, 0.35, 0.5, 0.7, 0.9])


def prior(pred=None, side="present"):
    """Fixed alternatives (p_c, p_t, weight).  A stated prediction takes half the mass.  Rest, for 'present': half on
    a clean treatment arm, half on a grid; for 'falsified': .3 on both clean, .5 on equal rates, .2 on t worse."""
    if side == "present":
        pts = [(c, 0.0, 0.5 / len(GC)) for c in GC]
        two = [(c, t) for c in GC for t in GC if t < c]
        pts += [(c, t, 0.5 / len(two)) for c, t in two]
    else:
        pts = (
            [(0.0, 0.0, 0.3)]
            + [(c, c, 0.5 / len(GC)) for c in GC]
            + [(c, min(0.99, 1.5 * c), 0.2 / len(GC)) for c in GC]
        )
    A = np.array(pts)
    if pred is not None:
        p = pred if side == "present" else (pred[0], pred[0])
        A[:, 2] *= 0.5
        A = np.vstack([A, [*p, 0.5]])
    return A


def mix_logE(xc, xt, n, d0, A):
    """Log of the KL-projected mixture e-process for the null boundary delta = d0 (counts may be fractional)."""
    qc, qt = project(A[:, 0], A[:, 1], d0)
    L = np.log
    with np.errstate(divide="ignore"):
        co = [
            np.maximum(v, -1e4)
            for v in (
                L(A[:, 0]) - L(qc),
                L(1 - A[:, 0]) - L(1 - qc),
                L(A[:, 1]) - L(qt),
                L(1 - A[:, 1]) - L(1 - qt),
            )
        ]
    x = [np.asarray(v, float)[..., None] for v in (xc, n - xc, xt, n - xt)]
    return special.logsumexp(sum(a * b for a, b in zip(x, co)) + L(A[:, 2]), axis=-1)


def mixture(yc, yt, looks, margin=MARGIN, pred=None, alpha=ALPHA, **_):
    """RECOMMENDED. Mixture of KL-projected e-values, both sides."""
    xc, xt = counts(yc, looks), counts(yt, looks)
    return [
        mix_logE(xc, xt, looks, d0, prior(pred, s)) + np.log(alpha)
        for d0, s in ((0.0, "present"), (margin, "falsified"))
    ]


METHODS = {
    "Fisher, peek each look": fisher_peek,
    "Wald SPRT, known p": wald,
    "GSPRT (design delta)": gsprt,
    "beta-binomial BF": bf_betabin,
    "mSPRT normal": msprt,
    "discordant-pair e": discordant,
    "safe 2x2 plug-in e": safe2x2,
    "betting CS on diff": betting,
    "mixture e, blind prior": mixture,
    "mixture e, predicted": mixture,
}


# ---------- simulation ---------------------------------------------------------------------
def sessions(rng, p, shape, icc=0.0, turns=1):
    """Failed-turn counts per session: beta-binomial(turns, p, icc)."""
    if p <= 0:
        return np.zeros(shape)
    th = p if icc == 0 else rng.beta(p * (1 - icc) / icc, (1 - p) * (1 - icc) / icc, shape)
    return rng.binomial(turns, th, shape).astype(float)


def look_grid(N, block=1):
    g = (
        np.unique(np.r_[np.arange(1, min(N, 300) + 1), np.arange(300, N + 1, 10)])
        if block == 1
        else np.arange(block, N + 1, block)
    )
    return g[g <= N]


def first(ep, ef, looks):
    """First look at which a verdict falls: (verdict 0 none, 1 present, 2 falsified; pairs used)."""
    hit = (ep >= 0) | (ef >= 0)
    any_ = hit.any(1)
    i = np.where(any_, hit.argmax(1), len(looks) - 1)
    r = np.arange(len(i))
    return np.where(~any_, 0, np.where(ep[r, i] >= 0, 1, 2)), looks[i]


def run(fn, gen, reps, looks, chunk=250, **kw):
    """Verdicts, pairs used, and whether 'present' was EVER reachable (no stop on 'falsified')."""
    V, Nn, E = [], [], []
    for k in range(0, reps, chunk):
        yc, yt = gen(min(chunk, reps - k))
        ep, ef = fn(yc, yt, looks, **kw)
        v, n = first(ep, ef, looks)
        V.append(v)
        Nn.append(n)
        E.append((ep >= 0).any(1))
    return np.concatenate(V), np.concatenate(Nn), np.concatenate(E)


def cmd_methods(a):
    scen = SCEN if not a.scen else [tuple(map(float, a.scen.split(",")))]
    print(
        "| p_c / p_t | method | mean sessions | x bound | p90 | present | falsified | none | false | ever present |\n|---|---|---|---|---|---|---|---|---|---|"
    )
    for pc, pt in scen:
        b = bound(pc, pt, a.margin)
        N = a.nmax
        looks = look_grid(N, a.block)
        d1 = pc - pt if pc > pt else a.margin
        if pc > pt and a.block == 1:
            n = fisher_n(pc, pt)
            print(
                f"| {pc} / {pt} | **bound {b:.0f}**; fixed-n Fisher planned | {2 * n} | {2 * n / b:.2f} | {2 * n} | .95 | - | .05 | <=.01 | - |"
            )
        else:
            print(f"| {pc} / {pt} | **bound {b:.0f}** | | | | | | | | |")
        for name, fn in METHODS.items():
            if a.only not in name:
                continue
            rng = np.random.default_rng(7)
            gen = lambda R: (sessions(rng, pc, (R, N)), sessions(rng, pt, (R, N)))
            kw = dict(pc=pc, pt=pt, d1=d1, margin=a.margin)
            if "predicted" in name:
                kw["pred"] = (0.17, 0.0) if pc == 0 else (pc, pt if pc > pt else 0.0)
            v, n, ever = run(fn, gen, a.reps, looks, **kw)
            fr = [np.mean(v == k) for k in (1, 2, 0)]
            false = fr[0] * (pc <= pt) + fr[1] * (pc - pt >= a.margin)
            print(
                f"| {pc} / {pt} | {name} | {2 * n.mean():.0f} | {2 * n.mean() / b:.2f} | {2 * np.quantile(n, 0.9):.0f} | {fr[0]:.3f} | {fr[1]:.3f} | {fr[2]:.3f} | {false:.4f} | {ever.mean():.4f} |",
                flush=True,
            )


def cmd_cluster(a):
    """4-turn sessions under the NULL (0.17/0.17, false 'present') and under 0.17/0.05 (cost)."""
    T = 4
    print(
        "| ICC | truth | analysis | method | present | falsified | ever present | mean sessions |\n|---|---|---|---|---|---|---|---|"
    )
    for icc in (0.0, 0.3, 0.7):
        for pc, pt in ((0.17, 0.17), (0.17, 0.05)):
            for unit in ("response", "session any", "session mean"):
                for name, fn in (
                    ("Fisher fixed n", None),
                    ("Fisher, peek", fisher_peek),
                    ("GSPRT", gsprt),
                    ("mixture e", mixture),
                    ("safe 2x2", safe2x2),
                ):
                    if unit == "session mean" and name in ("Fisher fixed n", "Fisher, peek", "GSPRT"):
                        continue
                    rng = np.random.default_rng(3)
                    N = 150 if fn is None else a.nmax // T

                    def gen(R):
                        s = [sessions(rng, p, (R, N), icc, T) for p in (pc, pt)]
                        if unit == "session any":
                            return [np.minimum(x, 1) for x in s]
                        if unit == "session mean":
                            return [x / T for x in s]
                        # responses in arrival order within a session (exchangeable): spread the failures at random
                        return [
                            (rng.random((R, N, T)).argsort(2).argsort(2) < x[..., None])
                            .reshape(R, N * T)
                            .astype(float)
                            for x in s
                        ]

                    per = T if unit == "response" else 1
                    if fn is None:
                        yc, yt = gen(a.reps)
                        n = yc.shape[1]
                        xc, xt = yc.sum(1), yt.sum(1)
                        p = stats.hypergeom.sf(xc - 1, 2 * n, xc + xt, n)
                        print(
                            f"| {icc} | {pc}/{pt} | {unit} | {name} (150/arm) | {np.mean(p <= ALPHA):.3f} | - | - | 300 |"
                        )
                        continue
                    looks = np.arange(per, N * per + 1, per) if per > 1 else look_grid(N)
                    v, n, ever = run(fn, gen, a.reps, looks, margin=a.margin, d1=0.1)
                    print(
                        f"| {icc} | {pc}/{pt} | {unit} | {name} | {np.mean(v == 1):.3f} | {np.mean(v == 2):.3f} | {ever.mean():.3f} | {2 * n.mean() / per:.0f} |",
                        flush=True,
                    )


def onearm_logE(x, n, p0, side):
    """One-arm mixture e-process: side 'high' tests p <= p0, 'low' tests p >= p0."""
    g = np.r_[0.0, 0.001, 0.003, GC]
    g = g[g > p0] if side == "high" else g[g < p0]
    with np.errstate(divide="ignore"):
        a, b = np.maximum(np.log(g / p0), -1e4), np.log((1 - g) / (1 - p0))
    x, n = (np.asarray(v, float)[..., None] for v in (x, n))
    return special.logsumexp(x * a + (n - x) * b, axis=-1) - np.log(len(g))


def cmd_onearm(a):
    print(
        "zero failures in n: exact (Clopper-Pearson) upper bound, anytime-valid upper bound\n| n | 95% | 99% | anytime 95% | anytime 99% |\n|---|---|---|---|---|"
    )
    grid = np.linspace(0.0005, 0.6, 1200)
    for n in (60, 77, 120, 240, 300, 480, 960):
        any_ = [
            next(p for p in grid if onearm_logE(0, n, p, "low") >= np.log(1 / al))
            for al in (0.05, 0.01)
        ]
        print(
            f"| {n} | {1 - 0.05 ** (1 / n):.4f} | {1 - 0.01 ** (1 / n):.4f} | {any_[0]:.4f} | {any_[1]:.4f} |"
        )
    print(
        "\nprediction 'treatment removes it' (p_t <= p0) refuted or supported on the treatment arm alone, alpha 0.01\n| p_t | p0 | side | bound | mean sessions | p90 |\n|---|---|---|---|---|---|"
    )
    rng = np.random.default_rng(5)
    n = np.arange(1, 2001)
    for p, p0, side in (
        (0.17, 0.01, "high"),
        (0.17, 0.02, "high"),
        (0.08, 0.01, "high"),
        (0.05, 0.01, "high"),
        (0.0, 0.05, "low"),
        (0.0, 0.02, "low"),
        (0.0, 0.01, "low"),
    ):
        x = np.cumsum(rng.random((a.reps, 2000)) < p, 1)
        e = onearm_logE(x, n, p0, side) >= np.log(1 / ALPHA)
        t = np.where(e.any(1), e.argmax(1) + 1, 2000)
        print(
            f"| {p} | {p0} | {side} | {kl(1 - BETA, ALPHA) / kl(p, p0):.0f} | {t.mean():.0f} | {np.quantile(t, 0.9):.0f} |"
        )


# ---------- product protocol ---------------------------------------------------------------
class Reference:
    """Reference engine.  start(cfg); block(list of outcome dicts) -> verdict dict."""

    def start(self, cfg):
        self.cfg = cfg
        self.s = {}
        self.done = None

    def block(self, rows):
        for r in rows:
            k = (r["arm"], r["block"], r["session"])
            self.s.setdefault(k, []).append(r["outcome"] == "corrupted")
        y = {
            a: [float(any(v)) for k, v in sorted(self.s.items()) if k[0] == a]
            for a in ("control", "treatment")
        }
        n = min(map(len, y.values()))
        xc, xt = (sum(y[a][:n]) for a in ("control", "treatment"))
        c = self.cfg
        pred = tuple(c["predicted"]) if c.get("predicted") else None
        th = np.log(1 / c["alpha"])
        e = [
            float(mix_logE(xc, xt, n, d, prior(pred, s)))
            for d, s in ((0.0, "present"), (c["margin"], "falsified"))
        ]
        v = "present" if e[0] >= th else "falsified" if e[1] >= th else "continue"
        out = dict(verdict=v, log_e=e, sessions=2 * n, failures=[xc, xt])
        if v != "continue" and c.get("interval", True):
            g = np.linspace(-0.99, 0.99, 199)
            lo = [d for d in g if mix_logE(xc, xt, n, d, prior(pred)) >= th]
            hi = [d for d in g if mix_logE(xc, xt, n, d, prior(pred, "falsified")) >= th]
            out["interval"] = [
                max([d for d in lo if d < (xc - xt) / n], default=-1.0),
                min([d for d in hi if d > (xc - xt) / n], default=1.0),
            ]
        return out


class Command:
    """Same interface over a command: JSON lines in, one JSON line out after each end_block."""

    def __init__(self, cmd):
        self.p = subprocess.Popen(
            cmd, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1
        )

    def start(self, cfg):
        self.p.stdin.write(json.dumps({"type": "start", **cfg}) + "\n")

    def block(self, rows):
        for r in rows:
            self.p.stdin.write(json.dumps({"type": "outcome", **r}) + "\n")
        self.p.stdin.write(json.dumps({"type": "end_block", "block": rows[0]["block"]}) + "\n")
        self.p.stdin.flush()
        return json.loads(self.p.stdout.readline())


def serve():
    e, rows = Reference(), []
    for line in sys.stdin:
        m = json.loads(line)
        t = m.pop("type")
        if t == "start":
            e.start(m)
            rows = []
        elif t == "outcome":
            rows.append(m)
        elif t == "end_block":
            print(json.dumps(e.block(rows)), flush=True)
            rows = []


def cmd_product(a):
    if a.cmd:
        eng = Command(a.cmd)
    elif a.call:
        m, f = a.call.split(":")
        eng = getattr(importlib.import_module(m), f)()
    else:
        eng = Reference()
    rng = np.random.default_rng(11)
    print(
        f"block = {a.block} sessions per arm, {a.turns} turns, ICC {a.icc}, margin {a.margin}, alpha {ALPHA}\n| p_c / p_t (per session) | bound | mean sessions | x bound | present | falsified | none | false | s per block |\n|---|---|---|---|---|---|---|---|---|"
    )
    for pc, pt in SCEN if not a.scen else [tuple(map(float, a.scen.split(",")))]:
        tally, used, secs, nb = [], [], 0.0, 0
        for r in range(a.reps):
            eng.start(
                dict(
                    alpha=ALPHA,
                    margin=a.margin,
                    predicted=[float(v) for v in a.pred.split(",")] if a.pred else None,
                    trial=r,
                    seed=int(rng.integers(1 << 30)),
                    interval=False,
                )
            )
            v = "continue"
            n = 0
            for b in range(max(1, a.nmax // a.block)):
                rows = []
                for arm, p in (("control", pc), ("treatment", pt)):
                    f = sessions(rng, p, (a.block,), a.icc, a.turns).astype(int)
                    rows += [
                        dict(
                            block=b,
                            arm=arm,
                            session=s,
                            turn=t,
                            outcome="corrupted" if t >= a.turns - f[s] else "ok",
                        )
                        for s in range(a.block)
                        for t in range(a.turns)
                    ]
                t0 = time.perf_counter()
                v = eng.block(rows)["verdict"]
                secs += time.perf_counter() - t0
                nb += 1
                n += a.block
                if v != "continue":
                    break
            tally.append(v)
            used.append(2 * n)
        fr = [tally.count(k) / a.reps for k in ("present", "falsified")]
        bd = bound(pc, pt, a.margin)
        print(
            f"| {pc} / {pt} | {bd:.0f} | {np.mean(used):.0f} | {np.mean(used) / bd:.2f} | {fr[0]:.3f} | {fr[1]:.3f} | {1 - sum(fr):.3f} | {fr[0] * (pc <= pt) + fr[1] * (pc - pt >= a.margin):.4f} | {secs / nb:.4f} |",
            flush=True,
        )


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("what", choices=["methods", "cluster", "onearm", "product", "serve"])
    ap.add_argument("--reps", type=int, default=2000)
    ap.add_argument("--nmax", type=int, default=3000)
    ap.add_argument("--block", type=int, default=1)
    ap.add_argument("--margin", type=float, default=MARGIN)
    ap.add_argument("--scen")
    ap.add_argument("--only", default="")
    ap.add_argument("--call")
    ap.add_argument("--cmd")
    ap.add_argument("--pred", default=".17,0")
    ap.add_argument("--icc", type=float, default=0.0)
    ap.add_argument("--turns", type=int, default=1)
    a = ap.parse_args()
    {"methods": cmd_methods, "cluster": cmd_cluster, "onearm": cmd_onearm, "product": cmd_product}.get(
        a.what, lambda _: serve()
    )(a)
