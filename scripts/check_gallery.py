#!/usr/bin/env python3
"""Makes the pictures of docs/gallery.md again on the CPU and compares their pixels with docs/gallery/*.png.

Also: code blocks of the page are lines of the examples, and every picture there is made by a command. Pictures of
examples/python depend on Matplotlib's version, so their pixels are not compared: each that a program draws is shown,
and each that is shown is drawn by a program whose command stands on the page.

usage: check_gallery.py ROOT FOLDER_OF_PROGRAMS | --self-test
"""
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import zlib


def pixels(path):
    """Width, height and rows of an 8-bit grey or RGB PNG that is not interlaced."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        if kind == b"IDAT":
            packed += data[at + 8:at + 8 + size]
        at += 12 + size
    step, raw = {0: 1, 2: 3}[colour], zlib.decompress(packed)
    length, above, rows = width * step, bytes(width * step), []
    for start in range(0, height * (length + 1), length + 1):
        kind, row = raw[start], bytearray(raw[start + 1:start + 1 + length])
        for i in range(length):
            left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
            guess = left + above[i] - corner
            nearest = min([left, above[i], corner], key=lambda value: abs(guess - value))
            row[i] = row[i] + [0, left, above[i], (left + above[i]) // 2, nearest][kind] & 255
        above = bytes(row)
        rows.append(above)
    return width, height, rows


def problems(root, programs):
    page = (root / "docs/gallery.md").read_text(encoding="utf-8")
    sources = "".join(p.read_text(encoding="utf-8") for p in sorted((root / "examples").glob("*.cpp")))
    for block in re.findall(r"```cpp\n(.*?)```", page, flags=re.S):
        if block not in sources:
            yield f"docs/gallery.md: no example has\n{block}"
    yield from python_problems(root, page)
    shown = set(re.findall(r"\]\(gallery/([^/)]*)\)", page))
    with tempfile.TemporaryDirectory() as folder:
        for command in re.findall(r"^build/release/bin/(.*)$", page, flags=re.M):
            program, *words = command.split()
            subprocess.run([programs / program, *words, "--device", "cpu"], cwd=folder, check=True, capture_output=True)
        made = {p.name for p in pathlib.Path(folder).iterdir()}
        yield from (f"docs/gallery.md: {name} is shown, and no command makes it" for name in sorted(shown - made))
        for name in sorted(shown & made):
            if pixels(pathlib.Path(folder) / name) != pixels(root / "docs/gallery" / name):
                yield f"docs/gallery/{name}: not what its command makes"


def python_problems(root, page):
    texts = {p.name: p.read_text(encoding="utf-8") for p in sorted((root / "examples/python").glob("*.py"))}
    for block in re.findall(r"```python\n(.*?)```", page, flags=re.S):
        if not any(block in text for text in texts.values()):
            yield f"docs/gallery.md: no example has\n{block}"
    run = set(re.findall(r"^python examples/python/(\S+)", page, flags=re.M))
    drawn = {name: re.findall(r'savefig\("([^"]*)"', text) for name, text in texts.items()}
    made = {picture for name in run for picture in drawn.get(name, [])}
    shown = set(re.findall(r"\]\(gallery/python/([^)]*)\)", page))
    for picture in sorted(shown - made):
        yield f"docs/gallery.md: python/{picture} is shown, and no command makes it"
    for name, pictures in drawn.items():
        yield from (f"docs/gallery.md: {picture} of {name} is not shown" for picture in sorted({*pictures} - shown))


PAGE = "![a](gallery/a.png)\n```cpp\nint a;\n```\n```sh\nbuild/release/bin/draw a.png\n```\n" \
    "![b](gallery/python/b.png)\n```python\nb = 1\n```\n```sh\npython examples/python/b.py\n```\n"
DRAW = "#!/bin/sh\ncp {} \"$1\"\n"


def self_test():
    for place, text, expected in [
            (None, None, None),
            ("docs/gallery.md", PAGE.replace("int a", "int b"), "no example has"),
            ("docs/gallery.md", PAGE.replace("draw a", "draw b"), "no command makes it"),
            ("docs/gallery.md", PAGE.replace("b = 1", "b = 2"), "no example has"),
            ("docs/gallery.md", PAGE.replace("python/b.py", "python/c.py"), "python/b.png is shown, and no command"),
            ("docs/gallery.md", PAGE.replace("![b](gallery/python/b.png)", ""), "b.png of b.py is not shown"),
            ("docs/gallery/a.png", grey(1), "not what its command makes")]:
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            files = {"docs/gallery.md": PAGE, "docs/gallery/a.png": grey(0), "drawn.png": grey(0),
                     "examples/a.cpp": "int a;\n", "examples/python/b.py": 'b = 1\nsavefig("b.png")\n',
                     "draw": DRAW.format(root / "drawn.png")}
            for name, content in {**files, **({place: text} if place else {})}.items():
                (root / name).parent.mkdir(parents=True, exist_ok=True)
                (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
            (root / "draw").chmod(0o755)
            found = list(problems(root, root))
            assert (len(found) == 1 and expected in found[0]) if place else not found, (place, found)
    print("gallery: 6 planted faults found")


def grey(value):
    """A PNG of one pixel."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(bytes([0, value]))) + chunk(b"IEND", b""))


def main():
    if sys.argv[1:] == ["--self-test"]:
        return self_test()
    found = list(problems(pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()))
    print("\n".join(found + [f"gallery: {len(found)} problems"]))
    sys.exit(1 if found else 0)


if __name__ == "__main__":
    main()
