"""The blocks of code in README.md and the documentation."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)


class Block(NamedTuple):
    page: str
    line: int
    language: str
    text: str

    def __str__(self):
        return f"{self.page}:{self.line}"


def pages():
    """Every page that people read, by its path from the root."""
    found = [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md"), *ROOT.glob("examples/*/README.md")]
    return sorted(str(path.relative_to(ROOT)) for path in found)


def blocks(*languages):
    found = []
    for page in pages():
        text = (ROOT / page).read_text()
        found += [Block(page, text.count("\n", 0, match.start()) + 1, match[1], match[2]) for match in FENCE.finditer(text)]
    return [block for block in found if block.language in languages]
