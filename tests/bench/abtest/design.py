#!/usr/bin/env python3
"""Design questions around the verdict: arm order against drift, engine-run heterogeneity,
several hypotheses in a campaign, factorial of two fixes.   design.py drift|runs|campaign|factorial [reps]"""

import sys
import numpy as np
from tests.bench.abtest.abtest import mix_logE, prior, ALPHA, sessions

TH = np.log(1 / ALPHA)
PRED = (0.17, 0.0)


def signflip_logE(D):
    """E-process for 'block differences are symmetric' (random arm order): mean over stakes of prod exp(lD)/cosh(lD)."""
    lam = np.array([2.0, 5, 10, 20, 40])
    z = lam[:, None, None] * D[None]
    inc = z - np.logaddexp(z, -z) + np.log(2)
    c = np.cumsum(inc, -1)
    return np.logaddexp.reduce(c, axis=0) - np.log(len(lam))


def arms(rng, order, rate, m):
    """order (R, B) True = control first; rate (R, 2B) null rate of each engine run -> failures xc, xt (R, B)."""
    x = rng.binomial(m, rate)
    a, b = x[:, 0::2], x[:, 1::2]
    return np.where(order, a, b), np.where(order, b, a)


def cmd_drift(R):
    m, B = 30, 8
    rng = np.random.default_rng(1)
    t = np.linspace(0, 1, 2 * B)
    walk = np.cumsum(rng.normal(0, 0.35, (R, 2 * B)), 1)
    step = t[None] > rng.random((R, 1))
    worlds = {
        "stable .17": np.full((R, 2 * B), 0.17),
        "linear .25 to .09": np.tile(0.25 - 0.16 * t, (R, 1)),
        "linear .40 to 0 (warm-up bug)": np.tile(0.4 - 0.4 * t, (R, 1)),
        "one step .17 to .05": np.where(step, 0.05, 0.17),
        "random walk in log-odds": 1 / (1 + np.exp(1.6 - walk)),
    }
    print(
        f"NULL, {B} runs per arm of {m} sessions; share of campaigns that ever claim a difference (either direction), alpha {ALPHA} a side"
    )
    print(
        "| drift | all C then all T | C T C T | C T T C (ABBA) | random order per block | random order, block sign-flip e |\n|---|---|---|---|---|---|"
    )
    for name, rate in worlds.items():
        out = []
        for kind in ("seq", "abab", "abba", "rand", "flip"):
            o = {
                "seq": np.ones((R, B), bool),
                "abab": np.ones((R, B), bool),
                "abba": np.tile(np.arange(B) % 2 == 0, (R, 1)),
            }.get(kind)
            if o is None:
                o = rng.random((R, B)) < 0.5
            if kind == "seq":
                x = rng.binomial(m, rate)
                xc, xt = x[:, :B], x[:, B:]
            else:
                xc, xt = arms(rng, o, rate, m)
            if kind == "flip":
                hit = np.maximum(signflip_logE((xc - xt) / m), signflip_logE((xt - xc) / m)) >= TH
            else:
                C, T, n = np.cumsum(xc, 1), np.cumsum(xt, 1), m * np.arange(1, B + 1)
                hit = (
                    np.maximum(mix_logE(C, T, n, 0.0, prior(PRED)), mix_logE(T, C, n, 0.0, prior(PRED)))
                    >= TH
                )
            out.append(hit.any(1).mean())
        print(f"| {name} | " + " | ".join(f"{v:.3f}" for v in out) + " |")


def cmd_runs(R):
    """Engine runs differ (beta with intra-run correlation rho): false 'present' and blocks needed."""
    rng = np.random.default_rng(2)
    B = 12
    print(
        "blocks of m sessions per arm, one engine start per arm and block, look after every block, at most 12 blocks\n"
        "| m | rho between runs | truth | session-level e: present | blocks | tempered e (known rho): present | blocks | tempered e (rho from runs so far): present | blocks | sign-flip e: present | blocks |\n|---|---|---|---|---|---|---|---|---|---|---|"
    )
    for m in (20, 60):
        for rho in (0.0, 0.02, 0.05, 0.1):
            for pc, pt in ((0.17, 0.17), (0.17, 0.0), (0.17, 0.05)):

                def draw(p):
                    if p == 0:
                        return np.zeros((R, B))
                    th = (
                        p
                        if rho == 0
                        else rng.beta(p * (1 - rho) / rho, (1 - p) * (1 - rho) / rho, (R, B))
                    )
                    return rng.binomial(m, th, (R, B)).astype(float)

                xc, xt = draw(pc), draw(pt)
                C, T = np.cumsum(xc, 1), np.cumsum(xt, 1)
                b = np.arange(1, B + 1)
                n = m * b
                phi = 1 + (m - 1) * rho
                # moment estimate of the design effect from the runs seen so far, both arms, shrunk to 1 + (m-1)*0.02 with 4 pseudo-runs
                ph = np.zeros((R, B))
                for k in range(B):
                    s = 0.0
                    for x in (xc, xt):
                        pm = np.clip(x[:, : k + 1].mean(1) / m, 1e-9, 1)
                        v = ((x[:, : k + 1] / m - pm[:, None]) ** 2).sum(1)
                        s = s + v / np.maximum(pm * (1 - pm) / m, 1e-9)
                    ph[:, k] = np.maximum(1, (s + 4 * (1 + (m - 1) * 0.02)) / (2 * k + 4))
                es = [
                    mix_logE(C, T, n, 0.0, prior(PRED)),
                    mix_logE(C / phi, T / phi, n / phi, 0.0, prior(PRED)),
                    mix_logE(C / ph, T / ph, n / ph, 0.0, prior(PRED)),
                    signflip_logE((xc - xt) / m),
                ]
                cells = []
                for e in es:
                    h = e >= TH
                    cells.append(
                        f"{h.any(1).mean():.3f} | {np.where(h.any(1), h.argmax(1) + 1, B).mean():.1f}"
                    )
                print(f"| {m} | {rho} | {pc}/{pt} | " + " | ".join(cells) + " |", flush=True)


