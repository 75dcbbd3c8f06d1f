"""Checkpoints: what is stored and refused, and how a run goes on from one or without it."""

from __future__ import annotations

import errno
import json
from contextlib import suppress
from io import BytesIO

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli.clock import Clock
from openclaw_cli.errors import InvalidTextError, NotFoundError, StorageError, UsageError
from openclaw_cli.session.lifecycle import RUN_STATE
from openclaw_cli.session.requests import ResumeRequest
from openclaw_cli.session.resumption import checkpoints
from openclaw_cli.session.resumption.fitting import REASONS
from openclaw_cli.session.resumption.resuming import is_bare
from openclaw_cli.store import fsio
from tests.session.histories import as_bytes, histories
from tests.session.providers import check_anthropic, check_openai
from tests.session.support import said
from tests.session.test_context import call, examples, result

CALLS = [
    {
        "callId": f"c{n}",
        "toolName": "look",
        "resultStatus": "ok",
        "failureCode": None,
        "durationMs": 12.5,
        "argumentsBytes": 2,
        "resultBytes": 5,
    }
    for n in (1, 2)
]


@pytest.fixture
def ant(sessions, monkeypatch):
    """A session whose history ends in a batch of two parallel calls."""
    monkeypatch.setattr(Clock, "sleep", lambda _self, _seconds: None)
    sessions.new("ant")
    sessions.append("ant", said("be kind", "system"), said("look at both"))
    sessions.append("ant", call("c1", "c2", content="I look."), result("c2", "b"), result("c1"))
    return sessions


def document(**more):
    return {
        "checkpointId": "k1",
        "kind": "tool_batch",
        "state": "ready_to_resume",
        "sequence": 3,
        "iteration": 2,
        "historyCount": 5,
        "correlationId": "r-7",
        "toolCalls": CALLS,
        **more,
    }


def checkpoint(sessions, **more):
    body = json.dumps(document(**more)).encode()
    return sessions.service.checkpoint("ant", BytesIO(body))


def stored(sessions):
    return json.loads(sessions.files("ant").checkpoint.read_bytes())


def write(sessions, **more):
    """Store a checkpoint as another program would."""
    full = document(persistedAtUtc="2026-03-01T12:00:00Z", **more)
    put(sessions, json.dumps(full).encode())


def put(sessions, data):
    path = sessions.files("ant").checkpoint
    path.write_bytes(data)
    path.chmod(0o600)


def resume(sessions, message=None, form="json"):
    return sessions.service.resume("ant", ResumeRequest(message, None, form))


# -- storing ---------------------------------------------------------------------------------------


def test_a_checkpoint_is_stored_with_its_times_and_the_fields_that_nobody_knows(ant):
    data = checkpoint(ant, mood={"glad": [1]}).data
    assert data["sessionId"] == "ant"
    assert data["checkpoint"] == stored(ant)
    assert stored(ant)["mood"] == {"glad": [1]}
    assert stored(ant)["toolCalls"] == CALLS
    assert stored(ant)["createdAtUtc"] == stored(ant)["persistedAtUtc"] == "2026-03-01T12:00:00Z"
    assert ant.files("ant").checkpoint.stat().st_mode & 0o777 == 0o600


def test_a_later_state_of_the_same_checkpoint_keeps_what_it_does_not_say(ant):
    checkpoint(ant, mood="glad")
    resume(ant)
    ant.later(minutes=1)
    done = {
        "checkpointId": "k1",
        "state": "completed",
        "sequence": 3,
        "historyCount": 5,
        "completedAtUtc": "2026-03-01T12:01:00Z",
        "lastResumeAttemptAtUtc": None,
    }
    body = BytesIO(json.dumps(done).encode())
    found = ant.service.checkpoint("ant", body).data["checkpoint"]
    assert (found["mood"], found["state"], found["toolCalls"]) == ("glad", "completed", CALLS)
    assert found["iteration"] == 2
    assert found["lastResumeAttemptAtUtc"] == "2026-03-01T12:00:00Z"
    assert found["createdAtUtc"] == "2026-03-01T12:00:00Z"
    assert found["persistedAtUtc"] == "2026-03-01T12:01:00Z"


