"""The blocking face of the engine: the same verbs, run on one background loop. Derived, never written twice."""

from __future__ import annotations

import asyncio
import functools
import threading
import time
from collections.abc import AsyncGenerator, Callable, Collection, Coroutine, Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Self, TypeVar

from kaijuan.config import Config
from kaijuan.core.chat import ChatModel
from kaijuan.engine import Kaijuan as AsyncKaijuan
from kaijuan.index.ports import Embedder
from kaijuan.verbs.wiring import EVERYONE

P = ParamSpec("P")
R = TypeVar("R")

CANCEL_SECONDS = 60.0
"""How long Ctrl-C waits for a run to roll back cleanly before it is raised all the same."""


def _blocking(
    method: Callable[Concatenate[AsyncKaijuan, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[Kaijuan, P], R]:
    def call(self: Kaijuan, /, *args: P.args, **kwargs: P.kwargs) -> R:
        return self._wait(method(self._engine, *args, **kwargs))

    functools.update_wrapper(call, method)
    return call


def _streaming(
    method: Callable[Concatenate[AsyncKaijuan, P], AsyncGenerator[R, None]],
) -> Callable[Concatenate[Kaijuan, P], Iterator[R]]:
    def call(self: Kaijuan, /, *args: P.args, **kwargs: P.kwargs) -> Iterator[R]:
        source = method(self._engine, *args, **kwargs)

        async def step() -> R | _End:
            return await anext(source, _END)

        try:
            while not isinstance(item := self._wait(step()), _End):
                yield item
        finally:
            # Somebody who closed the base in the middle of a stream has ended it too.
            if not self._closed:
                self._wait(source.aclose())

    functools.update_wrapper(call, method)
    return call


class _End:
    """Stands for the end of a stream."""


_END = _End()


class Kaijuan:
    """A knowledge base, for code that does not use asyncio. Use as a context manager, or call `close`."""

    def __init__(  # noqa: PLR0913 one argument an option
        self,
        home: Path | str | None = None,
        kb: str = "default",
        *,
        config: Config | Path | str | None = None,
        embedder: Embedder | None = None,
        chat: ChatModel | None = None,
        principals: Collection[str] = EVERYONE,
        tenant: str = "default",
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="kaijuan-loop", daemon=True)
        self._thread.start()
        self._closed = False
        try:
            self._engine = AsyncKaijuan(
                home, kb, config=config, embedder=embedder, chat=chat, principals=principals, tenant=tenant, clock=clock
            )
        except BaseException:
            self._stop()
            raise

    def _wait(self, work: Coroutine[Any, Any, R]) -> R:
        started, ended = threading.Event(), threading.Event()

        async def watched() -> R:
            started.set()
            try:
                return await work
            finally:
                ended.set()

        future = asyncio.run_coroutine_threadsafe(watched(), self._loop)
        try:
            return future.result()
        except KeyboardInterrupt:
            # Let the run undo what it staged; a second Ctrl-C leaves that to the next run.
            future.cancel()
            if started.is_set():
                ended.wait(CANCEL_SECONDS)
            raise

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def close(self) -> None:
        """Release every resource. Twice is fine."""
        if self._closed:
            return
        self._closed = True
        try:
            self._wait(self._engine.close())
        finally:
            self._stop()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    add = _blocking(AsyncKaijuan.add)
    sync = _blocking(AsyncKaijuan.sync)
    remove = _blocking(AsyncKaijuan.remove)
    duplicates = _blocking(AsyncKaijuan.duplicates)
    rule_duplicates = _blocking(AsyncKaijuan.rule_duplicates)
    boilerplate = _blocking(AsyncKaijuan.boilerplate)
    rule_boilerplate = _blocking(AsyncKaijuan.rule_boilerplate)
    reviews = _blocking(AsyncKaijuan.reviews)
    review = _blocking(AsyncKaijuan.review)
    approve = _blocking(AsyncKaijuan.approve)
    reject = _blocking(AsyncKaijuan.reject)
    search = _blocking(AsyncKaijuan.search)
    ask = _blocking(AsyncKaijuan.ask)
    cite = _blocking(AsyncKaijuan.cite)
    ask_stream = _streaming(AsyncKaijuan.ask_stream)
    converse = _blocking(AsyncKaijuan.converse)
    converse_stream = _streaming(AsyncKaijuan.converse_stream)
    conversations = _blocking(AsyncKaijuan.conversations)
    conversation = _blocking(AsyncKaijuan.conversation)
    forget_conversation = _blocking(AsyncKaijuan.forget_conversation)
    pin_fact = _blocking(AsyncKaijuan.pin_fact)
    unpin_fact = _blocking(AsyncKaijuan.unpin_fact)
    explain = _blocking(AsyncKaijuan.explain)
    list = _blocking(AsyncKaijuan.list)
    show = _blocking(AsyncKaijuan.show)
    editions = _blocking(AsyncKaijuan.editions)
    status = _blocking(AsyncKaijuan.status)
    health = _blocking(AsyncKaijuan.health)
    chunk = _blocking(AsyncKaijuan.chunk)
    chunk_report = _blocking(AsyncKaijuan.chunk_report)
    chunk_work = _blocking(AsyncKaijuan.chunk_work)
    split_chunk = _blocking(AsyncKaijuan.split_chunk)
    merge_chunks = _blocking(AsyncKaijuan.merge_chunks)
    edit_chunk = _blocking(AsyncKaijuan.edit_chunk)
    exclude_chunks = _blocking(AsyncKaijuan.exclude_chunks)
    alias_chunk = _blocking(AsyncKaijuan.alias_chunk)
    restore_chunks = _blocking(AsyncKaijuan.restore_chunks)
    cut_by = _blocking(AsyncKaijuan.cut_by)
    around = _blocking(AsyncKaijuan.around)
    plan_contexts = _blocking(AsyncKaijuan.plan_contexts)
    write_contexts = _blocking(AsyncKaijuan.write_contexts)
    snapshots = _blocking(AsyncKaijuan.snapshots)
    run_views = _blocking(AsyncKaijuan.run_views)
    run_view = _blocking(AsyncKaijuan.run_view)
    cancel_run = _blocking(AsyncKaijuan.cancel_run)
    resume_run = _blocking(AsyncKaijuan.resume_run)
    retry_failed = _blocking(AsyncKaijuan.retry_failed)
    enqueue = _blocking(AsyncKaijuan.enqueue)
    enqueue_upload = _blocking(AsyncKaijuan.enqueue_upload)
    work_on = _blocking(AsyncKaijuan.work_on)
    jobs = _blocking(AsyncKaijuan.jobs)
    work_off = _blocking(AsyncKaijuan.work_off)
    revive_job = _blocking(AsyncKaijuan.revive_job)
    drop_job = _blocking(AsyncKaijuan.drop_job)
    watch = _blocking(AsyncKaijuan.watch)
    keep_in_sync = _blocking(AsyncKaijuan.keep_in_sync)
    remove_and_prove = _blocking(AsyncKaijuan.remove_and_prove)
    purge = _blocking(AsyncKaijuan.purge)
    diff = _blocking(AsyncKaijuan.diff)
    tag = _blocking(AsyncKaijuan.tag)
    untag = _blocking(AsyncKaijuan.untag)
    tags = _blocking(AsyncKaijuan.tags)
    roll_back = _blocking(AsyncKaijuan.roll_back)
    gc = _blocking(AsyncKaijuan.gc)
    export = _blocking(AsyncKaijuan.export)
    import_archive = _blocking(AsyncKaijuan.import_archive)
    glossary = _blocking(AsyncKaijuan.glossary)
    add_term = _blocking(AsyncKaijuan.add_term)
    remove_term = _blocking(AsyncKaijuan.remove_term)
    import_terms = _blocking(AsyncKaijuan.import_terms)
    suggest = _blocking(AsyncKaijuan.suggest)
    rebuild = _blocking(AsyncKaijuan.rebuild)
    optimise = _blocking(AsyncKaijuan.optimise)
    back_up = _blocking(AsyncKaijuan.back_up)
    restore = _blocking(AsyncKaijuan.restore)
    check_backup = _blocking(AsyncKaijuan.check_backup)
    backups = _blocking(AsyncKaijuan.backups)
    models = _blocking(AsyncKaijuan.models)
    add_model = _blocking(AsyncKaijuan.add_model)
    compare_models = _blocking(AsyncKaijuan.compare_models)
    try_model = _blocking(AsyncKaijuan.try_model)
    model_trials = _blocking(AsyncKaijuan.model_trials)
    switch_model = _blocking(AsyncKaijuan.switch_model)
    roll_back_model = _blocking(AsyncKaijuan.roll_back_model)
    retire_model = _blocking(AsyncKaijuan.retire_model)
    doctor = _blocking(AsyncKaijuan.doctor)
    documents = _blocking(AsyncKaijuan.documents)
    version = _blocking(AsyncKaijuan.version)
    original = _blocking(AsyncKaijuan.original)
    version_text = _blocking(AsyncKaijuan.version_text)
    version_blocks = _blocking(AsyncKaijuan.version_blocks)
    version_chunks = _blocking(AsyncKaijuan.version_chunks)
    page_sizes = _blocking(AsyncKaijuan.page_sizes)
    page_image = _blocking(AsyncKaijuan.page_image)
    locate = _blocking(AsyncKaijuan.locate)
    bases = _blocking(AsyncKaijuan.bases)
    make_base = _blocking(AsyncKaijuan.make_base)
    upload = _blocking(AsyncKaijuan.upload)
    runs = _blocking(AsyncKaijuan.runs)
    run_items = _blocking(AsyncKaijuan.run_items)
    trace = _blocking(AsyncKaijuan.trace)
    traces = _blocking(AsyncKaijuan.traces)
    replay_trace = _blocking(AsyncKaijuan.replay_trace)
    put_user = _blocking(AsyncKaijuan.put_user)
    users = _blocking(AsyncKaijuan.users)
    join_group = _blocking(AsyncKaijuan.join_group)
    leave_group = _blocking(AsyncKaijuan.leave_group)
    create_key = _blocking(AsyncKaijuan.create_key)
    keys = _blocking(AsyncKaijuan.keys)
    revoke_key = _blocking(AsyncKaijuan.revoke_key)
    who_is = _blocking(AsyncKaijuan.who_is)
    access = _blocking(AsyncKaijuan.access)
    grant = _blocking(AsyncKaijuan.grant)
    revoke = _blocking(AsyncKaijuan.revoke)
    inherit = _blocking(AsyncKaijuan.inherit)
    audit_log = _blocking(AsyncKaijuan.audit_log)
    newest_audit = _blocking(AsyncKaijuan.newest_audit)
    check_audit = _blocking(AsyncKaijuan.check_audit)
    give_feedback = _blocking(AsyncKaijuan.give_feedback)
    feedback = _blocking(AsyncKaijuan.feedback)
    rerank = _blocking(AsyncKaijuan.rerank)
