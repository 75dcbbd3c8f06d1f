"""Imports run downwards: cli; transfer, memory, session; index, embed, llm, text; then store."""

from __future__ import annotations

import sys

PREFIX = "openclaw_cli."
#: Errors of the one tree, and what depends on nothing else.
LEAVES = {
    *("errors", "result", "clock", "ids", "paths", "config", "config_keys", "config_syntax"),
    *("environment", ""),
}
BELOW = {
    "cli": {"transfer", "memory", "session", "embed", "store"} | LEAVES,
    "transfer": {"memory", "session", "index", "embed", "text", "store"} | LEAVES,
    "memory": {"index", "embed", "llm", "text", "store"} | LEAVES,
    "session": {"index", "embed", "llm", "text", "store"} | LEAVES,
    "index": {"store"} | LEAVES,
    "embed": {"store"} | LEAVES,
    "llm": LEAVES,
    "text": LEAVES,
    "store": LEAVES,
    "errors": set(),
    "result": {"errors"},
    "clock": {"errors"},
    "ids": {"clock", "errors"},
    "paths": {"errors"},
    "config_keys": set(),
    "config_syntax": {"errors"},
    "config": {"config_keys", "config_syntax", "errors"},
    "environment": {"clock", "config", "ids", "paths"},
    "": set(),
    "__main__": {"", "cli"},
}
#: Which layer may use which distribution outside of the standard library.
FOREIGN = {
    "typer": {"cli"},
    "click": {"cli"},
    "rich": {"cli"},
    "matplotlib": {"cli"},
    "orjson": {
        *("cli", "transfer", "memory", "session"),
        *("index", "embed", "llm", "text", "store", "config_syntax"),
    },
    "pyjson5": {"config_syntax"},
    # The store looks for many byte strings at once with it.
    "numpy": {"memory", "index", "embed", "store"},
    "onnxruntime": {"embed"},
    "tokenizers": {"embed"},
    "hnswlib": {"index"},
    "Stemmer": {"text"},
}


#: What may be imported besides: memory reaches sessions through their door, to forget a user.
DOORS = {("memory.purging", "session.service")}


def _own(modules, *, for_types=True):
    names = {module.name for module in modules}
    for module in modules:
        for imported in module.imports(for_types=for_types):
            if imported == "openclaw_cli":
                yield module, ""
            elif imported.startswith(PREFIX) and imported.removeprefix(PREFIX) in names:
                yield module, imported.removeprefix(PREFIX)


def test_a_module_imports_only_from_its_own_layer_and_from_those_below(modules):
    wrong = [
        f"{module.name or 'openclaw_cli'} imports {target}"
        for module, target in _own(modules)
        if module.part != target.partition(".")[0]
        and target.partition(".")[0] not in BELOW[module.part]
        and (module.name, target) not in DOORS
    ]
    assert not wrong


def test_every_layer_is_in_the_table_and_used(modules):
    assert {module.part for module in modules} == set(BELOW)


def test_there_is_no_circle_of_imports_at_run_time(modules):
    below: dict[str, set[str]] = {module.name: set() for module in modules}
    for module, target in _own(modules, for_types=False):
        # The package imports nothing, so that going through it is no edge.
        if target and target != module.name and target not in _parents(module.name):
            below[module.name].add(target)
    done: set[str] = set()

    def visit(name: str, path: tuple[str, ...]) -> None:
        assert name not in path, " -> ".join([*path[path.index(name) :], name])
        if name not in done:
            for target in sorted(below[name]):
                visit(target, (*path, name))
            done.add(name)

    for name in below:
        visit(name, ())


def _parents(name: str) -> set[str]:
    parts = name.split(".")
    return {".".join(parts[:place]) for place in range(1, len(parts))}


def test_other_distributions_are_used_where_they_belong(modules):
    wrong = []
    for module in modules:
        for imported in set(module.imports()):
            top = imported.partition(".")[0]
            if top in sys.stdlib_module_names or top == "openclaw_cli":
                continue
            if module.part not in FOREIGN.get(top, set()):
                wrong.append(f"{module.name} imports {top}")
    assert not wrong


def test_the_package_itself_imports_nothing(modules):
    package = next(module for module in modules if module.name == "")
    assert list(package.imports()) == []