def test_another_checkpoint_replaces_the_one_before(ant):
    checkpoint(ant, mood="glad")
    found = checkpoint(ant, checkpointId="k2", sequence=4).data["checkpoint"]
    assert "mood" not in found
    assert found == stored(ant)


def test_a_lower_sequence_is_refused_and_an_equal_one_is_not(ant):
    checkpoint(ant)
    before = ant.files("ant").checkpoint.read_bytes()
    with pytest.raises(UsageError, match="sequence 2 is lower than the stored 3") as error:
        checkpoint(ant, sequence=2, checkpointId="k0")
    assert error.value.details == {"stored": 3, "given": 2}
    assert ant.files("ant").checkpoint.read_bytes() == before
    checkpoint(ant, checkpointId="k3")


@pytest.mark.parametrize(
    ("change", "said_of_it"),
    [
        ({"checkpointId": ""}, "checkpointId"),
        ({"checkpointId": 7}, "checkpointId"),
        ({"kind": None}, "kind"),
        ({"state": "ready"}, "state is not one of ready_to_resume, completed, failed"),
        ({"sequence": -1}, "sequence"),
        ({"sequence": True}, "sequence"),
        ({"historyCount": 1.5}, "historyCount"),
        ({"historyCount": None}, "historyCount"),
        ({"iteration": "2"}, "iteration"),
        ({"createdAtUtc": "yesterday"}, "createdAtUtc"),
        ({"completedAtUtc": "2026-03-01T12:00:00"}, "completedAtUtc"),
        ({"correlationId": 1}, "correlationId"),
        ({"toolCalls": {}}, "toolCalls"),
        ({"toolCalls": {"a": 1}}, "toolCalls is not a list"),
        ({"toolCalls": [7]}, r"toolCalls\[0\] is no object"),
        ({"toolCalls": [*CALLS, {}]}, r"toolCalls\[2\] has no callId"),
        ({"toolCalls": [{"callId": "c", "durationMs": -1}]}, "durationMs"),
        ({"toolCalls": [{"callId": "c", "toolName": 1}]}, "toolName"),
    ],
)
def test_a_document_that_is_no_checkpoint_is_refused_with_the_field(ant, change, said_of_it):
    if change == {"toolCalls": {}}:
        change = {"toolCalls": "c1"}
    with pytest.raises(InvalidTextError, match=said_of_it):
        checkpoint(ant, **change)
    assert not ant.files("ant").checkpoint.exists()


@pytest.mark.parametrize("body", [b"{", b"[1]", b"\xff", b'{"a":' * 5000, b"null"])
def test_what_is_no_json_object_is_refused(ant, body):
    with pytest.raises(InvalidTextError):
        ant.service.checkpoint("ant", BytesIO(body))


def test_nothing_on_standard_input_is_a_usage_error(ant):
    with pytest.raises(UsageError, match="no checkpoint given"):
        ant.service.checkpoint("ant", BytesIO(b" \n"))


def test_a_session_that_is_not_there_is_not_made(ant):
    with pytest.raises(NotFoundError):
        ant.service.checkpoint("bee-is-not-there", BytesIO(json.dumps(document()).encode()))


def test_a_damaged_checkpoint_is_kept_beside_the_new_one(ant):
    ant.files("ant").checkpoint.write_bytes(b'{"half')
    found = checkpoint(ant)
    (kept,) = ant.files("ant").folder.glob("checkpoint.json.bad-*")
    assert kept.read_bytes() == b'{"half'
    assert [w.code for w in found.warnings] == ["set-aside"]
    assert stored(ant)["checkpointId"] == "k1"


