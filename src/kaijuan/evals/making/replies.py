"""What a model replied to which request: a run that was stopped pays nothing twice, and the same set comes again."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from kaijuan.evals.chat import Chat, read_form

Form = TypeVar("Form", bound=BaseModel)

REPLIES = "replies.jsonl"


class Replies:
    """Asks a model, or answers from what it replied before. Kept beside the set, one line a reply."""

    def __init__(self, chat: Chat, root: Path) -> None:
        self._chat = chat
        self._path = root / REPLIES
        self._known = _read(self._path)

    def holds(self, prompt: str) -> bool:
        """Say whether a request costs nothing, because its reply is known."""
        return self._key(prompt) in self._known

    async def ask(self, prompt: str, form: type[Form], again: Callable[[str], str]) -> Form | None:
        """Return the reply in the form wanted; None where the model gave none."""
        key = self._key(prompt)
        if key in self._known:
            return read_form(self._known[key], form)[0]
        found, said = await self._chat.ask(prompt, form, again)
        if found is not None:
            self._known[key] = said
            self._path.parent.mkdir(parents=True, exist_ok=True)
            with self._path.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"key": key, "reply": said}, ensure_ascii=False) + "\n")
        return found

    def _key(self, prompt: str) -> str:
        return hashlib.sha256(f"{self._chat.model}\0{prompt}".encode("utf-8", "replace")).hexdigest()[:32]


def _read(path: Path) -> dict[str, str]:
    known: dict[str, str] = {}
    for line in path.read_text(encoding="utf-8").split("\n") if path.is_file() else ():
        try:
            row = json.loads(line)
            known[str(row["key"])] = str(row["reply"])
        except (ValueError, KeyError, TypeError):
            continue  # the last line of a run that was killed, or the end of the file
    return known
