#!/usr/bin/env python3
"""The whole verdict of a run (RULES 1 to 6): reference implementation, scenarios, and the product's yardstick.

  verdict.py table  [--reps 1000] [--only main|plain|partial|own|errors|drift]   shares of every verdict word, sessions, starts
  verdict.py product --call module:factory | --cmd "command" [--reps 100] [--only main]   the same for a product, on the
                    same data as the reference, with the share of trials where both say the same word
  verdict.py serve                                                  the reference, speaking the command protocol
`--lean` and `--steady` switch on two changes to the rules as written (see README.md).
The protocol is in README.md.  A trial is an array of session statuses (blocks, 2 arms, m) in assignment order;
arm 0 is control, arm 1 is treatment; 0 clean, 1 hit, 2 errored.  All functions take many trials at once (axis 0).
"""

import argparse, importlib, json, subprocess, sys, time
import numpy as np
from scipy import special
from tests.bench.abtest.abtest import GC, onearm_logE, prior, project
from tests.bench.abtest.design import signflip_logE

WORDS = [
    "present",
    "present-but-small",
    "falsified",
    "prediction-refuted",
    "not-reproduced",
    "inconclusive",
]
GO = -1
CONFIG = dict(
    alpha=0.01,
    margin="half-control",
    predicted=[0.17, 0.0],
    removes=True,
    floor=0.0425,
    p0=0.01,
    design_effect="starts",
    lifecycle="engine",
    min_blocks=2,
    max_blocks=12,
    lean=False,
    steady=False,
)


def config(reference=0.17, **change):
    """Settings that the rules derive from a reference rate; `removes` needs p0 below reference / 4."""
    c = dict(CONFIG, predicted=[reference, 0.0], floor=reference / 4)
    c["removes"] = c["p0"] < c["floor"]
    return dict(c, **change)


# ---------- evidence -----------------------------------------------------------------------
def pair_logE(xc, xt, n, A, q):
    """Log of the mixture over alternatives A = rows (p_c, p_t, weight), each against its null pair q."""
    with np.errstate(divide="ignore"):
        co = [np.maximum(np.log(v), -1e4) for v in (A[:, 0], 1 - A[:, 0], A[:, 1], 1 - A[:, 1])]
        co = [v - np.maximum(np.log(w), -1e4) for v, w in zip(co, (q[0], 1 - q[0], q[1], 1 - q[1]))]
    x = np.stack([xc, n - xc, xt, n - xt], -1).astype(float)
    return special.logsumexp(x @ np.stack(co) + np.log(A[:, 2]), axis=-1)


def no_effect_alternatives(pred, keep_zero=False):
    """What `falsified` bets on: equal rates and a worse treatment; (0, 0) says nothing about a share removed."""
    A = prior(pred, "falsified")
    if not keep_zero:
        A = A[A[:, 0] > 0]
    return A / np.array([1, 1, A[:, 2].sum()])


def half_projection(a, b):
    """Bernoulli pair (q, q/2) nearest to (a, b) in KL: 2 q^2 - (3 + a + 2 b) q + 2 (a + b) = 0."""
    s = 3 + a + 2 * b
    q = (s - np.sqrt(s * s - 16 * (a + b))) / 4
    return np.clip(q, 1e-12, 1 - 1e-12), np.clip(q / 2, 1e-12, 1 - 1e-12)


def held_alternatives(pred):
    """What `held` bets on against p_t >= p_c / 2: a clean or nearly clean treatment, and the prediction."""
    A = [(g, g * f, w / len(GC)) for g in GC for f, w in ((0.0, 0.5), (0.1, 0.25), (0.25, 0.25))]
    return np.array(
        A
        if pred is None or 2 * pred[1] >= pred[0]
        else [(a, b, w / 2) for a, b, w in A] + [(*pred, 0.5)]
    )


