"""The page on operating jobs does what it says."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from submitted import User

from deployments import run
from sessions import base_conf

# The last line of the list is that of the job, once there is one.
WAIT = """
until pyflow logs $(pyflow list | tail -n 1 | cut -c3-8) 2>/dev/null | grep -q "visits$"
do sleep 1
done
"""
PAGE = Path(__file__).resolve().parents[2] / "docs" / "operating.md"


@pytest.fixture
def user(tmp_path):
    made = User(tmp_path)
    yield made
    made.end_all()


@pytest.mark.complete
def test_the_commands_of_the_page_run(user, tmp_path):
    blocks = re.findall(r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    for language, text in blocks:
        if language == "python":
            file = tmp_path / re.match(r"# (\S+)", text)[1]
            file.parent.mkdir(exist_ok=True)
            file.write_text(text)
    settings = [f"{key} {value}" for key, value in base_conf().items()]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(settings))
    commands = [text for language, text in blocks if language == "sh"]
    script = ["set -e", f'pyflow() {{ {sys.executable} -m pyflow "$@"; }}']
    for command in commands:
        script += [command, WAIT] if "run -d" in command else [command]
    variables = {"SPARK_CONF_DIR": str(tmp_path), **user.variables}

    printed = run(["bash", "-c", "\n".join(script)], tmp_path, 600, **variables)

    assert re.search(r"RUNNING .* visits.py\n  \w{32}  RUNNING  visits per page\n", printed)
    assert f"It goes on from {tmp_path}/savepoints/savepoint-" in printed
    assert re.search(r"Cancelled job \w{32}\.\n$", printed)
