"""Small sound files of the formats, each holding the word `needle`, made without any file of this repository."""

from __future__ import annotations

CODE = b"import os\n\n\ndef needle(x):\n    return x\n\n\nclass A:\n\n    def b(self):\n        pass\n"
