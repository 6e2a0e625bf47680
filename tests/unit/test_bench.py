"""The benchmark as far as it goes without Spark: points, plans, memory, plots, the report, resuming."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from xml.etree import ElementTree

import pytest

from banyan.bench import memory, parts, plan, plots, report, run
from banyan.bench.bench import done, path_of, save
from banyan.bench.point import PARTS, Spec, repeated, spread
from banyan.bench.rivals import counter
from banyan.jobs import cli
from banyan.language.evaluate import evaluate
from banyan.language.parser import parse

POINT = Spec("p", "g", 100, 50, "abe", {"depth": 2, "mix": (0.5, 0.5, 0.0, 0.0, 0.0)}, parts=("parse",))


def test_a_point_survives_json():
    assert Spec.from_json(json.loads(json.dumps(POINT.to_json()))) == POINT


def test_the_command_of_a_point_gives_that_point():
    told = POINT.command()
    assert told == (
        "banyan bench --expressions 100 --events 50 --seed 1 --workload abe "
        "--set depth=2 --set mix=0.5/0.5/0.0/0.0/0.0 --only parse"
    )


def test_the_full_run_has_every_sweep_of_table_3_once():
    names = [spec.name for spec in plan.full()]
    assert len(names) == len(set(names)) >= 40
    for sweep in plan.SWEEPS:
        assert {plan.sweep_point(sweep, value).name for value in sweep.values} <= set(names)
    groups = [spec.group for spec in plan.full()]
    assert len([a for a, b in zip(groups, ["", *groups]) if a != b]) == len(set(groups))


def test_only_the_events_differ_in_the_sweep_of_event_sizes():
    rules = {spec.rules() for spec in plan.full() if spec.group == "sweep-pairs"}
    assert len(rules) == 1


def test_runs_stop_when_the_time_is_up():
    times = iter([9.0, 9.0, 4.0, 4.0, 4.0, 4.0])
    assert repeated(lambda: next(times), 2, 10, 7.0) == ([9.0, 9.0], [4.0, 4.0])


def test_the_spread_keeps_the_order_of_runs():
    assert spread([3.0, 1.0, 2.0], 0) == {"median": 2.0, "min": 1.0, "max": 3.0, "runs": [3.0, 1.0, 2.0]}


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="no /proc")
def test_memory_of_a_child_is_seen():
    with memory.peaks() as peak:
        code = "held = bytearray(200_000_000); import time; time.sleep(0.8)"
        subprocess.run([sys.executable, "-c", code], check=True)
    assert peak["other"] > 200_000_000 and peak["all"] > peak["driver"] > 10_000_000


def test_the_deep_rules_are_as_deep_as_they_say():
    chain, nested = parts.deep_rules([f"a{i}" for i in range(1_000)], 100)
    assert chain.count(" XOR ") == 64 and nested.count("(") == 999
    event = {f"a{i}": 99 for i in range(1_000)}
    # 65 of 65 are true: an odd number.
    assert evaluate(parse(chain), event, None) is True and evaluate(parse(nested), event, None) is True
    assert evaluate(parse(nested), {}, None) is None


def test_the_python_function_counts_rules():
    class Row:
        def asDict(self):
            return {"a1": 5, "a2": None}

    count = counter(["e.get('a1', nan) <= 5", "e.get('a2', nan) <= 5", "e.get('a1', 3) != 3"])
    assert count(Row()) == 2


def test_plots_are_svg():
    drawn = plots.lines({"a": [(1, 10), (100, 1000)], "b": [(1, None), (10, 0)]}, "x", "y", True, True)
    assert len(ElementTree.fromstring(_closed(drawn)).findall(".//circle")) == 2
    drawn = plots.bars({"one": {"a": 1.0, "b": 2.0}, "none": {}}, "us")
    assert len(ElementTree.fromstring(_closed(drawn)).findall(".//rect")) == 4
    assert "not measured" in plots.lines({"a": []}, "x", "y") and "not measured" in plots.bars({}, "us")


def _closed(svg: str) -> str:
    """HTML may leave the quotes of a class away, XML may not."""
    return re.sub(r"class=(\w+)", r'class="\1"', svg)


def test_a_run_is_resumed_and_reported(tmp_path, capfd):
    out = str(tmp_path)
    assert run.run([POINT], out, True, None) == 0
    first = done(out, POINT)
    assert first["figures"]["parse"]["parse_us"] > 0
    # It is not measured again; another point of that name is.
    assert run.run([POINT], out, True, None) == 0 and done(out, POINT) == first
    other = Spec("p", "g", 60, 50, parts=("parse",))
    assert done(out, other) is None
    assert run.run([other], out, True, None) == 0 and done(out, POINT) is None
    page = (tmp_path / "bench.html").read_text()
    assert "seed 1" in page and "<h2>Building</h2>" in page and "http" not in page
    assert capfd.readouterr() == ("", "")


def test_a_point_that_failed_is_told_and_tried_again(tmp_path):
    save(str(tmp_path), POINT, run._died(POINT, -9))
    points = report.write(str(tmp_path), [POINT])
    assert points[0]["failed"] and "ended with code -9" in (tmp_path / "bench.html").read_text()
    assert done(str(tmp_path), POINT) is None and os.path.exists(path_of(str(tmp_path), POINT))


@pytest.mark.parametrize(
    "line, message",
    [
        ("--full --expressions 5", "--full brings its own"),
        ("--groups 1m", "--groups goes with --full"),
        ("--only sleep", f"there are {', '.join(PARTS)}"),
    ],
)
def test_bad_usage(line, message, capsys):
    with pytest.raises(SystemExit) as left:
        cli.main(["bench", *line.split()])
    assert left.value.code == 2 and message in capsys.readouterr().err


def test_a_workload_is_written_for_other_tools(tmp_path, capsys):
    line = f"bench --workload abe --set depth=2 --expressions 20 --events 10 --format csv --wide --write {tmp_path}"
    assert cli.main(line.split()) == 0
    assert capsys.readouterr().out.split() == [f"{tmp_path}/rules.csv", f"{tmp_path}/events.csv"]
    assert (tmp_path / "rules.csv").read_text().count("\n") == 21
    assert (tmp_path / "events.csv").read_text().startswith('"event_id","a0","a1"')
