"""Which HTML elements begin a block, which never hold readable text, and which names are HTML at all."""

_NEVER = (
    "script style noscript template button select textarea input iframe object embed svg canvas audio video dialog "
    "map rt rp head link meta title base datalist"
)
_BLOCKS = (
    "address article aside blockquote body center dd details div dl dt fieldset figcaption figure footer form h1 h2 h3 "
    "h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary table ul caption tbody td "
    "tfoot th thead tr listing xmp plaintext"
)
_INLINE = (
    "a abbr area b bdi bdo big br cite code col colgroup data del dfn em font i img ins kbd label mark math meter "
    "optgroup option param picture progress q ruby s samp slot small source span strike strong sub sup time track tt u "
    "var wbr"
)

NEVER_READ = frozenset(_NEVER.split())
BLOCK_TAGS = frozenset(_BLOCKS.split())
KNOWN_TAGS = NEVER_READ | BLOCK_TAGS | frozenset(_INLINE.split())
