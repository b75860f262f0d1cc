"""How editions, dates and authority stand on the day asked about."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from kaijuan.core.documents import Scalar, Version
from kaijuan.core.ids import DocumentId, KbId, VersionId
from kaijuan.retrieve.settings import RetrieveSettings
from kaijuan.retrieve.validity import Standing, Validity, day_of, family_of, validities

NOW = datetime(2026, 6, 1, tzinfo=UTC).timestamp()


def version(title: str, /, **metadata: Scalar) -> Version:
    return Version(
        id=VersionId(f"v-{title}"),
        document_id=DocumentId(f"d-{title}"),
        kb_id=KbId("kb"),
        number=1,
        source=f"file:///{title}",
        title=title,
        kind="text",
        content_hash="",
        fingerprint="",
        text_hash="",
        original_hash="",
        created_at=NOW,
        metadata=metadata,
    )


def standing(question: str, *versions: Version, kb: str = "default", **settings: object) -> dict[str, Validity]:
    found = validities({one.id: one for one in versions}, question, NOW, RetrieveSettings.model_validate(settings), kb)
    return {one.title: found[one.id] for one in versions}


OLD_ZH = version("差旅费管理办法（2022年版）", effective_from="2022-01-01")
NEW_ZH = version("差旅费管理办法（2025年版）", effective_from="2025-01-01")
OLD_EN = version("Travel Policy v1.2", version="1.2")
NEW_EN = version("Travel Policy v2.0", version="2.0")


@pytest.mark.parametrize(("old", "new"), [(OLD_ZH, NEW_ZH), (OLD_EN, NEW_EN)])
def test_a_newer_edition_replaces_the_older(old: Version, new: Version) -> None:
    found = standing("住宿费标准是多少 hotel rate", old, new)
    assert found[old.title].standing is Standing.SUPERSEDED
    assert new.title in str(found[old.title])
    assert found[new.title].standing is Standing.HOLDS


@pytest.mark.parametrize("question", ["2022年的住宿费标准是多少？", "What did the 2022 rule say?"])
def test_a_question_about_the_year_of_the_older_edition_gets_it(question: str) -> None:
    found = standing(question, OLD_ZH, NEW_ZH)
    assert found[OLD_ZH.title].standing is Standing.HOLDS
    assert found[NEW_ZH.title].standing is Standing.FUTURE


def test_an_edition_that_is_not_in_force_yet_replaces_nothing() -> None:
    future = version("差旅费管理办法（2027年版）", effective_from="2027-01-01")
    found = standing("住宿费标准", NEW_ZH, future)
    assert found[NEW_ZH.title].standing is Standing.HOLDS
    assert found[future.title].standing is Standing.FUTURE


def test_annual_reports_are_no_editions() -> None:
    found = standing("revenue", version("2023 Annual Report"), version("2024 Annual Report"))
    assert {one.standing for one in found.values()} == {Standing.HOLDS}


def test_other_documents_of_the_same_year_are_left_alone() -> None:
    other = version("考勤管理办法（2022年版）", effective_from="2022-01-01")
    found = standing("标准", OLD_ZH, NEW_ZH, other)
    assert found[other.title].standing is Standing.HOLDS


def test_what_has_expired_says_when() -> None:
    gone = version("临时通知", effective_to="2025-12-31")
    found = standing("通知", gone)
    assert str(found["临时通知"]) == "expired 2025-12-31"
    assert found["临时通知"].factor < 1
    assert standing("2025年的通知", gone)["临时通知"].standing is Standing.HOLDS


def test_half_of_the_weight_is_lost_in_a_half_life() -> None:
    aged = version("news", published="2025-06-01")
    assert standing("q", aged, half_life_days=365)["news"].factor == pytest.approx(0.5, abs=0.01)
    assert standing("q", aged)["news"].factor == 1.0
    per_base = {"half_life_days": 365, "half_lives": {"archive": 0}}
    assert standing("q", aged, kb="archive", **per_base)["news"].factor == 1.0


def test_authority_counts_as_the_settings_say() -> None:
    draft = version("d", authority="draft")
    assert standing("q", draft, authority={"draft": 0.5})["d"].factor == 0.5
    assert standing("q", draft)["d"].factor == 1.0


@pytest.mark.parametrize("said", ["", "soon", "2024-13-01", "12-31", 2024, None, "9999999"])
def test_what_is_no_day_says_nothing(said: object) -> None:
    assert day_of(said) is None


def test_a_family_is_a_title_without_its_edition() -> None:
    assert family_of("差旅费管理办法（2022年版）") == family_of("差旅费管理办法（2025年修订版）")
    assert family_of("Travel Policy v1.2") == family_of("Travel Policy v2.0")
    assert family_of("Travel Policy") != family_of("Leave Policy")
