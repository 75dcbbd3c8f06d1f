"""Contexts: what fits, what must be there, what stays together, and what it costs."""

from __future__ import annotations

import gzip
import json
import resource

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from openclaw_cli.errors import UsageError
from openclaw_cli.session.context import recent
from openclaw_cli.session.context.weighing import weigh
from openclaw_cli.session.requests import ContextRequest
from tests.session.histories import (
    as_bytes,
    check_choice,
    histories,
    last_user,
    owners,
    prompt_of,
)
from tests.session.providers import check_anthropic, check_openai
from tests.session.support import jsonl, said

#: The fixture is a folder whose history each example replaces.
examples = settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
strategies = st.sampled_from(["sliding-window", "importance"])


@pytest.fixture
def ant(sessions):
    sessions.new("ant")
    return sessions


def put(sessions, messages, *, packed=False):
    files = sessions.files("ant")
    data = messages if isinstance(messages, bytes) else as_bytes(messages)
    meta = {**sessions.meta("ant"), "messageCount": data.count(b"\n")}
    files.meta.write_text(json.dumps(meta))
    if packed:
        files.history.unlink(missing_ok=True)
        files.packed.write_bytes(gzip.compress(data, 1))
    else:
        files.packed.unlink(missing_ok=True)
        files.history.write_bytes(data)


def context(sessions, budget=None, strategy="sliding-window", **more):
    return sessions.service.context("ant", ContextRequest(budget, strategy, **more))


def kept(sessions, budget=None, strategy="sliding-window"):
    return [m["idx"] for m in context(sessions, budget, strategy).data["messages"] if "idx" in m]


def tokens(messages):
    return sum(weigh(message).tokens for message in messages)


@examples
@given(histories(), st.integers(1, 400), strategies, st.booleans())
def test_pairs_prompt_and_user_are_kept_for_every_budget(ant, messages, budget, strategy, packed):
    put(ant, messages, packed=packed)
    must = [*prompt_of(messages), last_user(messages)]
    least = tokens([messages[idx] for idx in must if idx is not None])
    if least > budget:
        with pytest.raises(UsageError, match=f"budget of {budget} ") as error:
            context(ant, budget, strategy)
        assert error.value.details == {"budget": budget, "least": least}
        assert str(least) in error.value.hint
        budget = least
    data = context(ant, budget, strategy).data
    check_choice(messages, data["messages"])
    chosen = [m for m in data["messages"] if "idx" in m]
    assert data["tokens"] == tokens(chosen) <= budget
    assert data["dropped"] == len(messages) - len(chosen)
    counted = all(type(m.get("tokens")) is int and m["tokens"] > 0 for m in chosen)
    assert data["estimated"] is not counted


@examples
@given(histories(), strategies)
def test_with_room_for_all_only_what_has_no_place_is_left_out(ant, messages, strategy):
    put(ant, messages)
    pairs = owners(messages)
    lost = {m["idx"] for m in messages if m["role"] == "tool"} - set(pairs)
    users = [m["idx"] for m in messages if m["role"] == "user" and m["content"].strip()]
    led = set(prompt_of(messages))
    begin = min(users, default=0)
    early = {m["idx"] for m in messages if m["idx"] < begin} - led
    early |= {result for result, call in pairs.items() if call in early}
    wanted = [m["idx"] for m in messages if m["idx"] not in lost | early]
    assert kept(ant, 1 << 20, strategy) == wanted


@examples
@given(histories(), st.integers(1, 300), strategies)
def test_providers_accept_every_context(ant, messages, budget, strategy):
    put(ant, messages)
    try:
        found = context(ant, budget, strategy, format="openai").data
    except UsageError as error:
        if "least" not in error.details:
            shown = context(ant, budget, strategy).data["messages"]
            stored = [m for m in shown if "idx" in m]
            assert not any(m["content"].strip() or m.get("toolCalls") for m in stored)
            with pytest.raises(UsageError, match="nothing to give"):
                context(ant, budget, strategy, format="anthropic")
        return
    check_openai(found["messages"])
    found = context(ant, budget, strategy, format="anthropic").data
    check_anthropic(found["messages"], found["system"])


