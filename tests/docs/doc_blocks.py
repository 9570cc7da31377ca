"""The blocks of code in README.md and the documentation."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[2]
FENCE = re.compile(r"^( *)```(\w+)\n(.*?)^\1```$", re.DOTALL | re.MULTILINE)  # those of lists are indented


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
    """Those in these languages; without languages, all."""
    found = []
    for page in pages():
        text = (ROOT / page).read_text()
        for match in FENCE.finditer(text):
            indent, language, code = match.groups()
            code = re.sub(f"^{indent}", "", code, flags=re.MULTILINE)
            found.append(Block(page, text.count("\n", 0, match.start()) + 1, language, code))
    return [block for block in found if not languages or block.language in languages]
