"""The settings that a search may change, and the values it may try; which to try next is Optuna's to say.

Bergstra, Bardenet, Bengio, Kegl: Algorithms for hyper-parameter optimization, NIPS 2011, for the tree of Parzen
estimators; Akiba and others: Optuna, KDD 2019.
"""

from __future__ import annotations

import itertools
import math
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from kaijuan.config import Config
from kaijuan.core.ids import stable_id
from kaijuan.errors import EvalDataError, MissingExtraError, UsageError
from kaijuan.evals.experiments.changes import ROUTE_K, changed, check_depth, check_effect, flattened
from kaijuan.evals.results import DEPTH

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.study import Study
    from optuna.trial import FrozenTrial

Values = Mapping[str, Any]
"""One value a setting, by dotted name."""
MOST_COMBINATIONS = 10_000
_DRAWS = 5
"""Times that a combination is drawn before what has not been tried is looked for."""
RANGE_KEYS = frozenset({"low", "high", "step", "log"})


@dataclass(frozen=True, kw_only=True)
class Choices:
    """One of these values."""

    values: tuple[str | int | float | bool, ...]

    def ends(self) -> tuple[Any, ...]:
        """Return values that must be allowed."""
        return self.values

    def count(self) -> float:
        """Return how many values there are."""
        return len(self.values)

    def grid(self) -> tuple[Any, ...]:
        """Return all values."""
        return self.values

    def distribution(self) -> BaseDistribution:
        """Return what Optuna draws from."""
        from optuna.distributions import CategoricalDistribution

        return CategoricalDistribution(self.values)


@dataclass(frozen=True, kw_only=True)
class Range:
    """A number from `low` to `high`, both included; whole where both are. `step` 0 is any number between."""

    low: float
    high: float
    step: float = 0.0
    log: bool = False

    @property
    def whole(self) -> bool:
        """Whether only whole numbers are tried."""
        return all(isinstance(each, int) for each in (self.low, self.high)) and float(self.step).is_integer()

    def ends(self) -> tuple[Any, ...]:
        """Return values that must be allowed."""
        return self.low, self.high

    @property
    def _pace(self) -> float:
        return self.step or (1 if self.whole and not self.log else 0)

    def count(self) -> float:
        """Return how many values there are, math.inf where they are without number."""
        if not self._pace:
            return math.inf
        steps = (self.high - self.low) / self._pace
        return math.floor(steps + 1e-9) + 1 if math.isfinite(steps) else math.inf

    def grid(self) -> tuple[Any, ...]:
        """Return all values, of which there must be a number."""
        return tuple(self._at(place) for place in range(int(self.count())))

    def _at(self, place: int) -> float:
        value = self.low + place * self._pace
        return int(value) if self.whole else round(value, 12)

    def distribution(self) -> BaseDistribution:
        """Return what Optuna draws from."""
        from optuna.distributions import FloatDistribution, IntDistribution

        # The last value that the steps reach: another upper end would be moved there with a warning.
        high = self._at(int(self.count()) - 1) if self.step else self.high
        if self.whole:
            return IntDistribution(int(self.low), int(high), step=int(self.step) or 1, log=self.log)
        return FloatDistribution(self.low, high, step=self.step or None, log=self.log)


Space = Mapping[str, Choices | Range]


def read_space(tree: Mapping[str, Any], base: Config, *, k: int = DEPTH) -> Space:
    """Read the table of settings to search; UsageError names the setting and what is wrong with it."""
    space = {name: _values(name, given) for name, given in flattened(tree, "[space]").items()}
    if not space:
        raise EvalDataError(
            "[space] names no setting to search.", hint="Write: retrieve.dense_weight = [0.3, 0.5, 0.7]."
        )
    check_effect(space, "[space]")
    for name, values in space.items():
        for value in values.ends():
            _check_alone(name, value, base)
    if ROUTE_K in space:
        check_depth(space[ROUTE_K].ends(), base, k, "[space]")
    return space