@examples
@given(histories(most=20), st.integers(0, 30), st.integers(1, 10))
def test_a_summary_stands_before_what_it_does_not_cover(ant, messages, last, keep):
    last = min(last, len(messages) - 1)
    put(ant, messages)
    summary = {"summary": "Everything was fine.", "last": last, "end": 0}
    ant.files("ant").context.write_text(json.dumps(summary))
    if last < 0:
        return
    result = context(ant, 1 << 20, "summary")
    assert result.data["strategy"] == "summary"
    chosen = [m for m in result.data["messages"] if "idx" in m]
    pairs = owners(messages)
    after = {m["idx"] for m in messages if m["idx"] > last}
    must = {*prompt_of(messages), last_user(messages)} - {None}
    shown = {m["idx"] for m in chosen}
    assert must <= shown <= after | must
    assert all(pairs[idx] in shown for idx in shown if messages[idx]["role"] == "tool")
    for form in ("openai", "anthropic"):
        found = context(ant, 1 << 20, "summary", format=form).data
        if form == "openai":
            check_openai(found["messages"])
        else:
            check_anthropic(found["messages"], found["system"])


def call(*ids, content="", **more):
    calls = [{"id": call_id, "name": "look", "args": {}} for call_id in ids]
    return {"role": "assistant", "content": content, "toolCalls": calls, **more}


def result(call_id, content="found"):
    return {"role": "tool", "content": content, "toolCallId": call_id}


def test_the_newest_messages_fill_the_budget(ant):
    ant.append("ant", said("be kind", "system", tokens=10))
    ant.append(
        "ant", *(said(f"m{n}", "user" if n % 2 else "assistant", tokens=10) for n in range(20))
    )
    assert kept(ant, 50) == [0, 18, 19, 20]
    assert kept(ant, 59) == [0, 18, 19, 20]
    assert kept(ant, 60) == [0, *range(16, 21)]
    assert context(ant, 59).data["dropped"] == 17


def test_the_system_prompt_and_the_last_user_stay_when_a_long_run_fills_the_budget(ant):
    run = [
        m for n in range(50) for m in (call(f"c{n}", tokens=5), {**result(f"c{n}"), "tokens": 5})
    ]
    ant.append("ant", said("be kind", "system", tokens=10), said("work", tokens=10), *run)
    assert kept(ant, 45) == [0, 1, 98, 99, 100, 101]


def test_an_old_result_without_its_call_does_not_hide_what_is_newer(ant):
    ant.append("ant", said("one"), result("never-called"), said("two"), result("nor-this"))
    assert kept(ant) == [0, 2]


def test_results_find_the_nearest_call_where_ids_are_used_again(ant):
    ant.append("ant", said("q"), call("c"), result("c", "old"), said("q2"), call("c"))
    ant.append("ant", result("c", "new"))
    found = context(ant, format="openai").data["messages"]
    answers = {m["tool_call_id"]: m["content"] for m in found if m["role"] == "tool"}
    assert list(answers.values()) == ["old", "new"]
    check_openai(found)


def test_results_that_come_twice_or_never_are_told_in_one_result_each(ant):
    ant.append("ant", said("q"), call("a", "b"), result("a", "1"), result("a", "2"))
    found = context(ant, format="anthropic").data
    check_anthropic(found["messages"], found["system"])
    first, second = found["messages"][2]["content"]
    assert first["content"] == "1\n\n2"
    assert second["is_error"] is True
    assert "no result" in second["content"]


def test_three_senders_of_a_group_are_named(ant):
    for user in ("u1", "u2", "u3"):
        ant.append("ant", said(f"I am {user}", sender={"userId": user, "name": f"N[{user}]\n"}))
    texts = [m["content"] for m in context(ant, format="openai").data["messages"]]
    assert texts == [f"[N({u}) ({u})] I am {u}" for u in ("u1", "u2", "u3")]
    assert "[N(u2) (u2)] I am u2" in context(ant, format="text").data["text"]


