"""Settings of the retrieve room."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr

from kaijuan.errors import UsageError
from kaijuan.retrieve.understanding.settings import UnderstandSettings


class RetrieveSettings(BaseModel):
    """How passages are found. Defaults are measured by bench/retrieval.py; docs/benchmarks.md shows the runs."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    route_k: int = Field(default=30, ge=1, le=2000)
    """Chunks asked of each route, raised to four times the passages wanted. More cost time; `bench/fusion.py` shows
    what they bring."""
    route_seconds: float = Field(default=5.0, gt=0, le=3600)
    """Deadline of one route. A route that misses it is dropped and shown in the trace."""
    embed_seconds: float = Field(default=60.0, gt=0, le=3600)
    """Deadline of embedding the question, long enough to load the onboard model."""
    fusion: Literal["minmax", "rrf", "zscore", "distribution", "cascade"] = "minmax"
    """How the two routes become one ranking: minmax, zscore and distribution add scores scaled by their range, their
    deviation, or mean and three deviations; rrf adds reciprocal ranks, weighted too; cascade takes the route with the
    greater share as it is, and of the other what that one lacks."""
    dense_weight: float = Field(default=0.5, ge=0, le=1)
    """Share of the dense route; the lexical route has the rest."""
    rrf_k: int = Field(default=60, ge=1)
    """Rank offset of reciprocal rank fusion (Cormack, Clarke, Buettcher, SIGIR 2009)."""
    cut_ratio: float = Field(default=0.2, ge=0, le=1)
    """A chunk whose fused score is below this share of the best one's is not evidence. Higher values lose relevant
    passages in the other language; `bench/fusion.py` counts what each value loses."""
    cut_relevance: float = Field(default=0.002, ge=0, le=1)
    """A chunk with less calibrated relevance is not evidence. Low: passages in another language have low values too."""
    fold_duplicates: bool = True
    """Whether equal passages of documents that are merged as duplicates are shown once, the other sources named."""
    marked_weight: float = Field(default=0.5, ge=0, le=1)
    """Factor for the score of a chunk that says next to nothing: a table of contents, a copyright line."""
    languages_apart: bool = True
    """Whether dense search runs once for each language of the base that the question is not in. Without it hardly
    anything in another language is found."""
    rerank: bool = True
    """Whether the reranker of section `reranker` is asked."""
    rerank_k: int = Field(default=24, ge=0, le=1000)
    """Chunks that are looked at closely: by the reranker, for age and newer editions, for what says the same twice."""
    rerank_seconds: float = Field(default=3.0, gt=0, le=3600)
    """Deadline of the reranker. Over it the fused order stands."""
    diversity: float = Field(default=0.0, ge=0, le=1)
    """What likeness to a better passage costs (maximal marginal relevance); 0 leaves the order alone."""
    per_document: int = Field(default=0, ge=0, le=1000)
    """Chunks of one document before all others come first; 0 sets no bound."""
    evidence_from: float = Field(default=0.7, ge=0, le=1)
    """Evidence from which a passage is called evidence."""
    supporting_from: float = Field(default=0.4, ge=0, le=1)
    """Evidence from which a passage is called supporting; less is weak."""
    cut_evidence: float = Field(default=0.0, ge=0, le=1)
    """A chunk with less evidence is left out."""
    half_life_days: float = Field(default=0.0, ge=0)
    """Days in which a document loses half of its weight, counted from when it says it was updated, published or came
    into force, else from when it was taken in; 0 lets nothing age."""
    half_lives: Mapping[str, float] = Field(default_factory=dict)
    """Half-lives of single knowledge bases, by name."""
    authority: Mapping[str, float] = Field(default_factory=dict)
    """Factor for documents by what their field `authority` says, such as {official = 1.2, draft = 0.7}."""
    superseded: Literal["drop", "mark"] = "mark"
    """What becomes of a passage of which a newer edition was found too and is in force: answers that mark it can say
    what the older edition said. A question that names the year of the older one gets it all the same."""
    expired: Literal["drop", "mark"] = "mark"
    """What becomes of a passage whose document is no longer in force on the day asked about."""
    outdated_weight: float = Field(default=0.5, gt=0, le=1)
    """Factor for a passage that is marked as expired, superseded or not in force yet."""
    preset: Literal["fast", "balanced", "thorough"] = "balanced"
    """A bundle of the settings above for speed or for care; what you set yourself to another value than its default
    stays as you set it."""
    traces_kept: int = Field(default=1000, ge=0)
    """Records of answered questions kept in the catalog, newest first."""


class RerankerSettings(BaseModel):
    """Who judges candidates by their texts."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = "onboard"
    """onboard, http, onnx, chat, off, or an adapter of another package. onboard needs no network and takes some
    milliseconds; http is a service in the shape of Cohere, Jina or text-embeddings-inference; onnx is a cross-encoder
    in a folder; chat is the configured language model."""
    url: str = ""
    """Address of the service, for `http`."""
    model: str = ""
    """Name of the model at the service, for `http`; the folder with model.onnx and tokenizer.json, for `onnx`."""
    key: SecretStr = SecretStr("")
    """Key of the service; better in the environment than in a file."""
    shape: Literal["cohere", "tei"] = "cohere"
    """How the service is spoken to: cohere is Jina's shape too, tei is Hugging Face's."""
    way: Literal["listwise", "pointwise"] = "listwise"
    """How the language model is asked, for `chat`: several passages in one request, or one for each."""
    characters: int = Field(default=2000, ge=100, le=100_000)
    """Most characters of a candidate that are sent."""
    threads: int = Field(default=0, ge=0)
    """Cores to use, for `onnx`; 0 means all."""


PRESETS: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {
        "fast": MappingProxyType({"route_k": 20, "rerank": False}),
        "balanced": MappingProxyType({}),
        "thorough": MappingProxyType({"route_k": 100, "rerank_k": 60}),
    }
)
"""What each preset sets otherwise than the defaults. bench/presets.py measures their quality and time."""
UNDERSTANDING: Mapping[str, Mapping[str, Any]] = MappingProxyType(
    {"fast": MappingProxyType({"spelling": False, "model": "off"})}
)
"""What a preset leaves out of understanding: every word that is looked up is a search of its own."""


def with_preset(settings: RetrieveSettings, name: str | None = None) -> RetrieveSettings:
    """Return the settings under a preset, the configured one unless another is named; UsageError for an unknown one."""
    name = name or settings.preset
    if name not in PRESETS:
        raise UsageError(f"There is no preset {name!r}.", hint=f"Known: {', '.join(PRESETS)}.")
    defaults = RetrieveSettings.model_fields
    changes = {
        key: value for key, value in PRESETS[name].items() if getattr(settings, key) == defaults[key].get_default()
    }
    return settings.model_copy(update={**changes, "preset": name})


def understanding_under(settings: UnderstandSettings, preset: str) -> UnderstandSettings:
    """Return the settings of understanding under a preset, by the same rule."""
    defaults = UnderstandSettings.model_fields
    changes = {
        key: value
        for key, value in UNDERSTANDING.get(preset, {}).items()
        if getattr(settings, key) == defaults[key].get_default()
    }
    return settings.model_copy(update=changes)