_json = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(sorted(document())), _json))
def test_any_document_is_a_checkpoint_or_refused(change):
    body = json.dumps({**document(), **change}).encode()
    try:
        found = checkpoints.read_document(BytesIO(body))
    except InvalidTextError:
        return
    assert checkpoints.problem(found) is None


@given(st.integers(0, 200), st.binary(max_size=3))
def test_any_bytes_are_a_checkpoint_or_refused(place, bytes_there):
    body = json.dumps(document()).encode()
    place = min(place, len(body))
    with suppress(UsageError):
        checkpoints.read_document(BytesIO(body[:place] + bytes_there + body[place + 1 :]))


class Failing(fsio.Disk):
    """A disk whose syncs fail a number of times."""

    def __init__(self, code, times):
        self.code, self.times, self.tried = code, times, 0

    def fsync(self, fd):
        self.tried += 1
        if self.tried <= self.times:
            raise OSError(self.code, "told to fail")


@pytest.mark.parametrize("times", [1, 2])
def test_a_failure_that_passes_is_tried_again(ant, monkeypatch, times):
    waits = []
    monkeypatch.setattr(Clock, "sleep", lambda _self, seconds: waits.append(seconds))
    monkeypatch.setattr(fsio, "disk", Failing(errno.EIO, times))
    checkpoint(ant)
    assert waits == list(checkpoints.BACK_OFF)[:times]
    assert waits == sorted(waits)
    assert stored(ant)["checkpointId"] == "k1"
    assert not list(ant.files("ant").folder.glob(".*"))


@pytest.mark.parametrize(("code", "tried"), [(errno.EIO, 3), (errno.ENOSPC, 1), (errno.EROFS, 1)])
def test_a_failure_that_stays_is_told_after_three_times_and_other_ones_at_once(
    ant, monkeypatch, code, tried
):
    checkpoint(ant)
    before = ant.files("ant").checkpoint.read_bytes()
    disk = Failing(code, 99)
    monkeypatch.setattr(fsio, "disk", disk)
    with pytest.raises(StorageError):
        checkpoint(ant, sequence=9)
    assert disk.tried == tried
    assert ant.files("ant").checkpoint.read_bytes() == before


# -- resuming --------------------------------------------------------------------------------------


@pytest.mark.parametrize("bare", [None, "", "  ", "resume", " Continue\n", "/RESUME", "/continue"])
def test_a_bare_message_resumes_with_the_batch_and_the_instruction(ant, bare):
    checkpoint(ant)
    before = ant.files("ant").history.read_bytes()
    ant.later(minutes=5)
    found = resume(ant, bare)
    assert (found.data["resumed"], found.data["reason"]) == ("checkpoint", "fits")
    assert [m.get("idx") for m in found.data["messages"]] == [0, 1, 2, 3, 4, None]
    instruction = found.data["messages"][-1]
    assert instruction["role"] == "user"
    assert "do not run them again" in instruction["content"]
    assert "look c1, look c2" in instruction["content"]
    assert ant.files("ant").history.read_bytes() == before
    assert stored(ant)["lastResumeAttemptAtUtc"] == "2026-03-01T12:05:00Z"
    assert found.warnings == ()
    ant.sound()


def test_a_note_of_the_operator_comes_after_the_instruction_and_is_not_stored(ant):
    checkpoint(ant)
    found = resume(ant, "  mind the budget ")
    assert found.data["messages"][-1]["content"].endswith("mind the budget")
    assert found.data["appended"] is None
    assert len(ant.messages("ant")) == 5


@pytest.mark.parametrize("note", [None, "mind it"])
def test_providers_accept_what_a_run_is_resumed_with(ant, note):
    checkpoint(ant)
    found = resume(ant, note, "openai").data["messages"]
    check_openai(found)
    answers = {m["tool_call_id"]: m["content"] for m in found if m["role"] == "tool"}
    assert answers == {"c1": "found", "c2": "b"}
    found = resume(ant, note, "anthropic").data
    check_anthropic(found["messages"], found["system"])
    last = found["messages"][-1]["content"]
    assert [block["type"] for block in last][:3] == ["tool_result", "tool_result", "text"]
    assert "do not run them again" in resume(ant, note, "text").data["text"]


