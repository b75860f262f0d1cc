"""Text or bytes of HTML to an lxml tree, whatever state they are in."""

from __future__ import annotations

from typing import Any

from lxml import etree, html

from kaijuan.errors import BrokenDocumentError

FLATTEN = "Save it with fewer levels of nesting, or as plain text."


def tree_of(text: str) -> Any:
    """Return the root element of an HTML text; fragments get a root.

    Raises BrokenDocumentError when there is none, and when elements are nested so deeply (about 2,000) that the
    reader stops there: a tree without the rest of the text would look whole.
    """
    # Half code points and NULs cannot be in a tree; a declaration of another encoding in the text is outdated.
    data = text.replace("\x00", "").encode("utf-8", "replace")
    reader = html.HTMLParser(encoding="utf-8", remove_comments=True, remove_pis=True, huge_tree=True)
    try:
        root = html.document_fromstring(data or b"<p></p>", parser=reader, ensure_head_body=False)
    except (etree.ParserError, etree.XMLSyntaxError, ValueError, AssertionError) as error:
        raise BrokenDocumentError(f"The HTML cannot be read: {error}.") from error
    if any(entry.type == etree.ErrorTypes.ERR_RESOURCE_LIMIT for entry in reader.error_log):
        raise BrokenDocumentError("The HTML is nested too deeply to be read whole.", hint=FLATTEN)
    return root