def test_one_sender_is_not_named(ant):
    ant.append("ant", said("hi", sender={"userId": "u1"}), said("again", sender={"userId": "u1"}))
    assert [m["content"] for m in context(ant, format="openai").data["messages"]] == ["hi", "again"]


def test_ids_and_names_that_providers_refuse_are_made_fit_in_the_same_way_each_time(ant):
    odd = {"id": "läuft/1", "name": "read file!", "args": '{"p":1}'}
    ant.append("ant", said("q"), {"role": "assistant", "content": "", "toolCalls": [odd]})
    ant.append("ant", result("läuft/1"))
    first, second = (context(ant, format="openai").data["messages"] for _ in range(2))
    assert first == second
    made = first[1]["tool_calls"][0]
    assert made["function"]["name"].startswith("read_file")
    assert json.loads(made["function"]["arguments"]) == {"p": 1}
    check_openai(first)


def test_damage_in_the_window_is_told_and_passed_over(ant):
    put(ant, jsonl(said("one", idx=0), b"{bad\n", said("two", idx=2)) + b'{"idx":3,"ro')
    found = context(ant)
    assert [m["idx"] for m in found.data["messages"]] == [0, 2]
    assert [w.code for w in found.warnings] == ["history-damaged"]


def test_an_empty_session_has_an_empty_context(ant):
    data = context(ant).data
    assert (data["messages"], data["tokens"], data["dropped"]) == ([], 0, 0)


FORMS = {"openai": check_openai, "anthropic": check_anthropic}


def provided(sessions, form: str) -> str:
    """Return what a provider is given as text, after it has been checked."""
    found = context(sessions, strategy=None, format=form).data
    args = (found["messages"],) if form == "openai" else (found["messages"], found["system"])
    FORMS[form](*args)
    return json.dumps(found["messages"], ensure_ascii=False)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("strategy", ["sliding-window", "importance"])
def test_a_history_in_which_no_user_speaks_begins_with_a_placeholder_and_says_so(
    ant, form, strategy
):
    ant.append("ant", said("alone", "assistant"))
    found = context(ant, strategy=strategy)
    assert [m["role"] for m in found.data["messages"]] == ["user", "assistant"]
    assert (found.data["dropped"], [w.code for w in found.warnings]) == (0, ["no-user-message"])
    assert "alone" in provided(ant, form)


@pytest.mark.parametrize("form", FORMS)
def test_a_system_prompt_alone_is_given_so_that_it_is_taken(ant, form):
    ant.append("ant", said("be kind", "system"))
    provided(ant, form)


@pytest.mark.parametrize("form", FORMS)
def test_where_nothing_is_said_a_provider_is_given_nothing_and_the_error_says_why(ant, form):
    for _ in range(2):
        with pytest.raises(UsageError, match="no message of the session says anything"):
            context(ant, format=form)
        ant.append("ant", said(" ", "assistant"))


