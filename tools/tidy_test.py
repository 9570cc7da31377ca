"""Every rule of tools/tidy has an example that it must find, and one beside it that it must leave alone."""

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

TIDY = Path(__file__).with_name("tidy")


def load_tidy():
    loader = importlib.machinery.SourceFileLoader("tidy", str(TIDY))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("tidy", loader))
    sys.modules["tidy"] = module  # dataclasses look their module up
    write_bytecode, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    loader.exec_module(module)
    sys.dont_write_bytecode = write_bytecode
    return module


tidy = load_tidy()

# Path, text, and a part of what has to be said about it.
FOUND = [
    ("stoker/base/a.cc", '#include "stoker/tensor/batch.h"\n', "base/ includes only base"),
    ("stoker/storage/a.cc", '#include "stoker/format/dataset.h"\n', "storage/ includes only"),
    ("stoker/order/a.cc", '#include "stoker/tensor/shape.h"\n', "order/ includes only base, order"),
    ("stoker/codec/a.cc", '#include "stoker/storage/source.h"\n', "codec/ includes only base, tensor, codec"),
    ("stoker/ops/a.cc", '#include "stoker/codec/image_decoder.h"\n', "ops/ includes only base, tensor, ops"),
    ("stoker/ops/kernels/a-inl.h", '// A.\n#include "stoker/plan/recipe.h"\n', "ops/ includes only"),
    ("stoker/base/a_test.cc", '#include "stoker/runtime/loader.h"\n', "base/ includes only"),
    ("stoker/runtime/a.cc", '#include "stoker/stoker.h"\n', "runtime/ includes only"),
    ("stoker/tuner/a.h", '// A.\n#pragma once\n#include "stoker/tuner/report/tune_report.h"\n', "include none of its rooms"),
    ("stoker/runtime/engine/a.cc", '#include "stoker/runtime/tuning/self_tuning.h"\n', "the rooms before it"),
    ("stoker/ops/kernels/resample/a.h", '// A.\n#pragma once\n#include "stoker/ops/kernels/planar/a.h"\n', "the rooms before it"),
    ("stoker/pack/attic/a.cc", '#include "stoker/pack/pack_job.h"\n', "not a room"),
    ("stoker/misc/a.cc", '#include "stoker/base/error.h"\n', "not a layer"),
    ("stoker/base/a.cc", '#include "cli/progress.h"\n', "nothing from outside stoker/"),
    ("stoker/base/a.cc", '#include "error.h"\n', "path from the root"),
    ("stoker/base/a.cc", '#include "../tensor/shape.h"\n', "path from the root"),
    ("stoker/plan/reference_executor.cc", '#include "stoker/ops/kernels/resample/resample.h"\n', "reference executor"),
    ("stoker/plan/reference_executor.cc", '#include "stoker/codec/jpeg_decoder.h"\n', "reference executor"),
    ("stoker/runtime/a.cc", "#include <cuda_runtime.h>\n", "CUDA headers"),
    ("stoker/ops/a.h", "// A.\n#pragma once\n#include <nvjpeg.h>\n", "CUDA headers"),
    ("cli/a_command.cc", "#include <CLI/CLI.hpp>\n", "cli/parser.h"),
    ("stoker/plan/a.cc", "#include <nanobind/nanobind.h>\n", "binding headers"),
    ("stoker/base/a.cc", 'std::cout << "x";\n', "never prints"),
    ("stoker/base/a.cc", 'printf("x");\n', "never prints"),
    ("stoker/base/a.cc", 'std::fprintf(stderr, "x");\n', "never prints"),
    ("stoker/base/a.cc", "std::abort();\n", "never ends the program"),
    ("stoker/base/a.cc", "if (bad) exit(1);\n", "never ends the program"),
    ("stoker/storage/a.cc", "std::thread worker(run);\n", "start threads"),
    ("stoker/storage/a.cc", "std::vector<std::jthread> workers;\n", "start threads"),
    ("stoker/plan/a.cc", "auto later = std::async(run);\n", "start threads"),
    ("stoker/order/a.cc", "std::mt19937 generator(1);\n", "Random of"),
    ("cli/a.cc", "int n = rand() % 6;\n", "Random of"),
    ("stoker/ops/a.cc", "const double x = std::exp(y);\n", "portable_math.h"),
    ("stoker/base/a.cc", "auto now = std::chrono::system_clock::now();\n", "now_ns()"),
    ("stoker/runtime/a.cc", "std::this_thread::sleep_for(1s);\n", "absolute deadline"),
    ("cli/a.cc", "usleep(10);\n", "absolute deadline"),
    ("stoker/storage/a.cc", "std::this_thread::sleep_until(then);\n", "wait for a condition"),
    ("stoker/runtime/a_test.cc", "std::this_thread::sleep_until(then);\n", "tests do not sleep"),
    ("stoker/base/a_test.cc", "sleep(1);\n", "tests do not sleep"),
    ("stoker/base/a.cc", 'sprintf(text, "%d", n);\n', "fmt::format"),
    ("cli/a.cc", "strcpy(to, from);\n", "std::string"),
    ("cli/a.cc", "int n = std::atoi(text);\n", "std::from_chars"),
    ("cli/a.cc", "using namespace std;\n", "write std::"),
    ("stoker/base/a_test.cc", "assert(false);\n", "assert the invariant"),
    ("cli/a.cc", "out << std::endl;\n", "flushes"),
    ("docs/a.md", "Look into /home/ann/data.\n", "a path of one machine"),
    ("stoker/base/a.cc", '// measured on "/ro' 'ot/photos"\n', "a path of one machine"),
    ("stoker/base/a_test.cc", 'open("/tmp/a");\n', "temporary folder"),
    ("python/a.py", "path = '/tmp/a'\n", "temporary folder"),
    ("stoker/base/a.cc", "int a; // TODO: b\n", "unfinished"),
    ("stoker/base/a.cc", "int a; \n", "white space"),
    ("stoker/base/a.cc", "\tint a;\n", "a tab"),
    ("stoker/base/a.cc", "int a;", "exactly one newline"),
    ("stoker/base/a.cc", "int a;\n\n", "exactly one newline"),
    ("stoker/base/a.h", "#pragma once\n", "opens with a comment"),
    ("stoker/base/a.h", "// What it is.\nint a;\n", "#pragma once"),
]

