"""Programs of data streams have the results that PyFlink has for them."""

from __future__ import annotations

import pytest
import recordings
from pyspark import cloudpickle
from stream_programs import environment_of, programs_of, reference_of, results_of, texts_of

PROGRAMS = programs_of("pyflow", cloudpickle)
RECORDED = recordings.load("datastream/programs")


def _cases():
    """Yield names and modes; batches with the results of streams belong to longer runs."""
    for name, program in PROGRAMS.items():
        for mode in program["modes"]:
            answers = RECORDED.get(name, {})
            is_new = mode == "STREAMING" or answers.get("STREAMING") != answers.get("BATCH")
            yield pytest.param(name, mode, marks=[] if is_new else [pytest.mark.complete])


def printed_by(program, mode, execution_mode, capsys):
    env = environment_of("pyflow", program, mode, execution_mode)
    program["function"](env).print()
    capsys.readouterr()
    env.execute()
    return capsys.readouterr().out.splitlines()


@pytest.mark.parametrize(
    "execution_mode", ["thread", pytest.param("process", marks=pytest.mark.complete)]
)
@pytest.mark.parametrize(("name", "mode"), list(_cases()))
def test_program_has_the_results_of_pyflink(spark, capsys, name, mode, execution_mode):
    program = PROGRAMS[name]
    reference = reference_of(program, mode, RECORDED[name][mode])
    env = environment_of("pyflow", program, mode, execution_mode)
    if program["fails"]:
        assert "error" in reference
        with pytest.raises(Exception, match=program["fails"]):
            results_of(program["function"](env))
        return

    results = texts_of(program, results_of(program["function"](env)))
    if program["differs"]:
        assert results == texts_of(program, program["results"])
        assert results != reference.get("results"), "it is as in PyFlink"
        return
    assert results == reference["results"]
    if program["printed"]:
        assert printed_by(program, mode, execution_mode, capsys) == reference["printed"]


def test_all_programs_are_recorded():
    assert {name: set(modes) for name, modes in RECORDED.items()} == {
        name: set(program["modes"]) for name, program in PROGRAMS.items()
    }