def design_effect(k, n, m):
    """phi after every block: pooled dispersion of start rates, shrunk with four pseudo-starts."""
    K, N = k.cumsum(1), n.cumsum(1)[..., None]
    r = K / np.maximum(N, 1)
    ss = (k**2 / np.maximum(n, 1)[..., None]).cumsum(1) - K * r
    z = np.where((r > 0) & (r < 1), ss / np.where((r > 0) & (r < 1), r * (1 - r), 1), 0)
    B = np.arange(1, k.shape[1] + 1)
    return np.maximum(1, (z.sum(-1) + 4 * (1 + 0.02 * (m - 1))) / (2 * (B - 1) + 4))


def evidence(k, n, m, c, x_rho=0.05):
    """k (R, B, 2) hits and n (R, B) sessions an arm -> log E after every block, and the counts in two starts."""
    K, N = k.cumsum(1), n.cumsum(1)
    command = c["lifecycle"] == "command"
    phi = np.ones(N.shape) if command or not c["design_effect"] else design_effect(k, n, m)
    C, T, n_ = K[..., 0] / phi, K[..., 1] / phi, N / phi
    pred = tuple(c["predicted"]) if c["predicted"] else None
    A, M = prior(pred), no_effect_alternatives(pred, c["margin"] != "half-control")
    q = (
        half_projection(M[:, 0], M[:, 1])
        if c["margin"] == "half-control"
        else project(M[:, 0], M[:, 1], c["margin"])
    )
    P = prior(None)
    dx = 1.0 if command else 1 + x_rho * (m - 1)
    low = (
        np.maximum(phi, 1 if command else 1 + 0.02 * (m - 1))
        if c["steady"] and c["design_effect"]
        else phi
    )
    H = held_alternatives(pred)
    return dict(
        E0=pair_logE(C, T, n_, A, project(A[:, 0], A[:, 1], 0.0)),
        EM=pair_logE(C, T, n_, M, q),
        R=onearm_logE(C, n_, c["floor"], "high"),
        N=onearm_logE(K[..., 0] / low, N / low, c["floor"], "low"),
        X=onearm_logE(K[..., 1] / dx, N / dx, c["p0"], "high"),
        phi=phi,
        clean=onearm_logE(K[..., 1] / low, N / low, c["floor"], "low"),
        halved=pair_logE(C, T, n_, H, half_projection(H[:, 0], H[:, 1])),
        reverse=pair_logE(T, C, n_, P, project(P[:, 0], P[:, 1], 0.0)),
        two=(K[..., 1] if command else (k[..., 1] > 0).cumsum(1)) >= 2,
    )


def words(e, c):
    """The table of RULES 3 after every block: index into WORDS, or GO."""
    th = np.log(1 / c["alpha"])
    B = np.arange(1, e["E0"].shape[1] + 1)[None] >= c["min_blocks"]
    e0, em = e["E0"] >= th, e["EM"] >= th
    lean = (e["EM"] >= 0) | (not c["lean"])
    rules = [
        ((e["X"] >= th) & e["two"] & ~e0 & lean & bool(c["removes"]), 3),
        (B & e0 & em, 1),
        (B & e0, 0),
        (B & em & (e["R"] >= th), 2),
        (B & (e["N"] >= th), 4),
    ]
    return np.select([a for a, _ in rules], [b for _, b in rules], GO)


def tally(s):
    """Statuses (R, B, 2, m) -> trimmed (k, n) and the two worst cases: errored = hit in one arm, clean in the other."""
    ok = s != 2
    nb = ok.sum(-1).min(-1)
    keep = ok & (ok.cumsum(-1) <= nb[..., None, None])
    h, e = (s == 1).sum(-1), (s == 2).sum(-1)
    full = np.full(nb.shape, s.shape[-1])
    return ((s == 1) & keep).sum(-1), nb, (h + e * [1, 0], full), (h + e * [0, 1], full)


def path(s, c, **kw):
    """Words after every block when errors are taken both ways, the words without that, and the evidence."""
    k, n, w1, w2 = tally(s)
    e = evidence(k, n, s.shape[-1], c, **kw)
    base = words(e, c)
    if not (s == 2).any():
        return base, base, e
    ways = [words(evidence(*w, s.shape[-1], c, **kw), c) for w in (w1, w2)]
    return np.where((base == ways[0]) & (base == ways[1]), base, GO), base, e


