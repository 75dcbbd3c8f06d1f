"""The completion for bash, with or without the package bash-completion."""

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
# Ids on disk, asked of the program by its long name, beside the one that was typed: the short one
# may be another's, which is never run. What they are is shown where several are listed.
_openclaw_cli_ids() {
    local line value about program=openclaw-cli
    [[ ${COMP_WORDS[0]} == */* ]] && program=${COMP_WORDS[0]%/*}/openclaw-cli
    local -a found=() told=()
    while IFS=$'\t' read -r value about; do
        found+=("$value")
        if [[ -n $about ]]; then told+=("$value  ($about)"); else told+=("$value"); fi
    done < <("$program" __complete "$1" "$2" "${COMP_WORDS[@]:1}" 2>/dev/null)
    # Cycling through candidates or inserting all of them puts in what is here as it is.
    if [[ ${#found[@]} -gt 1 && $COMP_TYPE != 37 && $COMP_TYPE != 42 ]]; then
        COMPREPLY=("${told[@]}")
        compopt -o nosort 2>/dev/null
    else
        COMPREPLY=("${found[@]}")
    fi
}

# Candidates of a kind ($1: kind, or "words" and the words) for what has been typed ($2).
_openclaw_cli_offer() {
    local IFS=$' \t\n'
    case ${1#maybe } in
        words\ *) COMPREPLY=($(compgen -W "${1#words }" -- "$2")) ;;
        file) compopt -o filenames 2>/dev/null; IFS=$'\n'; COMPREPLY=($(compgen -f -- "$2")) ;;
        picture)
            compopt -o filenames 2>/dev/null
            IFS=$'\n'
            COMPREPLY=($(compgen -f -X '!*.svg' -- "$2"; compgen -f -X '!*.png' -- "$2"
                compgen -d -- "$2"))
            ;;
        directory) compopt -o filenames 2>/dev/null; IFS=$'\n'; COMPREPLY=($(compgen -d -- "$2")) ;;
        text) ;;
        *) _openclaw_cli_ids "$1" "$2" ;;
    esac
}

_openclaw_cli() {
    local IFS=$' \t\n' REPLY='' word place path='' rest='' current=${COMP_WORDS[COMP_CWORD]}
    local option=${COMP_WORDS[COMP_CWORD-1]} count=0
    COMPREPLY=()
    # "--option=value" comes as three words.
    if [[ $current == '=' ]]; then
        current=''
    elif [[ $option == '=' && $COMP_CWORD -gt 2 ]]; then
        option=${COMP_WORDS[COMP_CWORD-2]}
    fi
    for ((place = 1; place < COMP_CWORD; place++)); do
        word=${COMP_WORDS[place]}
        case $word in
            --) rest=yes ;;
            -*)
                # A value that may be left out does not begin with a dash.
                if [[ -z $rest ]] && _openclaw_cli_value "$path" "$word" &&
                    [[ $REPLY != maybe\ * || ${COMP_WORDS[place+1]} != -* ]]; then
                    [[ ${COMP_WORDS[place+1]} == '=' ]] && ((place++))
                    ((place++))
                fi ;;
            *)
                [[ -z $path && $word == sessions ]] && word=session
                if _openclaw_cli_children "$path" && [[ " $REPLY " == *" $word "* ]]; then
                    path="${path:+$path }$word"
                else
                    ((++count))
                fi ;;
        esac
    done
    # The words before the cursor end within an option whose value is being typed.
    if [[ -z $rest ]] && ((place > COMP_CWORD)) && _openclaw_cli_value "$path" "$option"; then
        _openclaw_cli_offer "$REPLY" "$current"
    elif [[ -z $rest && $current == -* ]]; then
        _openclaw_cli_options "$path"
        COMPREPLY=($(compgen -W "$REPLY" -- "$current"))
    elif _openclaw_cli_children "$path"; then
        COMPREPLY=($(compgen -W "$REPLY" -- "$current"))
    elif _openclaw_cli_argument "$path" "$count"; then
        _openclaw_cli_offer "$REPLY" "$current"
    fi
}

# Tell whether the short name is this program, too, or nobody's.
_openclaw_cli_short() {
    local short
    short=$(type -P openclaw) || return 0
    cmp -s "$short" "$(type -P openclaw-cli)"
}

complete -F _openclaw_cli openclaw-cli
if _openclaw_cli_short; then complete -F _openclaw_cli openclaw; fi
"""

#: The file for the short name: bash looks for one of the name of the command.
SHORT = """\
# Completion of openclaw(1) for bash, by its short name.
source "${BASH_SOURCE[0]%/*}/openclaw-cli"
"""


def _name(name: str, _summary: str) -> str:
    return name


def _function(name: str, subject: str, cases: list[str]) -> str:
    return "\n".join([f"{name}() {{", f"    case {subject} in", *cases, "    esac", "}\n"])


def _assigned(pattern: str, reply: str) -> str:
    return f"        {pattern}) REPLY='{reply}' ;;"


def script(commands: tuple[Command, ...]) -> str:
    """Return the script."""
    none = "        *) return 1 ;;"
    head = HEAD.format(shell="bash", trial="source <(openclaw-cli completion bash)")
    children = [_assigned(f"'{path}'", names) for path, names in child_lines(_name)]
    options = [_assigned(f"'{path}'", names) for path, names in option_lines(commands, _name)]
    values = [_assigned(pattern, found) for pattern, found in value_cases(commands)]
    arguments = [_assigned(pattern, found) for pattern, found in argument_cases(commands)]
    every = _function("_openclaw_cli_options", "$1", [*options, "        *) REPLY='' ;;"])
    return "\n".join(
        [
            head,
            "# What can follow the words of a group.",
            _function("_openclaw_cli_children", "$1", [*children, none]),
            "# The options of a group or a command.",
            every.removesuffix("}\n") + f"    REPLY+=' {joined(common_options(), _name)}'\n}}\n",
            "# What the option $2 of the command $1 takes; fails for a flag.",
            _function("_openclaw_cli_value", '"$1 $2"', [*values, none]),
            "# What the argument of the command $1 after $2 others is.",
            _function("_openclaw_cli_argument", '"$1 $2"', [*arguments, none]),
        ]
    ) + _BODY.lstrip("\n")
