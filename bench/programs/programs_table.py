"""The table of figures that `compare.py --programs` took."""


def milliseconds(row):
    if "err" in row:
        return "failed"
    ms = row.get("ms")
    return "" if ms is None else f"{ms:.2f}" if ms < 10 else f"{ms:.0f}"


def seconds(row):
    return f"{row['first_s']:.2f}" if "first_s" in row else ""


def markdown(figures):
    facts = figures["machine"]
    peers = sorted({r["peer"] for r in figures["rows"]} - {"tarry"})
    by = {(r["w"], r["dtype"], r["peer"]): r for r in figures["rows"]}
    lines = [
        f"# Programs on {facts.get('gpu', facts['processor'])}, {facts['date']}",
        "",
        "Written by `bench/compare.py --programs`. ms: a step, back to back; first: seconds of the first step,",
        "compiling included. Kernels, launches and bytes are those of a later step; floor: bytes over the least that",
        "its results need.",
        "",
        "- " + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in facts.items() if v and k != "date"),
        "- " + ", ".join(f"{k} {v}" for k, v in figures["versions"].items()),
        "",
        "| program | dtype | ms |"
        + "".join(f" {p} ms |" for p in peers)
        + " kernels | launches | MB | floor | nodes | plan ms | first |"
        + "".join(f" {p} first |" for p in peers)
        + " compiled, 2nd step |",
        "|" + " --- |" * (11 + 2 * len(peers)),
    ]
    for (w, dtype, peer), row in by.items():
        if peer != "tarry":
            continue
        beside = [by.get((w, dtype, p), {}) for p in peers]
        if "err" in row:
            lines.append(f"| {w} | {dtype} | failed: {row['err']} |")
            continue
        cells = [w, dtype, milliseconds(row), *map(milliseconds, beside), row["kernels"], row["launches"]]
        cells += [f"{1e-6 * row['bytes']:.1f}", f"{row['ratio']:.2f}", row["nodes"], f"{row['plan_ms']:.0f}"]
        cells += [seconds(row), *map(seconds, beside), f"{row['compiles']}, {row.get('second_compiles', 0)}"]
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(lines) + "\n"