def judge(s, c, **kw):
    """Verdict index, blocks used, reason ('' | 'budget' | 'errors') of every trial, and evidence at the stop."""
    v, base, e = path(s[:, : c["max_blocks"]], c, **kw)
    done = v != GO
    i = np.where(done.any(1), done.argmax(1), v.shape[1] - 1)
    r = np.arange(len(i))
    word = np.where(done.any(1), v[r, i], 5)
    reason = np.where(word != 5, "", np.where(base[r, i] != GO, "errors", "budget"))
    return word, i + 1, reason, {a: b[r, i] for a, b in e.items()}


# ---------- worlds -------------------------------------------------------------------------
def orders(rng, R, B):
    """True = control first: blocks 1 and 2 mirrored, then independent coins."""
    o = rng.random((R, B)) < 0.5
    if B > 1:
        o[:, 1] = ~o[:, 0]
    return o


def drift(rng, kind, R, B):
    """Null rate of each of the 2 B consecutive starts."""
    t = np.linspace(0, 1, 2 * B)
    if kind == "linear .25 to .09":
        return np.tile(0.25 - 0.16 * t, (R, 1))
    if kind == "warm-up .40 to 0":
        return np.tile(0.4 - 0.4 * t, (R, 1))
    if kind == "one step .17 to .05":
        return np.where(t > rng.random((R, 1)), 0.05, 0.17)
    return 1 / (1 + np.exp(1.6 - np.cumsum(rng.normal(0, 0.35, (R, 2 * B)), 1)))  # random walk


def world(rng, R, B, m, pc, pt, rho=0.0, err=(0.0, 0.0), kind=None, lifecycle="engine"):
    """Statuses (R, B, 2, m) and the order of arms.  rho: beta-binomial correlation within a start."""
    o = orders(rng, R, B)
    if kind:
        x = drift(rng, kind, R, B).reshape(R, B, 2)
        p = np.where(o[..., None], x, x[..., ::-1])
    else:
        p = np.broadcast_to(np.array([pc, pt], float), (R, B, 2))
    if rho > 0 and lifecycle == "engine":
        f = (1 - rho) / rho
        p = np.where(p > 0, rng.beta(np.maximum(p, 1e-9) * f, np.maximum(1 - p, 1e-9) * f), 0)
    s = (rng.random((R, B, 2, m)) < p[..., None]).astype(np.int8)
    s[rng.random(s.shape) < np.array(err)[:, None]] = 2
    return s, o


SCEN = [
    (0.17, 0.0),
    (0.17, 0.05),
    (0.17, 0.17),
    (0.30, 0.30),
    (0.05, 0.0),
    (0.02, 0.0),
    (0.0, 0.0),
    (0.40, 0.0),
    (0.40, 0.40),
    (0.06, 0.06),
]
SIZES = [(60, 0.0), (60, 0.05), (20, 0.0), (20, 0.05), (1, 0.0)]