def grid_of(space: Space) -> list[dict[str, Any]]:
    """Return all combinations, the first setting changing slowest; UsageError when they are too many or endless."""
    counts = {name: values.count() for name, values in space.items()}
    endless = [name for name, count in counts.items() if math.isinf(count)]
    if endless:
        raise UsageError(f"{endless[0]} has no step, so that a grid has no end.", hint="Give a step, or a list.")
    count = math.prod(counts.values())
    if count > MOST_COMBINATIONS:
        raise UsageError(f"The grid has {count} combinations.", hint='Make it smaller, or take method = "tpe".')
    lists = {name: values.grid() for name, values in space.items()}
    return [dict(zip(lists, values, strict=True)) for values in itertools.product(*lists.values())]


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One combination. `score` is None where the settings do not go together; `reason` says why."""

    number: int
    values: Values
    score: float | None
    reason: str = ""


class Search:
    """Combinations that were tried, kept in a file of Optuna's, and the next one to try. Use `opened`.

    Each trial draws by its own seed, made from the seed of the search and the trial's number: a search that was
    stopped goes on exactly as one that was not.
    """

    def __init__(self, study: Study, space: Space, *, grid: bool, seed: int) -> None:
        self._study = study
        self._space = space
        self._grid = grid_of(space) if grid else None
        self._seed = seed

    @property
    def trials(self) -> list[Trial]:
        """What has been tried, in order."""
        return [
            Trial(
                number=number,
                values={name: trial.params[name] for name in self._space},
                score=trial.values[0] if trial.values else None,
                reason=str(trial.user_attrs["reason"]),
            )
            for number, trial in enumerate(self._study.get_trials(deepcopy=False))
        ]

    @contextmanager
    def next(self) -> Iterator[Attempt]:
        """Give the next combination; tell what came of it within the block. Not told, it is as if never tried."""
        number = len(self.trials)
        attempt = Attempt(number=number, values=self._proposed(number))
        yield attempt
        self._study.add_trial(_finished(attempt, self._space))

    def _proposed(self, number: int) -> Values:
        if self._grid is not None:
            return self._grid[number]
        tried = [trial.values for trial in self.trials]
        # What was tried already says nothing new: drawn anew a few times, then what is left of a small space.
        drawn = (self._drawn(f"{number}" if again == 0 else f"{number}/{again}") for again in range(_DRAWS))
        fresh = next((values for values in drawn if values not in tried), None)
        if fresh is not None or self._size > MOST_COMBINATIONS:
            return fresh or self._drawn(f"{number}")
        return next((values for values in grid_of(self._space) if values not in tried), tried[0])

    def _drawn(self, word: str) -> Values:
        import optuna

        own = int(stable_id("trial", self._seed, word)[:8], 16)
        # Asked in memory: a trial that is stopped leaves no mark in the file.
        draft = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=own))
        draft.add_trials(self._study.get_trials(deepcopy=False))
        asked = draft.ask({name: values.distribution() for name, values in self._space.items()}).params
        # 0.1 + 2 * 0.1 is meant to be 0.3.
        return {name: round(value, 12) if isinstance(value, float) else value for name, value in asked.items()}

    @property
    def _size(self) -> float:
        return math.prod(values.count() for values in self._space.values())

    def total(self, wanted: int) -> int:
        """Return how many trials there are to be: all combinations of a grid, else as many as wanted, none twice."""
        return int(min(wanted, self._size)) if self._grid is None else len(self._grid)


@dataclass(kw_only=True)
class Attempt:
    """A combination being tried; set `score`, or `reason` where there can be none."""

    number: int
    values: Values
    score: float | None = None
    reason: str = ""


def opened(path: Path, name: str, space: Space, *, grid: bool, seed: int) -> Search:
    """Open the search of that name in a file, new or gone on with."""
    try:
        import optuna
        from optuna.storages.journal import JournalFileBackend
    except ImportError as error:
        raise MissingExtraError(
            "The search over settings needs optuna.", hint="Run: pip install 'kaijuan[eval]'."
        ) from error
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    path.parent.mkdir(parents=True, exist_ok=True)
    storage = optuna.storages.JournalStorage(JournalFileBackend(str(path)))
    study = optuna.create_study(storage=storage, study_name=name, direction="maximize", load_if_exists=True)
    return Search(study, space, grid=grid, seed=seed)


def _values(name: str, given: Any) -> Choices | Range:
    if isinstance(given, list):
        if not given or any(not isinstance(value, str | int | float | bool) for value in given):
            raise UsageError(f"[space] gives {name} no list of values: {given}.", hint="Write: [0.3, 0.5, 0.7].")
        return Choices(values=tuple(dict.fromkeys(given)))
    if isinstance(given, Mapping):
        return _range(name, given)
    raise UsageError(
        f"[space] gives {name} one value, {given!r}.", hint="Write a list, or { low = 0.2, high = 0.8, step = 0.1 }."
    )


def _range(name: str, given: Mapping[str, Any]) -> Range:
    hint = "Write: { low = 0.2, high = 0.8, step = 0.1 }; step may be left out, or log = true be given instead."
    numbers = all(
        isinstance(value, int | float) and not isinstance(value, bool) for key, value in given.items() if key != "log"
    )
    if not {"low", "high"} <= given.keys() <= RANGE_KEYS or not numbers or given.get("log", False) not in (True, False):
        raise UsageError(f"[space] gives {name} a range that cannot be read: {dict(given)}.", hint=hint)
    found = Range(low=given["low"], high=given["high"], step=given.get("step", 0), log=given.get("log", False) is True)
    finite = all(abs(value) <= sys.float_info.max for value in (found.low, found.high, found.step))
    if not finite or not found.low < found.high or found.step < 0 or (found.log and (found.low <= 0 or found.step)):
        raise UsageError(f"[space] gives {name} an impossible range: {dict(given)}.", hint=hint)
    if found.step and found.count() > MOST_COMBINATIONS:
        raise UsageError(
            f"[space] gives {name} a step of {found.step:g}, which makes more than {MOST_COMBINATIONS:,} values.",
            hint="Take a larger step, or leave it out.",
        )
    return found


def _check_alone(name: str, value: object, base: Config) -> None:
    try:
        changed(base, {name: value}, "[space]")
    except UsageError as error:
        # What is wrong only together with another setting is found when both are tried.
        if f"the setting {name} is wrong" in error.message:
            raise


def _finished(attempt: Attempt, space: Space) -> FrozenTrial:
    from optuna.trial import TrialState, create_trial

    return create_trial(
        state=TrialState.FAIL if attempt.score is None else TrialState.COMPLETE,
        value=attempt.score,
        params=dict(attempt.values),
        distributions={name: values.distribution() for name, values in space.items()},
        user_attrs={"reason": attempt.reason},
    )
