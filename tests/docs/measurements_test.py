"""The index of measurements has every page and every benchmark; the site's navigation has the pages, too."""

import re
import subprocess
import sys

import pytest

from doc_blocks import ROOT
from doc_commands_test import check_dev

INDEX = (ROOT / "docs/measurements/README.md").read_text()
PAGES = sorted(path.name for path in (ROOT / "docs/measurements").glob("*.md"))
COMMANDS = re.findall(r"^\| \[.*?\| `\./dev ([^`]+)` \|", INDEX, re.MULTILINE)


@pytest.fixture(scope="module")
def help_of_benches():
    return subprocess.run([sys.executable, ROOT / "bench/run", "--help"], capture_output=True, text=True, check=True).stdout


def test_the_index_has_every_page():
    assert {f"{name})" for name in PAGES} - {"README.md)"} <= set(re.findall(r"\]\(([^)]+\))", INDEX))


def test_the_navigation_has_every_page():
    assert set(PAGES) == set(re.findall(r"docs/measurements/(\S+\.md)$", (ROOT / "mkdocs.yml").read_text(), re.MULTILINE))


def test_the_index_has_every_benchmark(help_of_benches):
    known = re.findall(r"^  ([a-z]+) +\S", help_of_benches.split("benchmarks:\n")[1].split("\n\n")[0], re.MULTILINE)
    assert len(known) > 20
    assert {command.split()[1] for command in COMMANDS if command.startswith("bench ")} == {*known, "training"}


@pytest.mark.parametrize("command", COMMANDS)
def test_commands_of_the_index_are_known(command, help_of_benches):
    of_benches = re.findall(r"^  (--\w+)", help_of_benches, re.MULTILINE)  # more than `./dev help` tells
    check_dev([word for word in command.split() if word not in of_benches], [])
