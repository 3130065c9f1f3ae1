#!/usr/bin/env python3
"""Runs tarry_bench and every peer that is installed, one after the other on one device, and writes one table.
With --rounds all take turns several times, for machines that others use too.

Into the output folder go NAME.json (every figure, the device, the driver, the versions), NAME.md (the table) and, where
matplotlib is installed, NAME.png. A ratio is the time of the best peer over that of Tarry: above 1, Tarry is faster.
targets.csv says what each ratio (or time, in microseconds) should be on a GPU.

With --programs it checks and runs the programs of bench/programs instead: tarry_programs beside tarry_bench, and the
peers of bench/programs/peers.py.

usage: compare.py --bench build/release/bin/tarry_bench [--device cuda] [--peers torch jax] [--filter sum 'rbf*']
       compare.py --programs [--device cuda] [--filter ising gru]
       compare.py --render NAME.json        writes the table and the plot of figures that were taken elsewhere
"""
import argparse
import csv
import datetime
import importlib.util
import json
import os
import pathlib
import platform
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "programs"))
import programs_table
MODES = ("strict", "relaxed")
PACKAGES = {
    "numpy": "numpy",
    "numexpr": "numexpr",
    "numba": "numba",
    "torch": "torch",
    "torch_compile": "torch",
    "jax": "jax",
    "cupy": "cupy",
    "cupy_fuse": "cupy",
    "tarry_python": "tarry",
    "tarry_function": "tarry",
}
OURS = ("tarry", "tarry_python", "tarry_function")
OF_DEVICE = {
    "cpu": ("numpy", "numexpr", "numba", "torch", "torch_compile", "jax", "tarry_python", "tarry_function"),
    "cuda": ("torch", "torch_compile", "jax", "cupy", "cupy_fuse", "tarry_python", "tarry_function"),
}
OF_PROGRAMS = {"cpu": ("numpy", "numba", "jax"), "cuda": ("torch_compile", "jax", "cupy")}


def present(options):
    """The peers to run: those that are asked for, else all that are installed."""
    if options.peers is not None:
        return options.peers
    every = (OF_PROGRAMS if options.programs else OF_DEVICE)[options.device]
    missing = [p for p in every if not importlib.util.find_spec(PACKAGES[p])]
    if missing:
        print(f"left out, as not installed: {', '.join(missing)}.", file=sys.stderr)
    return [p for p in every if p not in missing]


def commands(options):
    """Name and command of all that is timed."""
    if options.programs:
        driver = pathlib.Path(options.bench).with_name("tarry_programs")
        device = [*options.filter, "--device", options.device]
        script = str(HERE / "programs/peers.py")
        peers = [(p, [sys.executable, script, p, str(driver), *device]) for p in present(options)]
        return [("tarry", [str(driver), *device, "--json"]), *peers]
    pattern = ["--filter", *options.filter] if options.filter else []
    device = ["--device", options.device]
    peers = [(p, [sys.executable, str(HERE / "peers.py"), p, *device, *pattern]) for p in present(options)]
    return [("tarry", [options.bench, *device, "--json", "--mode", *MODES, *pattern]), *peers]


def output_of(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30).stdout.strip()
    except (OSError, subprocess.TimeoutExpired):
        return ""


def machine(device):
    """What the figures depend on besides the programs."""
    processor = next(
        (line.split(":", 1)[1].strip() for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("model name")),
        platform.processor(),
    )
    facts = {"processor": processor, "cores": os.cpu_count(), "date": datetime.date.today().isoformat()}
    if device == "cuda":
        query = output_of("nvidia-smi", "--query-gpu=name,driver_version,clocks.max.sm,clocks.max.memory", "--format=csv,noheader")
        fields = [f.strip() for f in (query.splitlines() or [""])[0].split(",")]
        facts.update(zip(("gpu", "driver", "max_sm_clock", "max_memory_clock"), fields))
    facts["tarry"] = output_of("git", "-C", str(HERE), "describe", "--always", "--dirty")
    return facts


def run(name, command, seconds):
    """The JSON lines that a program printed within its time; what it did not reach is missing."""
    print(f"{name} ...", file=sys.stderr, flush=True)
    start = time.monotonic()
    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=max(seconds, 1))
        text, complaint = done.stdout, done.stderr if done.returncode else ""
    except subprocess.TimeoutExpired as late:
        text, complaint = (late.stdout or b"").decode(), f"stopped after {seconds:.0f} s"
    rows = []
    for line in text.splitlines():
        try:
            rows.append(json.loads(line))
        except ValueError:
            continue
    last = complaint.strip().splitlines()[-1:] or [""]
    print(f"{name}: {len(rows)} rows in {time.monotonic() - start:.0f} s. {last[0]}", file=sys.stderr, flush=True)
    return rows


