"""Random histories with calls that are nested, parallel, failed, missing, doubled, or used again;
and what the pair rule asks of a choice of their messages, found out independently."""

from __future__ import annotations

import json

from hypothesis import strategies as st

IDS = ("a", "b", "call_1", "call 1", "ü", "x" * 50, "a/b")
_texts = st.sampled_from(
    [
        "hi",
        "",
        "  ",
        "部署在周三",
        "we decided on /etc/passwd",
        "word " * 30,
        "Error: none",
        "\n x \n",
    ]
)
_args = st.sampled_from(
    [{}, {"q": "北京"}, '{"q":1}', "not json", "", None, [1], 7, {"deep": {"a": [None]}}]
)
_tokens = st.one_of(st.none(), st.integers(0, 40))
_senders = st.sampled_from([None, "u1", "u2", "u3"])
_names = st.sampled_from(["search", "read file", "рыба", "n" * 80, "a.b"])


@st.composite
def _said(draw):
    message = {"role": draw(st.sampled_from(["user", "user", "system"])), "content": draw(_texts)}
    sender = draw(_senders)
    if sender and message["role"] == "user":
        message["sender"] = {"userId": sender}
    return message


@st.composite
def _assistant(draw):
    calls = [
        {"id": call_id, "name": draw(_names), "args": draw(_args)}
        for call_id in draw(st.lists(st.sampled_from(IDS), max_size=3))
    ]
    message = {"role": "assistant", "content": draw(_texts)}
    return {**message, "toolCalls": calls} if calls else message


@st.composite
def _result(draw):
    message = {"role": "tool", "content": draw(_texts)}
    call = draw(st.sampled_from([*IDS, None]))
    return message if call is None else {**message, "toolCallId": call}


@st.composite
def _batch(draw):
    """A call and its results as they should be, some of them left out or doubled."""
    made = draw(_assistant())
    results = [
        {"role": "tool", "content": draw(_texts), "toolCallId": call["id"]}
        for call in made.get("toolCalls", [])
        for _ in range(draw(st.sampled_from([0, 1, 1, 1, 2])))
    ]
    return [made, *draw(st.permutations(results))]


@st.composite
def histories(draw, *, most: int = 12):
    """Return messages with idx, of any kind and order."""
    parts = draw(
        st.lists(
            st.one_of(
                _said().map(lambda m: [m]),
                _assistant().map(lambda m: [m]),
                _result().map(lambda m: [m]),
                _batch(),
                _batch(),
            ),
            max_size=most,
        )
    )
    messages = [dict(message) for part in parts for message in part]
    for idx, message in enumerate(messages):
        message["idx"] = idx
        tokens = draw(_tokens)
        if tokens is not None:
            message["tokens"] = tokens
    return messages


def as_bytes(messages: list[dict]) -> bytes:
    return b"".join(json.dumps(message).encode() + b"\n" for message in messages)


def owners(messages: list[dict]) -> dict[int, int]:
    """Return for each result the message with its call: the nearest before it."""
    latest: dict[str, int] = {}
    found = {}
    for message in messages:
        if message["role"] == "tool":
            owner = latest.get(message.get("toolCallId", ""))
            if owner is not None:
                found[message["idx"]] = owner
        elif message["role"] == "assistant":
            for call in message.get("toolCalls", []):
                latest[call["id"]] = message["idx"]
    return found


def prompt_of(messages: list[dict]) -> list[int]:
    """Return the system messages that a history begins with."""
    found = []
    for message in messages:
        if message["role"] != "system":
            break
        found.append(message["idx"])
    return found


def last_user(messages: list[dict]) -> int | None:
    return max((m["idx"] for m in messages if m["role"] == "user"), default=None)


def check_choice(messages: list[dict], shown: list[dict]) -> None:
    """Fail unless a choice is in order, keeps pairs, prompt and last user, and begins rightly."""
    chosen = [message for message in shown if "idx" in message]
    kept = [message["idx"] for message in chosen]
    assert kept == sorted(set(kept)), "in order, each once"
    assert chosen == [messages[idx] for idx in kept], "as stored"
    pairs = owners(messages)
    for idx in kept:
        if messages[idx]["role"] == "tool":
            assert pairs.get(idx) in kept, f"result {idx} without its call"
    for result, call in pairs.items():
        assert (call in kept) == (result in kept), f"result {result} apart from call {call}"
    assert set(prompt_of(messages)) <= set(kept), "the prompt stays"
    user = last_user(messages)
    assert user is None or user in kept, "the last message of a user stays"
    assert bool(chosen) is bool(shown)
    if shown:
        assert shown[0]["role"] in ("system", "user")
