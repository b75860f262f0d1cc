"""Whether cited words carry what is claimed: numbers, dates, names, negation, comparison, and meaning."""

from __future__ import annotations

from kaijuan.answer.checking.check import check_claims
from kaijuan.answer.checking.claims import Claim, Fault, FaultKind, Verdict

__all__ = ["Claim", "Fault", "FaultKind", "Verdict", "check_claims"]
