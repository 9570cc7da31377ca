"""Every link of the documentation leads somewhere in it, to the heading that it names."""

import re

import pytest

from doc_blocks import FENCE, ROOT, pages

LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
HEADING = re.compile(r"^#+ +(.*)$", re.MULTILINE)


def anchors_of(text):
    """As code hosts and the site's generator make them."""
    anchors = set()
    for heading in HEADING.findall(FENCE.sub("", text)):
        plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading).replace("`", "")
        anchor = re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")
        number = 1
        while anchor in anchors and f"{anchor}-{number}" in anchors:
            number += 1
        anchors.add(f"{anchor}-{number}" if anchor in anchors else anchor)
    return anchors


@pytest.mark.parametrize("page", pages())
def test_links_lead_somewhere(page):
    broken = []
    for target in LINK.findall(FENCE.sub("", (ROOT / page).read_text())):
        if re.match(r"[a-z]+:", target):
            continue
        path, _, anchor = target.partition("#")
        to = (ROOT / page).parent / path if path else ROOT / page
        if not to.exists() or not to.resolve().is_relative_to(ROOT):
            broken.append(target)
        elif anchor and anchor not in anchors_of(to.read_text()):
            broken.append(target)
    assert broken == []
