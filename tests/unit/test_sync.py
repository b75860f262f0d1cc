"""The blocking face has every verb of the engine, with the same arguments."""

from __future__ import annotations

import inspect

from kaijuan.engine import Kaijuan as AsyncKaijuan
from kaijuan.sync import Kaijuan


def _verbs(kind: type) -> set[str]:
    return {
        name
        for name, member in inspect.getmembers(kind, inspect.isfunction)
        if not name.startswith("_") and name != "close"
    }


def test_every_verb_is_there_with_the_same_arguments() -> None:
    assert _verbs(AsyncKaijuan) == _verbs(Kaijuan)
    assert inspect.signature(Kaijuan) == inspect.signature(AsyncKaijuan)
    for name in _verbs(Kaijuan):
        assert inspect.signature(getattr(Kaijuan, name)) == inspect.signature(getattr(AsyncKaijuan, name))
