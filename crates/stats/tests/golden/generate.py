"""Writes the golden numbers that the tests of assay-stats compare with.

Run from anywhere, with the packages of requirements.txt installed:

    python generate.py

Every file holds inputs and the answers of a reference implementation to them. The Rust tests read the files and need
no Python. Change a file only by changing this script.
"""

import itertools
import json
import math
import pathlib

import numpy as np
import ruptures
import scipy.optimize
import scipy.special
import scipy.stats
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint

HERE = pathlib.Path(__file__).resolve().parent

# Timings in nanoseconds from the documentation of benchstat.
GOB_OLD = [3069, 3075, 3069, 3067, 3207, 3064, 3064, 3058, 3059, 3062]
GOB_NEW = [3075, 3065, 3059, 3065, 3060, 3081, 3186, 3135, 3087, 3062]
JSON_OLD = [1726, 1723, 1707, 1707, 1713, 1729, 1736, 1707, 1705, 1774]
JSON_NEW = [1423, 1416, 1411, 1413, 1412, 1426, 1422, 1424, 1447, 1425]


def write(name, content):
    """One JSON file; lists of numbers on one line each keep it readable."""
    text = json.dumps(plain(content), indent=1)
    (HERE / f"{name}.json").write_text(compact(text) + "\n", encoding="utf-8")


