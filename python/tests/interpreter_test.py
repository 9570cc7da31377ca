"""Living within an interpreter: Ctrl-C, logging, the end of the program. Each in a program of its own."""

import logging
import os
import signal
import subprocess
import sys
import tarfile
import textwrap
from pathlib import Path

import pytest

import stoker
from stoker import _testing

sys.path.append(str(Path(__file__).resolve().parents[2] / "tests/cli"))
from web_server import WebServer

SECONDS_MAX = 30  # a guard against hanging
REQUEST_SECONDS_MAX = 20  # less than what a request may take


def program(text, *arguments):
    return [sys.executable, "-c", textwrap.dedent(text), *map(str, arguments)]


def run(text, *arguments, timeout=SECONDS_MAX):
    # A shell that starts the tests in the background has SIGINT ignored, and children inherit that.
    return subprocess.run(program(text, *arguments), capture_output=True, text=True, timeout=timeout,
                          preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))


# The first batch takes a second or more, whatever the machine. The other thread can run only once the main one waits
# for it, since nothing else makes it give up the interpreter lock.
INTERRUPTED = """
    import os, signal, sys, threading, stoker
    recipe = stoker.recipe().decode().resize((1, 1))
    loader = stoker.Loader(sys.argv[1], recipe, batch=30_000, threads=1, prefetch=1, tail="wrap")
    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)
    started = threading.Event()
    threading.Thread(target=interrupt).start()
    batches = iter(loader)
    sys.setswitchinterval(1000)
    try:
        started.set()
        next(batches)
    except KeyboardInterrupt:
        print(loader.metrics()["batches"], "batches")
        print(len(next(batches)), "samples")
"""


def test_ctrl_c_ends_the_wait_for_a_batch_and_leaves_the_loader_usable(folder):
    done = run(INTERRUPTED, folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "0 batches\n30000 samples\n", "")


def test_ctrl_c_that_nobody_catches_ends_the_program(folder):
    done = run(INTERRUPTED.replace("except KeyboardInterrupt:", "except ZeroDivisionError:"), folder)
    assert done.returncode == -signal.SIGINT
    assert done.stderr.rstrip().endswith("KeyboardInterrupt")


def test_ctrl_c_leaves_a_with_block_of_torchs_loader_without_a_thread(folder):
    text = INTERRUPTED.replace("stoker.Loader(", "stoker.torch.Loader(").replace("    try:", "    before = len(os.listdir('/proc/self/task'))\n    try:")
    text = text.split("    except KeyboardInterrupt:")[0].replace("        next(batches)", "        with loader:\n            next(batches)")
    done = run("import torch\n" + textwrap.dedent(text) + textwrap.dedent("""
        except KeyboardInterrupt as error:
            print(repr(error), len(os.listdir("/proc/self/task")) < before)
    """), folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "KeyboardInterrupt() True\n", "")


# As above; opening goes through a million members of tars, whatever the machine a tenth of a second and more.
OPENING = """
    import os, signal, sys, threading, stoker
    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)
    started = threading.Event()
    threading.Thread(target=interrupt).start()
    sys.setswitchinterval(1000)
    before = len(os.listdir("/proc/self/task"))
    try:
        started.set()
        stoker.open(sys.argv[1:2] * 1000 + sys.argv[2:])
    except KeyboardInterrupt as error:
        print(repr(error), error.__context__, len(os.listdir("/proc/self/task")) < before)
    print(len(stoker.open(sys.argv[1])))
"""


@pytest.fixture(scope="module")
def many_members(tmp_path_factory):
    path = tmp_path_factory.mktemp("many") / "many.tar"
    with tarfile.open(path, "w") as tar:
        for number in range(1000):
            tar.addfile(tarfile.TarInfo(f"{number}.jpg"))
    return path


@pytest.mark.parametrize("damaged", [False, True])
def test_ctrl_c_ends_the_opening_of_a_data_set(many_members, tmp_path, damaged):
    (tmp_path / "cut.tar").write_bytes(many_members.read_bytes()[:1000])
    done = run(OPENING, many_members, *([tmp_path / "cut.tar"] if damaged else []))
    assert (done.returncode, done.stdout, done.stderr) == (0, "KeyboardInterrupt() None True\n1000\n", "")


