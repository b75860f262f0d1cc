"""The one error tree. Every error has a stable code, says what to do, and whether trying again can help.

KaijuanError
├── UsageError            the caller asked for something that cannot be
│   ├── NotFoundError
│   ├── FilterError
│   └── EvalDataError
├── DocumentError         one file or record is at fault; a run goes on without it
│   ├── MissingSourceError, EmptyDocumentError, BrokenDocumentError, EncryptedDocumentError
│   ├── UnsupportedDocumentError, OversizeDocumentError, WrongLanguageError
│   └── ParseTimeoutError, ParseMemoryError, FetchError
├── AccessError           the caller may not
│   └── UnauthenticatedError, TooManyRequestsError, QuotaError
├── StoreError            where state lives is at fault
│   ├── BusyError, DiskFullError, CorruptStoreError, ClosedError
│   └── SchemaError, SpaceMismatchError
├── ModelError            a network (embedder, chat, ...) is at fault
│   ├── OverlongInputError, ModelRefusedError
│   └── ModelTimeoutError, ModelBusyError, ModelUnreachableError, UnusableReplyError
├── StoppedError          somebody stopped it
├── ServiceError          a service of kaijuan, asked from afar, is at fault
└── MissingExtraError     an optional dependency is not installed
"""

from __future__ import annotations

from typing import ClassVar


