"""The command line on a tiny index: every command, what it prints, how it ends."""

from __future__ import annotations

import json
import os

import pytest

from banyan.jobs.cli import main

RULES = """expression_id,expression,team
adult,age >= 18,core
german,"country = 'DE' AND NOT (age < 18)",core
quoted,"name = ""Smith, John"" OR name LIKE 'A%'",ads
lines,"age > 5
  AND (country IN ('DE', 'FR')
    OR vip)",ads
typo,contry = 'DE',ads
"""
MORE = "id,condition\nvip,vip\n"
BAD = "expression_id,expression\na,age >> 5\nb,\"(age = 1\n\"\nc,age = 1\nc,age = 2\nd,\ne,name RLIKE '('\nf,1 = age\n"
EVENTS = """{"event_id": 1, "age": 31, "country": "DE", "name": "Anna", "vip": false}
{"event_id": 2, "age": 12, "country": "FR", "name": "Smith, John", "vip": true}
{"event_id": 3, "country": "US"}
"""


@pytest.fixture(scope="module")
def folder(spark, tmp_path_factory):
    """A folder with files, and the index ./ads at version 2: the rules, and one more."""
    folder = tmp_path_factory.mktemp("cli")
    for name, text in {"rules.csv": RULES, "more.csv": MORE, "bad.csv": BAD, "events.jsonl": EVENTS}.items():
        (folder / name).write_text(text)
    before = os.getcwd()
    os.chdir(folder)
    try:
        assert main(["build", "rules.csv", "./ads", "--quiet"]) == 0
        add = ["add", "more.csv", "./ads", "--id", "id", "--expression", "condition", "--request-id", "r1", "--quiet"]
        assert main(add) == 0
        yield folder
    finally:
        os.chdir(before)


@pytest.fixture
def banyan(folder, capsys):
    """Runs a command; its exit code, stdout and stderr."""

    def run(*arguments: str) -> tuple[int, str, str]:
        code = main(list(arguments))
        return (code, *capsys.readouterr())

    return run


def test_build_refuses_to_overwrite_an_index(banyan):
    code, out, err = banyan("build", "rules.csv", "./ads")
    assert (code, out) == (1, "") and "there is an index at" in err and "--replace" in err


def test_a_build_that_fails_leaves_nothing(banyan, folder):
    before = sorted(os.listdir(folder))
    code, out, err = banyan("build", "bad.csv", "./new/ads", "--quiet")
    assert (code, out) == (1, "")
    assert "6 expressions cannot go in; nothing was written" in err and "Traceback" not in err
    assert sorted(os.listdir(folder)) == before


def test_a_request_is_added_once(banyan):
    more = ("more.csv", "./ads", "--id", "id", "--expression", "condition")
    code, out, _ = banyan("add", *more, "--request-id", "r1", "--quiet")
    assert (code, out) == (0, "request r1 is in version 2 already: nothing to do\n")


def test_check_lists_what_is_bad(banyan):
    code, out, _ = banyan("check", "bad.csv")
    assert code == 1
    assert "    age >> 5\n         ^\n" in out
    assert "A parenthesis is never closed" in out and "the expression is NULL" in out
    assert out.count("c: the expression id is given more than once") == 2
    assert "e: Java does not accept the regular expression (" in out
    assert "c, f mean the same" in out
    assert out.endswith("bad.csv: 7 rules, 6 bad, 1 warnings\n")


def test_check_names_attributes_that_events_lack(banyan):
    line = "the events have no attribute contry, used by 1 rule; did you mean country?"
    code, out, _ = banyan("check", "rules.csv", "--events", "events.jsonl")
    assert code == 0 and line in out
    assert banyan("check", "rules.csv", "--events", "events.jsonl", "--strict")[0] == 1


def test_match_prints_pairs(banyan):
    code, out, err = banyan("match", "events.jsonl", "./ads", "--limit", "3", "--quiet")
    assert code == 0
    assert out == (
        "event_id  expression_id\n"
        "--------  -------------\n"
        "       1  adult\n"
        "       1  german\n"
        "       1  lines\n"
        "7 pairs; the first 3 are shown (--limit N, --into FILE)\n"
    )
    assert err == "banyan: warning: the events have no attribute contry, used by 1 rule; did you mean country?\n"


def test_match_counts_at_the_first_version(banyan):
    options = (
        "--output",
        "counts",
        "--zeros",
        "--keep",
        "team",
        "--where",
        "team = 'ads'",
        "--version",
        "1",
        "--quiet",
    )
    code, out, _ = banyan("match", "events.jsonl", "./ads", *options)
    assert code == 0
    assert [line.split() for line in out.splitlines()[2:]] == [
        ["lines", "2", "ads"],
        ["quoted", "2", "ads"],
        ["typo", "0", "ads"],
        ["3", "rules"],
    ]


