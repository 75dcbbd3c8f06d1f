"""The memory commands from end to end: what they print to people and to scripts."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

ZH = "用户偏好 TypeScript，不喜欢 Java"
EN = "The user lives in Berlin and works remotely"


@pytest.fixture
def stored(run_cli):
    """Three memories, the first two indexed; returns their ids."""
    ids = [
        run_cli("memory", "add", ZH, "--category", "preference", "--user", "u1", "-q").out.strip(),
        run_cli("memory", "add", EN, "--tag", "home", "-q").out.strip(),
    ]
    run = run_cli("memory", "index")
    assert run.status == 0, run.err
    ids.append(run_cli("memory", "add", "部署脚本是 deploy.sh", "--no-embed", "-q").out.strip())
    return ids


def test_add_says_in_one_line_what_became_of_the_text(run_cli):
    run = run_cli("memory", "add", EN, "--no-embed")
    assert run.status == 0
    assert re.fullmatch(r"added mem-[0-9a-f-]{36} \(event\)\n", run.out)
    again = run_cli("memory", "add", EN, "--no-embed")
    assert re.fullmatch(r"skipped: same text as mem-[0-9a-f-]{36}\n", again.out)
    first = run_cli("memory", "add", "vim", "--category", "preference", "--key", "editor")
    merged = run_cli("memory", "add", "emacs", "--category", "preference", "--key", "editor")
    assert merged.out == first.out.replace("added", "merged into").replace(" (", " (", 1)


def test_add_takes_its_text_from_an_argument_a_file_or_standard_input(run_cli, tmp_path):
    file = tmp_path / "note.txt"
    file.write_bytes("\ufeff第一行\nsecond line\n".encode())
    from_file = run_cli("memory", "add", "--file", file, "--no-embed", "--json").data["record"]
    assert from_file["content"]["l0"].startswith("第一行")
    assert not json.dumps(from_file["content"], ensure_ascii=False).count("\ufeff")
    piped = run_cli("memory", "add", "-", "--no-embed", "--json", stdin="from a pipe\n")
    assert piped.data["record"]["content"]["l0"] == "from a pipe"


def test_add_answers_with_the_record(run_cli):
    run = run_cli("memory", "add", ZH, "--category", "preference", "--user", "u1", "--json")
    assert run.document["schema"] == "openclaw.memory.add/1"
    assert {"id", "action", "record"} <= set(run.data)
    record = run.data["record"]
    assert (record["category"], record["scope"], record["userId"]) == ("preference", "user", "u1")
    assert record["agentId"] == "main"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["", "--no-embed"], "text"),
        (["x", "--category", "thought"], "unknown category"),
        (["x", "--category", "lesson", "--scope", "user"], "scope"),
        (["x", "--id", "../x"], "not a valid record id"),
        (["x\x00y"], "NUL"),
    ],
)
def test_add_refuses_what_cannot_be_stored(run_cli, state_dir, args, message):
    if "\x00" in args[0]:
        run = run_cli("memory", "add", "-", stdin=args[0])
    else:
        run = run_cli("memory", "add", *args)
    assert run.status == 2
    assert message in run.err
    assert not list(state_dir.rglob("*.json"))


def test_get_shows_whole_records_by_whole_or_short_id(run_cli, stored):
    shown = run_cli("memory", "get", stored[0][-8:]).out
    assert shown.startswith(stored[0] + "\n")
    assert "category  preference" in shown
    assert "scope     user (u1)" in shown
    assert f"  {ZH}\n" in shown
    assert run_cli("memory", "get", *stored, "--json").data["items"][1]["id"] == stored[1]


def test_get_of_one_level_shows_only_that(run_cli):
    run = run_cli("memory", "add", "short", "--l2", "the long story", "--no-embed", "-q")
    record = run_cli("memory", "get", run.out.strip(), "--level", "l2", "--json").data["items"][0]
    assert record["content"] == {"l2": "the long story"}


def test_get_of_what_is_not_there_is_10_and_of_some_that_are_3(run_cli, stored):
    missing = run_cli("memory", "get", "mem-none", "--json")
    assert (missing.status, missing.error["code"]) == (10, "not-found")
    some = run_cli("memory", "get", stored[0], "mem-none", "--json")
    assert some.status == 3
    assert some.document["ok"] is True
    assert some.data["failed"][0]["id"] == "mem-none"
    told = run_cli("memory", "get", stored[0], "mem-none")
    assert told.status == 3
    assert "openclaw: failed: mem-none: no such record" in told.err


def test_list_is_a_table_with_short_ids(run_cli, stored):
    rows = run_cli("memory", "list").out.splitlines()
    assert rows[0].split() == ["ID", "CREATED", "CATEGORY", "OWNER", "TEXT"]
    assert len(rows) == 4
    assert rows[1].startswith(stored[2][-8:])
    assert rows[3].endswith(ZH)


def test_list_filters_and_limits(run_cli, stored):
    def ids(*args):
        return [item["id"] for item in run_cli("memory", "list", *args, "--json").data["items"]]

    assert ids("--category", "preference") == [stored[0]]
    assert ids("--category", "preference", "--category", "event") == stored[::-1]
    assert ids("--user", "u1") == [stored[0]]
    assert ids("--tag", "home") == [stored[1]]
    assert ids("--language", "en") == [stored[1]]
    assert ids("--pending") == [stored[2]]
    assert ids("--scope", "agent") == []
    assert ids("--since", "1h") == stored[::-1]
    assert ids("--until", "1h") == []
    limited = run_cli("memory", "list", "--limit", "1")
    assert "1 of 3 (--limit 0 lists all)" in limited.out
    assert run_cli("memory", "list", "--limit", "1", "--json").data["total"] == 3


def test_list_as_json_lines_streams_everything(run_cli, stored):
    lines = run_cli("memory", "list", "--jsonl").out.splitlines()
    assert [json.loads(line)["id"] for line in lines] == stored[::-1]
    assert len(run_cli("memory", "list", "--jsonl", "--limit", "2").out.splitlines()) == 2


def test_quiet_lists_bare_ids(run_cli, stored):
    assert run_cli("memory", "list", "-q").out.split() == stored[::-1]
    assert run_cli("memory", "search", "Berlin", "-q").out.split()[0] == stored[1]
    assert run_cli("memory", "get", stored[0], "-q").out.split() == [stored[0]]
    assert run_cli("memory", "index", "-q").out == ""


def test_search_shows_rank_score_category_date_id_and_text(run_cli, stored):
    run = run_cli("memory", "search", "喜欢哪种编程语言", "--now", "2030-01-02T00:00:00Z")
    assert run.status == 0
    head, text = run.out.splitlines()[:2]
    assert re.fullmatch(rf" 1  \d\.\d{{3}}  preference  3 years ago  {stored[0][-8:]}", head)
    assert text == f"    {ZH}"


def test_search_explains_every_part_of_a_score(run_cli, stored):
    run = run_cli("memory", "search", "Berlin", "--explain")
    assert "bge-small-en-v1.5 asked" in run.out
    assert re.search(
        r"words: rank 1, bm25 \d+\.\d{3} \| meaning: rank 1, cosine \d\.\d{3} \(bge-small-en-v1.5\)"
        r" \| fused \d\.\d{4} \| retrievability \d\.\d\d \| final \d\.\d{4}",
        run.out,
    )
    explain = run_cli("memory", "search", "Berlin", "--explain", "--json").data["results"][0]
    assert {"lexical", "dense", "fused", "retrievability", "final"} <= set(explain["explain"])


def test_search_finds_what_no_model_has_seen_yet(run_cli, stored):
    run = run_cli("memory", "search", "deploy.sh", "--mode", "lexical", "--json")
    assert [hit["id"] for hit in run.data["results"]] == [stored[2]]


def test_search_without_a_hit_is_no_failure(run_cli, stored):
    run = run_cli("memory", "search", "zzyzx", "--mode", "lexical")
    assert (run.status, run.out) == (0, "nothing found\n")


def test_search_answers_with_the_documented_fields(run_cli, stored):
    data = run_cli("memory", "search", "Berlin", "--json").data
    assert {"query", "mode", "languages", "spaces", "results", "elapsedMs"} <= set(data)
    assert {"model", "used", "reason"} <= set(data["spaces"][0])
    wanted = {"rank", "id", "score", "l0", "category", "scope", "userId", "language"}
    assert wanted | {"createdAt", "updatedAt"} <= set(data["results"][0])


def test_index_sums_up_in_one_line(run_cli, stored):
    run = run_cli("memory", "index")
    assert re.fullmatch(r"3 records in \d+\.\d s: .*1 embedded.*\n", run.out)
    data = run_cli("memory", "index", "--verify", "--json").data
    assert {"records", "added", "updated", "removed", "embedded", "reused", "pending"} <= set(data)
    assert {"damaged", "generation", "seconds"} <= set(data)
    assert data["records"] == 3


def test_status_is_a_block_of_names_and_values(run_cli, stored):
    out = run_cli("memory", "status").out
    assert re.search(r"^records +3$", out, re.MULTILINE)
    assert re.search(r"^categories +event 2, preference 1$", out, re.MULTILINE)
    assert "bge-small-zh-v1.5 (512 dimensions): 1 vector, 1 pending" in out
    data = run_cli("memory", "status", "--json").data
    assert {"records", "byScope", "byCategory", "byLanguage", "walEntries", "generation"} <= set(
        data
    )
    assert {"indexedSeq", "stale", "models", "bytes"} <= set(data)


def test_all_agents_are_told_one_after_the_other(run_cli, stored):
    run_cli("memory", "add", "x", "--no-embed", "--agent", "other")
    run = run_cli("memory", "status", "--all-agents", "--json")
    assert {part["agent"]: part["records"] for part in run.data["agents"]} == {
        "main": 3,
        "other": 1,
    }
    shown = run_cli("--all-agents", "memory", "index").out
    assert "main:\n" in shown
    assert "other:\n" in shown


def test_a_read_of_an_agent_without_memory_is_10_and_names_the_nearest(run_cli, stored):
    for args in (["list"], ["search", "x"], ["status"], ["get", "mem-1"], ["index"]):
        run = run_cli("memory", *args, "--agent", "mian", "--json")
        assert (run.status, run.error["code"]) == (10, "not-found"), args
        assert "main" in run.error["hint"]


def test_import_sums_up_and_lists_bad_lines(run_cli, tmp_path):
    file = tmp_path / "memories.jsonl"
    file.write_text('{"text": "one"}\nnot json\n{"text": "two"}\n', encoding="utf-8")
    dry = run_cli("memory", "import", file, "--no-embed", "--dry-run")
    assert dry.status == 3
    assert dry.out.startswith("dry run: read 3")
    run = run_cli("memory", "import", file, "--no-embed")
    assert run.status == 3
    assert run.out == "read 3: 2 added, 1 failed\n"
    assert "openclaw: failed: line 2: " in run.err
    piped = run_cli("memory", "import", "-", "--no-embed", "--json", stdin=file.read_bytes())
    assert {"read", "added", "skipped", "overwritten", "failed", "total"} <= set(piped.data)


def test_import_of_a_missing_file_is_told(run_cli, tmp_path):
    run = run_cli("memory", "import", tmp_path / "none.jsonl")
    assert run.status == 1
    assert f"cannot read {tmp_path / 'none.jsonl'}: No such file or directory" in run.err


def test_the_sample_is_imported_indexed_and_found(run_cli, sample):
    for name, count in (("madial_zh.jsonl", 83), ("madial_en.jsonl", 76)):
        run = run_cli("memory", "import", sample / name, "--no-embed", "--json")
        assert run.status == 0
        assert run.data["added"] + run.data["skipped"] == count
    assert run_cli("memory", "index", "--json").data["pending"] == 0
    found = run_cli("memory", "search", "期末考试之前很紧张", "--json").data["results"][:3]
    assert any("期末考试" in hit["l0"] for hit in found)
    found = run_cli("memory", "search", "his dog was ill", "--json").data["results"][:3]
    assert any("Alaskan" in hit["l0"] for hit in found)


def test_models_are_listed_and_verified(run_cli):
    models = run_cli("model", "list", "--json").data["models"]
    assert {model["name"]: model["dimensions"] for model in models} == {
        "bge-small-en-v1.5": 384,
        "bge-small-zh-v1.5": 512,
    }
    assert "bge-small-zh-v1.5: sound" in run_cli("model", "verify").out


def test_a_model_with_another_file_than_recorded_is_3_and_named(run_cli, state_dir):
    shipped = Path(run_cli("model", "list", "--json").data["models"][0]["path"])
    manifest = json.loads((shipped / "model.json").read_bytes())
    mine = state_dir / "models" / "mine"
    mine.mkdir(parents=True)
    for file in manifest["files"]:
        (mine / file["name"]).write_bytes(b"something else")
    (mine / "model.json").write_text(json.dumps({**manifest, "name": "mine"}))
    run = run_cli("model", "verify", "--json")
    assert run.status == 3
    assert [item["ok"] for item in run.data["models"]] == [True, True, False]
    assert run.data["failed"][0]["id"] == "mine"
    assert "tokenizer.json has another length" in run.data["failed"][0]["reason"]
    assert "openclaw: failed: mine: " in run_cli("model", "verify").err


def test_a_folder_that_holds_no_model_is_a_warning(run_cli, state_dir):
    broken = state_dir / "models" / "mine"
    broken.mkdir(parents=True)
    (broken / "model.json").write_text("{}")
    listed = run_cli("model", "list", "--json")
    assert listed.status == 0
    assert listed.document["warnings"][0]["code"] == "unusable-model"
    assert str(broken) in listed.document["warnings"][0]["path"]
    assert "openclaw: warning: " in run_cli("model", "list").err
    assert run_cli("model", "list", "-q").err == ""


def test_stored_escapes_do_not_reach_the_terminal(run_cli):
    run_cli("memory", "add", "-", "--no-embed", stdin="evil \x1b[31m red \u202e reversed")
    for args in (["list"], ["search", "evil", "--mode", "lexical"]):
        out = run_cli("memory", *args).out
        assert "\x1b" not in out
        assert r"evil \x1b[31m red \u202e reversed" in out
    exact = run_cli("memory", "list", "--json").data["items"][0]["l0"]
    assert exact == "evil \x1b[31m red \u202e reversed"
