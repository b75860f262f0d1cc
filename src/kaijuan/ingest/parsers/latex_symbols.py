"""Characters of formulas and the LaTeX commands for them."""

from __future__ import annotations

import unicodedata

_GREEK = (
    "α alpha β beta γ gamma δ delta ε varepsilon ϵ epsilon ζ zeta η eta θ theta ϑ vartheta ι iota κ kappa λ lambda "
    "μ mu ν nu ξ xi π pi ρ rho ϱ varrho σ sigma ς varsigma τ tau υ upsilon φ varphi ϕ phi χ chi ψ psi ω omega "
    "Γ Gamma Δ Delta Θ Theta Λ Lambda Ξ Xi Π Pi Σ Sigma Υ Upsilon Φ Phi Ψ Psi Ω Omega"
)
_SIGNS = (
    "× times ÷ div ± pm ∓ mp ⋅ cdot · cdot ∙ bullet ∘ circ ∗ ast ⊕ oplus ⊗ otimes ∞ infty ∂ partial ∇ nabla √ surd "
    "≤ leq ≥ geq ≠ neq ≈ approx ≡ equiv ≅ cong ∼ sim ≃ simeq ∝ propto ≪ ll ≫ gg ≺ prec ≻ succ "
    "∈ in ∉ notin ∋ ni ⊂ subset ⊃ supset ⊆ subseteq ⊇ supseteq ∪ cup ∩ cap ∅ emptyset ∖ setminus "
    "∀ forall ∃ exists ¬ neg ∧ wedge ∨ vee ⊢ vdash ⊨ models ⊥ bot ∠ angle ∥ parallel △ triangle "
    "→ rightarrow ← leftarrow ↔ leftrightarrow ⇒ Rightarrow ⇐ Leftarrow ⇔ Leftrightarrow ↦ mapsto ↑ uparrow "
    "↓ downarrow ⇌ rightleftharpoons … ldots ⋯ cdots ⋮ vdots ⋱ ddots ′ prime ℏ hbar ℓ ell ℜ Re ℑ Im ℵ aleph "
    "∑ sum ∏ prod ∫ int ∮ oint ° circ"
)
_NAMES = _GREEK.split() + _SIGNS.split()
_COMMANDS = {ord(sign): f"\\{name} " for sign, name in zip(_NAMES[::2], _NAMES[1::2], strict=True)}
_COMMANDS[ord("°")] = "^{\\circ}"
_COMMANDS |= {ord(char): f"\\{char}" for char in "%#&$_"}
_COMMANDS |= {0x2061: "", 0x2062: "", 0x2063: "", 0x200B: ""}

NARY = {
    "∑": r"\sum",
    "∏": r"\prod",
    "∐": r"\coprod",
    "∫": r"\int",
    "∬": r"\iint",
    "∭": r"\iiint",
    "∮": r"\oint",
    "∯": r"\oiint",
    "∰": r"\oiiint",
    "⋃": r"\bigcup",
    "⋂": r"\bigcap",
    "⋁": r"\bigvee",
    "⋀": r"\bigwedge",
    "⨁": r"\bigoplus",
    "⨂": r"\bigotimes",
}
ACCENTS = {
    "\u0300": r"\grave",
    "\u0301": r"\acute",
    "\u0302": r"\hat",
    "\u0303": r"\tilde",
    "\u0304": r"\bar",
    "\u0305": r"\overline",
    "\u0306": r"\breve",
    "\u0307": r"\dot",
    "\u0308": r"\ddot",
    "\u030c": r"\check",
    "\u20d6": r"\overleftarrow",
    "\u20d7": r"\vec",
    "\u20db": r"\dddot",
    "\u20e1": r"\overleftrightarrow",
    "^": r"\hat",
    "~": r"\tilde",
    "→": r"\vec",
    "¯": r"\bar",
}
OVER_UNDER = {"⏞": r"\overbrace", "⏟": r"\underbrace", "→": r"\overrightarrow", "←": r"\overleftarrow"}
_FUNCTION_NAMES = (
    "sin cos tan cot sec csc arcsin arccos arctan sinh cosh tanh coth log ln lg exp lim limsup liminf max min sup inf "
    "det dim ker deg arg gcd hom Pr"
)
FUNCTIONS = frozenset(_FUNCTION_NAMES.split())
"""Names that LaTeX has commands for."""


def latex_of(text: str) -> str:
    """Return characters as LaTeX; letters that are only slanted or bold are the letters they are."""
    plain = "".join(
        unicodedata.normalize("NFKC", char) if "\U0001d400" <= char <= "\U0001d7ff" else char for char in text
    )
    return plain.translate(_COMMANDS)
