"""Sizes that keep the code readable; an exception is listed here by name with its reason."""

from __future__ import annotations

import ast

MODULE_LINES = 400
COMMAND_LINES = 200
FUNCTION_LINES = 50
COMPLEXITY = 10
PARAMETERS = 8

#: ``module.function`` or ``module`` -> why it may be over a budget.
EXCEPTIONS: dict[str, str] = {}

# What McCabe's measure counts, as the linter does.
_BRANCHES = (
    ast.If,
    ast.For,
    ast.AsyncFor,
    ast.While,
    ast.ExceptHandler,
    ast.match_case,
)


def _is_command(module, function) -> bool:
    """A command's signature declares its options, one a parameter: it is a table, not code."""
    return module.name.startswith("cli.commands.") and function.name == "command"


def _over(modules, measure, limit):
    for module in modules:
        for function in module.functions():
            name = f"{module.name}.{function.name}"
            size = measure(module, function)
            if size > limit and name not in EXCEPTIONS:
                yield f"{name}: {size}"


def test_a_module_has_at_most_400_lines(modules):
    sizes = {module.name: module.source.count("\n") for module in modules}
    assert not {n: s for n, s in sizes.items() if s > MODULE_LINES and n not in EXCEPTIONS}


def test_a_command_has_at_most_200_lines(modules):
    sizes = {
        module.name: module.source.count("\n")
        for module in modules
        if module.name.startswith("cli.commands.")
    }
    assert sizes
    assert not {n: s for n, s in sizes.items() if s > COMMAND_LINES and n not in EXCEPTIONS}


def test_a_function_has_at_most_50_lines(modules):
    def lines(module, function):
        first = function.body[0].lineno if _is_command(module, function) else function.lineno
        return function.end_lineno - first + 1

    assert not list(_over(modules, lines, FUNCTION_LINES))


def test_a_function_has_a_complexity_of_at_most_10(modules):
    def complexity(_module, function):
        return 1 + sum(isinstance(node, _BRANCHES) for node in ast.walk(function))

    assert not list(_over(modules, complexity, COMPLEXITY))


def test_a_function_has_at_most_8_parameters(modules):
    def parameters(module, function):
        given = function.args
        count = len(given.posonlyargs + given.args + given.kwonlyargs)
        return 0 if _is_command(module, function) else count

    assert not list(_over(modules, parameters, PARAMETERS))


def test_every_exception_names_something_that_exists(modules):
    known = {module.name for module in modules} | {
        f"{module.name}.{function.name}" for module in modules for function in module.functions()
    }
    assert set(EXCEPTIONS) <= known
