#!/usr/bin/env python3
"""Numbers that the rules state, each measured:  claims.py NAME [NAME ..]  (no name: all, about one minute)
x       X against "p_t <= p0": one unlucky start
null    E0 under the null with and without the design effect, and its price
low     N and Clean when starts without a hit carry no dispersion
margin  half of the control's rate against half of a stated rate and against 0.05
again   ten restarts of an undecided null against continuing it
trim    a global minimum over unequal blocks against the minimum of each block, under drift
counts  first n_b in assignment order against counts scaled to n_b, 30 % errored in one arm
flip    across_restarts: blocks needed, mirrored pair as one unit
perstart  one number a start: blocks to E >= 100 by the sign flip on D / margin
held    readings of `prediction: held` when `present` is reached
small   how often present-but-small is reached
ratio   sessions over the bound with the design effect on (no least or greatest number of blocks)
cost    price of a verdict over m, against the formula for m
"""

import sys
import numpy as np
from tests.bench.abtest.abtest import bound, onearm_logE, prior, project
from tests.bench.abtest.design import signflip_logE
from tests.bench.abtest.verdict import config, design_effect, evidence, judge, pair_logE, tally, world

TH = np.log(100)


def many(seed, R, B, m, pc, pt, rho=0.0, kind=None, step=500):
    rng = np.random.default_rng(seed)
    for j in range(0, R, step):
        yield world(rng, min(step, R - j), B, m, pc, pt, rho, kind=kind)[0]


def verdicts(seed, R, m, pc, pt, rho, c, step=250):
    got = [judge(s, c) for s in many(seed, R, c["max_blocks"], m, pc, pt, rho, step=step)]
    return np.concatenate([g[0] for g in got]), np.concatenate([g[1] for g in got])


def head(*cols):
    print("\n| " + " | ".join(cols) + " |\n" + "|---" * len(cols) + "|")


def row(*cells):
    print(
        "| " + " | ".join(f"{c:.4g}" if isinstance(c, float) else str(c) for c in cells) + " |",
        flush=True,
    )


def ever(h):
    """Share of trials in which h is ever true, and the mean block of the first time (else the last block)."""
    return h.any(1).mean(), np.where(h.any(1), h.argmax(1) + 1, h.shape[1]).mean()


def cmd_x():
    head("m", "p_t", "rho", "raw counts", "raw, two starts", "discounted", "discounted, two starts")
    for m in (20, 60):
        for pt, rho in ((0.01, 0.0), (0.01, 0.05), (0.01, 0.1), (0.01, 0.2), (0.005, 0.05)):
            acc = []
            for s in many(5, 4000, 12, m, 0.17, pt, rho):
                k, n, *_ = tally(s)
                a, b = evidence(k, n, m, config(), x_rho=0.0), evidence(k, n, m, config())
                acc.append(
                    [
                        h.any(1).mean()
                        for h in (
                            a["X"] >= TH,
                            (a["X"] >= TH) & a["two"],
                            b["X"] >= TH,
                            (b["X"] >= TH) & b["two"],
                        )
                    ]
                )
            row(m, pt, rho, *map(float, np.mean(acc, 0)))


def cmd_null():
    head(
        "m", "p_c/p_t", "rho", "no design effect: present", "blocks", "design effect: present", "blocks"
    )
    for m in (20, 60):
        for pc, pt, rho in (
            (0.17, 0.17, 0.0),
            (0.17, 0.17, 0.05),
            (0.17, 0.17, 0.1),
            (0.06, 0.06, 0.05),
            (0.02, 0.02, 0.05),
            (0.30, 0.30, 0.05),
            (0.17, 0.0, 0.0),
            (0.17, 0.0, 0.05),
            (0.17, 0.05, 0.0),
            (0.17, 0.05, 0.05),
        ):
            out = []
            for d in (None, "starts"):
                h = []
                for s in many(8, 2000, 12, m, pc, pt, rho):
                    k, n, *_ = tally(s)
                    h.append(evidence(k, n, m, config(design_effect=d))["E0"] >= TH)
                h = np.concatenate(h)
                h[:, 0] = False
                a, b = ever(h)
                out += [float(a), f"{b:.1f}"]
            row(m, f"{pc:g}/{pt:g}", rho, *out)