def take(options):
    """Runs everything; the figures as they are written."""
    figures = {"device": options.device, "machine": machine(options.device), "rounds": options.rounds, "versions": {}, "ceilings": {}}
    deadline = time.monotonic() + options.budget
    rows = {}  # the best of each; what failed once has failed
    for name, command in commands(options) * options.rounds:
        for row in run(name, command, deadline - time.monotonic()):
            if "w" in row:
                key = row["w"], row["peer"], row.get("mode", row.get("dtype"))
                rows[key] = min(rows.get(key, row), row, key=lambda r: r.get("ms", -1))
            elif "versions" in row:
                figures["versions"].update(row["versions"])
            else:
                figures["ceilings"] = {k: row[k] for k in ("copy_gbps", "read_gbps", "write_gbps") if k in row}
    figures["rows"] = list(rows.values())
    if options.programs:
        figures["programs"] = True
    return figures


def checked(options):
    """Whether all programs give what NumPy gives, at small extents."""
    driver = pathlib.Path(options.bench).with_name("tarry_programs")
    check = [sys.executable, str(HERE / "programs/check.py"), str(driver), *options.filter, "--device", options.device]
    return subprocess.run(check, stdout=sys.stderr).returncode == 0


def targets():
    with open(HERE / "targets.csv", encoding="utf-8") as file:
        return {r["workload"]: {k: float(v) for k, v in r.items() if k != "workload" and v} for r in csv.DictReader(file)}


def summarise(figures):
    """One dict per workload: the best peer, ours per mode, ratios, and whether each target is met."""
    wanted = targets() if figures["device"] == "cuda" else {}
    order, ours, best = [], {}, {}
    for row in figures["rows"]:
        w = row["w"]
        if w not in order:
            order.append(w)
        if row["peer"] == "tarry":
            ours[w, row["mode"]] = row
        elif row["peer"] not in OURS and "ms" in row and ("ms" not in best.get(w, {}) or row["ms"] < best[w]["ms"]):
            best[w] = row
    result = []
    for w in order:
        line = {"w": w, "peer": best.get(w, {}).get("peer"), "peer_ms": best.get(w, {}).get("ms")}
        target = wanted.get(w, {})
        for mode in MODES:
            row = ours.get((w, mode), {"err": "did not run"})
            of_mode = {k: row.get(k) for k in ("ms", "err", "share", "ceiling", "launches", "registers", "spilled")}
            if row.get("ms") and line["peer_ms"]:
                of_mode["ratio"] = line["peer_ms"] / row["ms"]
            if mode in target:
                of_mode["target"] = target[mode]
                of_mode["met"] = of_mode.get("ratio", 0) >= target[mode]
            elif mode == "strict" and "most_us" in target:
                of_mode["target_us"] = target["most_us"]
                of_mode["met"] = row.get("ms") is not None and 1e3 * row["ms"] <= target["most_us"]
            line[mode] = of_mode
        result.append(line)
    return result


def unlike(figures):
    """Workloads of which programs count other bytes: they do not run the same."""
    counted = {}
    for row in figures["rows"]:
        if "ms" in row:
            counted.setdefault(row["w"], []).append(row["gbps"] * row["ms"])
    return [w for w, numbers in counted.items() if max(numbers) > 1.001 * min(numbers)]


def milliseconds(ms):
    return "" if ms is None else f"{ms:.4f}" if ms < 1 else f"{ms:.3f}"


def target_text(of_mode):
    if "target" in of_mode:
        return f"{of_mode['target']:g}"
    return f"{of_mode['target_us']:g} us" if "target_us" in of_mode else ""


