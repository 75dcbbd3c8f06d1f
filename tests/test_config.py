"""The configuration: file below environment below options, unknown keys left alone."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from openclaw_cli import config_keys
from openclaw_cli.config import Config, suggest
from openclaw_cli.config_keys import GENERAL, KEYS, span_seconds
from openclaw_cli.config_syntax import lines_of
from openclaw_cli.errors import ConfigError, StorageError


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "openclaw.json"


def load(path: Path, text: str, environ: dict[str, str] | None = None) -> Config:
    path.write_text(text, encoding="utf-8")
    return Config.load(path, environ or {})


def refused(path: Path, text: str, environ: dict[str, str] | None = None) -> ConfigError:
    with pytest.raises(ConfigError) as caught:
        load(path, text, environ)
    return caught.value


def test_without_a_file_the_defaults_apply(path):
    config = Config.load(path, {})
    assert config.values == {name: key.default for name, key in KEYS.items()}
    assert set(config.origins.values()) == {"default"}
    assert config.number("memory.retrieval.relative.denseWeight") == 0.6
    assert config.integer("memory.wal.maxBytes") == 8 * 1024 * 1024
    assert config.seconds("session.idleTimeout") == 1800


def test_every_default_is_acceptable():
    assert all(key.accepts(key.default) for key in KEYS.values())


def test_the_file_is_json5(path):
    text = """// of the gateway too
    { memory: { retrieval: { topK: 0x14, fusion: 'rrf', }, }, /* more */ }"""
    config = load(path, text)
    assert config.integer("memory.retrieval.topK") == 20
    assert config.text("memory.retrieval.fusion") == "rrf"
    assert config.origin("memory.retrieval.topK") == "file"
    assert config.origin("memory.retrieval.mode") == "default"


def test_plain_json_with_a_byte_order_mark_is_read(path):
    assert load(path, '\ufeff{"memory": {"locale": "zh"}}').text("memory.locale") == "zh"


def test_the_environment_overrides_the_file(path):
    environ = {"OPENCLAW_MEMORY_FUSION": "relative", "OPENCLAW_MEMORY_MAX_TOKENS": "1234"}
    config = load(path, '{"memory": {"retrieval": {"fusion": "rrf"}}}', environ)
    assert config.text("memory.retrieval.fusion") == "relative"
    assert config.origin("memory.retrieval.fusion") == "environment OPENCLAW_MEMORY_FUSION"
    assert config.integer("memory.memoryMaxTokens") == 1234


def test_an_empty_variable_is_no_value(path):
    config = load(path, "{}", {"OPENCLAW_MEMORY_FUSION": ""})
    assert config.origin("memory.retrieval.fusion") == "default"


def test_keys_of_other_programs_are_left_alone(path):
    text = '{"gateway": {"port": "x"}, "memory": {"backend": 5, "citations": []}, "agents": null}'
    config = load(path, text)
    assert set(config.origins.values()) == {"default"}
    assert config.document["gateway"] == {"port": "x"}


def test_a_general_form_sets_every_fusion_and_the_particular_one_wins(path):
    text = """{memory: {retrieval: {candidates: 77, weights: {lexical: 1, dense: 0}, k: 9,
               rrf: {candidates: 5}}}}"""
    config = load(path, text)
    assert config.get("memory.retrieval.relative.candidates") == 77
    assert config.get("memory.retrieval.rrf.candidates") == 5
    assert config.get("memory.retrieval.rrf.k") == 9
    assert config.get("memory.retrieval.relative.lexicalWeight") == 1
    assert config.get("memory.retrieval.rrf.denseWeight") == 0


@pytest.mark.parametrize(
    ("body", "key", "expected"),
    [
        ("retrieval: {topK: '10'}", "memory.retrieval.topK", "a whole number from 1 to 1000"),
        ("retrieval: {topK: 1.5}", "memory.retrieval.topK", "a whole number"),
        ("retrieval: {topK: true}", "memory.retrieval.topK", "not true"),
        ("retrieval: {topK: null}", "memory.retrieval.topK", "not null"),
        ("retrieval: {topK: 0}", "memory.retrieval.topK", "from 1"),
        ("retrieval: {forgetting: NaN}", "memory.retrieval.forgetting", "a number from 0 to 1"),
        ("retrieval: {forgetting: [1]}", "memory.retrieval.forgetting", "not a list"),
        ("retrieval: {fusion: 'max'}", "memory.retrieval.fusion", "one of relative, rrf"),
        ("retrieval: 5", "memory.retrieval", "an object"),
        ("shareUserMemory: 'yes'", "memory.shareUserMemory", "true or false"),
        ("locale: 'fr'", "memory.locale", "one of zh, en or null"),
        ("reflect: {interval: 30}", "memory.reflect.interval", "a duration"),
        ("retrieval: {candidates: -1}", "memory.retrieval.candidates", "from 1"),
    ],
)
def test_a_wrong_value_names_file_line_key_and_what_was_expected(path, body, key, expected):
    error = refused(path, "{\n// topK: fusion:\nmemory: {\n  " + body + "\n}}")
    assert error.message.startswith(f"{path}:4: {key} must be ")
    assert expected in error.message
    assert error.exit_status == 2


def test_all_problems_are_listed_in_the_order_of_their_lines(path):
    text = "{memory: {\n wal: 3,\n locale: 1,\n retrieval: {mode: 'x'}}}"
    error = refused(path, text, {"OPENCLAW_MEMORY_MAX_TOKENS": "many"})
    problems = error.details["problems"]
    assert [(p["key"], p["line"]) for p in problems] == [
        ("memory.wal", 2),
        ("memory.locale", 3),
        ("memory.retrieval.mode", 4),
        ("OPENCLAW_MEMORY_MAX_TOKENS", None),
    ]
    assert "(and 3 more)" in error.message


def test_a_wrong_variable_is_named(path):
    error = refused(path, "{}", {"OPENCLAW_MEMORY_MODE": "fast"})
    assert error.message.startswith("environment: OPENCLAW_MEMORY_MODE must be one of hybrid")
    assert error.path is None


@pytest.mark.parametrize("text", ["[1]", "5", "{a:", "{a: 1}}", "{a 1}", "nonsense", "{'a"])
def test_what_is_no_object_is_refused_with_the_file(path, text):
    error = refused(path, text)
    assert str(path) in error.message
    assert error.hint


def test_a_syntax_error_names_its_line(path):
    assert refused(path, "{\n a: 1,\n b: ?\n}").message.startswith(f"{path}:3: ")


def test_bytes_that_are_no_utf8_are_refused(path):
    path.write_bytes(b'{"a":\n "\xff"}')
    with pytest.raises(ConfigError, match="2: byte 8 is not UTF-8"):
        Config.load(path, {})


def test_a_file_that_cannot_be_read_is_no_empty_one(path):
    path.mkdir()
    with pytest.raises(StorageError, match="cannot read"):
        Config.load(path, {})


def test_deep_nesting_in_foreign_keys_is_no_problem(path):
    assert load(path, "{x: " + "[" * 100 + "]" * 100 + "}").origin("memory.locale") == "default"


def test_a_state_directory_that_is_a_file_holds_no_configuration(tmp_path):
    (tmp_path / "file").write_text("")
    assert Config.load(tmp_path / "file" / "openclaw.json", {}).origin("memory.locale") == "default"


def test_a_pipe_does_not_keep_the_reader(path):
    os.mkfifo(path)
    with pytest.raises(StorageError, match="not a regular file"):
        Config.load(path, {})


def test_a_file_of_megabytes_is_refused_before_it_is_parsed(path):
    assert refused(path, '{"x": "' + "a" * (5 << 20) + '"}').message == (
        f"{path}: the file is larger than 1 MiB"
    )


@pytest.mark.parametrize("text", ["{x: " + "[" * 5000 + "]" * 5000 + "}", '{"a":' * 3000])
def test_very_deep_nesting_is_told_as_such(path, text):
    assert refused(path, text).message == f"{path}:1: nested more than 200 levels deep"


def test_only_our_sections_are_searched_for_keys_that_do_not_exist(path):
    text = """{gateway: {topk: 1}, memory: {backend: 1, retrieval: {weights: {lexical: 1, x: 2}}},
        session: {scope: 1, idle: 2}}"""
    assert [(doubt.key, doubt.line) for doubt in load(path, text).doubts()] == [
        ("memory.retrieval.weights.x", 1),
        ("session.idle", 2),
    ]
    assert load(path, "{}").doubts() == []


def test_very_many_keys_that_do_not_exist_are_told_quickly(path):
    many = ",".join(f'"k{number}": 1' for number in range(50000))
    assert len(load(path, '{"memory": {' + many + "}}").doubts()) == 50


def test_a_key_that_is_not_said_to_be_unused_is_read_somewhere():
    package = Path(config_keys.__file__).parent
    source = "".join(
        file.read_text(encoding="utf-8")
        for file in package.rglob("*.py")
        if file.name != "config_keys.py"
    )
    patterns = (
        "memory.fsrs.initialStability.",
        "memory.retrieval.relative.",
        "memory.retrieval.rrf.",
        "memory.extractModel.",
        "session.context.model.",
        "session.context.importance.",
    )
    for key in KEYS.values():
        read = f'"{key.name}"' in source or key.name.startswith(patterns)
        assert read is not key.doc.startswith(config_keys.UNUSED), key.name


def _outcome(path: Path) -> str:
    try:
        return str(Config.load(path, {}).path)
    except ConfigError as error:
        return error.message


@given(st.binary(max_size=60))
def test_any_bytes_give_a_configuration_or_a_documented_error(tmp_path_factory, data):
    path = tmp_path_factory.mktemp("c") / "openclaw.json"
    path.write_bytes(data)
    assert str(path) in _outcome(path)


def test_the_line_of_a_key_is_not_taken_from_comments_texts_or_other_sections():
    text = """{
      // memory: {wal: {maxEntries: 1}}
      "note": "maxEntries: 2",
      other: {wal: {maxEntries: 3}},
      list: [{memory: {wal: {maxEntries: 4}}}],
      "memory": {'wal': /* maxEntries: 5 */ {
        maxBytes: 6,
        "maxEntries": 7}}}"""
    assert lines_of(text)["memory.wal.maxEntries"] == 8
    assert "memory.locale" not in lines_of(text)


def test_a_misspelt_key_finds_its_neighbour():
    assert suggest("memory.retrieval.topk") == "memory.retrieval.topK"
    assert suggest("topk") == "memory.retrieval.topK"
    assert suggest("zebra") is None


def test_general_forms_lead_to_keys_of_the_schema():
    assert all(target in KEYS for targets in GENERAL.values() for target in targets)


@pytest.mark.parametrize(("text", "seconds"), [("30m", 1800), ("12h", 43200), ("7d", 604800)])
def test_a_duration_is_counted_in_seconds(text, seconds):
    assert span_seconds(text) == seconds


@pytest.mark.parametrize("text", ["", " \n\t", "\ufeff", "// nothing yet\n", "/* later */"])
def test_a_file_without_a_value_holds_no_settings(path, text):
    config = load(path, text)
    assert set(config.origins.values()) == {"default"}
    assert config.doubts() == []


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("{a: {", "{PATH}:1: this is not JSON5: the object { that begins here has no end"),
        ("{a: [1,", "the list [ that begins here has no end"),
        ("{a: 'x}", "the text that begins here has no end"),
        ("{a: 'x\n'}", "the text that begins here has no end"),
        ("/* {}", "the comment that begins here has no end"),
        ("{a: 1e999}", "1e999 is not a number that can be kept"),
        ("{a: 0x}", "0x is not a number that can be kept"),
        ("{a: }", "a value must stand here, not '}'"),
        ("{a 1}", "a colon must stand here, not '1'"),
        ("{a: 1 b: 2}", "a comma or '}' must stand here, not 'b'"),
        ("{a: 1,, b: 2}", "a comma too many"),
        ("{} 文", "'文' stands after the end of the object"),
    ],
)
def test_what_is_no_json5_is_told_in_plain_words(path, text, reason):
    message = refused(path, text).message
    assert message.endswith(reason.replace("{PATH}", str(path)))


@pytest.mark.parametrize(
    ("prices", "said"),
    [
        ("'gpt-4.1': {input: 1e308}", "gpt-4.1.input must be a number from 0 to 1000000000, not 1"),
        ("m: {output: Infinity}", "m.output must be a number from 0 to 1000000000, not inf"),
        ("m: {output: NaN}", "m.output must be a number from 0"),
        ("m: {cacheRead: -1}", "m.cacheRead must be a number from 0 to 1000000000, not -1"),
        ("m: {input: true}", "m.input must be a number from 0 to 1000000000, not true"),
        ("m: {inputs: 1}", "m.inputs must be one of input, output, cacheRead, cacheWrite, not 'in"),
        ("通义: 5", "通义 must be an object of input, output, cacheRead, cacheWrite, not 5"),
        (f"m: {{input: {10**400}}}", "m.input must be a number from 0"),
    ],
)
def test_a_price_that_cannot_be_is_told_with_its_model_and_kind(path, prices, said):
    error = refused(path, "{session: {prices: {\n" + prices + "}}}")
    assert error.message.startswith(f"{path}:2: session.prices.{said}")


def test_a_key_that_stands_twice_in_our_sections_is_a_doubt(path):
    config = load(
        path,
        '{gateway: {a: 1, a: 2}, memory: {wal: {maxEntries: 5, "maxEntries": 6}},\n'
        "session: {idleTimeout: '1h'}, session: {idleTimeout: '2h', archiveAfter: '1d',\n"
        " archiveAfter: '2d'}}",
    )
    assert config.text("session.idleTimeout") == "2h"
    assert [(doubt.key, doubt.line, doubt.code) for doubt in config.doubts()] == [
        ("memory.wal.maxEntries", 1, "repeated-key"),
        ("session", 2, "repeated-key"),
    ]