def cells(only, **change):
    """(label, settings, arguments of world) in the order of the tables; m = 1 is `command`: blocks of 20 trials."""
    out = []
    for m, rho in SIZES:
        life = dict(lifecycle="command") if m == 1 else {}
        set_ = dict(change, **life)
        kw = dict(m=20 if m == 1 else m, rho=rho, **life)
        tag = f"{m} | {rho:g}"
        if only in ("", "main"):
            out += [
                (f"{a:g}/{b:g} | .17 | {tag}", config(**set_), dict(pc=a, pt=b, **kw)) for a, b in SCEN
            ]
        if only in ("", "plain"):  # a prediction other than `removes`: `falsified` can be reached
            out += [
                (
                    f"{a:g}/{b:g}, no `removes` | .17 | {tag}",
                    config(removes=False, **set_),
                    dict(pc=a, pt=b, **kw),
                )
                for a, b in (
                    (0.17, 0.17),
                    (0.30, 0.30),
                    (0.40, 0.40),
                    (0.06, 0.06),
                    (0.17, 0.05),
                    (0.17, 0.085),
                    (0.17, 0.13),
                    (0.40, 0.30),
                )
            ]
        if only in ("", "partial"):  # `removes` stated, part of it removed
            out += [
                (f"{a:g}/{b:g} | .17 | {tag}", config(**set_), dict(pc=a, pt=b, **kw))
                for a, b in ((0.17, 0.01), (0.17, 0.03), (0.17, 0.085), (0.17, 0.13))
            ]
        if only in ("", "own"):
            own = [(0.05, 0.0), (0.02, 0.0), (0.30, 0.30), (0.40, 0.0), (0.40, 0.40), (0.06, 0.06)]
            out += [
                (f"{a:g}/{b:g} | {a:g} | {tag}", config(a, **set_), dict(pc=a, pt=b, **kw))
                for a, b in own
            ]
        if only in ("", "errors"):
            for e, w in (
                ((0.3, 0.0), "30 % in control"),
                ((0.0, 0.3), "30 % in treatment"),
                ((0.02, 0.02), "2 % in both"),
            ):
                out += [
                    (
                        f"{a:g}/{b:g}, errors {w} | .17 | {tag}",
                        config(**set_),
                        dict(pc=a, pt=b, err=e, **kw),
                    )
                    for a, b in ((0.17, 0.0), (0.17, 0.17), (0.0, 0.0))
                ]
        if only in ("", "drift") and m > 1:
            out += [
                (
                    f"null, {d} | .17 | {tag}",
                    config(removes=False, **set_),
                    dict(pc=0, pt=0, kind=d, **kw),
                )
                for d in ("linear .25 to .09", "warm-up .40 to 0", "one step .17 to .05", "random walk")
            ]
    return out


# ---------- tables -------------------------------------------------------------------------
HEAD = "| p_c/p_t | reference | m | rho | " + " | ".join(WORDS) + " | sessions | starts |"


def row(label, word, blocks, m, lifecycle, extra=""):
    n = 2 * m * np.mean(blocks)
    starts = n if lifecycle == "command" else 2 * np.mean(blocks)
    share = " | ".join("." if not (word == i).any() else f"{np.mean(word == i):.3f}" for i in range(6))
    print(f"| {label} | {share} | {n:.0f} | {starts:.1f} |{extra}", flush=True)


def cmd_table(a):
    print(HEAD + "\n" + "|---" * 12 + "|")
    for i, (label, c, kw) in enumerate(cells(a.only, lean=a.lean, steady=a.steady)):
        rng = np.random.default_rng(1000 + i)
        got = [
            judge(world(rng, min(250, a.reps - j), c["max_blocks"], **kw)[0], c)
            for j in range(0, a.reps, 250)
        ]
        row(
            label,
            np.concatenate([g[0] for g in got]),
            np.concatenate([g[1] for g in got]),
            kw["m"],
            c["lifecycle"],
        )


# ---------- product protocol ---------------------------------------------------------------
class Reference:
    """Reference engine: start(cfg), block(message) -> dict, close() -> dict."""

    def start(self, cfg):
        self.c, self.s, self.o = dict(CONFIG, **cfg), [], []

    def block(self, msg):
        self.s.append([["che".index(x) for x in msg[a]["order"]] for a in ("control", "treatment")])
        s = np.array(self.s)[None]
        v, base, e = path(s, self.c)
        k, n = tally(s)[:2]
        D = (k[..., 0] - k[..., 1]) / np.maximum(n, 1)
        if len(self.s) > 1:
            D = np.concatenate([D[:, :1] + D[:, 1:2], D[:, 2:]], 1)  # mirrored pair = one unit
        self.last = dict(
            verdict=None if v[0, -1] == GO else WORDS[v[0, -1]],
            blocks=len(self.s),
            reason="errors" if base[0, -1] != GO else "budget",
            log_e={x: round(float(e[x][0, -1]), 3) for x in ("E0", "EM", "R", "N", "X")},
            prediction=self.prediction(e),
            design_effect=float(e["phi"][0, -1]),
            reversed=bool(e["reverse"][0, -1] >= np.log(1 / self.c["alpha"])),
            across_restarts=float(signflip_logE(D)[0, -1]),
        )
        if not self.last["verdict"] and len(self.s) >= self.c["max_blocks"]:
            self.last["verdict"] = "inconclusive"
        return self.last

    def prediction(self, e):
        """Of a run whose treatment was stated to remove the symptom."""
        x = {a: float(e[a][0, -1]) for a in ("X", "halved")}
        if not self.c["removes"]:
            return "untested"
        return (
            "refuted"
            if x["X"] >= np.log(1 / self.c["alpha"])
            else "held"
            if x["halved"] >= np.log(10)
            else "untested"
        )

    def close(self):
        return self.last if self.last["verdict"] else dict(self.last, verdict="inconclusive")


