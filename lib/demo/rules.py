"""The rules of the demo: twenty written by hand, and thousands as a team of people would have collected them.

Generated rules speak of the attributes and values that the flights really have. They are put together from the same
phrases again and again (a region, a season, a kind of trouble), because that is how people write rules.
"""

from __future__ import annotations

import csv
import random
from importlib import resources
from typing import NamedTuple

COLUMNS = ("expression_id", "expression", "team", "priority")


class Rule(NamedTuple):
    expression_id: str
    expression: str
    team: str
    priority: int


def alerts() -> list[Rule]:
    """The twenty written by hand."""
    rows = csv.DictReader(alerts_text().splitlines(keepends=True))
    return [Rule(row["expression_id"], row["expression"], row["team"], int(row["priority"])) for row in rows]


def alerts_text() -> str:
    return resources.files("banyan.demo").joinpath("alerts.csv").read_text("utf-8")


def later() -> list[Rule]:
    """Rules that somebody thinks of after the index was built."""
    return [
        Rule("holiday-rush", "month = 12 AND day >= 20 AND dep_delay > 60", "operations", 1),
        Rule("late-to-florida", "dest IN ('MIA', 'FLL', 'MCO', 'TPA') AND arr_delay > 90", "routes", 2),
        Rule("last-flight-gone", "hour >= 21 AND (dep_time IS NULL OR dep_delay > 120)", "operations", 1),
    ]


REGIONS = {
    "california": ("LAX", "SFO", "SAN", "SJC", "OAK", "BUR", "LGB", "SNA", "SMF"),
    "florida": ("MIA", "FLL", "MCO", "TPA", "PBI", "RSW", "JAX", "SRQ"),
    "midwest": ("ORD", "MDW", "DTW", "MSP", "CLE", "STL", "MKE", "CVG", "IND", "CMH"),
    "texas": ("DFW", "IAH", "AUS", "SAT", "HOU"),
    "south": ("ATL", "CLT", "RDU", "BNA", "MSY", "MEM"),
    "northeast": ("BOS", "DCA", "IAD", "BWI", "PHL", "BUF", "ROC", "SYR", "PVD"),
    "islands": ("SJU", "STT", "BQN", "PSE", "ACK", "MVY", "HNL"),
}
SEASONS = ((12, 1, 2), (3, 4, 5), (6, 7, 8), (9, 10, 11))
WINDOWS = ((5, 8), (6, 9), (9, 12), (12, 15), (15, 18), (16, 20), (18, 22), (20, 23))
TROUBLE = (
    "(dep_delay > 60 OR dep_time IS NULL)",
    "(arr_delay > 60 OR arr_time IS NULL)",
    "(dep_delay > 30 AND arr_delay > 30)",
    "(dep_delay > 120 OR arr_delay > 120)",
    "(dep_delay > 45 XOR arr_delay > 45)",
    "NOT (arr_delay <= 30)",
    "(dep_delay <= 0 AND arr_delay > 30)",
    "dep_time IS NULL",
    "air_time IS NULL",
)


class Writer:
    """Writes rules over the given carriers and airports (those that come first are written about most)."""

    def __init__(self, carriers: list[str], airports: list[str], seed: int = 13):
        self._carriers = carriers
        self._airports = airports
        self._random = random.Random(seed)

    def rules(self, count: int) -> list[Rule]:
        return [self._rule(number) for number in range(1, count + 1)]

    def _rule(self, number: int) -> Rule:
        choose = self._random
        text = self._condition()
        if choose.random() < 0.25:
            text = f"({text}) OR ({self._condition()})"
        if choose.random() < 0.15:
            text = f"({text}) AND NOT ({self._when()} AND {self._where()})"
        team = choose.choice(("operations", "punctuality", "safety", "fleet", "routes"))
        return Rule(f"rule-{number:05d}", text, team, choose.randint(1, 5))

    def _condition(self) -> str:
        """Some trouble, and two or three of: whose, where, when."""
        about = self._random.sample((self._who, self._where, self._when), self._random.choice((2, 2, 3)))
        return " AND ".join([self._trouble(), *(phrase() for phrase in about)])

    def _trouble(self) -> str:
        if self._random.random() < 0.5:
            return self._random.choice(TROUBLE)
        delay = self._random.choice(("dep_delay", "arr_delay"))
        return f"{delay} > {self._random.choice((15, 20, 30, 45, 60, 90, 120, 180, 240))}"

    def _who(self) -> str:
        choose = self._random.random()
        if choose < 0.6:
            return f"carrier = '{self._early(self._carriers)}'"
        if choose < 0.75:
            few = sorted({self._early(self._carriers) for _ in range(3)})
            return f"carrier {self._random.choice(('IN', 'NOT IN'))} ({_texts(few)})"
        if choose < 0.9:
            return f"tailnum LIKE 'N{self._random.randint(1, 9)}%'"
        low = self._random.randrange(1, 50) * 100
        return f"flight BETWEEN {low} AND {low + 299}"

    def _where(self) -> str:
        choose = self._random.random()
        if choose < 0.4:
            return f"dest = '{self._early(self._airports)}'"
        if choose < 0.65:
            return f"dest IN ({_texts(REGIONS[self._random.choice(list(REGIONS))])})"
        if choose < 0.85:
            return (
                f"(origin = '{self._random.choice(('EWR', 'JFK', 'LGA'))}' AND dest = '{self._early(self._airports)}')"
            )
        low = self._random.choice((0, 200, 500, 1000, 1500, 2000, 2400))
        return f"distance BETWEEN {low} AND {low + self._random.choice((300, 500, 1000))}"

    def _when(self) -> str:
        choose = self._random.random()
        if choose < 0.3:
            return f"month IN ({', '.join(map(str, self._random.choice(SEASONS)))})"
        if choose < 0.5:
            month, first = self._random.randint(1, 12), self._random.randint(1, 25)
            return f"(month = {month} AND day BETWEEN {first} AND {first + 6})"
        if choose < 0.9:
            return "hour BETWEEN {} AND {}".format(*self._random.choice(WINDOWS))
        return f"NOT (month = {self._random.randint(1, 12)})"

    def _early(self, values: list[str]) -> str:
        """A value, those at the beginning more often."""
        return values[int(len(values) * self._random.random() ** 2)]


def _texts(values: tuple[str, ...] | list[str]) -> str:
    return ", ".join(f"'{value}'" for value in values)
