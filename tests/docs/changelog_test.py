"""The changelog has a section for this version, and one for what comes after; each says which names changed."""

import re

from doc_blocks import ROOT

SECTIONS = re.split(r"^## ", (ROOT / "CHANGELOG.md").read_text(), flags=re.MULTILINE)[1:]


def test_the_first_section_is_of_what_is_not_released_and_the_next_of_this_version():
    version = re.search(r"project\(stoker VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text())[1]
    assert [section.split("\n", 1)[0].split(",")[0] for section in SECTIONS[:2]] == ["Unreleased", version]


def test_each_section_says_which_names_changed():
    for section in SECTIONS:
        names = re.search(r"^\*\*Names\*\*(: none has changed\.$| .*\n\n\| was \| write instead \|\n)", section, re.MULTILINE)
        assert names, section.split("\n", 1)[0]
