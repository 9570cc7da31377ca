"""tools/clang_tidy reads again what may have changed, and nothing else. Its clang-tidy is a script here that notes its calls,
and finds what contains the word BAD."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

CLANG_TIDY = """#!/bin/sh
if [ "$1" = --version ]; then echo 14; exit; fi
for file; do :; done
echo "$(basename "$file")" >>"$CALLS"
if grep -q BAD "$file"; then echo "$file: bad"; exit 1; fi
"""


class Checkout:
    """A few sources, what a build of them would leave, and the program under test."""

    def __init__(self, at, shared):
        self.at, self.calls, self.shared = at, shared / "calls", shared
        for name, content in {"stoker/a.cc": '#include "stoker/a b.h"\n', "stoker/b.cc": "int b;\n",
                              "stoker/a_test.cc": "int test;\n", "stoker/a b.h": "int a;\n", ".clang-tidy": "Checks: -*\n",
                              "bin/clang-tidy": CLANG_TIDY}.items():
            self.write(name, content)
        (at / "bin/clang-tidy").chmod(0o755)
        (at / "tools").mkdir()
        shutil.copy(Path(__file__).with_name("clang_tidy"), at / "tools")
        self.write("build/compile_commands.json", json.dumps(
            [{"directory": str(at / "build"), "file": str(at / file),
              "command": f"/usr/bin/c++ -I{at} -o {Path(file).stem}.o -c {at / file}"}
             for file in ("stoker/a.cc", "stoker/b.cc", "stoker/a_test.cc")]))

    def write(self, name, content):
        path = self.at / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    def run(self):
        """Its status, and which sources clang-tidy read."""
        self.calls.write_text("")
        done = subprocess.run([self.at / "tools/clang_tidy", self.at / "build"], stdout=subprocess.PIPE, text=True, check=False,
                              env={"PATH": f"{self.at / 'bin'}:/usr/bin:/bin", "CALLS": str(self.calls),
                                   "XDG_CACHE_HOME": str(self.shared / "cache")})
        return done.returncode, sorted(self.calls.read_text().split())


@pytest.fixture
def checkout(tmp_path):
    return Checkout(tmp_path / "one", tmp_path)


def test_what_was_clean_is_not_read_again(checkout):
    assert checkout.run() == (0, ["a.cc", "b.cc"])
    assert checkout.run() == (0, [])


@pytest.mark.parametrize("name, content, read", [
    ("stoker/a b.h", "int other;\n", ["a.cc"]),
    ("stoker/b.cc", "int other;\n", ["b.cc"]),
    (".clang-tidy", "Checks: misc-*\n", ["a.cc", "b.cc"]),
    ("stoker/a_test.cc", "int other;\n", []),
])
def test_what_changed_is_read_again(checkout, name, content, read):
    checkout.run()
    checkout.write(name, content)
    assert checkout.run() == (0, read)


def test_another_command_is_another_source(checkout):
    checkout.run()
    commands = checkout.at / "build/compile_commands.json"
    commands.write_text(commands.read_text().replace(" -o b.o", " -DB=1 -o b.o"))
    assert checkout.run() == (0, ["b.cc"])


def test_findings_are_found_each_time(checkout):
    checkout.run()
    checkout.write("stoker/b.cc", "int BAD;\n")
    assert checkout.run() == (1, ["b.cc"])
    assert checkout.run() == (1, ["b.cc"])
    checkout.write("stoker/b.cc", "int b;\n")
    assert checkout.run() == (0, [])


def test_another_checkout_of_the_same_is_known(checkout):
    checkout.run()
    assert Checkout(checkout.shared / "two", checkout.shared).run() == (0, [])
