"""The documentation's site: every page and link is there, and pages ask no other server for anything."""

import os
import re
import subprocess
import sys

import pytest

from browser import CHROMIUM, document_of
from doc_blocks import ROOT, pages
from docstring_examples import public_names

MKDOCS = ROOT / "build/docs-venv/bin/mkdocs"


ONLY_IN_FULL = pytest.mark.skipif("STOKER_TEST_FULL" not in os.environ, reason="only with ./dev test --full, which fetches mkdocs-material")


def test_the_reference_has_every_public_name():
    import stoker
    import stoker.tensorboard
    import stoker.tokens
    import stoker.torch

    script = "import runpy, sys; print(runpy.run_path(sys.argv[1])['python_reference']())"
    text = subprocess.run([sys.executable, "-c", script, ROOT / "tools/site"], check=True, stdout=subprocess.PIPE,
                          text=True).stdout
    of_ray = {f"stoker.ray.{name}" for name in ("EpochIterator", "Loader", "index", "pack", "verify")}
    names = {*public_names(stoker, stoker.__all__), *public_names(stoker.torch), *public_names(stoker.tokens),
             *public_names(stoker.tensorboard)}
    assert names | of_ray <= set(re.findall(r"^## (\S+)$", text, re.MULTILINE))
    assert text.count("\n### Loader.load_state_dict\n") == 3


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    made = tmp_path_factory.mktemp("docs") / "site"
    command = os.environ.get("STOKER_BIN", ROOT / "build/release/stoker")
    done = subprocess.run([sys.executable, ROOT / "tools/site", "--stoker", command, "--mkdocs", MKDOCS, made], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr  # mkdocs is strict: a link to nowhere is an error
    return made


@ONLY_IN_FULL
def test_the_site_is_whole(site):
    made = {str(path.relative_to(site)) for path in site.rglob("*.html")}
    expected = {re.sub(r"README\.md$", "index.html", page).replace(".md", ".html") for page in pages()}
    assert expected <= made
    for name in ("docs/reference/python.html", "docs/reference/command.html", "docs/reference/cpp.html", "stoker/c/stoker.h.html"):
        assert name in made


@ONLY_IN_FULL
def test_pages_have_all_that_they_ask_for_and_ask_no_other_server(site):
    asks = re.compile(r"""<(?:script|link|img|iframe)\b([^>]*?)\b(?:src|href)=["']?([^"' >]+)""")
    asking = 0
    for page in site.rglob("*.html"):
        wanted = [url for attributes, url in asks.findall(page.read_text()) if "canonical" not in attributes]
        asking += wanted != []  # a report has all in itself
        for url in wanted:
            assert not re.match(r"https?:|//", url), f"{page.relative_to(site)}: {url}"
            from_root = page.name == "404.html"
            there = from_root or url.startswith("data:") or (page.parent / re.split("[?#]", url)[0]).exists()
            assert there, f"{page.relative_to(site)}: {url}"
    assert asking >= len(list(pages()))


@ONLY_IN_FULL
@pytest.mark.skipif(CHROMIUM is None, reason="needs chromium, which ./dev test --full installs")
def test_pages_that_are_opened_as_files_can_be_searched(site, tmp_path):
    page = document_of(f"{(site / 'docs/tokens.html').as_uri()}?q=quarantine", tmp_path)
    (found,) = re.findall(r'class="md-search-result__meta">([^<]*)<', page)
    assert re.search(r"[1-9]\d* matching documents", found)
