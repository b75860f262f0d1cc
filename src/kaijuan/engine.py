"""The facade: every verb of one knowledge base in one class. The verbs are in verbs/, the steps live in the rooms."""

from __future__ import annotations

from kaijuan.verbs.backing_up import BackingUp
from kaijuan.verbs.chunk_work import ChunkWorking
from kaijuan.verbs.citing import Citing
from kaijuan.verbs.conversing import Conversing
from kaijuan.verbs.curating import Curating
from kaijuan.verbs.history import Remembering
from kaijuan.verbs.holding import Holding
from kaijuan.verbs.judging import Judging
from kaijuan.verbs.models import Modelling
from kaijuan.verbs.queueing import Queueing
from kaijuan.verbs.sharing import Sharing
from kaijuan.verbs.tracing import Tracing
from kaijuan.verbs.watching import Watching
from kaijuan.verbs.wording import Wording


class Kaijuan(
    Modelling,
    BackingUp,
    Watching,
    Queueing,
    Curating,
    Conversing,
    Tracing,
    Citing,
    Holding,
    Remembering,
    Wording,
    ChunkWorking,
    Sharing,
    Judging,
):
    """One knowledge base in one home folder. Use with `async with`, or call `close`.

    `home` defaults to KAIJUAN_HOME or ~/.kaijuan. `config` is a Config, or a file instead of the home's config.toml.
    An `embedder` of your own is used as it is, without the cache. Nothing is started before the first verb.
    """
