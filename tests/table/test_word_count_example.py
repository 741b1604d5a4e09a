"""The example program of the Table API."""

from __future__ import annotations

import word_count_table


def test_words_are_counted_as_they_come(environment, capsys):
    environment()
    word_count_table.count_words()
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["+I[a, 1]", "+I[row, 1]"]
    assert lines[-3:] == ["-U[window, 1]", "+U[window, 2]", "+I[closes, 1]"]


def test_words_of_a_file_are_counted(environment, capsys, tmp_path):
    file = tmp_path / "text.txt"
    file.write_text('one, "two" one\n')
    environment()
    word_count_table.count_words(str(file))
    assert capsys.readouterr().out.splitlines()[-1] == "+U[one, 2]"