def test_a_message_that_is_stored_is_answered_whatever_the_budget_is(ant):
    settings = {"session": {"context": {"budget": 1}}}
    (ant.state / "openclaw.json").write_text(json.dumps(settings))
    found = resume(ant, "go on with what you did")
    assert found.data["appended"] == 5
    assert [w.code for w in found.warnings] == ["budget-exceeded"]
    assert found.data["messages"][-1]["content"] == "go on with what you did"
    with pytest.raises(UsageError):
        resume(ant)


@pytest.mark.parametrize("message", [said("alone", "assistant"), said("", photo={"id": 1}), None])
def test_a_session_in_which_no_user_has_said_a_word_goes_on_all_the_same(sessions, message):
    sessions.new("ant")
    if message is not None:
        sessions.append("ant", message)
    found = resume(sessions, None, "openai").data["messages"]
    check_openai(found)
    assert found[-1]["role"] == "user"
    assert message is None or (message["content"] or "[attachment: photo]") in json.dumps(found)
    found = resume(sessions, None, "anthropic").data
    check_anthropic(found["messages"], found["system"])


def test_a_batch_larger_than_the_budget_is_given_whole(ant):
    settings = {"session": {"context": {"budget": 1}}}
    (ant.state / "openclaw.json").write_text(json.dumps(settings))
    checkpoint(ant)
    found = resume(ant)
    assert [m.get("idx") for m in found.data["messages"]] == [0, 1, 2, 3, 4, None]
    assert [w.code for w in found.warnings] == ["budget-exceeded"]


def test_a_history_without_a_user_is_resumed_too(sessions):
    sessions.new("ant")
    sessions.append("ant", call("c1", "c2"), result("c1"), result("c2"))
    checkpoint(sessions, historyCount=3)
    found = resume(sessions, None, "openai").data
    assert found["resumed"] == "checkpoint"
    check_openai(found["messages"])
    found = resume(sessions, None, "anthropic").data
    check_anthropic(found["messages"], found["system"])


def _no_calls(sessions):
    checkpoint(sessions, toolCalls=[])


def _another_batch(sessions):
    write(sessions, toolCalls=[{"callId": "c1"}, {"callId": "c3"}])


def _half_a_batch(sessions):
    sessions.append("ant", call("c1", "c2"), result("c1"))
    checkpoint(sessions, historyCount=7)


def _ends_in_words(sessions):
    sessions.append("ant", said("done", "assistant"))
    checkpoint(sessions, historyCount=6)


def _lost_call(sessions):
    sessions.append("ant", said("so"), result("c1"), result("c2"))
    checkpoint(sessions, historyCount=8)


def _longer(sessions):
    checkpoint(sessions)
    sessions.append("ant", "one more")


def _damaged(sessions):
    put(sessions, b'{"kind":')


UNFIT = {
    "nothing": ("none", lambda s: None),
    "half a file": ("damaged", _damaged),
    "an empty file": ("damaged", lambda s: put(s, b"")),
    "a folder": ("damaged", lambda s: s.files("ant").checkpoint.mkdir(0o700)),
    "no state": ("damaged", lambda s: write(s, state=None)),
    "another kind": ("kind", lambda s: checkpoint(s, kind="turn")),
    "completed": ("state", lambda s: checkpoint(s, state="completed")),
    "failed": ("state", lambda s: checkpoint(s, state="failed")),
    "no time": (
        "not-persisted",
        lambda s: put(s, json.dumps(document()).encode()),
    ),
    "messages since": ("history-longer", _longer),
    "messages lost": ("history-shorter", lambda s: checkpoint(s, historyCount=6)),
    "no calls": ("tail-is-another-batch", _no_calls),
    "other calls": ("tail-is-another-batch", _another_batch),
    "half a batch": ("tail-is-another-batch", _half_a_batch),
    "words": ("tail-is-another-batch", _ends_in_words),
    "no call": ("tail-is-another-batch", _lost_call),
}