# The server is stopped once the data are open, so that no request after that is answered.
ON_A_SILENT_SERVER = """
    import os, signal, sys, threading, stoker
    data = stoker.open(sys.argv[1])
    os.kill(int(sys.argv[2]), signal.SIGSTOP)
    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)
    started = threading.Event()
    threading.Thread(target=interrupt).start()
    sys.setswitchinterval(1000)
    try:
        started.set()
        WAIT
    except KeyboardInterrupt as error:
        print(repr(error), error.__context__)
    os.kill(int(sys.argv[2]), signal.SIGCONT)
    print(len(data[0]["jpg"]) > 0, sum(1 for batch in stoker.Loader(data, "imagenet-train", batch=10)))
"""


@pytest.mark.parametrize("wait", ["data[7]", "data.subset(lambda facts: True)",
                                  "stoker.Loader(data, 'imagenet-train', batch=10)",
                                  "list(stoker.Loader(data, 'imagenet-train', batch=10))"])
def test_ctrl_c_ends_the_wait_for_a_server_and_leaves_the_data_usable(folder, tmp_path, wait):
    subprocess.run([os.environ["STOKER_BIN"], "pack", folder, tmp_path], check=True, capture_output=True)
    with WebServer(tmp_path) as server:
        done = run(ON_A_SILENT_SERVER.replace("WAIT", wait), server.url, server.process.pid,
                   timeout=REQUEST_SECONDS_MAX)
    assert (done.returncode, done.stdout, done.stderr) == (0, "KeyboardInterrupt() None\nTrue 5\n", "")


# As above, of three hundred thousand samples. What was interrupted gave nothing.
LISTING = """
    import os, signal, sys, threading, stoker
    data = stoker.open(sys.argv[1:] * 300, use_index=False)
    def interrupt():
        started.wait()
        os.kill(os.getpid(), signal.SIGINT)
    started, listed = threading.Event(), None
    threading.Thread(target=interrupt).start()
    sys.setswitchinterval(1000)
    try:
        started.set()
        listed = data.LISTED
    except KeyboardInterrupt as error:
        print(repr(error), error.__context__, listed)
    print(len(data.LISTED))
"""


@pytest.mark.parametrize("listed", ["labels", "keys"])
def test_ctrl_c_ends_the_listing_of_all_samples(many_members, listed):
    done = run(LISTING.replace("LISTED", listed), many_members)
    assert (done.returncode, done.stdout, done.stderr) == (0, "KeyboardInterrupt() None None\n300000\n", "")


def test_ctrl_c_ends_a_request_that_calls_a_function_for_many_items(folder, tmp_path):
    """The function waits until the signal was seen, or two seconds: all items would take longer than the program may."""
    done = run("""
        import os, signal, sys, threading, time, stoker
        sys.path.append(sys.argv[2])
        calls = sys.argv[3]
        def interrupt():
            while not os.path.exists(calls):
                time.sleep(0.001)
            os.kill(os.getpid(), signal.SIGINT)
        def handler(*_):
            open(calls + ".go", "x").close()
            raise KeyboardInterrupt
        signal.signal(signal.SIGINT, handler)
        image = stoker.open(sys.argv[1])[0]["jpg"]
        recipe = stoker.recipe().decode().resize((20, 24)).layout("nhwc")
        recipe = recipe.map("functions:waits", "image", {"image": ("u8", (20, 24, 3))}, arguments={"calls": calls})
        ready = stoker.Preprocessor(recipe, threads=1)
        threading.Thread(target=interrupt).start()
        try:
            ready([image] * 30)
        except KeyboardInterrupt as error:
            print(repr(error), error.__context__, 1 <= len(open(calls).readlines()) < 30)
        print(len(ready([image] * 2)))
    """, folder, Path(__file__).parent, tmp_path / "calls")
    assert (done.returncode, done.stdout, done.stderr) == (0, "KeyboardInterrupt() None True\n2\n", "")


