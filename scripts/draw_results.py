#!/usr/bin/env python3
"""Draws the README's figure, docs/figures/h200.svg, from a run of all workloads in bench/results.

usage: draw_results.py ROOT

Each workload is a line and each library a mark: its time over that of Tarry in strict mode. check_docs.py compares the
file with what this script gives.
"""
import json
import math
import pathlib
import sys

RESULTS, FIGURE = "bench/results/h200.json", "docs/figures/h200.svg"
LIBRARIES = [  # name, its peers (the fastest counts), shape, colour
    ("CuPy", ("cupy", "cupy_fuse"), "triangle", "#8c6d1f"),
    ("PyTorch", ("torch",), "square", "#c8553d"),
    ("torch.compile", ("torch_compile",), "circle", "#c8553d"),
    ("JAX", ("jax",), "diamond", "#3d7a5a"),
]
WORKLOADS = {
    "axpy": "a x + y", "chain20": "20 elementwise operations", "black_scholes": "Black-Scholes, call and put",
    "sum": "sum", "meanstd": "mean and deviation", "dot": "dot product", "normdiff": "norm of a difference",
    "softmax": "softmax of rows", "layernorm": "layer normalisation", "logsumexp": "logsumexp of rows",
    "colsum": "column sums", "stencil9": "nine-point stencil", "transpose_add": "a + transposed b",
    "cumsum": "running sum", "rbf": "Gaussian kernel matrix", "rbf_sum": "its row sums", "mcpi": "pi by Monte Carlo",
    "dahl": "matmul and elementwise", "small10": "10 operations on 1,024 numbers",
    "heat_small": "10 heat steps, 256 x 256", "heat_big": "10 heat steps, 8192 x 8192",
    "where_sum": "sum of chosen elements", "argmax": "argmax of rows", "multi_out": "three results of two arrays",
}
LEFT, RIGHT, TOP, LINE, END = 232, 24, 74, 19, 128  # pixels; the last: times beyond it lie at the edge
WIDTH = 860


def times(results):
    """workload -> peer -> milliseconds"""
    table = {}
    for row in results["rows"]:
        if "ms" in row and row.get("mode", "strict") == "strict":
            table.setdefault(row["w"], {})[row["peer"]] = row["ms"]
    return table


def at(ratio):
    span = WIDTH - LEFT - RIGHT
    return LEFT + span * (math.log2(min(ratio, END)) + 0.4) / (math.log2(END) + 0.4)


def mark(shape, colour, x, y, r=4.6):
    if shape == "circle":
        return f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{r - 0.4:.1f}" fill="{colour}"/>'
    corners = {"square": [(-0.8, -0.8), (0.8, -0.8), (0.8, 0.8), (-0.8, 0.8)],
               "diamond": [(0, -1.1), (1.1, 0), (0, 1.1), (-1.1, 0)],
               "triangle": [(0, -1), (1, 0.8), (-1, 0.8)]}[shape]
    points = " ".join(f"{x + r * a:.1f},{y + r * b:.1f}" for a, b in corners)
    hollow = f'fill="white" stroke="{colour}" stroke-width="1.6"' if shape == "square" else f'fill="{colour}"'
    return f'<polygon points="{points}" {hollow}/>'


def figure(results):
    table = times(results)
    ratios = {w: {name: min(t[p] for p in peers if p in t) / t["tarry"] for name, peers, _, _ in LIBRARIES}
              for w, t in table.items()}
    order = sorted(ratios, key=lambda w: min(ratios[w].values()))
    height = TOP + LINE * len(order) + 30
    bottom = height - 24
    title = f'Time relative to Tarry on one {results["machine"]["gpu"]}; further left is faster'
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" '
           'font-size="12">',
           f'<rect width="{WIDTH}" height="{height}" fill="white"/>',
           f'<text x="14" y="22" font-size="15" font-weight="bold">{title}</text>']
    x = 14
    for name, peers, shape, colour in LIBRARIES:
        label = name + (" (the faster of eager and fused)" if len(peers) > 1 else "")
        out += [mark(shape, colour, x + 5, 42), f'<text x="{x + 15}" y="46">{label}</text>']
        x += 40 + 6.6 * len(label)
    for power in range(int(math.log2(END)) + 1):
        tick = at(2**power)
        style = 'stroke="#2058a8" stroke-width="2.5"' if power == 0 else 'stroke="#ddd"'
        out += [f'<line x1="{tick:.1f}" y1="{TOP - 6}" x2="{tick:.1f}" y2="{bottom}" {style}/>',
                f'<text x="{tick:.1f}" y="{bottom + 16}" text-anchor="middle" fill="#555">{2**power}x</text>']
    out.append(f'<text x="{at(1):.1f}" y="{TOP - 10}" text-anchor="middle" fill="#2058a8" font-weight="bold">'
               'Tarry</text>')
    for number, workload in enumerate(order):
        y = TOP + LINE * (number + 0.5)
        out.append(f'<text x="{LEFT - 12}" y="{y + 4}" text-anchor="end">{WORKLOADS[workload]}</text>')
        out.append(f'<line x1="{LEFT}" y1="{y}" x2="{WIDTH - RIGHT}" y2="{y}" stroke="#f0f0f0"/>')
        out += [mark(shape, colour, at(ratios[workload][name]), y) for name, _, shape, colour in LIBRARIES]
    return "\n".join([*out, "</svg>", ""])


def drawn(root):
    return figure(json.loads((root / RESULTS).read_text(encoding="utf-8")))


def main():
    root = pathlib.Path(sys.argv[1])
    (root / FIGURE).parent.mkdir(exist_ok=True)
    (root / FIGURE).write_text(drawn(root), encoding="utf-8")


if __name__ == "__main__":
    main()
