"""The documentation's site: every page and link is there, and pages ask no other server for anything."""

import os
import re
import subprocess
import sys

import pytest

from doc_blocks import ROOT, pages

MKDOCS = ROOT / "build/docs-venv/bin/mkdocs"


@pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full, which fetches mkdocs-material")
def test_the_site_is_whole(tmp_path):
    command = os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")
    done = subprocess.run([sys.executable, ROOT / "tools/site", "--stoker", command, "--mkdocs", MKDOCS, tmp_path / "site"],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr  # mkdocs is strict: a link to nowhere is an error
    made = {str(path.relative_to(tmp_path / "site")) for path in (tmp_path / "site").rglob("*.html")}
    expected = {re.sub(r"README\.md$", "index.html", page).replace(".md", ".html") for page in pages()}
    assert expected <= made
    for name in ("docs/reference/python.html", "docs/reference/command.html", "docs/reference/cpp.html", "stoker/c/stoker.h.html"):
        assert name in made
    for name in sorted(made):
        text = (tmp_path / "site" / name).read_text()
        fetched = re.findall(r"""<(?:script|link|img|iframe)[^>]*(?:src|href)=["']?(https?:[^"' >]+)""", text)
        assert [url for url in fetched if "canonical" not in url] == [], name
