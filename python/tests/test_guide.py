"""The Python of the README and of the guides runs, and gives what the pages show."""
import doctest
import pathlib
import re

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [page for page in (ROOT / "README.md", ROOT / "docs/guides/python.md", ROOT / "docs/guides/python_from.md")
         if page.exists()]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_a_page_gives_what_it_shows(page):
    blocks = re.findall(r"^```python.*\n((?:.*\n)*?)```$", page.read_text(encoding="utf-8"), flags=re.M)
    assert blocks
    names = {}
    for number, block in enumerate(blocks):
        if not block.startswith(">>>"):
            exec(compile(block, page.name, "exec"), names)
            continue
        example = doctest.DocTestParser().get_doctest(block, names, page.name, str(page), 0)
        runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
        runner.run(example, clear_globs=False)
        names = example.globs
        assert runner.failures == 0, f"block {number + 1} of {page.name}"
