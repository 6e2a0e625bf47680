"""The benchmark on Spark, tiny: every part runs, and all ways to match find the same."""

from __future__ import annotations

from banyan.bench import report
from banyan.bench.bench import done, run_group
from banyan.bench.point import PARTS, Spec
from banyan.bench.yardstick.run import compiler


def test_every_part_of_a_tiny_point(spark, tmp_path):
    parts = tuple(part for part in PARTS if part not in ("deep", "changes"))
    sizes = {"pairs_events": 40, "today_rules": 6, "today_events": 40, "keeping": 2}
    settings = {"attributes": 40, "values": 10}
    tiny = Spec("tiny", "tiny", 200, 60, "abe", settings, parts=parts, warm=0, repeat=1, **sizes)
    out = str(tmp_path)
    said: list[str] = []
    run_group(spark, [tiny], out, said.append)
    found = done(out, tiny)
    assert found is not None, said
    figures = found["figures"]
    assert set(figures) == set(parts)
    assert figures["build"]["stats"]["expressions"] == 200 and figures["build"]["bytes"]["edges"] > 0
    assert figures["match"]["matches"] > 0 and figures["match"]["shuffled"]["shuffle_rows"] > 0
    if compiler() is not None:
        # Had the numbers of matches differed, the part would have failed.
        assert figures["yardstick"]["agrees"] and figures["yardstick"]["pairs_agree"]
    page = report.page([found])
    assert all(f"<h2>{title}</h2>" in page for title in ("Matching", "Building", "What users do today"))
