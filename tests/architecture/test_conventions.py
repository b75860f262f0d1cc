"""Conventions a machine can check: lengths, docstrings, error codes, light imports, adapters that exist."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import kaijuan
from kaijuan import errors, registry

PACKAGE = Path(kaijuan.__file__).parent
SOURCES = sorted(PACKAGE.rglob("*.py"))
HEAVY = {"sqlalchemy", "numpy", "pydantic", "httpx", "rich", "typer", "lxml", "onnxruntime", "qdrant_edge", "rjieba"}
FORBIDDEN_NAMES = {"utils", "helpers", "manager", "common", "misc"}


def _functions(tree: ast.Module) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_a_module_is_short_and_says_what_it_owns(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 500
    assert ast.get_docstring(ast.parse(text))
    assert path.stem not in FORBIDDEN_NAMES


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_functions_are_short(path: Path) -> None:
    if "versions" in path.parts:
        return  # a migration lists tables, one after the other
    for function in _functions(ast.parse(path.read_text(encoding="utf-8"))):
        first = function.body[0]
        body = (
            function.body[1:]
            if isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
            else function.body
        )
        if not body:
            continue
        lines = (body[-1].end_lineno or 0) - body[0].lineno + 1
        assert lines <= 45, f"{function.name} has {lines} lines"


def _errors(root: type[errors.KaijuanError]) -> Iterator[type[errors.KaijuanError]]:
    yield root
    for child in root.__subclasses__():
        yield from _errors(child)


def test_error_codes_are_unique_and_the_tree_is_drawn() -> None:
    known = list(_errors(errors.KaijuanError))
    codes = [error.code for error in known]
    assert len(codes) == len(set(codes))
    for error in known:
        assert error.__name__ in (errors.__doc__ or "")
        assert error.__doc__


def test_importing_the_package_imports_nothing_heavy() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, kaijuan; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    assert HEAVY.isdisjoint(done.stdout.split())


@pytest.mark.parametrize("target", sorted(target for target, _ in registry.BUILT_IN.values()))
def test_every_registered_adapter_can_be_loaded(target: str) -> None:
    module, _, name = target.partition(":")
    assert isinstance(getattr(importlib.import_module(module), name), type)


def test_every_name_exported_exists() -> None:
    for name in kaijuan.__all__:
        assert getattr(kaijuan, name) is not None


def test_every_test_file_has_a_name_of_its_own() -> None:
    """Tests have no packages, and two files of one name cannot be collected together."""
    names = [path.name for path in Path(__file__).parents[1].rglob("test_*.py")]
    assert sorted({name for name in names if names.count(name) > 1}) == []