class KaijuanError(Exception):
    """Root of all errors raised on purpose.

    `code` never changes once published, `hint` is one sentence on what to do, `retry` says whether the same
    call may succeed later without a change by the caller.
    """

    code: ClassVar[str] = "internal"
    hint: str = ""
    retry: ClassVar[bool] = False

    def __init__(self, message: str, *, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        if hint is not None:
            self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".rstrip()

    def __reduce__(self) -> tuple[object, ...]:
        # Errors cross process borders (parser children, the index owner); keyword arguments would be lost.
        return _rebuild, (type(self), self.message, self.hint)


def _rebuild(kind: type[KaijuanError], message: str, hint: str) -> KaijuanError:
    return kind(message, hint=hint)


class UsageError(KaijuanError):
    """The request itself is wrong."""

    code = "usage"


class NotFoundError(UsageError):
    """The thing named does not exist, or not in this snapshot."""

    code = "not_found"


class FilterError(UsageError):
    """A filter cannot be read or applied. Never treated as "no filter"."""

    code = "filter_invalid"
    hint = "Write filters like: kind = pdf and created >= 2024-01-01."


class EvalDataError(UsageError):
    """An evaluation set cannot be used as it is."""

    code = "eval_data_invalid"
    hint = "The layout of a set is described in the guide, under Evaluation."


class DocumentError(KaijuanError):
    """One source could not be taken in."""

    code = "document_failed"


class MissingSourceError(DocumentError):
    """The path or address does not exist or cannot be read."""

    code = "source_missing"
    hint = "Check the path and its permissions."


class EmptyDocumentError(DocumentError):
    """The source holds no text."""

    code = "document_empty"
    hint = "Nothing was stored; add the file again when it has content."


class BrokenDocumentError(DocumentError):
    """The bytes are not what the format demands."""

    code = "document_broken"
    hint = "Open the file in its own program and save it again."


class EncryptedDocumentError(DocumentError):
    """A password is needed."""

    code = "document_encrypted"
    hint = "Remove the password and add the file again."


class UnsupportedDocumentError(DocumentError):
    """No parser is known for this kind of content."""

    code = "document_unsupported"
    hint = "Convert it to PDF, DOCX, HTML, Markdown or plain text."


class OversizeDocumentError(DocumentError):
    """The source is larger than the configured limit."""

    code = "document_oversize"
    hint = "Split the file or raise ingest.max_bytes."


class WrongLanguageError(DocumentError):
    """The text is in a language that is not taken in."""

    code = "document_language"
    hint = "Add its language to ingest.languages to take it in."


class ParseTimeoutError(DocumentError):
    """Parsing did not end within its time limit."""

    code = "parse_timeout"
    hint = "Split the file or raise ingest.parse_seconds."


class ParseMemoryError(DocumentError):
    """Parsing needed more memory than allowed."""

    code = "parse_memory"
    hint = "Split the file or raise ingest.parse_memory_mb."


class FetchError(DocumentError):
    """An address could not be fetched."""

    code = "fetch_failed"
    retry = True
    hint = "Check the address and the network."


class AccessError(KaijuanError):
    """The caller is not allowed to do this."""

    code = "access_denied"
    hint = "Ask an owner of the knowledge base for access."


class UnauthenticatedError(AccessError):
    """Who calls is not known: no key or token, or one that is wrong, expired or revoked."""

    code = "unauthenticated"
    hint = "Send `Authorization: Bearer KEY` with a key that `kaijuan keys create` printed."


class TooManyRequestsError(AccessError):
    """The caller asked more often than allowed."""

    code = "too_many_requests"
    retry = True
    hint = "Wait a little and try again."


class QuotaError(AccessError):
    """The tenant has as much as it may have."""

    code = "quota_exceeded"
    hint = "Remove something, or ask whoever runs the service for a larger quota."


class StoreError(KaijuanError):
    """A store failed."""

    code = "store_failed"


class BusyError(StoreError):
    """Another process holds what this call needs."""

    code = "busy"
    retry = True
    hint = "Wait for the other process to finish and try again."


class DiskFullError(StoreError):
    """No space is left for the home folder."""

    code = "disk_full"
    hint = "Free some space and run the command again; nothing published was lost."


class CorruptStoreError(StoreError):
    """Stored bytes are not what was written."""

    code = "store_corrupt"
    hint = "Run `kaijuan doctor`; `kaijuan rebuild` makes the indexes anew from the catalog."


class ClosedError(StoreError):
    """The store or engine was used after it was closed."""

    code = "closed"
    hint = "Open it again."


class SchemaError(StoreError):
    """The catalog was written by a newer version, or its migration failed."""

    code = "schema"
    hint = "Install the newest kaijuan."


class SpaceMismatchError(StoreError):
    """An index was built for another embedding model or analyser."""

    code = "space_mismatch"
    hint = "Run `kaijuan rebuild` to build the index for the configured model."


class ModelError(KaijuanError):
    """A model call failed."""

    code = "model_failed"
    retry = True


class OverlongInputError(ModelError):
    """A text has more tokens than the model accepts. Nothing is ever cut silently."""

    code = "input_overlong"
    retry = False


class ModelRefusedError(ModelError):
    """The service said no for good: key, model name, address or request are wrong."""

    code = "model_refused"
    retry = False
    hint = "Check address, model name and key in the configuration."


class ModelTimeoutError(ModelError):
    """The service did not answer, or did not go on, within the time allowed."""

    code = "model_timeout"
    hint = "Raise chat.seconds, or ask a quicker model."


class ModelBusyError(ModelError):
    """The service wants fewer requests."""

    code = "model_busy"
    hint = "Try again later, or lower chat.requests."
    wait: float | None = None
    """Seconds after which the service wants to be asked again, where it said so."""


class ModelUnreachableError(ModelError):
    """No connection to the service, or it broke off."""

    code = "model_unreachable"
    hint = "Check the address in the configuration, and whether the service runs."


class UnusableReplyError(ModelError):
    """What the service sent is no reply, or one that says nothing."""

    code = "model_reply_unusable"
    retry = False
    hint = "Ask again in other words, or choose another model."


class StoppedError(KaijuanError):
    """Somebody stopped the command (Ctrl-C). What it had finished is kept."""

    code = "stopped"
    retry = True


class MissingExtraError(KaijuanError):
    """An optional package is not installed."""

    code = "extra_missing"


class ServiceError(KaijuanError):
    """A service of kaijuan did not answer, or with an error that has no class of its own."""

    code = "service_failed"
    retry = True
    hint = "See that `kaijuan serve` is running, and what its log says."
