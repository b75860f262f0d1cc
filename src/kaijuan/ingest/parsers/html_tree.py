"""Text or bytes of HTML to an lxml tree, whatever state they are in."""

from __future__ import annotations

from typing import Any

from lxml import etree, html

from kaijuan.errors import BrokenDocumentError


def tree_of(text: str) -> Any:
    """Return the root element of an HTML text; fragments get a root. Raises BrokenDocumentError when there is none."""
    # Half code points and NULs cannot be in a tree; a declaration of another encoding in the text is outdated.
    data = text.replace("\x00", "").encode("utf-8", "replace")
    reader = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = html.document_fromstring(data or b"<p></p>", parser=reader, ensure_head_body=False)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise BrokenDocumentError(f"The HTML cannot be read: {error}.") from error
    return root
