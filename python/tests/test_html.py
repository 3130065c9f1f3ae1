"""Notebooks' views are sound HTML and evaluate nothing."""
import html.parser

import pytest
import tarry as ta


class Sound(html.parser.HTMLParser):
    """Fails where tags do not close in order; collects the text."""

    def __init__(self, page):
        super().__init__()
        self.open, self.words = [], []
        self.feed(page)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attributes):
        self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.words.append(data)


def words(value):
    return " ".join(Sound(value._repr_html_()).words)


def test_a_lazy_array_shows_how_it_came_about_and_stays_lazy():
    x = ta.zeros((2, 3)) + 1
    assert "(2, 3)" in words(x) and "float32" in words(x) and "add at test_html.py" in words(x)
    assert not x.is_evaluated


def test_an_evaluated_array_shows_its_values():
    x = ta.asarray([1.5, 2.0])
    assert "[1.5 2. ]" in words(x) and "lazy" not in words(x)


def test_names_of_cells_are_text():
    names = {"ta": ta}
    exec(compile("x = ta.zeros(2) + 1", "<cell & more>", "exec"), names)
    assert "<cell" not in names["x"]._repr_html_() and "<cell & more>" in words(names["x"])


def test_plans_and_reports_show_counters_and_edges():
    x = ta.reshape(ta.arange(4096, dtype=ta.float32), (64, 64))
    y = (ta.sin(x).evaluate() + 1) @ x
    plan = ta.plan(y)
    assert "kernels" in words(plan) and "through memory" in words(plan) and not y.is_evaluated
    report = ta.evaluate(y)
    assert "launches" in words(report) and f"{report.counters.bytes_read:,}" in words(report)


@pytest.mark.parametrize("empty", [lambda: ta.evaluate(), lambda: ta.zeros(()), lambda: ta.zeros((0, 3))])
def test_what_is_empty_shows_itself_too(empty):
    assert words(empty())