HELD = {
    "[attachment: image/jpeg cat.jpg]": {
        "attachments": [{"mimeType": "image/jpeg", "fileName": "cat.jpg"}]
    },
    "[attachment: photo]": {"photo": {"file_id": "AgAC"}},
    "[attachments: voice.ogg, audio]": {"files": ["voice.ogg"], "audio": {"seconds": 3}},
    "[attachments: (odd) name, 1 more]": {"media": ["[odd]\nname", "data:image/png;base64,AAAA"]},
    "[attachments: 3]": {"media": [{"x": 1}, {"x": 2}, 7]},
    "[attachment]": {"attachments": [{"data": "AAAA"}]},
    "[message without text]": {},
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("label", HELD)
@pytest.mark.parametrize("strategy", ["sliding-window", "importance"])
def test_a_message_without_text_is_named_and_hides_nothing(ant, form, label, strategy):
    ant.append("ant", said("what is this?", "assistant"), said("", **HELD[label]))
    settings = {"session": {"context": {"pruneStrategy": strategy}}}
    (ant.state / "openclaw.json").write_text(json.dumps(settings))
    given = provided(ant, form)
    assert "what is this?" in given
    assert label in given
    assert given.count("AAAA") == 0


def test_the_configuration_chooses_budget_and_strategy(ant):
    settings = {"session": {"context": {"budget": 25, "pruneStrategy": "importance"}}}
    (ant.state / "openclaw.json").write_text(json.dumps(settings))
    ant.append("ant", *(said(f"m{n}", tokens=10) for n in range(5)))
    data = ant.service.context("ant", ContextRequest()).data
    assert (data["strategy"], data["budget"], len(data["messages"])) == ("importance", 25, 2)


def test_importance_keeps_what_was_decided_and_tells_the_scores(ant):
    chatter = [said(f"hm {n}", "assistant" if n % 2 else "user", tokens=10) for n in range(200)]
    chatter[20] = said("我们决定使用 PostgreSQL 16 on db.example.com", tokens=10)
    chatter[60] = said("we decided: never deploy on Friday 12:00", "assistant", tokens=10)
    ant.append("ant", *chatter)
    found = context(ant, 60, "importance", explain=True).data
    idx = [m["idx"] for m in found["messages"]]
    assert {20, 60, 198} <= set(idx)
    assert len(idx) == 6
    scores = {row["idx"]: row for row in found["explain"]["messages"]}
    assert scores[20]["decision"] == found["explain"]["weights"]["decision"] == 2.5
    traits = ("role", "toolError", "decision", "entities", "length", "recency")
    assert scores[60]["score"] == pytest.approx(sum(scores[60][name] for name in traits), abs=1e-3)
    worst = min(row["score"] for n, row in scores.items() if n not in (0, 198))
    assert all(row["score"] <= worst for row in found["explain"]["leftOut"])


def test_weights_are_configuration(ant):
    weights = {"decision": 0, "recency": 0, "length": 0, "assistant": 9}
    (ant.state / "openclaw.json").write_text(
        json.dumps({"session": {"context": {"importance": weights}}})
    )
    ant.append("ant", said("q", tokens=5), said("dull", "assistant", tokens=5))
    ant.append("ant", *(said("we decided it", tokens=5) for _ in range(5)))
    assert kept(ant, 15, "importance") == [0, 1, 6]


def test_a_history_of_system_messages_alone_is_not_all_prompt(ant):
    ant.append("ant", *(said(f"event {n}", "system", tokens=10) for n in range(200)))
    assert kept(ant, 340) == [*range(32), 198, 199]


def test_stored_counts_of_zero_are_not_believed(ant):
    ant.append("ant", *(said("word " * 100, tokens=0) for _ in range(10)))
    data = context(ant, 300).data
    assert data["estimated"] is True
    assert len(data["messages"]) < 5


def test_a_context_holds_no_more_bytes_than_any_model_takes(ant, monkeypatch):
    monkeypatch.setattr("openclaw_cli.session.context.pruning.WINDOW_BYTES", 2000)
    ant.append("ant", *(said("x" * 500, tokens=1) for _ in range(10)))
    found = context(ant, 1 << 20)
    assert len(found.data["messages"]) == 3
    assert [w.code for w in found.warnings] == ["window-limited"]


@pytest.mark.parametrize("packed", [False, True])
def test_only_the_end_of_a_long_history_is_held(ant, packed, monkeypatch):
    monkeypatch.setattr(recent, "WINDOW_BYTES", 1 << 20)
    line = as_bytes([said("x" * 5000, idx=7, tokens=10)])
    put(ant, as_bytes([said("be kind", "system", idx=0)]) + line * 20_000, packed=packed)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    data = context(ant, 500).data
    assert len(data["messages"]) in (49, 50)
    assert data["messages"][0]["role"] == "system"
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 40 << 10


def test_a_failed_tool_counts_and_a_text_about_errors_is_no_failure_for_providers(ant):
    ant.append("ant", said("q"), call("a", "b", "c"), result("a", "Error handling, chapter 1"))
    ant.append("ant", {**result("b", "gone"), "isError": True}, result("c", "fine"))
    found = context(ant, format="anthropic").data["messages"][2]["content"]
    assert [block.get("is_error", False) for block in found] == [False, True, False]
    rows = context(ant, strategy="importance", explain=True).data["explain"]["messages"]
    assert [row["toolError"] for row in rows] == [0, 0, 1, 1, 0]