def plain(value):
    if isinstance(value, dict):
        return {key: plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [plain(item) for item in value]
    if isinstance(value, np.integer):
        return int(value)
    if isinstance(value, np.floating):
        return float(value)
    return value


def compact(text):
    """Joins the lines of lists that hold only scalars."""
    lines, row = [], None
    for line in text.split("\n"):
        stripped = line.strip()
        if row is not None:
            if stripped.startswith(("{", "[")):
                lines.extend(row)
                row = [line] if stripped == "[" else None
                if row is None:
                    lines.append(line)
            elif stripped.startswith("]"):
                lines.append(row[0] + " ".join(item.strip() for item in row[1:]) + stripped)
                row = None
            else:
                row.append(line)
        elif stripped.endswith("["):
            row = [line]
        else:
            lines.append(line)
    return "\n".join(lines)


def samples():
    rng = np.random.default_rng(7)
    return {
        "json_old": JSON_OLD,
        "gob_new": GOB_NEW,
        "lognormal_7": np.round(rng.lognormal(2, 0.5, 7), 6),
        "normal_25": np.round(rng.normal(100, 5, 25), 6),
        "lognormal_120": np.round(rng.lognormal(0, 1, 120), 6),
        "negative_12": np.round(rng.normal(-3, 1, 12), 6),
    }


def summaries():
    probabilities = [0, 0.01, 0.25, 0.5, 0.9, 0.95, 0.99, 1]
    cases = []
    for name, values in samples().items():
        values = np.asarray(values, dtype=float)
        low, high = scipy.stats.t.interval(
            0.95, len(values) - 1, loc=values.mean(), scale=scipy.stats.sem(values)
        )
        case = {
            "name": name,
            "samples": values,
            "probabilities": probabilities,
            "quantiles": np.percentile(values, [100 * p for p in probabilities]),
            "median_absolute_deviation": scipy.stats.median_abs_deviation(values),
            "coefficient_of_variation": abs(scipy.stats.variation(values, ddof=1)),
            "mean": values.mean(),
            "mean_interval": [low, high],
        }
        if (values > 0).all():
            case["harmonic_mean"] = scipy.stats.hmean(values)
            case["geometric_mean"] = scipy.stats.gmean(values)
        cases.append(case)
    write("summaries", cases)


def ranks():
    cases = []
    sizes = [(n, 0.5) for n in (6, 7, 8, 9, 10, 15, 20, 30, 100, 1000)]
    sizes += [(36, 0.9), (100, 0.9), (72, 0.95), (368, 0.99), (1000, 0.99), (5000, 0.999), (200000, 0.99)]
    for confidence in (0.9, 0.95, 0.99):
        for n, p in sizes:
            tail = (1 - confidence) / 2
            low = int(scipy.stats.binom.ppf(tail, n, p))
            high = int(scipy.stats.binom.ppf(1 - tail, n, p)) + 1
            if low < 1 or high > n:
                cases.append({"samples": n, "probability": p, "confidence": confidence, "ranks": None})
                continue
            coverage = scipy.stats.binom.cdf(high - 1, n, p) - scipy.stats.binom.cdf(low - 1, n, p)
            cases.append(
                {
                    "samples": n,
                    "probability": p,
                    "confidence": confidence,
                    "ranks": [low, high],
                    "coverage": coverage,
                }
            )
    write("ranks", cases)


def enumerated_p(first, second):
    """The exact two-sided p over every way to split the pooled values, ties included."""
    doubled = np.rint(2 * scipy.stats.rankdata(list(first) + list(second))).astype(int).tolist()
    counts = {(0, 0): 1}
    for rank in doubled:
        for (size, total), ways in list(counts.items()):
            if size < len(first):
                key = (size + 1, total + rank)
                counts[key] = counts.get(key, 0) + ways
    observed = sum(doubled[: len(first)])
    ways = {total: count for (size, total), count in counts.items() if size == len(first)}
    everything = math.comb(len(doubled), len(first))
    assert sum(ways.values()) == everything
    at_most = sum(count for total, count in ways.items() if total <= observed)
    at_least = sum(count for total, count in ways.items() if total >= observed)
    return min(1.0, 2 * min(at_most, at_least) / everything)


def groups():
    rng = np.random.default_rng(11)
    cases = {
        "gob": (GOB_OLD, GOB_NEW),
        "json": (JSON_OLD, JSON_NEW),
        "apart": ([1, 2, 3, 4], [5, 6, 7, 8]),
        "apart_swapped": ([5, 6, 7, 8], [1, 2, 3, 4]),
        "ties_uneven": (rng.integers(0, 6, 9), rng.integers(1, 8, 23)),
        "small_5_7": (np.round(rng.normal(10, 1, 5), 4), np.round(rng.normal(11, 1, 7), 4)),
        "large_70_60": (np.round(rng.normal(10, 1, 70), 2), np.round(rng.normal(10.3, 1, 60), 2)),
        "exact_45_55": (np.round(rng.normal(10, 1, 45), 6), np.round(rng.normal(10.2, 1, 55), 6)),
    }
    for count in (10, 20, 30, 40):
        cases[f"ladder_8_{count}"] = (
            [1.7 * i + 0.1 for i in range(8)],
            [1.3 * i + 0.05 for i in range(count)],
        )
    return {name: (list(map(float, a)), list(map(float, b))) for name, (a, b) in cases.items()}


def comparisons():
    cases = []
    for name, (base, other) in groups().items():
        pooled = base + other
        ties = len(set(pooled)) < len(pooled)
        pairs = len(base) * len(other)
        asymptotic = scipy.stats.mannwhitneyu(base, other, method="asymptotic")
        if pairs > (625 if ties else 2500):
            exact, p = False, asymptotic.pvalue
        elif ties:
            exact, p = True, enumerated_p(base, other)
        else:
            exact, p = True, scipy.stats.mannwhitneyu(base, other, method="exact").pvalue
        differences = np.subtract.outer(np.array(other), np.array(base)).ravel()
        welch = scipy.stats.ttest_ind(base, other, equal_var=False)
        cases.append(
            {
                "name": name,
                "base": base,
                "other": other,
                "statistic": asymptotic.statistic,
                "ties": ties,
                "exact": exact,
                "p_value": p,
                "ratio_of_medians": np.median(other) / np.median(base),
                "shift": np.median(differences),
                "cliffs_delta": ((differences > 0).sum() - (differences < 0).sum()) / pairs,
                "welch": {"statistic": welch.statistic, "freedom": welch.df, "p_value": welch.pvalue},
                "shift_interval": shift_interval(base, other),
            }
        )
    write("comparisons", cases)


def shift_interval(base, other, confidence=0.95):
    """All shifts that the exact test without ties does not reject; the distribution of U by plain counting."""
    n1, n2 = len(base), len(other)
    if n1 * n2 > 2500:
        return None
    # ways[k][u]: how many of the arrangements of k and j values have U = u, built one value at a time.
    ways = {(0, j): {0: 1} for j in range(n2 + 1)}
    for i in range(1, n1 + 1):
        ways[i, 0] = {0: 1}
        for j in range(1, n2 + 1):
            merged = {u + j: count for u, count in ways[i - 1, j].items()}
            for u, count in ways[i, j - 1].items():
                merged[u] = merged.get(u, 0) + count
            ways[i, j] = merged
    counts, total = ways[n1, n2], math.comb(n1 + n2, n1)
    below, rank, outside = 0, 0, 0.0
    for u in itertools.count():
        below += counts.get(u, 0)
        if below / total > (1 - confidence) / 2:
            break
        rank, outside = u + 1, below / total
    if rank == 0:
        return None
    ordered = np.sort(np.subtract.outer(np.array(other), np.array(base)).ravel())
    return {"low": ordered[rank - 1], "high": ordered[-rank], "coverage": 1 - 2 * outside}


def bootstrap():
    cases = []
    for name, statistic in (("mean", np.mean), ("median", np.median)):
        for values in (samples()["normal_25"], samples()["json_old"]):
            values = np.asarray(values, dtype=float)
            rng = np.random.default_rng(3)
            result = {
                method: scipy.stats.bootstrap(
                    (values,), statistic, n_resamples=20000, method=method, rng=np.random.default_rng(3)
                ).confidence_interval
                for method in ("percentile", "BCa")
            }
            few = scipy.stats.bootstrap((values,), statistic, n_resamples=999, method="BCa", rng=rng)
            cases.append(
                {
                    "statistic": name,
                    "samples": values,
                    "percentile": list(result["percentile"]),
                    "bca": list(result["BCa"]),
                    "jackknife": [statistic(np.delete(values, i)) for i in range(len(values))],
                    "replicates": few.bootstrap_distribution,
                    "bca_of_replicates": list(few.confidence_interval),
                }
            )
    write("bootstrap", {"one": cases})


def proportions():
    wilson = [
        {
            "successes": k,
            "trials": n,
            "confidence": c,
            "interval": proportion_confint(k, n, alpha=1 - c, method="wilson"),
        }
        for k, n, c in ((482, 500, 0.95), (0, 10, 0.95), (10, 10, 0.95), (1, 3, 0.9), (99_990, 100_000, 0.99))
    ]
    write("proportions", {"wilson": wilson})


def corrections():
    rng = np.random.default_rng(5)
    families = [
        [0.001, 0.008, 0.039, 0.041, 0.042, 0.06, 0.074, 0.205, 0.212, 0.216],
        np.round(rng.uniform(0, 1, 25) ** 3, 6),
        [0.5, 0.5, 0.01, 1.0, 0.0],
    ]
    write(
        "corrections",
        [
            {
                "p_values": family,
                "holm": multipletests(family, method="holm")[1],
                "benjamini_hochberg": multipletests(family, method="fdr_bh")[1],
            }
            for family in families
        ],
    )


def change_points():
    rng = np.random.default_rng(0)
    step = np.round(
        np.concatenate([rng.normal(12, 0.2, 30), rng.normal(10.5, 0.15, 20), rng.normal(10, 0.1, 150)]), 4
    )
    rng = np.random.default_rng(1)
    calm = np.round(rng.normal(5, 0.3, 120), 4)
    quieter = np.round(np.concatenate([rng.normal(5, 1.0, 60), rng.normal(5, 0.1, 60)]), 4)
    cases = []
    for name, values in (("step", step), ("calm", calm), ("quieter", quieter)):
        for factor in (3, 15):
            penalty = factor * math.log(len(values))
            ends = ruptures.Pelt(model="normal", min_size=5, jump=1).fit(values).predict(pen=penalty)
            cases.append(
                {
                    "name": name,
                    "values": values,
                    "penalty": penalty,
                    "minimum_length": 5,
                    "variance_floor": 1e-6,
                    "ends": ends,
                }
            )
    write("change_points", cases)


def effective(values):
    """n over 1 + 2·sum of autocorrelations, in pairs for as long as they are positive."""
    centred = np.asarray(values) - np.mean(values)
    rho = np.correlate(centred, centred, "full")[len(centred) - 1 :]
    rho = rho / rho[0]
    total = 0.0
    for k in range(0, len(rho) - 1, 2):
        pair = rho[k] + rho[k + 1]
        if pair <= 0:
            break
        total += pair
    return len(centred) / max(1.0, 2 * total - 1)


def series():
    rng = np.random.default_rng(9)
    walk = [0.0]
    for shock in rng.normal(0, 1, 299):
        walk.append(0.7 * walk[-1] + shock)
    walk = np.round(walk, 6)
    independent = np.round(rng.normal(0, 1, 300), 6)
    write(
        "effective_samples",
        [{"samples": values, "effective": effective(values)} for values in (walk, independent)],
    )


def nested():
    jobs = np.array([[10.1, 10.3, 10.2, 10.4], [11.0, 11.2, 11.1, 11.3], [9.8, 9.9, 10.0, 9.7]])
    within = jobs.var(axis=1, ddof=1).mean()
    of_means = jobs.mean(axis=1).var(ddof=1)
    half = scipy.stats.t.ppf(0.975, len(jobs) - 1) * math.sqrt(of_means / len(jobs))
    flat = jobs.ravel()
    naive = scipy.stats.t.ppf(0.975, len(flat) - 1) * scipy.stats.sem(flat)
    write(
        "nested",
        {
            "jobs": jobs,
            "mean": jobs.mean(),
            "within": within,
            "of_means": of_means,
            "between": of_means - within / jobs.shape[1],
            "half_width": half,
            "half_width_of_flat_mean": naive,
        },
    )


def history():
    rng = np.random.default_rng(13)
    changes = np.round(rng.normal(0, 0.01, 45), 6)
    latest = np.abs(changes[-30:])
    first, third = np.percentile(latest, [25, 75])
    write("history", {"changes": changes, "threshold": third + 3 * (third - first)})


def scaling():
    workers = np.array([1, 2, 4, 8, 16, 32, 64], float)
    throughput = np.array([955.16, 1878.91, 3688.10, 6531.08, 9897.24, 12148.9, 11213.5])

    def universal(n, single, contention, coherence):
        return single * n / (1 + contention * (n - 1) + coherence * n * (n - 1))

    def amdahl(n, single, contention):
        return universal(n, single, contention, 0)

    tight = {"ftol": 1e-15, "xtol": 1e-15, "gtol": 1e-15, "max_nfev": 100000}
    fitted, _ = scipy.optimize.curve_fit(
        universal, workers, throughput, p0=[1000, 0.05, 1e-3], bounds=(0, np.inf), x_scale=[1000, 0.1, 1e-3], **tight
    )
    simple, _ = scipy.optimize.curve_fit(
        amdahl, workers, throughput, p0=[1000, 0.05], bounds=(0, np.inf), x_scale=[1000, 0.1], **tight
    )
    residual = ((throughput - universal(workers, *fitted)) ** 2).sum()
    total = ((throughput - throughput.mean()) ** 2).sum()
    write(
        "scaling",
        {
            "workers": workers,
            "throughput": throughput,
            "universal": fitted,
            "amdahl": simple,
            "peak": math.sqrt((1 - fitted[1]) / fitted[2]),
            "determination": 1 - residual / total,
        },
    )


if __name__ == "__main__":
    for part in (
        summaries,
        ranks,
        comparisons,
        bootstrap,
        proportions,
        corrections,
        change_points,
        series,
        nested,
        history,
        scaling,
    ):
        part()