def cmd_campaign(R):
    """12 suspects, 2 real (.17/0 and .17/.05); each test runs up to 240 pairs, stops at e >= 100 or at the budget."""
    rng = np.random.default_rng(3)
    K, N = 12, 240
    n = np.arange(10, N + 1, 10)
    truth = np.zeros((R, K), bool)
    E = np.zeros((R, K))
    Pf = np.ones((R, K))
    from scipy import stats

    for k in range(K):
        pt = np.where(k == 3, 0.0, np.where(k == 8, 0.05, 0.17)) * np.ones(R)
        truth[:, k] = k in (3, 8)
        C = np.cumsum(rng.random((R, N)) < 0.17, 1)[:, n - 1]
        T = np.cumsum(rng.random((R, N)) < pt[:, None], 1)[:, n - 1]
        e = mix_logE(C, T, n, 0.0, prior(PRED))
        h = e >= TH
        i = np.where(h.any(1), h.argmax(1), len(n) - 1)
        E[:, k] = e[np.arange(R), i]
        a, b = C / n, T / n
        se = np.sqrt(np.maximum((a + b) / 2 * (1 - (a + b) / 2) * 2 / n, 1e-12))
        Pf[:, k] = stats.norm.sf((a - b) / se).min(1)  # peeked z-test
    g = 1 / (np.arange(1, K + 1) * np.arange(2, K + 2))

    def ebh(e, q):
        s = np.sort(e, 1)[:, ::-1]
        j = np.arange(1, K + 1)
        ok = s >= np.log(K / (q * j))
        kk = np.where(ok.any(1), K - ok[:, ::-1].argmax(1), 0)
        return (e >= np.log(K / (q * np.maximum(kk, 1)))[:, None]) & (kk > 0)[:, None]

    def elond(e, q):
        r = np.zeros((R, K), bool)
        for t in range(K):
            r[:, t] = e[:, t] >= -np.log(q * g[t] * (r[:, :t].sum(1) + 1))
        return r

    print(
        f"{K} suspects, 2 real; e at stop (budget {N} pairs)\n| rule | FDR | P(any false) | found of 2 |\n|---|---|---|---|"
    )
    for name, rej in (
        ("peeked z-test p <= .05", Pf <= 0.05),
        ("peeked z-test p <= .01", Pf <= 0.01),
        ("each e >= 20", E >= np.log(20)),
        ("each e >= 100", E >= TH),
        ("Bonferroni e >= 12/.05", E >= np.log(12 / 0.05)),
        ("e-BH q=.05", ebh(E, 0.05)),
        ("e-BH q=.10", ebh(E, 0.1)),
        ("e-LOND q=.05 (in order)", elond(E, 0.05)),
        ("e-LOND q=.10", elond(E, 0.1)),
    ):
        f = (rej & ~truth).sum(1)
        print(
            f"| {name} | {(f / np.maximum(rej.sum(1), 1)).mean():.4f} | {(f > 0).mean():.4f} | {(rej & truth).sum(1).mean():.2f} |"
        )


def cmd_factorial(R):
    """2x2 of two fixes: interaction I = p00 - p10 - p01 + p11.  Fixed-n normal interval against betting CS on quadruples."""
    rng = np.random.default_rng(4)
    N = 4000
    lam = np.r_[-0.8, -0.4, -0.2, -0.1, -0.05, 0.05, 0.1, 0.2, 0.4, 0.8]
    print(
        "| p00, A only, B only, both | I | n per cell for 95% half-width .05 | sessions to show I != 0 (alpha .01, anytime) | share |\n|---|---|---|---|---|"
    )
    for p in (
        (0.17, 0.05, 0.05, 0.0),
        (0.17, 0.17, 0.0, 0.0),
        (0.17, 0.0, 0.0, 0.0),
        (0.17, 0.085, 0.085, 0.0),
        (0.17, 0.17, 0.17, 0.0),
        (0.17, 0.05, 0.05, 0.17),
    ):
        I = p[0] - p[1] - p[2] + p[3]
        v = sum(q * (1 - q) for q in p)
        T, ok = [], []
        for _ in range(R):
            y = rng.random((N, 4)) < p
            D = (y[:, 0] * 1.0 - y[:, 1] - y[:, 2] + y[:, 3]) / 2
            e = np.logaddexp.reduce(np.cumsum(np.log1p(lam[:, None] * D), 1), axis=0) - np.log(len(lam))
            h = e >= TH
            T.append(4 * (h.argmax() + 1 if h.any() else N))
            ok.append(h.any())
        print(
            f"| {p} | {I:+.3f} | {v * (1.96 / 0.05) ** 2:.0f} | {np.mean(T):.0f} | {np.mean(ok):.2f} |"
        )


if __name__ == "__main__":
    {"drift": cmd_drift, "runs": cmd_runs, "campaign": cmd_campaign, "factorial": cmd_factorial}[
        sys.argv[1]
    ](int(sys.argv[2]) if len(sys.argv) > 2 else 2000)
