"""Writers that race: python racing.py INDEX SEED WRITERS WRITES SCRATCH

Each of WRITERS threads makes WRITES random writes; each success is a line of JSON on stdout with what it did.
"""

from __future__ import annotations

import json
import sys
import threading
from random import Random

from small_session import small_session

from banyan import Index
from banyan.errors import Conflict, RulesError

KEYS = [f"k{i}" for i in range(25)]
_TELLING = threading.Lock()


def texts(rng: Random, keys: list[str]) -> dict[str, str]:
    names = "abcdef"
    word = [" AND ", " OR "]
    return {k: rng.choice(word).join(f"{n} = 1" for n in rng.sample(names, rng.randint(1, 4))) for k in keys}


def race(spark, where: str, rng: Random, writes: int) -> None:
    done = 0
    while done < writes:
        index = Index.open(spark, where)
        kind = rng.choice(("add", "replace", "remove"))
        keys = rng.sample(KEYS, rng.randint(1, 4))
        coming = {} if kind == "remove" else texts(rng, keys)
        try:
            if kind == "remove":
                version = index.remove(keys, missing="ignore")
            else:
                frame = spark.createDataFrame(list(coming.items()), "expression_id string, expression string")
                version = getattr(index, kind)(frame)
        except (RulesError, Conflict):
            # An id that another writer was faster to add; or the others were faster six times.
            continue
        with _TELLING:
            line = {"version": version, "kind": kind, "keys": keys, "texts": coming, "counts": index._version.counts}
            print(json.dumps(line), flush=True)
        done += 1


def main(where: str, seed: str, writers: str, writes: str, scratch: str) -> None:
    spark = small_session(scratch)
    threads = [
        threading.Thread(target=race, args=(spark, where, Random(f"{seed}/{i}"), int(writes)))
        for i in range(int(writers))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


if __name__ == "__main__":
    main(*sys.argv[1:])
