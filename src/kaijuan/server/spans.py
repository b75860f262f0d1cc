"""Requests and their steps as spans of OpenTelemetry, sent over OTLP where telemetry.otlp_url says so. Needs `otel`.

Never in a span: keys, words of documents, messages of errors, and questions unless telemetry.questions allows them.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING

from starlette.types import Scope

from kaijuan import __version__
from kaijuan.core.service_settings import TelemetrySettings
from kaijuan.errors import MissingExtraError, UsageError
from kaijuan.server.access_log import Served
from kaijuan.telemetry import Attributes

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.trace import Span

_SERVER_ERROR = 500


class Spans:
    """Makes spans with a provider, whose exporters are its own. Nothing global is touched."""

    def __init__(self, provider: TracerProvider) -> None:
        self._provider = provider
        self._tracer = provider.get_tracer("kaijuan", __version__)

    def around(self, name: str) -> AbstractContextManager[object]:
        """Enclose a step."""
        return self._step(name)

    @contextmanager
    def _step(self, name: str) -> Iterator[None]:
        with self._tracer.start_as_current_span(name, record_exception=False, set_status_on_exception=False) as span:
            try:
                yield
            except BaseException as error:
                # Its kind alone: a message may hold words of documents.
                _fail(span, type(error).__name__)
                raise

    def ended(self, name: str, seconds: float, attributes: Attributes, failure: str) -> None:
        """Make the span of a step that has ended now."""
        from opentelemetry.trace import SpanKind

        now = time.time_ns()
        kind = SpanKind.CLIENT if "gen_ai.operation.name" in attributes else SpanKind.INTERNAL
        span = self._tracer.start_span(
            name, kind=kind, start_time=now - int(seconds * 1e9), attributes=dict(attributes)
        )
        if failure:
            _fail(span, failure)
        span.end(now)

    @contextmanager
    def around_request(self, scope: Scope) -> Iterator[Callable[[Served], None]]:
        """Enclose a request, as part of what its caller does (`traceparent`); what is yielded is told how it ended."""
        from opentelemetry.context import Context
        from opentelemetry.trace import SpanKind
        from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

        carried = {name.decode("latin-1"): value.decode("latin-1") for name, value in scope["headers"]}
        parent = TraceContextTextMapPropagator().extract(carried, Context())
        with self._tracer.start_as_current_span(
            "request",
            context=parent,
            kind=SpanKind.SERVER,
            record_exception=False,
            set_status_on_exception=False,
        ) as span:
            yield lambda served: _describe(span, served)

    def close(self) -> None:
        """Send what waits, and end. Blocks while it is sent."""
        self._provider.shutdown()


def _describe(span: Span, served: Served) -> None:
    span.update_name(f"{served.method} {served.route}")
    attributes: dict[str, str | int | None] = {
        "http.request.method": served.method,
        "http.route": served.route,
        "http.response.status_code": served.status,
        "kaijuan.request_id": served.request_id,
        "kaijuan.tenant": served.tenant,
        "kaijuan.user": served.user,
        "kaijuan.kb": served.kb,
        "kaijuan.snapshot": served.snapshot,
        "kaijuan.question": served.question,
    }
    span.set_attributes({name: value for name, value in attributes.items() if value is not None and value != ""})
    if not served.status or served.status >= _SERVER_ERROR:
        _fail(span, str(served.status or "aborted"))


def _fail(span: Span, kind: str) -> None:
    from opentelemetry.trace import Status, StatusCode

    span.set_attribute("error.type", kind)
    span.set_status(Status(StatusCode.ERROR))


def spans_of(settings: TelemetrySettings) -> Spans | None:
    """Return what makes and sends spans, None where nobody wants them; MissingExtraError without the packages."""
    if not settings.otlp_url:
        return None
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
        from opentelemetry.sdk.trace.sampling import ParentBased, TraceIdRatioBased
    except ImportError as error:
        raise MissingExtraError(
            "Sending spans needs packages of OpenTelemetry.", hint="pip install 'kaijuan[otel]'"
        ) from error
    provider = TracerProvider(
        sampler=ParentBased(TraceIdRatioBased(settings.share)),
        resource=Resource.create({"service.name": "kaijuan", "service.version": __version__}),
    )
    exporter = OTLPSpanExporter(endpoint=settings.otlp_url, headers=_headers(settings.otlp_headers.get_secret_value()))
    provider.add_span_processor(BatchSpanProcessor(exporter))
    return Spans(provider)


def _headers(text: str) -> dict[str, str]:
    """Read `name=value, name=value`; UsageError that does not show them otherwise."""
    headers: dict[str, str] = {}
    for part in filter(None, (part.strip() for part in text.split(","))):
        name, equals, value = part.partition("=")
        if not equals or not name.strip():
            raise UsageError("The setting telemetry.otlp_headers is wrong.", hint="Write name=value, name=value.")
        headers[name.strip()] = value.strip()
    return headers
