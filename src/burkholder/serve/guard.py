"""Who may come in: tokens, compared in constant time; without one, nobody but this very machine."""

from __future__ import annotations

import hmac
import ipaddress
import os
from typing import NamedTuple

from burkholder.errors import BadInput
from burkholder.serve.answers import Refused

OPEN = frozenset({"/", "/health", "/ready", "/openapi.json"})  # they say nothing about the data
LOCAL = frozenset({"localhost", "127.0.0.1", "[::1]", "::1"})
SHORTEST = 16


class Tokens(NamedTuple):
    """What a caller must know: to use the models, and to add or drop one. Empty: there is no such token."""

    user: bytes = b""
    admin: bytes = b""

    @property
    def local(self) -> bool:
        """Whether only this machine may call."""
        return not self.user

    def check(self, method: str, path: str, headers: dict[bytes, bytes]) -> None:
        """Refuse a caller who may not do this."""
        self._from_elsewhere(headers)
        if path in OPEN:
            return
        given = _token(headers.get(b"authorization", b""))
        admin = bool(self.admin) and hmac.compare_digest(given, self.admin)
        if method in ("PUT", "DELETE"):
            if not self.admin:
                raise Refused(403, "token", "none", "this service takes no models from outside: start it with --admin-token-file")
            if not admin:
                raise Refused(401, "token", "not the admin's", "send the admin token as Authorization: Bearer …")
        elif self.user and not admin and not hmac.compare_digest(given, self.user):
            raise Refused(401, "token", "wrong or missing", "send the token as Authorization: Bearer …")

    def _from_elsewhere(self, headers: dict[bytes, bytes]) -> None:
        """Refuse pages of other sites that speak through a browser on this machine."""
        origin, host = headers.get(b"origin"), headers.get(b"host", b"")
        if origin is not None and origin.partition(b"://")[2] != host:
            raise Refused(403, "Origin", origin.decode("latin-1"), "pages of other sites may not call this service")
        if self.local and _name(host) not in LOCAL:
            raise Refused(403, "Host", host.decode("latin-1"), "without a token this service answers on localhost only")


def _token(header: bytes) -> bytes:
    scheme, _, token = header.partition(b" ")
    return token.strip() if scheme.lower() == b"bearer" else header


def _name(host: bytes) -> str:
    text = host.decode("latin-1").lower()
    name, colon, port = text.rpartition(":")
    return name if colon and port.isdigit() else text


def token_in(path: str | os.PathLike[str] | None) -> bytes:
    """The token in a file; no file: none."""
    if path is None:
        return b""
    try:
        with open(path, "rb") as file:
            token = file.read(4096).strip()
    except OSError as error:
        raise BadInput("token-file", str(path), f"it cannot be read: {error.strerror}") from None
    if len(token) < SHORTEST or not token.isascii() or not token.decode().isprintable() or b" " in token:
        raise BadInput(
            "token-file", str(path), f"it holds one line of at least {SHORTEST} printable characters, such as openssl rand -hex 16"
        )
    return token


def check_host(host: str, tokens: Tokens) -> None:
    """Refuse to listen to others without a token."""
    try:
        local = ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        local = host == "localhost"
    if tokens.local and not local:
        raise BadInput("host", host, "without --token-file the service listens on localhost only")