LEFT_ALONE = [
    ("stoker/plan/a.cc", '#include "stoker/plan/b.h"\n\n#include <fmt/core.h>\n\n#include "stoker/order/c.h"\n'),
    ("stoker/stoker.h", '// All of it.\n#pragma once\n#include "stoker/runtime/loader.h"\n'),
    ("stoker/plan/fused_executor.cc", '#include "stoker/ops/kernels/resample/resample.h"\n'),
    ("stoker/plan/reference_executor.cc", '#include "stoker/codec/plain_decode.h"\n'),
    ("cli/a.cc", "using namespace std::string_literals;\n"),
    ("stoker/device/a.cc", "#include <cuda_runtime.h>\n"),
    ("stoker/ops/kernels/a.cu", "#include <cuda_fp16.h>\n"),
    ("cli/parser.cc", "#include <CLI/CLI.hpp>\n"),
    ("python/a.cc", "#include <nanobind/nanobind.h>\n"),
    ("cli/a.cc", 'fmt::print("x");\nstd::cout << 1;\nstd::exit(2);\n'),
    ("stoker/base/a.cc", "executor.exit(1);\nfile->abort();\nvoid on_exit(int);\n"),
    ("stoker/base/a.cc", 'fail(kUsage, "do not call exit(1) or printf(x)");  // nor std::abort()\n'),
    ("stoker/base/a.cc", "/* std::cout\n   rand() */\nauto text = R\"(std::endl\n)\";\n"),
    ("stoker/base/a.cc", "const int million = 1'000'000; const char quote = '\"'; f(\"x\");\n"),
    ("stoker/runtime/a.cc", "std::thread worker(run);\n"),
    ("stoker/storage/a_test.cc", "std::thread worker(run);\nstd::mt19937 generator(1);\n"),
    ("stoker/base/a.cc", "const auto n = std::thread::hardware_concurrency();\n"),
    ("stoker/device/a.cc", "std::this_thread::sleep_until(deadline);\n"),
    ("stoker/pack/a.cc", "const double x = std::exp(y);\n"),
    ("stoker/base/a.cc", "std::abort();  // tidy: nothing else is left to do when the handler itself fails\n"),
    ("stoker/ops/kernels/a-inl.h", "// A kernel, once per instruction set.\n#if defined(A) == defined(B)\n#endif\n"),
    ("docs/a.md", "Under https://example.org/home/page or ~/wo" "rk/data or build/wo" "rk/x.\n"),
]


