"""Experiment files: one change at a time, and every fault named."""

from __future__ import annotations

from pathlib import Path

import pytest

from kaijuan.config import Config
from kaijuan.errors import EvalDataError, KaijuanError, UsageError
from kaijuan.evals.experiments.changes import changed, differences, known_settings, needs_ingest, public_settings
from kaijuan.evals.experiments.variants import read_experiment

WHOLE = """
sets = ["cmrc", "../other/xquad"]
limit = 50
seed = 3
metric = "recall@10"
[base]
retrieve.route_k = 40
[variants.rrf]
retrieve.fusion = "rrf"
[variants.small]
"chunk.child_tokens" = 128
[variants.both]
allow_many = true
retrieve = { cut_ratio = 0.0, cut_relevance = 0 }
"""


def written(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "trial.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_read(tmp_path: Path) -> None:
    found = read_experiment(written(tmp_path, WHOLE), Config())
    assert (found.name, found.metric, found.limit, found.seed, found.k) == ("trial", "recall@10", 50, 3, 100)
    assert found.folders == (tmp_path / "cmrc", (tmp_path / "../other/xquad").resolve())
    assert [variant.name for variant in found.variants] == ["baseline", "rrf", "small", "both"]
    assert [dict(variant.changes) for variant in found.variants] == [
        {},
        {"retrieve.fusion": "rrf"},
        {"chunk.child_tokens": 128},
        {"retrieve.cut_ratio": 0.0, "retrieve.cut_relevance": 0.0},
    ]
    assert all(variant.config.retrieve.route_k == 40 for variant in found.variants)
    assert found.variants[1].config.retrieve.fusion == "rrf"


def test_the_settings_of_the_home_are_the_base(tmp_path: Path) -> None:
    config = changed(Config(), {"retrieve.dense_weight": 0.3}, "home")
    assert all(
        variant.config.retrieve.dense_weight == 0.3
        for variant in read_experiment(written(tmp_path, WHOLE), config).variants
    )


HEAD = 'sets = ["a"]\n'


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sets = [", "is not TOML"),
        (HEAD, "has no variants"),
        ("sets = []\n[variants.a]\nretrieve.fusion = 'rrf'", "names no sets"),
        ("[variants.a]\nretrieve.fusion = 'rrf'", "names no sets"),
        ("sets = ['a', 'b/a']\n[variants.a]\nretrieve.fusion = 'rrf'", "two sets a"),
        (
            HEAD + "limits = 3\n[variants.a]\nretrieve.fusion = 'rrf'",
            "key limits, which is not known. Do you mean limit?",
        ),
        (HEAD + "limit = -3\n[variants.a]\nretrieve.fusion = 'rrf'", "limit is wrong"),
        (HEAD + "metric = 'ndcg@1'\n[variants.a]\nretrieve.fusion = 'rrf'", "do you mean ndcg@10"),
        (HEAD + "[variants.a]\nretrieve.fussion = 'rrf'", "no setting. Do you mean retrieve.fusion?"),
        (HEAD + "[variants.a]\nfusion = 'rrf'", "Do you mean retrieve.fusion?"),
        (HEAD + "[variants.a]\nchunk.size = 3", "There are chunk.by_base, chunk.by_block, chunk.by_kind"),
        (HEAD + "[base]\nretrieve.route = 3\n[variants.a]\nretrieve.fusion = 'rrf'", "[base] of trial.toml changes"),
        (HEAD + "[variants.a]\nretrieve.fusion = 'none'", "The variant a: the setting retrieve.fusion is wrong"),
        (HEAD + "[variants.a]\nchunk.child_tokens = 600", "child_tokens <= max_tokens"),
        (HEAD + "[variants.a]\nretrieve.fusion = 'rrf'\nretrieve.rrf_k = 3", "changes 2 settings"),
        (HEAD + "[variants.a]\nretrieve.fusion = 'minmax'", "changes nothing"),
        (HEAD + "[variants.a]", "changes nothing"),
        (HEAD + "[variants.baseline]\nretrieve.fusion = 'rrf'", "cannot be called 'baseline'"),
        (HEAD + "[variants.a]\nembedder.key = 'x'", "a secret"),
        (HEAD + "[variants.a]\nretrieve.route_k = 400", "without effect: with k = 100 each route is asked for 400"),
        (
            HEAD + "k = 13\n[variants.a]\nretrieve.route_k = 52\nretrieve.fusion = 'rrf'\nallow_many = true",
            "with k = 13",
        ),
        (HEAD + "name = ' '\n[variants.a]\nretrieve.fusion = 'rrf'", "name is wrong"),
        (HEAD + "limit = " + "[" * 5000 + "]" * 5000, "too deep"),
        (HEAD + "[variants.a]\nretrieve.fusion" + ".a" * 5000 + " = 1", "too deep"),
        (HEAD + "limit = " + "9" * 5000, "is not TOML"),
        (HEAD + "[variants.a]\nanswer.sentences = 5", "changes nothing of what is found"),
    ],
)
def test_faults_are_named(tmp_path: Path, text: str, said: str) -> None:
    with pytest.raises(KaijuanError) as caught:
        read_experiment(written(tmp_path, text), Config())
    assert isinstance(caught.value, EvalDataError | UsageError)
    assert said in str(caught.value)


def test_a_depth_that_differs_is_a_change(tmp_path: Path) -> None:
    for text in ("[variants.a]\nretrieve.route_k = 401", "k = 10\n[variants.a]\nretrieve.route_k = 41"):
        assert len(read_experiment(written(tmp_path, HEAD + text), Config()).variants) == 2


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(EvalDataError, match="cannot be read"):
        read_experiment(tmp_path / "none.toml", Config())


def test_secrets_stay_out_and_everything_else_is_there() -> None:
    config = Config.model_validate(
        {"embedder": {"key": "s3cret", "name": "openai"}, "eval": {"judge_key": "s3cret-too"}}
    )
    stored = public_settings(config)
    names = {f"{section}.{name}" for section, table in stored.items() for name in table}
    secrets = {"chat.key", "embedder.key", "eval.judge_key", "reranker.key", "telemetry.otlp_headers"}
    assert names == known_settings() - secrets
    assert "s3cret" not in str(stored)
    assert differences(Config(), config) == {"embedder.name": "openai"}


def test_what_is_read_at_search_needs_no_new_index() -> None:
    assert not needs_ingest(["retrieve.fusion", "answer.sentences"])
    assert needs_ingest(["retrieve.fusion", "chunk.child_tokens"])
