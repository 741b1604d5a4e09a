"""The page on the REST service does what it says."""

from __future__ import annotations

import re
import shutil
import sys
from pathlib import Path

import pytest

pytest.importorskip("fastapi")

from deployments import run
from sessions import base_conf

PAGE = Path(__file__).resolve().parents[2] / "docs" / "rest.md"


@pytest.mark.complete
@pytest.mark.skipif(shutil.which("curl") is None, reason="there is no curl")
def test_the_commands_of_the_page_run(tmp_path):
    commands = []
    for language, text in re.findall(
        r"^```(\w+)\n(.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL
    ):
        if language == "python":
            (tmp_path / re.match(r"# (\S+)", text)[1]).write_text(text)
        elif "pip install" not in text:
            commands.append(text)
    settings = [f"{key} {value}" for key, value in base_conf().items()]
    (tmp_path / "spark-defaults.conf").write_text("\n".join(settings))
    script = "\n".join(
        ["set -e", f'pyflow() {{ exec {sys.executable} -m pyflow "$@"; }}', *commands]
    )
    script = script.replace(" &\n", " --port 0 > served &\ntrap 'kill $!' EXIT\n", 1).replace(
        "url=http://127.0.0.1:8081",
        "url=$(grep -o 'http://[^,]*' served)",
    )
    script = script.replace("token=", "until grep -q Serving served; do sleep 0.2; done\ntoken=", 1)
    variables = {"SPARK_CONF_DIR": str(tmp_path), "HOME": str(tmp_path), "XDG_STATE_HOME": ""}

    printed = run(["bash", "-c", script], tmp_path, 170, **variables)

    assert re.search(r"\| +rain \| +2 \|", printed)
    assert '"state":"FINISHED"' in printed
