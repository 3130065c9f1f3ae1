"""Notebooks' views of arrays, plans and reports. A lazy array stays lazy."""

from collections import Counter
from html import escape

from . import _tarry


def _rows(rows, heads=()):
    """A table whose first column names the rows, or with a line of heads."""
    made = "".join(f"<th>{escape(head)}</th>" for head in heads)
    lines = [f"<tr>{made}</tr>"] if heads else []
    for row in rows:
        first, *others = (escape(str(cell)) for cell in row)
        cells = f"<td>{first}</td>" if heads else f"<th>{first}</th>"
        lines.append(f"<tr>{cells}{''.join(f'<td>{cell}</td>' for cell in others)}</tr>")
    return f"<table>{''.join(lines)}</table>" if rows else ""


def _folded(title, inside):
    return f"<details><summary>{escape(title)}</summary>{inside}</details>"


def _text(text):
    return f"<pre>{escape(text)}</pre>"


def _fields(record):
    """Name and value of what is not zero in a record of numbers."""
    named = ((name, getattr(record, name)) for name in vars(type(record)) if not name.startswith("_"))
    return [(name.replace("_", " "), value) for name, value in named if value]


def _number(value):
    return f"{value:,}" if isinstance(value, int) else f"{1e3 * value:.3f} ms"


def _work(title, work):
    """The counters of a plan or a report, and each edge that went through memory."""
    counted = _rows([(name, _number(value)) for name, value in _fields(work.counters)])
    edges = Counter((edge.producer, edge.consumer, edge.reason) for edge in work.unfused)
    rows = [(*edge, times) for edge, times in edges.items()]
    return f"<b>{escape(title)}</b>{counted}{_rows(rows, ('through memory from', 'to', 'since', 'times'))}"


def _of_array(self):
    """The array as a notebook shows it: its values where they are computed, otherwise how it came about."""
    facts = [("shape", self.shape), ("dtype", self.dtype), ("bytes", _number(self.nbytes)), ("device", self.device)]
    if not self.is_evaluated:
        state, _, origin = repr(self).partition("), ")[2].removesuffix(")").partition(": ")
        return _rows([*facts, (state, origin)])
    try:
        return _rows(facts) + _text(str(self))
    except _tarry.Error as error:
        return _rows([*facts, ("failed", error)])


def _of_plan(self):
    """The plan as a notebook shows it: counters, steps and generated kernels."""
    title, _, steps = repr(self).partition("\n")
    sources = "".join(_text(source) for source in self.sources())
    return _work(title, self) + _folded("steps", _text(steps)) + _folded("kernels", sources)


def _of_report(self):
    """The report as a notebook shows it: counters, and where the time went."""
    title, _, rest = repr(self).partition("\n")
    seconds = _rows([(name, _number(value)) for name, value in _fields(self.seconds)])
    return _work(title, self) + _folded("time by stage", seconds) + _folded("all", _text(rest))


def attach(array, plan, report):
    """Makes arrays, plans and reports show themselves in notebooks."""
    array._repr_html_ = _of_array
    plan._repr_html_ = _of_plan
    report._repr_html_ = _of_report
