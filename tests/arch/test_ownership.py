"""Who may do what: write, print, ask for time and chance, read the environment, exit.

Every exception is listed by name with its reason.
"""

from __future__ import annotations

import ast
import re

import pytest

WRITERS = {
    "store.fsio": "the one module that makes bytes durable",
    "store.disk": "the single steps that fsio takes, apart so that tests can stop at each",
    "cli.editor": "the text that the operator edits, in the folder for temporary files",
    "cli.crash": "a temporary file for the traceback where the state directory takes none",
    "cli.render": "opens /dev/null in place of a broken standard output",
    "cli.pictures": "a temporary folder for what matplotlib notes, in place of the operator's home",
    "index.file.hnsw": "the native library writes its own file, to the temporary path it is given",
}
PRINTERS = {
    "cli.render": "the one renderer",
    "cli.progress": "asks whether standard error is a terminal, and draws the bar there",
    "__main__": "answers --version and the tab key before anything is imported",
}
CLOCKS = {
    "clock": "tells time",
    "ids": "draws chance and knows the process",
    "cli.complete": "ages of sessions at the tab key, where importing clock costs too much",
}
ENVIRONMENT = {
    "paths": "finds the state directory",
    "config": "variables override the file",
    "cli.context": "OPENCLAW_AGENT",
    "__main__": "hands it to the completion before anything is imported",
    "cli.render": "NO_COLOR and TERM",
    "cli.pager": "tells less to show colours",
    "cli.pictures": "tells matplotlib where it may write",
}
EXITS = {"__main__": "hands the status to the operating system"}
ERRORS = {
    "cli.app": "interruption and unexpected failures exist only at the boundary",
    "cli.render": "failures of standard output",
}

_OS_WRITES = re.compile(
    r"os\.(write|pwrite|writev|rename|renames|replace|unlink|remove|removedirs|rmdir|truncate"
    r"|ftruncate|symlink|link|mkdir|makedirs|fsync|fdatasync|sendfile|copy_file_range|mkfifo"
    r"|chmod|fchmod|utime)"
)
_PATH_WRITES = {
    *("write_text", "write_bytes", "unlink", "mkdir", "touch", "symlink_to", "hardlink_to"),
    *("rmdir", "chmod", "tofile", "save_index"),
}
_LIBRARIES = re.compile(r"(shutil|tempfile|np|numpy)\.(?!get_terminal_size|which)(\w+)")
_NUMPY_WRITES = {"save", "savez", "savez_compressed", "savetxt", "memmap"}


def _writes(name: str, call: ast.Call) -> bool:
    """Tell whether a call changes the file system."""
    last = name.rpartition(".")[2]
    if name == "os.open":
        return re.search("O_(WRONLY|RDWR|CREAT|TRUNC|APPEND)", ast.unparse(call)) is not None
    if last == "open":
        return bool(set(_mode(name, call)) & set("wax+"))
    if name.startswith(("fsio.", "disk.")):
        return False
    library = _LIBRARIES.fullmatch(name)
    if library and library[1] in ("shutil", "tempfile"):
        return True
    if library:
        return library[2] in _NUMPY_WRITES and not _reads_only(call)
    return _OS_WRITES.fullmatch(name) is not None or last in _PATH_WRITES


def _mode(name: str, call: ast.Call) -> str:
    place = 1 if name in ("open", "io.open") else 0
    given = [word.value for word in call.keywords if word.arg == "mode"]
    given += call.args[place : place + 1]
    mode = given[0] if given else None
    if isinstance(mode, ast.Constant) and isinstance(mode.value, str):
        return mode.value
    return "w" if mode is not None and "mode" in ast.unparse(mode) else "r"


def _reads_only(call: ast.Call) -> bool:
    modes = [word.value for word in call.keywords if word.arg == "mode"]
    return bool(modes) and isinstance(modes[0], ast.Constant) and modes[0].value == "r"


