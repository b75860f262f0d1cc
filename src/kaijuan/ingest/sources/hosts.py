"""Which hosts may be asked: the public ones. Others only where the configuration allows them."""

from __future__ import annotations

import ipaddress
import socket
from collections.abc import Callable

from kaijuan.errors import FetchError

PRIVATE_HINT = "Set ingest.allow_private_addresses if this host is meant."
_WRAPPING = (
    ipaddress.ip_network("64:ff9b::/96"),  # NAT64
    ipaddress.ip_network("::/96"),  # IPv4-compatible, long given up and still routed by some
)
_NEVER = (
    ipaddress.ip_network("192.0.0.0/24"),
    ipaddress.ip_network("64:ff9b:1::/48"),  # NAT64 within a site
    ipaddress.ip_network("fec0::/10"),  # site-local, long given up
)
"""Not public, whatever this version of Python says of them."""

Resolve = Callable[[str, int], list[str]]
"""Host and port to IPs; OSError or UnicodeError when there are none."""


def resolved(host: str, port: int) -> list[str]:
    """Return the IPs of a host, as the system finds them."""
    found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(entry[4][0]) for entry in found))


def address_of(host: str, port: int, *, resolve: Resolve = resolved, allow_private: bool = False) -> str:
    """Return the IP to connect to. FetchError when the host has none, or one that is not public.

    Who connects must use this very IP: a name may lead elsewhere a moment later.
    """
    try:
        found = resolve(host, port)
    except (OSError, UnicodeError) as error:
        raise FetchError(f"The host {host} cannot be found: {error}.") from error
    if not found:
        raise FetchError(f"The host {host} has no address.")
    # All must be public: a name that also points inside is a trap.
    inside = None if allow_private else next((ip for ip in found if not is_public(ip)), None)
    if inside is not None:
        raise FetchError(f"{host} leads to {inside}, which is not a public address.", hint=PRIVATE_HINT)
    return found[0]


def is_public(ip: str) -> bool:
    """Say whether an IP belongs to the public network; addresses that wrap a private one do not."""
    try:
        address = ipaddress.ip_address(ip.partition("%")[0])
    except ValueError:
        return False
    if isinstance(address, ipaddress.IPv6Address):
        wrapped = address.ipv4_mapped or address.sixtofour or (address.teredo[1] if address.teredo else None)
        if wrapped is None and any(address in network for network in _WRAPPING):
            wrapped = ipaddress.IPv4Address(int(address) & 0xFFFFFFFF)
        if wrapped is not None:
            return is_public(str(wrapped))
    return address.is_global and not address.is_multicast and not any(address in network for network in _NEVER)