def test_no_thread_is_left_after_close_or_when_the_loader_is_dropped(folder):
    done = run("""
        import os, sys, time, stoker
        data = stoker.open(sys.argv[1])
        def thread_count():
            return len(os.listdir("/proc/self/task"))
        def comes_to(most):  # the system lists a thread for a moment after it was joined
            end = time.monotonic() + 60
            while thread_count() > most and time.monotonic() < end:
                time.sleep(0.001)
            return thread_count() <= most
        def running():
            loader = stoker.Loader(data, "imagenet-train", batch=8, threads=5)
            next(iter(loader))
            assert thread_count() >= before + 5
            return loader
        before = thread_count()
        loader = running()
        loader.set(threads=2)
        assert comes_to(before + 4)
        loader.close()
        assert comes_to(before)
        loader = running()
        del loader
        assert comes_to(before)
        try:
            with running():
                raise RuntimeError
        except RuntimeError:
            assert comes_to(before)
        batches = iter(running())  # holds the loader
        next(batches)
        del batches
        assert comes_to(before)
    """, folder)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("end", ["", "del loader", "sys.exit()", "held = [loader]; held.append(held)", "loader.close()"])
def test_the_program_ends_quietly_however_the_loader_is_left(folder, end):
    done = run("""
        import sys, stoker
        loader = stoker.Loader(sys.argv[1], "imagenet-train", batch=8, threads=4)
        batches = iter(loader)
        batch = next(batches)
        image = batch.image.numpy()
        exec(sys.argv[2])
    """, folder, end)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_program_ends_while_another_thread_waits_for_batches(folder):
    done = run("""
        import sys, threading, stoker
        loader = stoker.Loader(sys.argv[1], "imagenet-train", batch=8)
        started = threading.Event()
        def consume():
            try:
                while True:
                    for batch in loader:
                        started.set()
            except stoker.Error as error:
                assert error.kind == "closed"
        threading.Thread(target=consume, daemon=True).start()
        started.wait()
    """, folder)
    assert (done.returncode, done.stderr) == (0, "")


# Wherever in the call the other thread is when the interpreter ends; `stays` is in the midst of Python code then.
IN_A_CALL = """
    import os, sys, threading, stoker
    def stays(*_):
        began.set()
        while True:
            os.stat("/")  # gives the interpreter lock up
    data = stoker.open(sys.argv[1])
    image, recipe = data[0]["jpg"], stoker.recipe().decode().resize((8, 8))
    mapped = recipe.layout("nhwc").map("__main__:stays", "image", {"image": ("u8", (8, 8, 3))})
    ready, loader = stoker.Preprocessor(recipe, threads=2), stoker.Loader(data, recipe, batch=8, threads=1)
    def work():
        while True:
            CALL
            began.set()
    began = threading.Event()
    threading.Thread(target=work, daemon=True).start()
    began.wait()
"""


@pytest.mark.parametrize("call", ["ready(image)", "ready([image] * 40)", "recipe.apply(image)", "mapped.apply(image)",
                                  "data.labels", "data[0]", "data.subset(stays)", "loader.metrics()",
                                  "stoker.open(sys.argv[1])"])
def test_the_program_ends_while_another_thread_is_in_a_call(folder, call):
    for _ in range(3):
        done = run(IN_A_CALL.replace("CALL", call), folder)
        assert (done.returncode, done.stderr) == (0, "")


def test_a_forked_child_ends_while_threads_of_its_parent_are_in_calls(folder):
    done = run(IN_A_CALL.replace("CALL", "data[0]") + """
    for _ in range(20):
        child = os.fork()
        if child == 0:
            sys.exit(len(data.labels) - 50)
        assert os.waitpid(child, 0)[1] == 0
""", folder)
    assert done.returncode == 0, done.stderr


