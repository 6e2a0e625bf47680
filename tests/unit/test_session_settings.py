"""What a match needs of the session, and what happens where the session does not give it."""

import pytest

from banyan.errors import ArgumentError
from banyan.match.run import in_time_zone


class Fixed:
    """A session whose settings cannot be set, as on serverless compute."""

    def __init__(self, **values):
        self.values = {name.replace("_", "."): value for name, value in values.items()}
        self.conf = self

    def get(self, key):
        return self.values[key]

    def set(self, key, value):
        raise RuntimeError(f"CANNOT_MODIFY_CONFIG {key}")


def test_a_fixed_time_zone_is_refused_unless_it_is_the_one_of_the_index():
    spark = Fixed(**{"spark_sql_session_timeZone": "UTC"})
    with in_time_zone(spark, "UTC"):
        pass
    with pytest.raises(ArgumentError, match="reads timestamps in Asia/Tokyo, and this Spark keeps its own"):
        with in_time_zone(spark, "Asia/Tokyo"):
            pass
