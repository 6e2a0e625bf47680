"""What is fixed when an index is created and kept with every version."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from zoneinfo import ZoneInfo

from banyan.build.cover import CROWD
from banyan.errors import ArgumentError
from banyan.language.settings import Settings
from banyan.normal.ids import Ids

FORMAT = 1


@dataclass(frozen=True)
class IndexSettings:
    """Everything that decides what a text means and which id a node gets."""

    format: int = FORMAT
    time_zone: str = "UTC"
    case_sensitive: bool = False
    max_length: int = 1_000_000
    max_depth: int = 1_000
    max_operands: int = 100_000
    seed: int = 0
    id_bits: int = 64
    crowd: int = CROWD
    retention_days: int = 30

    def __post_init__(self):
        try:
            ZoneInfo(self.time_zone)
        except Exception:
            raise ArgumentError(f"{self.time_zone!r} is not a time zone; 'UTC' and 'Europe/Berlin' are") from None
        if self.format > FORMAT:
            raise ArgumentError(
                f"this index has format {self.format}, and this Banyan reads up to {FORMAT}: upgrade banyan-spark"
            )
        for name in ("max_length", "max_depth", "max_operands", "crowd", "retention_days"):
            if getattr(self, name) < 1:
                raise ArgumentError(f"{name} must be at least 1, not {getattr(self, name)}")

    @property
    def language(self) -> Settings:
        return Settings(self.time_zone, self.case_sensitive, self.max_length, self.max_depth, self.max_operands)

    @property
    def ids(self) -> Ids:
        return Ids(self.seed, self.id_bits)

    def next_seed(self) -> IndexSettings:
        return replace(self, seed=self.seed + 1)

    def to_map(self) -> dict[str, str]:
        return {field.name: str(getattr(self, field.name)) for field in fields(self)}

    @classmethod
    def from_map(cls, stored: dict[str, str]) -> IndexSettings:
        values = {}
        for field in fields(cls):
            if field.name in stored:
                text = stored[field.name]
                values[field.name] = {"bool": text == "True", "str": text}.get(field.type, None)
                if values[field.name] is None:
                    values[field.name] = int(text)
        return cls(**values)
