"""Modules, and objects that modules keep, which tasks use at the same time."""

from __future__ import annotations

import subprocess
import sys

import pytest
from pyspark.sql.functions import udf

from comparison import settings, thread_modes
from sessions import MODULES

pytestmark = pytest.mark.core


def in_tasks_at_once(spark, function, returned):
    """Return what a function of the number of the task returns, called in four tasks at once."""
    with settings(spark, thread_modes()[-1]):
        frame = spark.range(4, numPartitions=4).select(udf(function, returned)("id"))
        return [row[0] for row in frame.collect()]


def test_a_module_that_replaces_itself_while_tasks_wait_for_it(spark):
    def imports(_):
        from replaces_itself import answer

        return answer

    assert in_tasks_at_once(spark, imports, "int") == [42] * 4


def test_a_module_that_is_wrapped_by_what_replaces_it(spark):
    def imports(_):
        import wrapped_by_itself

        assert not hasattr(wrapped_by_itself, "nothing")
        from wrapped_by_itself import answer

        return answer

    assert in_tasks_at_once(spark, imports, "int") == [42] * 4


def test_modules_of_one_package_that_tasks_import_in_another_order(spark):
    def imports(task):
        import importlib
        import time

        time.sleep(task % 2 / 2)
        return importlib.import_module(["cyclic", "cyclic.first"][task % 2]).FIRST

    assert in_tasks_at_once(spark, imports, "int") == [2] * 4


def test_a_module_that_waits_for_a_thread_that_imports(spark):
    def imports(_):
        import imports_in_thread

        return imports_in_thread.has_waited_in_vain

    assert in_tasks_at_once(spark, imports, "boolean") == [False] * 4


@pytest.mark.parametrize("limit", ["_MOST_SECONDS", "_MOST_SECONDS_FOR_OTHERS"])
def test_nobody_waits_for_ever_for_an_import(limit):
    """The import waits for a thread that is not known to be started by it."""
    program = (
        "from pyflow.thread_mode import module_imports\n"
        f"module_imports.{limit} = 1\n"
        "module_imports.install(in_turn=True)\n"
        "import imports_in_thread\n"
        "print(imports_in_thread.has_waited_in_vain)"
    )
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, cwd=MODULES, check=True, capture_output=True, text=True)
    assert done.stdout == "False\n"


def test_a_tokenizer_truncates_and_pads_for_each_task(spark):
    reason = "it is too large for a requirement"
    pytest.importorskip("transformers", reason=reason)
    pytest.importorskip("tokenizers", reason=reason)

    def encodes(task):
        import tokenizers
        from tokenizers.models import WordLevel
        from tokenizers.pre_tokenizers import Whitespace
        from transformers import PreTrainedTokenizerFast

        if not hasattr(tokenizers, "of_all_tasks"):
            words = tokenizers.Tokenizer(WordLevel({"?": 0, "-": 1, "a": 2}, unk_token="?"))
            words.pre_tokenizer = Whitespace()
            tokenizers.of_all_tasks = PreTrainedTokenizerFast(
                tokenizer_object=words, pad_token="-", unk_token="?"
            )
        lengths = {
            len(ids)
            for _ in range(300)
            for ids in tokenizers.of_all_tasks(
                ["a", "a a a a a a a a"],
                truncation=True,
                max_length=2 + task,
                padding="max_length",
            )["input_ids"]
        }
        return sorted(lengths)

    assert in_tasks_at_once(spark, encodes, "array<int>") == [[2], [3], [4], [5]]


def save_model(name, layers, directory):
    """Saves a small model of `transformers` of that class, and returns where."""
    reason = "it is too large for a requirement"
    pytest.importorskip("torch", reason=reason)
    transformers = pytest.importorskip("transformers", reason=reason)
    shape = transformers.BertConfig(
        vocab_size=50, hidden_size=8, num_hidden_layers=layers, num_attention_heads=1
    )
    getattr(transformers, name)(shape).save_pretrained(directory)
    return str(directory)


