"""The completion for zsh."""

from __future__ import annotations

from openclaw_cli.cli.generate.cases import (
    HEAD,
    argument_cases,
    child_lines,
    common_options,
    joined,
    option_lines,
    value_cases,
)
from openclaw_cli.cli.generate.tree import Command

_BODY = r"""
# Ids on disk with what they are, asked of the program by its long name, beside the one that was
# typed: the short one may be another's, which is never run.
_openclaw_cli_ids() {
    local line program=openclaw-cli
    local -a found
    [[ $words[1] == */* ]] && program=${words[1]%/*}/openclaw-cli
    for line in ${(f)"$(_call_program ids ${(q)program} __complete ${(q)1} ${(q)PREFIX} \
            ${(q)words[2,-1]} 2>/dev/null)"}; do
        found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
    done
    # In the order in which they come: the newest first.
    _describe -V -t ids $1 found
}

# Candidates of a kind ($1: kind, or "words" and the words).
_openclaw_cli_offer() {
    case ${1#maybe } in
        words\ *) compadd -- ${=1#words } ;;
        file) _files ;;
        picture) _path_files -g '*.(svg|png)(-.)'; _path_files -/ ;;
        directory) _files -/ ;;
        text) _message 'value' ;;
        *) _openclaw_cli_ids $1 ;;
    esac
}

# Tell whether the short name is this program, too, or nobody's.
_openclaw_cli_short() {
    local short=$(whence -p openclaw)
    [[ -z $short ]] || cmp -s "$short" "$(whence -p openclaw-cli)"
}

_openclaw-cli() {
    if [[ $words[1] == openclaw ]] && ! _openclaw_cli_short; then
        _default
        return
    fi
    local REPLY='' word at='' rest='' option=''
    local -a reply names
    integer place count=0
    for ((place = 2; place < CURRENT; place++)); do
        word=${(Q)words[place]}
        case $word in
            --) rest=yes ;;
            -*)
                # A value that may be left out does not begin with a dash.
                if [[ -z $rest && $word != *=* ]] && _openclaw_cli_value "$at" "$word" &&
                    [[ $REPLY != maybe\ * || $words[place+1] != -* ]]; then
                    option=$word
                    ((place++))
                fi ;;
            *)
                [[ -z $at && $word == sessions ]] && word=session
                if _openclaw_cli_children "$at"; then
                    names=(${reply%%:*})
                    ((${names[(Ie)$word]})) && at=${at:+$at }$word
                else
                    ((++count))
                fi ;;
        esac
    done
    # The words before the cursor end within an option whose value is being typed.
    if [[ -z $rest ]] && ((place > CURRENT)) && _openclaw_cli_value "$at" "$option"; then
        _openclaw_cli_offer "$REPLY"
    elif [[ -z $rest && $PREFIX == --*=* ]] && _openclaw_cli_value "$at" "${PREFIX%%=*}"; then
        compset -P '*='
        _openclaw_cli_offer "$REPLY"
    elif [[ -z $rest && $PREFIX == -* ]]; then
        _openclaw_cli_options "$at"
        _describe -o -t options option reply
    elif _openclaw_cli_children "$at"; then
        _describe -t commands command reply
    elif _openclaw_cli_argument "$at" $count; then
        _openclaw_cli_offer "$REPLY"
    fi
}

if [[ $funcstack[1] == _openclaw-cli ]]; then
    _openclaw-cli "$@"
else
    compdef _openclaw-cli openclaw-cli
    if _openclaw_cli_short; then compdef _openclaw-cli openclaw; fi
fi
"""


def _told(name: str, summary: str) -> str:
    text = summary.replace("'", "'\\''")
    return f"'{name}:{text}'" if summary else f"'{name}'"


def _function(name: str, subject: str, cases: list[str]) -> str:
    return "\n".join([f"{name}() {{", f"    case {subject} in", *cases, "    esac", "}\n"])


def script(commands: tuple[Command, ...]) -> str:
    """Return the script, to be sourced or to stand as ``_openclaw-cli`` in a ``$fpath`` folder."""
    none = "        *) return 1 ;;"
    head = HEAD.format(shell="zsh", trial="source <(openclaw-cli completion zsh)")
    children = [f"        '{path}') reply=({told}) ;;" for path, told in child_lines(_told)]
    options = [
        f"        '{path}') reply=({told}) ;;" for path, told in option_lines(commands, _told)
    ]
    values = [f"        {pattern}) REPLY='{found}' ;;" for pattern, found in value_cases(commands)]
    arguments = [
        f"        {pattern}) REPLY='{found}' ;;" for pattern, found in argument_cases(commands)
    ]
    common = f"    reply+=({joined(common_options(), _told)})\n}}\n"
    every = _function("_openclaw_cli_options", "$1", [*options, "        *) reply=() ;;"])
    return "\n".join(
        [
            "#compdef openclaw openclaw-cli",
            head,
            "# What can follow the words of a group.",
            _function("_openclaw_cli_children", "$1", [*children, none]),
            "# The options of a group or a command.",
            every.removesuffix("}\n") + common,
            "# What the option $2 of the command $1 takes; fails for a flag.",
            _function("_openclaw_cli_value", '"$1 $2"', [*values, none]),
            "# What the argument of the command $1 after $2 others is.",
            _function("_openclaw_cli_argument", '"$1 $2"', [*arguments, none]),
        ]
    ) + _BODY.lstrip("\n")