def said_about(path, text):
    return [str(finding) for finding in tidy.findings(tidy.File(path, text))]


@pytest.mark.parametrize(("path", "text", "expected"), FOUND)
def test_finds(path, text, expected):
    said = said_about(path, text)
    assert any(expected in finding for finding in said), said
    assert all(finding.startswith(path + ":") for finding in said)


@pytest.mark.parametrize(("path", "text"), LEFT_ALONE)
def test_leaves_alone(path, text):
    assert said_about(path, text) == []


def test_every_ban_has_an_example():
    for ban in tidy.BANS:
        files = [tidy.File(path, text) for path, text, _ in FOUND]
        assert any(ban.where(file) and tidy.re.search(ban.call, "\n".join(file.code)) for file in files), ban.call


def test_names_the_line():
    assert said_about("cli/a.cc", "/* one\ntwo */\nusing namespace std;\n")[0].startswith("cli/a.cc:3: ")


@pytest.fixture
def tree(tmp_path):
    def write(path, text):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)

    def run():
        return subprocess.run([sys.executable, TIDY, tmp_path], capture_output=True, text=True, check=False)

    run.write = write
    return run


def test_fails_when_anything_is_found(tree):
    tree.write("stoker/base/a.cc", "std::abort();\n")
    result = tree()
    assert result.returncode == 1
    assert "stoker/base/a.cc:1: std::abort" in result.stdout


def test_passes_a_clean_tree_and_does_not_look_at_what_was_built(tree):
    tree.write("stoker/base/a.cc", "int a;\n")
    tree.write("build/release/a.cc", "std::abort();\n")
    result = tree()
    assert result.returncode == 0
    assert "1 files, 0 findings" in result.stdout


def test_warns_of_long_files(tree):
    tree.write("stoker/base/long.cc", "int a;\n" * 501)
    tree.write("stoker/base/short.cc", "int a;\n" * 500)
    result = tree()
    assert result.returncode == 0
    assert result.stderr.startswith("stoker/base/long.cc: warning: 501 lines")
    assert "short.cc" not in result.stderr


def test_finds_two_types_of_one_name(tree):
    tree.write("stoker/pack/a.h", "// A.\n#pragma once\nstruct BadSample {\n};\nclass Other;\n")
    tree.write("stoker/runtime/b.h", "// B.\n#pragma once\nstruct BadSample final : Base {\n};\nclass Other {};\n")
    tree.write("stoker/runtime/c.cc", "struct BadSample {\n};\n")
    result = tree()
    assert result.returncode == 1
    assert "stoker/runtime/b.h:3: BadSample: there is a type of this name in stoker/pack/a.h" in result.stdout
    assert "1 findings" in result.stdout


def test_tells_aligned_types_apart_by_their_names(tree):
    tree.write("stoker/pack/a.h", "// A.\n#pragma once\nstruct alignas(64) Slot {\n};\nclass alignas(8) Row;\n")
    tree.write("stoker/runtime/b.h", "// B.\n#pragma once\nstruct alignas(64) Line {\n};\nclass Slot {\n};\n")
    result = tree()
    assert "stoker/runtime/b.h:5: Slot: there is a type of this name in stoker/pack/a.h" in result.stdout
    assert "1 findings" in result.stdout