def cmd_low():
    head(
        "m",
        "p_c/p_t",
        "rho",
        "N, phi",
        "N, max(phi, 1 + .02 (m - 1))",
        "N, counts / (1 + .05 (m - 1))",
        "blocks of the three",
    )
    for m in (20, 60):
        for rho in (0.0, 0.02, 0.05, 0.1):
            for pc, pt in ((0.0425, 0.0425), (0.0425, 0.0), (0.05, 0.0), (0.0, 0.0)):
                acc = []
                for s in many(10, 2000, 12, m, pc, pt, rho):
                    k, n, *_ = tally(s)
                    K, N, phi = k[..., 0].cumsum(1), n.cumsum(1), design_effect(k, n, m)
                    r = []
                    for d in (
                        phi,
                        np.maximum(phi, 1 + 0.02 * (m - 1)),
                        np.full(N.shape, 1 + 0.05 * (m - 1)),
                    ):
                        h = onearm_logE(K / d, N / d, 0.0425, "low") >= TH
                        h[:, 0] = False
                        r += ever(h)
                    acc.append(r)
                a = np.mean(acc, 0)
                row(
                    m,
                    f"{pc:g}/{pt:g}",
                    rho,
                    *map(float, a[::2]),
                    ", ".join(f"{v:.1f}" for v in a[1::2]),
                )


def cmd_margin():
    head(
        "m",
        "rho",
        "p_c/p_t",
        "margin",
        "present",
        "small",
        "falsified",
        "not-reproduced",
        "inconclusive",
        "sessions",
    )
    for m, rho in ((60, 0.0), (60, 0.05), (20, 0.0)):
        for pc, pt in ((0.05, 0.0), (0.02, 0.0), (0.30, 0.30), (0.17, 0.17), (0.40, 0.40)):
            for name, g in (("half-control", "half-control"), ("half of .17", 0.085), (".05", 0.05)):
                w, b = verdicts(9, 1000, m, pc, pt, rho, config(removes=False, margin=g))
                row(
                    m,
                    rho,
                    f"{pc:g}/{pt:g}",
                    name,
                    *(f"{np.mean(w == j):.3f}" for j in (0, 1, 2, 4, 5)),
                    f"{2 * m * b.mean():.0f}",
                )


def cmd_again():
    head(
        "m",
        "rho",
        "null",
        "margin",
        "ten restarts: present",
        "continued to 120 blocks: present",
        "falsified: ten, continued",
    )
    for m, rho in ((20, 0.0), (20, 0.05), (60, 0.05)):
        for p, margin in ((0.17, "half-control"), (0.06, "half-control"), (0.17, 0.05)):
            c, R = config(removes=False, margin=margin), 1000
            rng, word = np.random.default_rng(4), np.full(R, 5)
            for _ in range(10):
                w = judge(world(rng, R, 12, m, p, p, rho)[0], c)[0]
                word = np.where(word == 5, w, word)
            v, _ = verdicts(4, R, m, p, p, rho, dict(c, max_blocks=120), step=50)
            row(
                m,
                rho,
                f"{p:g}/{p:g}",
                margin,
                float(np.mean(word < 2)),
                float(np.mean(v < 2)),
                f"{np.mean(word == 2):.3f}, {np.mean(v == 2):.3f}",
            )


