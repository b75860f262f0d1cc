"""Settings: defaults, file, environment, and slips that are named with their path."""

from __future__ import annotations

import traceback
from pathlib import Path

import pytest

from kaijuan.config import load_config
from kaijuan.errors import UsageError


def test_defaults_need_no_file(tmp_path: Path) -> None:
    assert load_config(tmp_path, environ={}).retrieve.fusion == "minmax"


def test_the_environment_wins_over_the_file(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text('[retrieve]\nfusion = "rrf"\nroute_k = 7\n', encoding="utf-8")
    config = load_config(tmp_path, environ={"KAIJUAN_RETRIEVE__ROUTE_K": "9", "KAIJUAN_HOME": "x", "PATH": "y"})
    assert (config.retrieve.fusion, config.retrieve.route_k) == ("rrf", 9)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[retrieve]\nroute_kk = 1\n", "retrieve.route_kk"),
        ("[retrieve]\nroute_k = 0\n", "retrieve.route_k"),
        ("[nowhere]\na = 1\n", "nowhere"),
        ("[retrieve\n", "not TOML"),
        ("ingest = 5\n", "ingest"),
        ("[ingest]\nparse_seconds = inf\n", "ingest.parse_seconds"),
    ],
)
def test_a_slip_is_named(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    with pytest.raises(UsageError, match=said):
        load_config(tmp_path, environ={})


def test_a_slip_in_the_environment_is_named_by_its_variable(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="KAIJUAN_INGEST__MAX_BYTES"):
        load_config(tmp_path, environ={"KAIJUAN_INGEST__MAX_BYTES": "9223372036854775807"})
    (tmp_path / "config.toml").write_text("ingest = 5\n", encoding="utf-8")
    with pytest.raises(UsageError, match="ingest"):
        load_config(tmp_path, environ={"KAIJUAN_INGEST__MAX_BYTES": "5"})


def test_a_file_asked_for_must_exist(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot be read"):
        load_config(tmp_path, tmp_path / "none.toml", environ={})


def test_a_key_is_not_shown() -> None:
    config = load_config(Path("/nowhere"), environ={"KAIJUAN_EMBEDDER__KEY": "s3cret"})
    assert "s3cret" not in repr(config)
    assert config.embedder.key.get_secret_value() == "s3cret"


KEY = "sk-" + "very-secret"
"""In two pieces, for tracebacks quote this file."""


@pytest.mark.parametrize("end", ["\n", "\r\n", " x", "\t", "\x00", "\x7f", "é", "密", "\u200b", "\udcff"])
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(tmp_path: Path, end: str) -> None:
    with pytest.raises(UsageError, match=r"eval\.judge_key") as refused:
        load_config(tmp_path, environ={"KAIJUAN_EVAL__JUDGE_KEY": KEY + end})
    assert "KAIJUAN_EVAL__JUDGE_KEY" in refused.value.hint
    shown = "".join(traceback.format_exception(refused.value))
    assert KEY not in refused.value.message + refused.value.hint + shown
    (tmp_path / "config.toml").write_text(f'[eval]\njudge_key = "{KEY}\\n"\n', encoding="utf-8")
    with pytest.raises(UsageError, match=r"eval\.judge_key") as refused:
        load_config(tmp_path, environ={})
    assert KEY not in "".join(traceback.format_exception(refused.value))


def test_a_key_may_hold_every_visible_sign_of_ascii(tmp_path: Path) -> None:
    key = "".join(map(chr, range(0x21, 0x7F)))
    assert load_config(tmp_path, environ={"KAIJUAN_EVAL__JUDGE_KEY": key}).eval.judge_key.get_secret_value() == key
