"""The Databricks bundle, checked against what its published JSON schema (`databricks bundle schema`) asks for.

`SCHEMA` holds the part of that schema that the files use: for each object its fields and which of them are required.
Beyond the schema: every entry point is one of the wheel's, and takes the named parameters it is given.
"""

from __future__ import annotations

import configparser
import importlib
import re
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from banyan.jobs import tasks

ROOT = Path(__file__).parents[2]
CONF = ROOT / "conf"
BUNDLE = yaml.safe_load((CONF / "databricks.yml").read_text("utf-8"))
RESOURCES = {path.name: yaml.safe_load(path.read_text("utf-8")) for path in sorted(CONF.glob("resources/*.yml"))}
JOBS = {key: job for file in RESOURCES.values() for key, job in file["resources"]["jobs"].items()}


class Object(NamedTuple):
    """The fields of an object, each with what it holds: the name of an object, '[name]' a list, '{name}' a map of
    them, or a Python type. The required ones are spelt with a '!'."""

    fields: dict[str, object]


SCHEMA = {
    "root": Object(
        {
            "artifacts": "{artifact}",
            "bundle!": "bundle",
            "include": [str],
            "permissions": list,
            "resources": "resources",
            "run_as": dict,
            "sync": dict,
            "targets": "{target}",
            "variables": "{variable}",
            "workspace": "workspace",
        }
    ),
    "bundle": Object({"cluster_id": str, "databricks_cli_version": str, "name!": str, "uuid": str}),
    "artifact": Object(
        {"build": str, "dynamic_version": bool, "executable": str, "files": list, "path": str, "type": ("whl", "jar")}
    ),
    "variable": Object({"default": object, "description": str, "lookup": dict, "type": str}),
    "target": Object(
        {
            "default": bool,
            "mode": ("development", "production"),
            "presets": dict,
            "resources": "resources",
            "run_as": dict,
            "variables": dict,
            "workspace": "workspace",
        }
    ),
    "workspace": Object({"artifact_path": str, "file_path": str, "host": str, "profile": str, "root_path": str}),
    "resources": Object({"jobs": "{job}"}),
    "job": Object(
        {
            "description": str,
            "email_notifications": dict,
            "environments": "[environment]",
            "max_concurrent_runs": int,
            "name": str,
            "parameters": "[parameter]",
            "queue": "queue",
            "schedule": "schedule",
            "tags": dict,
            "tasks": "[task]",
            "timeout_seconds": int,
            "trigger": "trigger",
        }
    ),
    "environment": Object({"environment_key!": str, "spec": "spec"}),
    "spec": Object({"client": str, "dependencies": [str], "environment_version": str}),
    "parameter": Object({"default!": str, "name!": str}),
    "queue": Object({"enabled!": bool}),
    "schedule": Object(
        {"pause_status": ("PAUSED", "UNPAUSED"), "quartz_cron_expression!": str, "timezone_id!": str},
    ),
    "trigger": Object(
        {"file_arrival": dict, "pause_status": ("PAUSED", "UNPAUSED"), "periodic": "periodic", "table_update": "update"}
    ),
    "periodic": Object({"interval!": int, "unit!": ("HOURS", "DAYS", "WEEKS")}),
    "update": Object(
        {
            "condition": ("ANY_UPDATED", "ALL_UPDATED"),
            "min_time_between_triggers_seconds": int,
            "table_names!": [str],
            "wait_after_last_change_seconds": int,
        }
    ),
    "task": Object(
        {
            "depends_on": "[dependency]",
            "description": str,
            "environment_key": str,
            "max_retries": int,
            "min_retry_interval_millis": int,
            "python_wheel_task": "wheel",
            "task_key!": str,
            "timeout_seconds": int,
        }
    ),
    "dependency": Object({"outcome": str, "task_key!": str}),
    "wheel": Object({"entry_point!": str, "named_parameters": "{text}", "package_name!": str, "parameters": [str]}),
}


def faults(value: object, kind: object, path: str) -> list[str]:
    """What is not as the schema has it."""
    if isinstance(value, str) and value.startswith("${var."):
        return []
    if isinstance(kind, tuple):
        return [] if value in kind else [f"{path}: {value!r} is none of {kind}"]
    if isinstance(kind, list):
        kind = f"[{'text' if kind == [str] else kind[0]}]"
    if kind == "text" or isinstance(kind, type):
        wanted = str if kind == "text" else kind
        return [] if isinstance(value, wanted) else [f"{path}: {value!r} is no {wanted.__name__}"]
    if kind[0] in "[{":
        container = list if kind[0] == "[" else dict
        if not isinstance(value, container):
            return [f"{path}: {value!r} is no {container.__name__}"]
        items = enumerate(value) if container is list else value.items()
        return [fault for key, one in items for fault in faults(one, kind[1:-1], f"{path}.{key}")]
    if not isinstance(value, dict):
        return [f"{path}: {value!r} is no object"]
    fields = {name.rstrip("!"): inside for name, inside in SCHEMA[kind].fields.items()}
    found = [
        f"{path}: {name[:-1]} is missing" for name in SCHEMA[kind].fields if name[-1] == "!" and name[:-1] not in value
    ]
    for name, one in value.items():
        found += faults(one, fields[name], f"{path}.{name}") if name in fields else [f"{path}: no field {name}"]
    return found