def test_match_writes_one_file(banyan, folder):
    options = ("--output", "arrays", "--where", "team = 'core'", "--into", "out.csv", "--quiet")
    assert banyan("match", "events.jsonl", "./ads", *options)[:2] == (0, "out.csv: 3 events\n")
    lines = (folder / "out.csv").read_text().splitlines()
    assert lines[0] == "event_id,expression_ids"
    assert sorted(lines[1:]) == ['1,"[""adult"",""german""]"', "2,[]", "3,[]"]
    assert not [name for name in os.listdir(folder) if name.startswith(".out")]
    code, _, err = banyan("match", "events.jsonl", "./ads", *options)
    assert code == 1 and "out.csv is there already" in err


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("match", "evnts.jsonl", "./ads"), "there is no file evnts.jsonl; did you mean events.jsonl?"),
        (("match", "events.jsonl", "./none"), "there is no index at"),
        (("match", "events.jsonl", "ads"), "a folder has a /: ./ads"),
        (("match", "events.jsonl", "./ads", "--id", "evnt_id"), "no column 'evnt_id'; did you mean event_id?"),
        (("match", "events.jsonl", "./ads", "--where", "tem = 1"), "`tem`"),
        (("match", "events.jsonl", "./ads", "--version", "7"), "has no version 7"),
        (("match", "events", "./ads"), "there is no file, Delta folder or table events; did you mean events.jsonl?"),
        (("check", "more.csv"), "more.csv has no column 'expression_id'"),
        (("explain", "./ads", "none", "--event", "{}"), "version 2 of ./ads has no rule 'none'"),
        (("explain", "./ads", "vip", "--events", "events.jsonl", "--event-id", "x"), "no row with event_id = x"),
    ],
)
def test_bad_data_is_one_message_and_exit_code_1(banyan, arguments, message):
    code, out, err = banyan(*arguments)
    assert (code, out) == (1, "")
    assert message in err and "Traceback" not in err and "\tat " not in err


def test_explain_an_event_given_as_json(banyan):
    code, out, _ = banyan("explain", "./ads", "german", "--event", '{"Age": "31", "country": "FR"}')
    assert code == 0
    assert out.splitlines() == [
        "german: country = 'DE' AND NOT (age < 18)",
        "false: the event does not match",
        "  false      AND",
        "  false        country = 'DE'  country = 'FR'",
        "  true         NOT",
        "  false          age < 18      age = '31'",
    ]


def test_explain_an_event_of_a_file(banyan):
    code, out, _ = banyan("explain", "./ads", "vip", "--events", "events.jsonl", "--event-id", "3")
    assert code == 0
    assert out.splitlines()[1:] == [
        "undefined: the event does not match (an attribute is absent)",
        "  undefined  vip  vip is absent",
    ]


def test_versions_and_stats(banyan):
    code, out, _ = banyan("versions", "./ads")
    assert code == 0 and [line.split()[0] for line in out.splitlines()[2:]] == ["2", "1", "0"]
    versions = [json.loads(line) for line in banyan("versions", "./ads", "--json")[1].splitlines()]
    assert [version["expressions"] for version in versions] == [6, 5, 0]
    # A time as it is printed leads to the version it is printed for.
    at_first = ("stats", "./ads", "--json", "--timestamp", versions[1]["published_at"])
    assert json.loads(banyan(*at_first)[1])["version"] == 1
    code, out, _ = banyan("stats", "./ads")
    assert code == 0 and "expressions      6  rules\n" in out


def test_replace_remove_diff_restore_forget(banyan, folder):
    """After the tests of the index as it was made: from version 2 on."""
    (folder / "mended.csv").write_text("expression_id,expression,team\ntypo,country = 'DE',ads\n")
    code, out, err = banyan("replace", "mended.csv", "./ads")
    assert code == 0 and out.startswith("./ads: version 3 with 6 rules") and "publish" in err
    code, _, err = banyan("remove", "./ads", "--ids", "vip", "nobody", "--quiet")
    assert code == 1 and "nobody: there is no expression with this id" in err and "--missing ignore" in err
    code, out, _ = banyan("remove", "./ads", "--ids", "vip", "nobody", "--missing", "ignore", "--quiet")
    assert code == 0 and out.startswith("./ads: version 4 with 5 rules")
    code, out, _ = banyan("diff", "./ads", "2")
    assert code == 0 and out.splitlines()[-1] == "0 added, 1 removed, 1 changed" and "contry = 'DE'" in out
    code, out, _ = banyan("diff", "./ads", "3", "4", "--json")
    assert [json.loads(line)["change"] for line in out.splitlines()] == ["removed"]
    code, out, _ = banyan("restore", "./ads", "2")
    assert code == 0 and out.startswith("./ads: version 5 with 6 rules")
    code, out, _ = banyan("analyze", "events.jsonl", "./ads", "--quiet")
    assert code == 0 and out.startswith("./ads: version 6 with 6 rules")
    code, out, _ = banyan("forget", "./ads", "2")
    assert (code, out) == (0, "./ads: 2 versions forgotten; 2 is the oldest one left\n")
    code, _, err = banyan("restore", "./ads", "1")
    assert code == 1 and "has no version 1: it has versions 2 to 6" in err


def test_build_replaces_an_index(banyan):
    code, out, _ = banyan(
        "build", "more.csv", "./ads", "--id", "id", "--expression", "condition", "--replace", "--quiet"
    )
    assert code == 0 and out.startswith("./ads: version 1 with 1 rules")
    assert json.loads(banyan("stats", "./ads", "--json")[1])["predicates"] == 1
    assert len(banyan("versions", "./ads", "--json")[1].splitlines()) == 2
