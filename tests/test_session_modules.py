"""Sessions of a Spark Connect server that have different modules of one name."""

from __future__ import annotations

import sys

import pytest

from deployments import PROGRAMS, connect_server, own_url, run
from sessions import MODULES, OWN_GIL


@pytest.mark.complete
@pytest.mark.skipif(not OWN_GIL, reason="their functions run in workers")
@pytest.mark.parametrize(
    "master", ["local[2]", pytest.param("standalone", marks=pytest.mark.complete)]
)
def test_sessions_do_not_see_each_other_s_modules(request, tmp_path, master):
    url = request.getfixturevalue(master) if master == "standalone" else master
    with connect_server(tmp_path, master=url) as address:
        program = [sys.executable, PROGRAMS / "modules_of_sessions.py", own_url(address)]
        printed = run(program, tmp_path, PYTHONPATH=str(MODULES))

    assert "ALL RIGHT\n" in printed, printed[-8000:]