def test_a_handler_that_is_slow_or_needs_the_lock_does_not_stop_the_loader(folder):
    done = run("""
        import logging, sys, threading, stoker
        from stoker import _testing
        told = []
        class Handler(logging.Handler):
            def emit(self, record):
                told.append(record.getMessage())
                for batch in stoker.Loader(sys.argv[1], "imagenet-train", batch=25):
                    pass
        logging.getLogger("stoker").addHandler(Handler())
        threads = [threading.Thread(target=_testing.log, args=(2, f"message {i}")) for i in range(20)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for batch in stoker.Loader(sys.argv[1], "imagenet-train", batch=25):
            pass
        assert sorted(told) == sorted(f"message {i}" for i in range(20)), told
    """, folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_an_exception_of_a_handler_is_printed_and_ctrl_c_in_it_is_not_lost(folder):
    done = run("""
        import logging, sys, stoker
        from stoker import _testing
        class Handler(logging.Handler):
            def emit(self, record):
                raise {"wrong": RuntimeError, "ctrl-c": KeyboardInterrupt}[record.getMessage()]("from the handler")
        logging.getLogger("stoker").addHandler(Handler())
        for text in ("wrong", "ctrl-c"):
            try:
                _testing.log(3, text)
                stoker.open(sys.argv[1])
            except KeyboardInterrupt:
                print("interrupted by", text)
    """, folder)
    assert (done.returncode, done.stdout) == (0, "interrupted by ctrl-c\n")
    assert "RuntimeError: from the handler" in done.stderr


def test_ctrl_c_in_a_handler_loses_no_message_that_comes_after(folder):
    """The other thread speaks while the main one waits for it, and takes no message."""
    done = run("""
        import logging, sys, threading, stoker
        from stoker import _testing
        told = []
        class Handler(logging.Handler):
            def emit(self, record):
                told.append(record.getMessage())
                if told[-1] == "first":
                    raise KeyboardInterrupt
        logging.getLogger("stoker").addHandler(Handler())
        def speak():
            started.wait()
            for text in ("first", "second", "third"):
                _testing.log(3, text)
        started = threading.Event()
        thread = threading.Thread(target=speak)
        thread.start()
        sys.setswitchinterval(1000)
        try:
            started.set()
            thread.join()
            stoker.open(sys.argv[1])
        except KeyboardInterrupt:
            print("interrupted")
        thread.join()
        stoker.open(sys.argv[1])
        print(told)
    """, folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, "interrupted\n['first', 'second', 'third']\n", "")


def test_messages_reach_pythons_logging_at_their_level(caplog):
    with caplog.at_level(logging.DEBUG, logger="stoker"):
        stoker_levels = [logging.DEBUG, logging.INFO, logging.WARNING, logging.ERROR]
        follow_level()
        for level in range(4):
            _testing.log(level, f"100% of {level}")
        follow_level()
    told = [(record.name, record.levelno, record.getMessage()) for record in caplog.records]
    assert told == [("stoker", level, f"100% of {number}") for number, level in enumerate(stoker_levels)]


def test_messages_below_the_loggers_level_are_dropped(caplog):
    with caplog.at_level(logging.WARNING, logger="stoker"):
        follow_level()
        _testing.log(1, "too fine")
        _testing.log(2, "just right")
        follow_level()
    assert [record.getMessage() for record in caplog.records] == ["just right"]


def test_names_in_messages_stay_on_one_line_and_do_nothing_to_a_terminal(caplog):
    with caplog.at_level(logging.WARNING, logger="stoker"):
        follow_level()
        _testing.log(2, "sample 'a\nCRITICAL all is lost\x1b[2J\x9b2J caf\u00e9' is bad")
        follow_level()
    assert [record.getMessage() for record in caplog.records] == [
        "sample 'a\\nCRITICAL all is lost\\x1b[2J\\x9b2J caf\u00e9' is bad"]


def test_messages_left_at_the_end_are_still_told():
    done = run("""
        import stoker
        from stoker import _testing
        import atexit
        atexit.register(_testing.log, 3, "the last word")  # runs before Stoker's own farewell
    """)
    assert (done.returncode, done.stderr) == (0, "the last word\n")


def follow_level():
    """Any call that opens something makes Stoker look at the logger's level, and deliver."""
    with pytest.raises(stoker.Error):
        stoker.open("no such folder")


def test_the_environment_chooses_the_instruction_set_and_a_wrong_one_is_a_usage_error(folder, monkeypatch):
    text = """
        import sys, stoker
        recipe = stoker.recipe().decode().resize((8, 8))
        for use in (lambda: stoker.Loader(sys.argv[1], recipe, batch=4), lambda: recipe.apply(b"")):
            try:
                use()
            except stoker.Error as error:
                print(error.kind, error)
    """
    monkeypatch.setenv("STOKER_ISA", "mmx")
    usage = f"usage 'mmx' is not an instruction set; this machine has {', '.join(_testing.available_isas())}\n"
    assert run(text, folder).stdout == 2 * usage
    monkeypatch.setenv("STOKER_ISA", "scalar")
    assert run(text, folder).stdout.startswith("bad_sample")