@pytest.mark.parametrize(("name", "file"), [("databricks.yml", BUNDLE)])
def test_the_bundle_is_as_the_schema_has_it(name, file):
    assert faults(file, "root", name) == []


@pytest.mark.parametrize("name", RESOURCES)
def test_resources_are_as_the_schema_has_them(name):
    # The one thing required at the root is the bundle's name, which is in databricks.yml.
    assert [f for f in faults(RESOURCES[name], "root", name) if "bundle is missing" not in f] == []


@pytest.mark.parametrize(
    ("change", "fault"),
    [
        ({"task_key": None}, "job.tasks.0: task_key is missing"),
        ({"wheel_task": {}}, "job.tasks.0: no field wheel_task"),
        ({"python_wheel_task": {"package_name": "x"}}, "job.tasks.0.python_wheel_task: entry_point is missing"),
        ({"max_retries": "2"}, "job.tasks.0.max_retries: '2' is no int"),
    ],
)
def test_the_check_finds_what_is_wrong(change, fault):
    task = {key: value for key, value in ({"task_key": "t"} | change).items() if value is not None}
    assert faults({"tasks": [task]}, "job", "job") == [fault]


def test_there_are_two_targets_and_four_jobs():
    assert {name: target["mode"] for name, target in BUNDLE["targets"].items()} == {
        "dev": "development",
        "prod": "production",
    }
    assert list(JOBS) == ["banyan_build", "banyan_follow", "banyan_maintenance", "banyan_match"]
    assert BUNDLE["include"] == ["resources/*.yml"]


def test_every_variable_that_is_used_is_defined():
    text = "".join(path.read_text("utf-8") for path in [CONF / "databricks.yml", *CONF.glob("resources/*.yml")])
    used = set(re.findall(r"\$\{var\.([a-z_]+)\}", text))
    assert used == set(BUNDLE["variables"])
    assert all(set(target.get("variables", {})) <= used for target in BUNDLE["targets"].values())


def entry_points() -> dict[str, str]:
    config = configparser.ConfigParser()
    config.read(ROOT / "setup.cfg")
    lines = config["options.entry_points"]["console_scripts"].strip().splitlines()
    return dict(re.split(r"\s*=\s*", line) for line in lines if not line.startswith("#"))


@pytest.mark.parametrize("key", JOBS)
def test_every_task_names_an_entry_point_that_takes_its_parameters(key):
    job = JOBS[key]
    environments = {one["environment_key"] for one in job["environments"]}
    for task in job["tasks"]:
        assert task["environment_key"] in environments
        wheel = task["python_wheel_task"]
        config = configparser.ConfigParser()
        config.read(ROOT / "setup.cfg")
        assert wheel["package_name"] == config["metadata"]["name"]
        module, _, name = entry_points()[wheel["entry_point"]].partition(":")
        assert callable(getattr(importlib.import_module(module), name))
        # As Databricks does it, with the defaults of the variables.
        given = [
            f"--{parameter}={re.sub(r'[$][{]var[.](.*?)[}]', lambda m: BUNDLE['variables'][m.group(1)]['default'], v)}"
            for parameter, v in wheel["named_parameters"].items()
        ]
        (command, *argv), scratch = tasks.arguments(name.replace("_", "-"), given)
        read = vars(importlib.import_module(f"banyan.jobs.{name}").parser().parse_args(argv))
        assert scratch == "/Volumes/main/banyan/scratch" and read["index"] == "main.banyan_index"
        assert command == name.replace("_", "-")


def test_named_parameters_become_arguments():
    given = ["--rules=r.csv", "--index=./ads", "--replace=true", "--case-sensitive=false", "--id=", "--scratch=/s"]
    assert tasks.arguments("build", given) == (["build", "--replace", "--", "r.csv", "./ads"], "/s")


def test_the_wheel_asks_for_nothing_that_the_runtime_brings():
    from banyan.conf.databricks_wheel import BROUGHT, for_databricks

    config = configparser.ConfigParser()
    config.read_string(for_databricks((ROOT / "setup.cfg").read_text("utf-8")))
    asked = {re.split(r"[=<>~!\s]", line)[0] for line in config["options"]["install_requires"].split("\n") if line}
    assert "pyroaring" in asked and not asked & BROUGHT
    assert config["options.entry_points"]["console_scripts"].count("banyan.jobs.tasks") == 4
    assert "banyan.follow" in config["options"]["packages"]
