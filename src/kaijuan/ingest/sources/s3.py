"""Objects of a store that speaks S3, by the MinIO client. Keys are read as paths."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self, cast
from urllib.parse import quote, unquote, urlsplit

from kaijuan.errors import (
    BrokenDocumentError,
    DocumentError,
    FetchError,
    MissingExtraError,
    MissingSourceError,
    OversizeDocumentError,
)
from kaijuan.ingest.metadata import plain
from kaijuan.ingest.ports import SourceFailure, SourceItem
from kaijuan.ingest.settings import IngestSettings
from kaijuan.ingest.sources.files import is_junk
from kaijuan.ingest.sources.patterns import PathFilter
from kaijuan.ingest.sources.settings import S3Settings, SourceSettings
from kaijuan.ingest.sources.stepping import stepped

if TYPE_CHECKING:
    from minio import Minio

_SCHEME = "s3://"
_AMAZON = "https://s3.amazonaws.com"
_PIECE = 1 << 18
_CONNECT_SECONDS = 10.0
_READ_SECONDS = 60.0
_LONGEST_SAID = 300
_ABSENT = frozenset({"NoSuchKey", "NoSuchObject", "ResourceNotFound"})


class S3Source:
    """Source of all objects below s3://bucket/prefix/, or of one object.

    A prefix is a folder: s3://b/a/ never means s3://b/abc. What is not in `settings` is found where AWS tools look
    (AWS_ACCESS_KEY_ID, AWS_ENDPOINT_URL, ...).
    """

    def __init__(self, *, max_bytes: int, settings: S3Settings | None = None) -> None:
        self._max_bytes = max_bytes
        self._settings = settings
        self._paths = PathFilter(settings.include, settings.exclude) if settings else PathFilter()

    @classmethod
    def from_settings(cls, limits: IngestSettings, settings: SourceSettings | None, _cache: Path) -> Self:
        """Return the source as configured."""
        return cls(max_bytes=limits.max_bytes, settings=cast(S3Settings | None, settings))

    def accepts(self, target: str) -> bool:
        """Say whether `target` is s3:// and a bucket."""
        return target.lower().startswith(_SCHEME) and bool(target[len(_SCHEME) :].strip("/"))

    def scope(self, target: str) -> str:
        """Return the address of a prefix with "/" at its end; that of an object (its name has a dot) without."""
        place = _place(target)
        return place.address + ("/" if place.is_folder and not place.address.endswith("/") else "")

    def walk(self, target: str) -> AsyncIterator[SourceItem | SourceFailure]:
        """Yield every object, sorted by key; a store that does not answer is a failure of the whole place."""
        return stepped(self._walk(_place(target)))

    def _walk(self, place: _Place) -> Iterator[SourceItem | SourceFailure]:
        found = False
        try:
            with _named_errors(place.address):
                client = self._client()
                for key, size in _listed(client, place):
                    found = True
                    if self._is_wanted(key, place):
                        yield self._item(client, _Place(bucket=place.bucket, key=key), size)
            if not found:
                # An empty prefix and a slip of the pen look the same; neither may empty a mirrored base.
                raise MissingSourceError(f"{place.address} holds no object.", hint="Check the bucket and the prefix.")
        except DocumentError as error:
            yield _failure(place.address, error)

    def _is_wanted(self, key: str, place: _Place) -> bool:
        if key == place.key:
            return True  # the object that was named itself
        path = key[len(place.prefix) :]
        return not any(map(is_junk, path.split("/"))) and self._paths.takes(path)

    def _item(self, client: Minio, place: _Place, size: int) -> SourceItem | SourceFailure:
        too_large = OversizeDocumentError(f"{place.address} is larger than {self._max_bytes:,} bytes.")
        try:
            if size > self._max_bytes:
                raise too_large
            data = bytearray()
            with _named_errors(place.address):
                response = client.get_object(place.bucket, place.key)
                try:
                    for piece in response.stream(_PIECE):
                        data += piece
                        if len(data) > self._max_bytes:  # it has grown since it was listed
                            raise too_large
                finally:
                    response.close()
                    response.release_conn()
        except DocumentError as error:
            return _failure(place.address, error)
        name = plain(place.key.rpartition("/")[2])
        return SourceItem(source=place.address, name=name, size=len(data), data=bytes(data))

    def _client(self) -> Minio:
        try:
            import certifi
            import urllib3
            from minio import Minio
            from minio.credentials.providers import AWSConfigProvider, ChainedProvider, EnvAWSProvider, IamAwsProvider
        except ImportError as error:
            raise MissingExtraError("Reading s3:// needs minio.", hint="Run: pip install 'kaijuan[s3]'.") from error
        chosen = self._settings or S3Settings(at=_SCHEME)
        # The same names that Amazon's own tools read; keys are found by the client's providers.
        told = os.environ.get("AWS_ENDPOINT_URL_S3") or os.environ.get("AWS_ENDPOINT_URL")
        endpoint = urlsplit(chosen.endpoint or told or _AMAZON)
        if endpoint.scheme not in {"http", "https"} or not endpoint.netloc or endpoint.username:
            raise BrokenDocumentError(
                "The endpoint of the store is no address.", hint="Write it like https://minio.example:9000."
            )
        provider = ChainedProvider([EnvAWSProvider(), AWSConfigProvider(), IamAwsProvider()])
        waits = urllib3.Timeout(connect=_CONNECT_SECONDS, read=_READ_SECONDS)
        retries = urllib3.Retry(total=3, backoff_factor=0.3, status_forcelist=[500, 502, 503, 504])
        return Minio(
            endpoint.netloc,
            access_key=chosen.key_id or None,
            secret_key=chosen.secret.get_secret_value() or None,
            secure=endpoint.scheme == "https",
            region=chosen.region or os.environ.get("AWS_REGION") or os.environ.get("AWS_DEFAULT_REGION"),
            credentials=None if chosen.anonymous else provider,
            http_client=urllib3.PoolManager(
                timeout=waits,
                retries=retries,
                cert_reqs="CERT_REQUIRED",
                ca_certs=os.environ.get("SSL_CERT_FILE") or certifi.where(),
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    bucket: str
    key: str

    @property
    def address(self) -> str:
        return _address(self.bucket, self.key)

    @property
    def is_folder(self) -> bool:
        return "." not in self.key.rpartition("/")[2]

    @property
    def prefix(self) -> str:
        return f"{self.key.removesuffix('/')}/" if self.key else ""


def _place(target: str) -> _Place:
    bucket, _, key = target[len(_SCHEME) :].partition("/")
    return _Place(bucket=bucket, key=unquote(key, errors="surrogateescape"))


def _address(bucket: str, key: str) -> str:
    return f"{_SCHEME}{bucket}/{quote(key, safe='/~-._', errors='surrogateescape')}"


def _listed(client: Minio, place: _Place) -> Iterator[tuple[str, int]]:
    """Yield key and size of every object; the marks that consoles make for folders are none."""
    from minio.error import S3Error

    if not place.is_folder:
        try:
            yield place.key, int(client.stat_object(place.bucket, place.key).size or 0)
            return
        except S3Error as error:
            if error.code not in _ABSENT:
                raise
    for entry in client.list_objects(place.bucket, prefix=place.prefix, recursive=True):
        key = str(entry.object_name or "")
        if key and not key.endswith("/"):
            yield key, int(entry.size or 0)


@contextmanager
def _named_errors(address: str) -> Iterator[None]:
    """Turn what the client raises into our errors, in the store's own words."""
    from minio.error import MinioException, S3Error
    from urllib3.exceptions import HTTPError

    try:
        yield
    except (MinioException, HTTPError, OSError, ValueError) as error:
        # ValueError: a name that cannot be a bucket's, keys that are nowhere to be found.
        said = f"{error.code}: {error.message}" if isinstance(error, S3Error) else str(error)
        reason = plain(" ".join(said.split()))[:_LONGEST_SAID].rstrip(".")
        raise FetchError(
            f"{address} cannot be read: {reason}.", hint="Check the address, the endpoint, the region and the keys."
        ) from error


def _failure(address: str, error: DocumentError) -> SourceFailure:
    return SourceFailure(source=address, code=error.code, message=str(error))