def markdown(figures):
    facts = figures["machine"]
    versions = ", ".join(f"{k} {v}" for k, v in figures["versions"].items())
    ceilings = ", ".join(f"{k.removesuffix('_gbps')} {v:.0f}" for k, v in figures["ceilings"].items())
    rounds = figures.get("rounds", 1)
    lines = [
        f"# {facts.get('gpu', facts['processor'])}, {facts['date']}",
        "",
        "Written by `bench/compare.py`; times in ms, ratio: best peer over Tarry. `*`: the target is not met. Floor: the",
        "least bytes that the workload has to move at the ceiling named beside it; share: how near strict comes to that.",
        *([f"Each time is the best of {rounds} rounds in which all took turns: what else uses the machine only adds to it."] if rounds > 1 else []),
        "",
        "- " + ", ".join(f"{k.replace('_', ' ')} {v}" for k, v in facts.items() if v and k != "date"),
        f"- {versions}",
        f"- ceilings of the same run [GB/s]: {ceilings}",
        "",
        "| workload | best peer | ms | strict | ratio | target | floor | share | relaxed | ratio | target |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    for line in summarise(figures):
        cells = [line["w"], line["peer"] or "", milliseconds(line["peer_ms"])]
        for mode in MODES:
            m = line[mode]
            cells.append(m["err"] or milliseconds(m["ms"]))
            cells.append((f"{m['ratio']:.2f}" if "ratio" in m else "") + ("" if m.get("met", True) else " *"))
            cells.append(target_text(m))
            if mode == "strict":
                cells.append(milliseconds(m["ms"] * m["share"]) if m["share"] else "")
                cells.append(f"{100 * m['share']:.1f} % {m['ceiling']}" if m["share"] else "")
        lines.append("| " + " | ".join(cells) + " |")
    if figures["device"] == "cuda":
        lines += ["", "Kernels in strict mode: launches of an evaluation; registers of the kernel that has most, and bytes spilled, by the",
                  "compiler's report.", "", "| workload | launches | registers | spilled |", "| --- | --- | --- | --- |"]
        for line in summarise(figures):
            m = line["strict"]
            if not m["err"]:
                lines.append(f"| {line['w']} | {m['launches']} | {m['registers']} | {m['spilled']} |")
    peers = sorted({r["peer"] for r in figures["rows"]} - {"tarry"})
    lines += ["", "All peers [ms]", "", "| workload | " + " | ".join(peers) + " |", "| --- |" + " --- |" * len(peers)]
    by = {(r["w"], r["peer"]): r for r in figures["rows"]}
    for line in summarise(figures):
        found = [by.get((line["w"], p), {}) for p in peers]
        lines.append(f"| {line['w']} | " + " | ".join("failed" if "err" in r else milliseconds(r.get("ms")) for r in found) + " |")
    return "\n".join(lines) + "\n"


def plot(figures, path):
    """Ratios as bars on a logarithmic axis, with a tick where the target is."""
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot

    lines = [line for line in summarise(figures) if any("ratio" in line[mode] for mode in MODES)][::-1]
    figure, axes = pyplot.subplots(figsize=(8, 1 + 0.3 * len(lines)))
    for offset, mode, colour in ((0.2, "strict", "#1f5a99"), (-0.2, "relaxed", "#9dbfe0")):
        axes.barh([i + offset for i in range(len(lines))], [line[mode].get("ratio", 1) - 1 for line in lines], 0.38, left=1,
                  color=colour, label=mode)
        for i, line in enumerate(lines):
            if "target" in line[mode]:
                axes.plot([line[mode]["target"]] * 2, [i + offset - 0.2, i + offset + 0.2], color="#c03030", linewidth=2)
    axes.plot([], [], color="#c03030", linewidth=2, label="target")
    axes.axvline(1, color="black", linewidth=0.8)
    axes.set_xscale("log")
    ticks = [t for t in (0.125, 0.25, 0.5, 1, 2, 4, 8, 16) if axes.get_xlim()[0] <= t <= axes.get_xlim()[1]]
    axes.set_xticks(ticks, [f"{t:g}" for t in ticks])
    axes.minorticks_off()
    axes.set_yticks(range(len(lines)), [f"{line['w']} ({line['peer']})" for line in lines])
    axes.set_xlabel("time of the best peer / time of Tarry")
    axes.set_title(figures["machine"].get("gpu", figures["machine"]["processor"]))
    axes.legend(loc="lower right")
    figure.tight_layout()
    figure.savefig(path, dpi=120)


def write(figures, base):
    base.parent.mkdir(parents=True, exist_ok=True)
    base.with_suffix(".json").write_text(json.dumps(figures, indent=1) + "\n", encoding="utf-8")
    if "programs" in figures:
        base.with_suffix(".md").write_text(programs_table.markdown(figures), encoding="utf-8")
        return
    base.with_suffix(".md").write_text(markdown(figures), encoding="utf-8")
    if importlib.util.find_spec("matplotlib"):
        plot(figures, base.with_suffix(".png"))
    else:
        print("no plot: matplotlib is not installed; `compare.py --render` makes it elsewhere", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--bench", default="build/release/bin/tarry_bench", help="the program tarry_bench")
    parser.add_argument("--device", choices=OF_DEVICE, default="cpu")
    parser.add_argument("--peers", nargs="*", choices=PACKAGES, help="those that are installed unless given")
    parser.add_argument("--filter", nargs="*", default=[], help="only workloads of these names; * stands for anything")
    parser.add_argument("--programs", action="store_true", help="those of bench/programs; the filter is their names")
    parser.add_argument("--budget", type=float, default=480, help="seconds for everything")
    parser.add_argument("--rounds", type=int, default=1, help="run all in turn so often; the best times count")
    parser.add_argument("--output", type=pathlib.Path, default=HERE / "results", help="folder")
    parser.add_argument("--name", help="of the files; the device unless given")
    parser.add_argument("--render", type=pathlib.Path, metavar="JSON", help="run nothing: table and plot of these figures")
    options = parser.parse_args()
    if options.render:
        figures, base = json.loads(options.render.read_text(encoding="utf-8")), options.render.with_suffix("")
    else:
        if options.programs and not checked(options):
            return 1
        stem = f"programs_{options.device}" if options.programs else options.device
        figures, base = take(options), options.output / (options.name or stem)
    write(figures, base)
    print(base.with_suffix(".md").read_text(encoding="utf-8"))
    failed = [r["w"] for r in figures["rows"] if r["peer"] == "tarry" and "err" in r]
    differing = [] if "programs" in figures else unlike(figures)
    for what, names in (("failed", failed), ("not the same work", differing)):
        if names:
            print(f"{what}: {', '.join(names)}", file=sys.stderr)
    return 1 if failed or differing or not figures["rows"] else 0


if __name__ == "__main__":
    sys.exit(main())