class Command:
    """The same interface over a command: JSON lines in, one JSON line out after every block and close."""

    def __init__(self, cmd):
        self.p = subprocess.Popen(
            cmd, shell=True, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=1
        )

    def send(self, kind, body):
        self.p.stdin.write(json.dumps({"type": kind, **body}) + "\n")
        self.p.stdin.flush()

    def start(self, cfg):
        self.send("start", cfg)

    def block(self, msg):
        self.send("block", msg)
        return json.loads(self.p.stdout.readline())

    def close(self):
        self.send("close", {})
        return json.loads(self.p.stdout.readline())


def serve():
    e = Reference()
    for line in sys.stdin:
        m = json.loads(line)
        kind = m.pop("type")
        if kind == "start":
            e.start(m)
        else:
            print(json.dumps(e.block(m) if kind == "block" else e.close()), flush=True)


def message(s, o, b):
    """One block of one trial as the protocol sends it."""
    arm = lambda x: dict(
        hit=int((x == 1).sum()),
        clean=int((x == 0).sum()),
        errored=int((x == 2).sum()),
        incomplete=0,
        order="".join("che"[v] for v in x),
    )
    return dict(
        block=b, first="control" if o[b] else "treatment", control=arm(s[b, 0]), treatment=arm(s[b, 1])
    )


def cmd_product(a):
    if a.cmd:
        eng = Command(a.cmd)
    elif a.call:
        m, f = a.call.split(":")
        sys.path.insert(0, ".")
        eng = getattr(importlib.import_module(m), f)()
    else:
        eng = Reference()
    print(HEAD + " same word | same block | ms a block |\n" + "|---" * 15 + "|")
    for i, (label, c, kw) in enumerate(cells(a.only, lean=a.lean, steady=a.steady)):
        s, o = world(np.random.default_rng(1000 + i), a.reps, c["max_blocks"], **kw)
        ref, at, *_ = judge(s, c)
        word, blocks, secs, t0 = [], [], 0.0, 0.0
        for r in range(a.reps):
            eng.start(dict(c, trial=r, m=s.shape[-1]))
            v, b = None, 0
            t0 = time.perf_counter()
            while v is None and b < c["max_blocks"]:
                v = eng.block(message(s[r], o[r], b))["verdict"]
                b += 1
            v = v or eng.close()["verdict"]
            secs += time.perf_counter() - t0
            if v not in WORDS:
                raise SystemExit(f"not a verdict word: {v!r}")
            word.append(WORDS.index(v))
            blocks.append(b)
        word, blocks = np.array(word), np.array(blocks)
        same = word == ref
        row(
            label,
            word,
            blocks,
            kw["m"],
            c["lifecycle"],
            f" {same.mean():.3f} | {(same & (blocks == at)).mean():.3f} | {1000 * secs / blocks.sum():.2f} |",
        )


if __name__ == "__main__":
    ap = argparse.ArgumentParser()
    ap.add_argument("what", choices=["table", "product", "serve"])
    ap.add_argument("--reps", type=int, default=1000)
    ap.add_argument(
        "--only", default="", choices=["", "main", "plain", "partial", "own", "errors", "drift"]
    )
    ap.add_argument("--lean", action="store_true")
    ap.add_argument("--steady", action="store_true")
    ap.add_argument("--call")
    ap.add_argument("--cmd")
    a = ap.parse_args()
    {"table": cmd_table, "product": cmd_product}.get(a.what, lambda _: serve())(a)