def cmd_trim():
    """8 blocks of 30; treatment loses sessions to errors in the first half of the blocks; predicted .17/0."""
    A = prior((0.17, 0.0))
    q, B, m, R = project(A[:, 0], A[:, 1], 0.0), 8, 30, 1000
    head("null rate", "treatment loses in blocks 1-4", "global minimum", "minimum per block")
    for kind in ("linear .25 to .09", "warm-up .40 to 0", "one step .17 to .05", "random walk"):
        for lose in (0.6, 0.9, 0.95):
            rng = np.random.default_rng(12)
            s, _ = world(rng, R, B, m, 0, 0, kind=kind)
            gone = rng.random((R, B, m)) < np.where(np.arange(B) < B / 2, lose, 0)[None, :, None]
            s[:, :, 1][gone] = 2
            k, n, *_ = tally(s)
            K, N = k.cumsum(1), n.cumsum(1)
            per = ever(pair_logE(K[..., 0], K[..., 1], N, A, q) >= TH)[0]
            g = np.zeros((R, B), bool)
            for b in range(1, B + 1):
                ok, hit = (x[:, :b].swapaxes(1, 2).reshape(R, 2, -1) for x in (s != 2, s == 1))
                nn = ok.sum(2).min(1)
                x = (hit & ok & (ok.cumsum(2) <= nn[:, None, None])).sum(2)
                g[:, b - 1] = pair_logE(x[:, 0], x[:, 1], nn, A, q) >= TH
            row(kind, lose, float(g.any(1).mean()), float(per))


def cmd_counts():
    head("m", "rho", "p_c/p_t", "errored", "trimmed: present", "blocks", "scaled: present", "blocks")
    for m, rho in ((60, 0.05), (20, 0.0)):
        for pc, pt, err in ((0.17, 0.17, (0.3, 0)), (0.17, 0.17, (0, 0.3)), (0.17, 0.05, (0, 0.3))):
            rng, h = np.random.default_rng(21), ([], [])
            for _ in range(4):
                s, _ = world(rng, 500, 12, m, pc, pt, rho, err)
                k, n, *_ = tally(s)
                scaled = (s == 1).sum(-1) * n[..., None] / np.maximum((s != 2).sum(-1), 1)
                for x, out in zip((k, scaled), h):
                    out.append(evidence(x, n, m, config(removes=False))["E0"] >= TH)
                    out[-1][:, 0] = False
            a, b = (ever(np.concatenate(x)) for x in h)
            row(
                m,
                rho,
                f"{pc:g}/{pt:g}",
                "control" if err[0] else "treatment",
                float(a[0]),
                f"{a[1]:.1f}",
                float(b[0]),
                f"{b[1]:.1f}",
            )


def cmd_flip():
    head("m", "rho", "truth", "mean blocks to E >= 100", "fewest", "within 12 blocks", "within 24")
    for m, rho in ((60, 0.0), (60, 0.05), (20, 0.05)):
        for pc, pt, kind in (
            (0.40, 0.0, None),
            (0.17, 0.0, None),
            (0.17, 0.05, None),
            (0.17, 0.17, None),
            (0.0, 0.0, "warm-up .40 to 0"),
            (0.0, 0.0, "random walk"),
        ):
            s = np.concatenate(list(many(13, 1000, 24, m, pc, pt, rho, kind)))
            k, n, *_ = tally(s)
            D = (k[..., 0] - k[..., 1]) / n
            h = signflip_logE(np.concatenate([D[:, :1] + D[:, 1:2], D[:, 2:]], 1)) >= TH
            at = np.where(h.any(1), h.argmax(1) + 2, 24)
            row(
                m,
                rho,
                kind or f"{pc:g}/{pt:g}",
                f"{at.mean():.1f}",
                at[h.any(1)].min() if h.any() else "-",
                f"{h[:, :11].any(1).mean():.3f}",
                f"{h.any(1).mean():.3f}",
            )


