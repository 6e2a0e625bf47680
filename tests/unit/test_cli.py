"""The command line as far as it goes without Spark: help, bad usage, exit codes."""

from __future__ import annotations

import logging
import signal
import subprocess
import sys

import pytest

from banyan.errors import ArgumentError
from banyan.jobs import cli, files, running
from banyan.jobs.tables import table


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of a process of its own."""
    done = subprocess.run([sys.executable, "-m", "banyan.jobs.cli", *arguments], capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


def exit_code(*arguments: str) -> int:
    try:
        return cli.main(list(arguments))
    except SystemExit as left:
        return left.code


def test_help_imports_no_spark():
    text = "import sys; from banyan.jobs import cli\ntry: cli.main(['match', '--help'])\nexcept SystemExit: pass\n"
    text += "sys.exit(any(name.partition('.')[0] in ('pyspark', 'pyarrow', 'pandas') for name in sys.modules))"
    assert subprocess.run([sys.executable, "-c", text], capture_output=True).returncode == 0


def test_help_names_every_command():
    code, out, err = run("--help")
    assert (code, err) == (0, "")
    assert all(f"\n  {command} " in out for command in cli.COMMANDS)


def test_nothing_said_is_bad_usage_with_help():
    code, out, err = run()
    assert (code, out) == (2, "") and "first steps:" in err


@pytest.mark.parametrize("command", cli.COMMANDS)
def test_each_command_has_help_with_examples(command, capsys):
    assert exit_code(command, "--help") == 0
    out = capsys.readouterr().out
    assert f"usage: banyan {command} " in out and f"examples:\n  banyan {command}" in out


def test_version(capsys):
    from banyan import __version__

    assert exit_code("--version") == 0
    assert capsys.readouterr().out == f"banyan {__version__}\n"


@pytest.mark.parametrize(
    "line, message",
    [
        ("mtach", "there is no command 'mtach'; did you mean match?"),
        ("frobnicate", "there are build, add, replace"),
        ("--colour", "unrecognized arguments: --colour"),
        ("build", "RULES, INDEX"),
        ("build rules.csv ./ads --on-error ignore", "invalid choice: 'ignore'"),
        ("add rules.csv", "INDEX"),
        ("match events.csv ./ads --attribute name", "both --attribute and --value"),
        ("match events.csv ./ads --zeros", "--zeros goes with --output counts"),
        ("match events.csv ./ads --keep a --output arrays", "--keep goes with --output pairs or counts"),
        ("match events.csv ./ads --limit 0", "'0' is not a whole number from 1"),
        ("match events.csv ./ads --overwrite", "--overwrite goes with --into"),
        ("match events.csv ./ads --version 1 --timestamp 2024-01-01", "not allowed with argument"),
        ("match events.csv ./ads --version one", "invalid int value: 'one'"),
        ("explain ./ads 1", "give the event"),
        ("explain ./ads 1 --event {", "not JSON"),
        ("explain ./ads 1 --event [1]", "a JSON object"),
        ("explain ./ads 1 --events events.csv", "--event-id"),
        ("stats", "INDEX"),
    ],
)
def test_bad_usage_is_exit_code_2(line, message, capsys):
    assert exit_code(*line.split()) == 2
    out, err = capsys.readouterr()
    assert out == "" and message in err and "Traceback" not in err


@pytest.mark.parametrize(
    "error, code, message",
    [
        (ArgumentError("no such column"), 1, "banyan: no such column\n"),
        (
            PermissionError(13, "Permission denied", "rules.csv"),
            1,
            "banyan: [Errno 13] Permission denied: 'rules.csv'\n",
        ),
        (KeyboardInterrupt(), 130, "banyan: interrupted\n"),
    ],
)
def test_errors_are_one_message_and_an_exit_code(error, code, message, monkeypatch, capsys):
    from banyan.jobs import stats

    def fail(_):
        raise error

    monkeypatch.setattr(stats, "main", fail)
    assert cli.main(["stats", "./ads"]) == code
    assert capsys.readouterr().err == message


@pytest.fixture
def own_signals():
    """Whatever the test does to signals and logging ends with it."""
    before = signal.getsignal(signal.SIGINT)
    yield
    signal.signal(signal.SIGINT, before)
    logging.disable(logging.NOTSET)


def test_ctrl_c_waits_while_spark_starts(own_signals):
    lived = False
    with pytest.raises(KeyboardInterrupt):
        with running._interruptible():
            signal.raise_signal(signal.SIGINT)
            lived = True
    assert lived


def test_ctrl_c_interrupts_once_spark_has_started(own_signals):
    with running._interruptible():
        signal.signal(signal.SIGINT, lambda *_: None)  # as PySpark does it
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_a_bug_is_not_hidden(monkeypatch):
    from banyan.jobs import stats

    monkeypatch.setattr(stats, "main", lambda _: {}["a bug"])
    with pytest.raises(KeyError):
        cli.main(["stats", "./ads"])


def test_warnings_of_ours_are_lines_and_others_are_silent(monkeypatch, capsys):
    import warnings

    from banyan.jobs import stats

    class OurWarning(UserWarning):
        pass

    OurWarning.__module__ = "banyan.match"

    def warn(_):
        warnings.warn("first\nsecond", OurWarning, stacklevel=1)
        warnings.warn("not for users", DeprecationWarning, stacklevel=1)

    monkeypatch.setattr(stats, "main", warn)
    assert cli.main(["stats", "./ads"]) == 0
    assert capsys.readouterr().err == "banyan: warning: first\nbanyan: warning: second\n"


@pytest.mark.parametrize(
    "name, kind",
    [
        ("a.csv", "csv"),
        ("A.CSV", "csv"),
        ("a.csv.gz", "csv"),
        ("dir/a.json", "json"),
        ("a.jsonl", "json"),
        ("a.parquet", "parquet"),
        ("./folder", None),
        ("catalog.schema.table", None),
    ],
)
def test_the_ending_names_the_format(name, kind):
    assert files.format_of(name) == kind


def test_a_file_is_written_only_where_it_can_be(tmp_path):
    there = tmp_path / "a.csv"
    there.write_text("x\n")
    files.check_new(str(there), overwrite=True)
    with pytest.raises(ArgumentError, match="is there already; give --overwrite"):
        files.check_new(str(there), overwrite=False)
    with pytest.raises(ArgumentError, match="there is no folder"):
        files.check_new(str(tmp_path / "none" / "a.csv"), overwrite=False)


def test_tables_align_numbers_to_the_right():
    assert table(["id", "events"], [["a", 5], [None, 1200]]) == (
        "id    events\n----  ------\na          5\nNULL    1200"
    )