def test_every_reason_is_tried():
    assert {reason for reason, _ in UNFIT.values()} == set(REASONS) - {"fits"}


@pytest.mark.parametrize("case", UNFIT)
@pytest.mark.parametrize("message", [None, "go on with B"])
def test_a_checkpoint_that_does_not_fit_makes_it_a_continuation_with_the_reason(ant, case, message):
    reason, prepare = UNFIT[case]
    prepare(ant)
    count = len(ant.messages("ant"))
    for form in ("openai", "anthropic"):
        found = resume(ant, message, form)
        assert (found.data["resumed"], found.data["reason"]) == ("continuation", reason) or (
            message is not None and form == "anthropic"
        )
        if form == "openai":
            check_openai(found.data["messages"])
            assert "{" not in found.data["explanation"]
        else:
            check_anthropic(found.data["messages"], found.data["system"])
        text = json.dumps(found.data["messages"])
        assert "do not run them again" not in text
        assert (message is None) or message in text
    new = ant.messages("ant")[count:]
    assert [m["content"] for m in new] == ([] if message is None else [message] * 2)
    assert all(m["role"] == "user" for m in new)
    if reason not in ("none", "damaged"):
        assert stored(ant)["lastResumeAttemptAtUtc"] == "2026-03-01T12:00:00Z"
    ant.sound(*["checkpoint-damaged"] * (reason == "damaged"))


def test_an_archived_session_is_unpacked_and_active_again(ant):
    checkpoint(ant)
    ant.service.archive(["ant"])
    assert resume(ant).data["resumed"] == "checkpoint"
    assert ant.show("ant")["status"] == "active"
    assert ant.files("ant").history.exists()
    assert not ant.files("ant").packed.exists()
    ant.sound()


def test_a_dormant_session_is_active_again(ant):
    ant.later(hours=1)
    ant.service.sweep(dry_run=False)
    assert ant.show("ant")["status"] == "dormant"
    resume(ant)
    assert ant.show("ant")["status"] == "active"
    assert ant.show("ant")["lastActiveAt"] == "2026-03-01T13:00:00Z"


@pytest.mark.parametrize("state", RUN_STATE.states)
def test_resuming_takes_a_way_that_the_table_of_run_states_allows(ant, state):
    meta = {**ant.meta("ant"), "runState": state}
    ant.files("ant").meta.write_text(json.dumps(meta))
    checkpoint(ant)
    data = resume(ant).data
    assert data["runState"] in RUN_STATE.allowed[state]
    assert ant.show("ant")["runState"] == data["runState"]


@given(st.text())
def test_only_words_that_ask_to_go_on_are_bare(text):
    assert is_bare(text) is (
        text.strip().lower() in ("", "resume", "continue", "/resume", "/continue")
    )


@examples
@given(histories(), st.sampled_from([None, "go on"]))
def test_any_history_can_be_resumed_with_messages_that_providers_accept(ant, messages, note):
    ant.files("ant").history.write_bytes(as_bytes(messages))
    ant.files("ant").meta.write_text(json.dumps({**ant.meta("ant"), "messageCount": len(messages)}))
    last = next((m for m in reversed(messages) if m["role"] == "assistant"), {})
    write(
        ant,
        historyCount=len(messages),
        toolCalls=[{"callId": c["id"]} for c in last.get("toolCalls", [])],
    )
    for form in ("openai", "anthropic"):
        found = resume(ant, note, form).data
        if form == "openai":
            check_openai(found["messages"])
        else:
            check_anthropic(found["messages"], found["system"])