def cmd_perstart():
    lam = np.array([0.1, 0.25, 0.5, 1, 2])[:, None]
    head("effect / margin", "noise sd of D / margin", "mean blocks", "fewest", "within 12 blocks")
    for effect in (1, 2, 5):
        for sd in (0.0, 0.25, 0.5, 1.0):
            rng, at = np.random.default_rng(1), []
            for _ in range(400):
                d = effect + sd * rng.normal(size=60)
                z = lam * np.r_[d[0] + d[1], d[2:]]
                h = (
                    np.logaddexp.reduce(np.cumsum(z - np.logaddexp(z, -z) + np.log(2), 1), axis=0)
                    - np.log(5)
                    >= TH
                )
                at.append(h.argmax() + 2 if h.any() else 60)
            row(effect, sd, f"{np.mean(at):.1f}", min(at), f"{np.mean(np.array(at) <= 12):.3f}")


def cmd_held():
    head(
        "m",
        "rho",
        "p_c/p_t",
        "present",
        "of these: X < 100",
        "E(p_t >= floor) >= 100",
        "E(p_t >= p_c/2) >= 100",
        ">= 10",
    )
    for m, rho in ((60, 0.0), (60, 0.05), (20, 0.0)):
        for pc, pt in (
            (0.17, 0.0),
            (0.17, 0.01),
            (0.17, 0.03),
            (0.17, 0.05),
            (0.17, 0.085),
            (0.40, 0.10),
        ):
            c = config()
            w, _, _, e = judge(np.concatenate(list(many(16, 1000, 12, m, pc, pt, rho))), c)
            f = [
                f"{h[w < 2].mean():.3f}"
                for h in (e["X"] < TH, e["clean"] >= TH, e["halved"] >= TH, e["halved"] >= np.log(10))
            ]
            row(m, rho, f"{pc:g}/{pt:g}", f"{np.mean(w < 2):.3f}", *f)


def cmd_small():
    head("m", "p_c/p_t", "share removed", "present", "present-but-small", "falsified", "inconclusive")
    for m in (60, 20):
        for pc, pt in ((0.17, 0.13), (0.30, 0.20), (0.40, 0.30), (0.60, 0.45), (0.80, 0.60)):
            w, _ = verdicts(15, 2000, m, pc, pt, 0.0, config(removes=False))
            row(
                m,
                f"{pc:g}/{pt:g}",
                f"{1 - pt / pc:.2f}",
                *(f"{np.mean(w == j):.3f}" for j in (0, 1, 2, 5)),
            )


def cmd_ratio():
    head("m", "p_c/p_t", "off", "on")
    for m, R in ((10, 300), (20, 300), (60, 300)):
        for pc, pt in ((0.17, 0.0), (0.17, 0.05), (0.17, 0.17)):
            B, out = int((3000 if pc > pt else 6000) / m), []
            for d in (None, "starts"):
                c = config(
                    removes=False,
                    margin=0.05,
                    design_effect=d,
                    predicted=[pc, pt if pc > pt else 0.0],
                    min_blocks=1,
                    max_blocks=B,
                )
                out.append(
                    f"{2 * m * verdicts(3, R, m, pc, pt, 0.0, c, step=20)[1].mean() / bound(pc, pt, 0.05):.2f}"
                )
            row(m, f"{pc:g}/{pt:g}", *out)


def cmd_cost():
    grid = (10, 20, 30, 45, 60, 90, 120)
    head("S/c", "rho", "p_c/p_t", "m by the formula", *(f"m = {m}" for m in grid))
    for price in (10, 40, 160):
        for pc, pt in ((0.17, 0.0), (0.17, 0.05), (0.17, 0.17)):
            cells = []
            for m in grid:
                _, b = verdicts(
                    14, 200, m, pc, pt, 0.02, config(removes=False, max_blocks=1500 // m + 4)
                )
                cells.append(f"{(2 * b * (price + m)).mean():.0f}")
            row(price, 0.02, f"{pc:g}/{pt:g}", f"{(price * 0.98 / 0.02) ** 0.5:.0f}", *cells)


if __name__ == "__main__":
    names = sys.argv[1:] or [n[4:] for n in globals() if n.startswith("cmd_")]
    for name in names:
        globals()["cmd_" + name]()