def test_only_fsio_changes_files(modules):
    wrong = [
        f"{module.name}:{call.lineno} {name}"
        for module in modules
        for name, call in module.calls()
        if module.name not in WRITERS and _writes(name, call)
    ]
    assert not wrong


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        ("open(p, 'w')", True),
        ("open(p, mode='r+b')", True),
        ("open(p, 'rb')", False),
        ("open(p)", False),
        ("path.open('ab')", True),
        ("path.open(mode)", True),
        ("path.open('rb')", False),
        ("View.open(paths)", False),
        ("os.open(p, os.O_RDONLY)", False),
        ("os.open(p, os.O_RDWR | os.O_CREAT)", True),
        ("os.replace(a, b)", True),
        ("text.replace(a, b)", False),
        ("path.write_bytes(b)", True),
        ("path.unlink()", True),
        ("shutil.rmtree(p)", True),
        ("shutil.get_terminal_size()", False),
        ("np.memmap(p, mode='r')", False),
        ("np.memmap(p)", True),
        ("fsio.remove(p)", False),
        ("array.tofile(p)", True),
    ],
)
def test_the_check_for_writes_knows_a_write(code, expected):
    call = ast.parse(code).body[0].value
    assert _writes(ast.unparse(call.func), call) is expected


def test_only_the_renderer_prints(modules):
    wrong = []
    for module in modules:
        if module.name in PRINTERS:
            continue
        wrong += [
            f"{module.name}:{call.lineno} {name}"
            for name, call in module.calls()
            if name in ("print", "click.echo", "typer.echo", "pprint.pprint")
        ]
        wrong += [
            f"{module.name} {name}"
            for name in module.names()
            if name.startswith(("sys.stdout", "sys.stderr", "sys.__std"))
        ]
    assert not wrong


def test_only_clock_and_ids_know_time_and_chance(modules):
    wrong = []
    for module in modules:
        if module.name in CLOCKS:
            continue
        wrong += [
            f"{module.name} imports {name}"
            for name in module.imports()
            if name in ("time", "random", "secrets", "uuid")
        ]
        wrong += [
            f"{module.name} {name}"
            for name in module.names()
            if re.search(r"(^|\.)(urandom|getpid|utcnow|today|default_rng|RandomState)$", name)
            or re.search(r"\b(datetime|date)\.now$", name)
        ]
    assert not wrong


def test_only_a_few_modules_read_the_environment(modules):
    wrong = [
        f"{module.name} {name}"
        for module in modules
        if module.name not in ENVIRONMENT
        for name in module.names()
        if name in ("os.environ", "os.getenv", "os.environb", "os.getenvb")
    ]
    assert not wrong


def test_only_the_entry_point_exits(modules):
    wrong = []
    for module in modules:
        if module.name in EXITS:
            continue
        wrong += [
            f"{module.name}:{call.lineno} {name}"
            for name, call in module.calls()
            if name in ("sys.exit", "exit", "quit", "os._exit", "os.abort")
        ]
        wrong += [
            f"{module.name}:{node.lineno} SystemExit"
            for node in ast.walk(module.tree)
            if isinstance(node, ast.Name) and node.id == "SystemExit"
        ]
    assert not wrong


def test_errors_come_from_the_one_tree(modules):
    wrong = [
        f"{module.name}.{node.name}"
        for module in modules
        if module.name not in {"errors", *ERRORS}
        for node in ast.walk(module.tree)
        if isinstance(node, ast.ClassDef)
        and any(ast.unparse(base).endswith(("Error", "Exception")) for base in node.bases)
    ]
    assert not wrong


def test_no_module_keeps_state_that_changes(modules):
    wrong = [
        f"{module.name}:{node.lineno} global {', '.join(node.names)}"
        for module in modules
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Global)
    ]
    assert not wrong


@pytest.mark.parametrize(
    "table", [WRITERS, PRINTERS, CLOCKS, ENVIRONMENT, EXITS, ERRORS], ids=lambda t: next(iter(t))
)
def test_an_exception_names_a_module_that_exists(modules, table):
    assert set(table) <= {module.name for module in modules}
