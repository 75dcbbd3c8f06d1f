"""A chat server on a real socket that answers as it is told, well or badly."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

#: Gets the connection after a whole request has come; what it sends is the answer.
Behaviour = Callable[[socket.socket], None]


def reply(status: str, body: bytes, *headers: str) -> Behaviour:
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close", *headers]
    data = "\r\n".join([*head, "", ""]).encode() + body
    return lambda connection: connection.sendall(data)


def completion(text: str) -> Behaviour:
    body = {"choices": [{"message": {"role": "assistant", "content": text}}]}
    return reply("200 OK", json.dumps(body).encode(), "Content-Type: application/json")


def cut(connection: socket.socket) -> None:
    """Promise more than is sent."""
    connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 500\r\n\r\n{")


def silent(connection: socket.socket) -> None:
    """Say nothing and hang up."""


def hanging(connection: socket.socket) -> None:
    """Say nothing, and wait until the other side has gone."""
    connection.settimeout(20)
    connection.recv(1)


def dripping(head: bytes) -> Behaviour:
    """Send a byte now and then, for ever."""

    def drip(connection: socket.socket) -> None:
        connection.sendall(head)
        while True:
            connection.sendall(b" ")
            threading.Event().wait(0.02)

    return drip


def endless(connection: socket.socket) -> None:
    """Send more than anybody wants."""
    connection.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        connection.sendall(b"x" * (1 << 16))


class Server:
    """Answers each request with the next behaviour, the last one again and again."""

    def __init__(self, *behaviours: Behaviour) -> None:
        self.behaviours = list(behaviours)
        self.heads: list[str] = []
        self.bodies: list[dict[str, Any]] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.url = f"http://127.0.0.1:{self._socket.getsockname()[1]}/v1"

    def serve(self) -> None:
        while True:
            try:
                connection, _address = self._socket.accept()
            except OSError:
                return
            threading.Thread(target=self._handle, args=(connection,), daemon=True).start()

    def _handle(self, connection: socket.socket) -> None:
        with connection:
            try:
                self._take(connection)
                place = min(len(self.heads), len(self.behaviours)) - 1
                self.behaviours[place](connection)
            except OSError:
                return  # the client has had enough

    def _take(self, connection: socket.socket) -> None:
        data = b""
        while b"\r\n\r\n" not in data:
            data += connection.recv(1 << 16)
        head, _, body = data.partition(b"\r\n\r\n")
        lines = head.decode().split("\r\n")
        length = next(
            int(line.partition(":")[2]) for line in lines if line.lower().startswith("content-l")
        )
        while len(body) < length:
            body += connection.recv(1 << 16)
        self.heads.append(head.decode())
        self.bodies.append(json.loads(body))

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


@contextmanager
def serving(*behaviours: Behaviour) -> Iterator[Server]:
    server = Server(*behaviours)
    thread = threading.Thread(target=server.serve, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.close()
        thread.join(10)
