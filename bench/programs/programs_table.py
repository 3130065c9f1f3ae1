"""The table of figures that `compare.py --programs` took."""


def short(x):
    return f"{x:.2f}" if x < 10 else f"{x:.0f}"


def step(row):
    """Milliseconds by the clock, and of all cores together where those are known."""
    if "ms" not in row:
        return "failed" if "err" in row else ""
    return short(row["ms"]) + (f" ({short(row['cpu_ms'])})" if "cpu_ms" in row else "")


def first(row):
    """Seconds of the first step, likewise."""
    if "first_s" not in row:
        return ""
    processor = row.get("first_cpu_s", 0) + row.get("compiler_cpu_s", 0)
    return short(row["first_s"]) + (f" ({short(processor)})" if processor else "")


def markdown(figures):
    facts = figures["machine"]
    peers = sorted({r["peer"] for r in figures["rows"]} - {"tarry"})
    by = {(r["w"], r["dtype"], r["peer"]): r for r in figures["rows"]}
    lines = [
        f"# Programs on {facts.get('gpu', facts['processor'])}, {facts['date']}",
        "",
        "Written by `bench/compare.py --programs`. Milliseconds a step, back to back; seconds of the first step, compiling",
        "included; in brackets the processor time of all cores together. Nodes, kernels, launches and MB are those of a",
        "later step, floor: bytes over the least that its results need. Compiled: kernels of the first and second step.",
        "",
        "- " + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in facts.items() if v and k != "date"),
        "- " + ", ".join(f"{k} {v}" for k, v in figures["versions"].items()),
        "",
        "| program | dtype | nodes | kernels | launches | MB | floor | ms |"
        + "".join(f" {p} ms |" for p in peers)
        + " plan ms | compiled | first s |"
        + "".join(f" {p} first s |" for p in peers),
        "|" + " --- |" * (11 + 2 * len(peers)),
    ]
    for (w, dtype, peer), row in by.items():
        if peer != "tarry":
            continue
        beside = [by.get((w, dtype, p), {}) for p in peers]
        if "err" in row:
            lines.append(f"| {w} | {dtype} | failed: {row['err']} |" + " |" * (8 + 2 * len(peers)))
            continue
        cells = [w, dtype, row["nodes"], row["kernels"], row["launches"], f"{1e-6 * row['bytes']:.1f}"]
        cells += [f"{row['ratio']:.2f}", step(row), *map(step, beside), f"{row['plan_ms']:.0f}"]
        cells += [f"{row['compiles']} + {row.get('second_compiles', 0)}", first(row), *map(first, beside)]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"
