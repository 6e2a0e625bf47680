"""The wheel for Databricks: without the requirements that its runtime brings. python databricks_wheel.py FOLDER

pip would install the pyspark of the requirements over the one of the runtime. So the wheel is built from a copy of the
project whose setup.cfg does not ask for what is there.
"""

from __future__ import annotations

import configparser
import io
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

BROUGHT = {"pyspark", "delta-spark", "pandas", "numpy", "pyarrow"}
ROOT = Path(__file__).resolve().parent.parent


def for_databricks(setup_cfg: str) -> str:
    """The setup.cfg without the requirements that the runtime brings."""
    config = configparser.ConfigParser()
    config.read_string(setup_cfg)
    lines = config["options"]["install_requires"].splitlines()
    kept = [line for line in lines if re.split(r"[\s=<>!~]", line, maxsplit=1)[0] not in BROUGHT]
    config["options"]["install_requires"] = "\n".join(kept)
    text = io.StringIO()
    config.write(text)
    return text.getvalue()


def main(folder: str) -> None:
    target = ROOT / folder
    with tempfile.TemporaryDirectory() as copy:
        project = Path(copy, "project")
        for name in ("lib", "jobs", "sql", "tables", "conf"):
            shutil.copytree(ROOT / name, project / name, ignore=shutil.ignore_patterns("__pycache__"))
        for name in ("setup.cfg", "pyproject.toml", "README.md", "LICENSE"):
            shutil.copy(ROOT / name, project)
        setup = project / "setup.cfg"
        setup.write_text(for_databricks(setup.read_text("utf-8")), "utf-8")
        shutil.rmtree(target, ignore_errors=True)
        command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", str(target)]
        subprocess.run([*command, str(project)], check=True)


if __name__ == "__main__":
    main(sys.argv[1])