def test_models_are_loaded_at_once(spark, tmp_path):
    directory = save_model("BertForMaskedLM", 1, tmp_path)

    def loads(task):
        import torch
        from transformers import BertConfig, BertForMaskedLM

        dtype = [torch.float32, torch.float16][task % 2]
        found = set()
        for _ in range(8):
            model = BertForMaskedLM.from_pretrained(directory, dtype=dtype)
            embeddings = model.get_input_embeddings().weight
            made = BertForMaskedLM(BertConfig.from_pretrained(directory))
            found |= {
                str(embeddings.dtype == dtype),
                str(embeddings is model.get_output_embeddings().weight),
                str(made.get_input_embeddings().weight is made.get_output_embeddings().weight),
                str(torch.ones(1).dtype),
            }
        return sorted(found)

    assert in_tasks_at_once(spark, loads, "array<string>") == [["True", "torch.float32"]] * 4


def test_models_are_initialised_while_others_are_loaded(spark, tmp_path):
    directory = save_model("BertModel", 20, tmp_path)

    def makes(task):
        import torch
        from transformers import BertModel

        if task % 2:
            return {BertModel.from_pretrained(directory).training for _ in range(20)} == {False}
        made = (torch.nn.LayerNorm(500) for _ in range(5000))
        return all(each.weight.eq(1).all().item() for each in made)

    assert in_tasks_at_once(spark, makes, "boolean") == [True] * 4


def test_models_with_and_without_parameters_are_made_at_once(spark):
    for library in ("torch", "accelerate"):
        pytest.importorskip(library, reason="it is too large for a requirement")

    def makes(task):
        import torch
        from accelerate import init_empty_weights

        found = set()
        for _ in range(100):
            with init_empty_weights():
                found.add(f"empty {torch.nn.Linear(2, 2).weight.device}")
            for _ in range(5):
                found.add(f"made {torch.nn.Linear(2, 2).weight.device}")
        return sorted(found)

    assert in_tasks_at_once(spark, makes, "array<string>") == [["empty meta", "made cpu"]] * 4


def test_a_function_makes_models_while_its_input_does(spark, in_every_mode):
    for library in ("torch", "accelerate"):
        pytest.importorskip(library, reason="it is too large for a requirement")

    def makes(batches):
        import torch
        from accelerate import init_empty_weights

        with init_empty_weights():
            for batch in batches:
                made = str(torch.nn.Linear(1, 1).weight.device)
                yield batch.assign(made=batch.get("made", "") + " " + made)

    def program():
        made = spark.range(2, numPartitions=1)
        for _ in range(2):
            made = made.mapInPandas(makes, "id long, made string")
        return [row.made.strip() for row in made.collect()]

    assert in_every_mode(program) == ["meta meta"] * 2


def test_a_task_that_does_not_leave_forward_mode(spark):
    pytest.importorskip("torch", reason="it is too large for a requirement")

    def enters(_):
        from torch.autograd import forward_ad

        return forward_ad.enter_dual_level()

    assert in_tasks_at_once(spark, enters, "int") == [0] * 4


def test_a_corpus_is_loaded_once(spark, tmp_path):
    pytest.importorskip("nltk", reason="it is too large for a requirement")
    (tmp_path / "corpora" / "own").mkdir(parents=True)
    (tmp_path / "corpora" / "own" / "words").write_text("\n".join(map(str, range(1000))))
    directory = str(tmp_path)

    def reads(_):
        import nltk.corpus
        from nltk.corpus.reader import WordListCorpusReader
        from nltk.corpus.util import LazyCorpusLoader

        if directory not in nltk.data.path:
            nltk.data.path.append(directory)
        found = set()
        for n in range(100):
            name = f"own_{n}"
            if not hasattr(nltk.corpus, name):
                made = LazyCorpusLoader("own", WordListCorpusReader, "words")
                setattr(nltk.corpus, name, made)
            found.add(len(getattr(nltk.corpus, name).words()))
        return sorted(found)

    assert in_tasks_at_once(spark, reads, "array<int>") == [[1000]] * 4
