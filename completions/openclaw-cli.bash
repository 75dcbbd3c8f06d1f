# Completion of openclaw(1) for bash. Made from the command tree by: make docs
# Try it with:  source <(openclaw-cli completion bash)

# What can follow the words of a group.
_openclaw_cli_children() {
    case $1 in
        '') REPLY='memory session model config doctor schema completion sessions' ;;
        'memory') REPLY='add get list search edit history undo delete purge index status import export migrate' ;;
        'session') REPLY='trash new ensure list show tail append context checkpoint resume branch branches rename tag sweep archive delete restore search usage export import verify' ;;
        'session trash') REPLY='list empty' ;;
        'model') REPLY='list verify' ;;
        'config') REPLY='get show validate schema' ;;
        *) return 1 ;;
    esac
}

# The options of a group or a command.
_openclaw_cli_options() {
    case $1 in
        '') REPLY='--version --all-agents' ;;
        'memory') REPLY='--all-agents' ;;
        'session') REPLY='--all-agents' ;;
        'memory add') REPLY='--file --category --scope --user --l1 --l2 --key --tag --id --no-embed --allow-duplicate' ;;
        'memory get') REPLY='--level' ;;
        'memory list') REPLY='--category --scope --user --tag --language --since --until --pending --sort --limit --jsonl' ;;
        'memory search') REPLY='--top-k --mode --fusion --category --scope --user --tag --language --since --until --explain --touch --level' ;;
        'memory edit') REPLY='--l0 --l1 --l2 --category --key --tag --clear --no-embed' ;;
        'memory undo') REPLY='--to --no-embed' ;;
        'memory delete') REPLY='--category --scope --user --tag --language --since --until --dry-run --yes' ;;
        'memory purge') REPLY='--user --sessions --group-messages --verify --dry-run --yes --all-agents' ;;
        'memory index') REPLY='--verify --rebuild --reembed --no-embed --all-agents' ;;
        'memory status') REPLY='--bytes --plot --force --all-agents' ;;
        'memory import') REPLY='--from --on-conflict --category --user --scope --dedup --no-embed --dry-run' ;;
        'memory export') REPLY='--output --format --scope --category --user --tag --language --since --until --force' ;;
        'memory migrate') REPLY='--from --to --rollback --dry-run' ;;
        'session new') REPLY='--channel --chat --user --title --model --tag --id --from' ;;
        'session ensure') REPLY='--channel --chat --user --title --model --tag' ;;
        'session list') REPLY='--status --channel --chat --user --tag --since --until --sort --limit --jsonl' ;;
        'session tail') REPLY='--lines --follow --jsonl' ;;
        'session append') REPLY='--role --content --user --call --tokens' ;;
        'session context') REPLY='--budget --strategy --format --explain' ;;
        'session resume') REPLY='--message --budget --format' ;;
        'session branch') REPLY='--at' ;;
        'session tag') REPLY='--add --remove' ;;
        'session sweep') REPLY='--dry-run --all-agents' ;;
        'session delete') REPLY='--dry-run --yes' ;;
        'session trash empty') REPLY='--older-than --dry-run --yes' ;;
        'session search') REPLY='--session --role --since --limit' ;;
        'session usage') REPLY='--by --since --csv --record --plot --force' ;;
        'session export') REPLY='--all --output --format --force' ;;
        'session import') REPLY='--on-conflict --dry-run' ;;
        'session verify') REPLY='--repair --all-agents' ;;
        'config show') REPLY='--origin' ;;
        'doctor') REPLY='--fix --all-agents' ;;
        'completion') REPLY='--install --force' ;;
        *) REPLY='' ;;
    esac
    REPLY+=' --agent --state-dir --json --quiet --verbose --no-color --lock-timeout --now --help'
}

# What the option $2 of the command $1 takes; fails for a flag.
_openclaw_cli_value() {
    case "$1 $2" in
        *' '--agent) REPLY='agent' ;;
        *' '--state-dir) REPLY='directory' ;;
        *' '--lock-timeout) REPLY='text' ;;
        *' '--now) REPLY='text' ;;
        'memory add '--file) REPLY='file' ;;
        'memory add '--category) REPLY='words profile preference event lesson pattern case insight' ;;
        'memory add '--scope) REPLY='words user agent' ;;
        'memory add '--user) REPLY='text' ;;
        'memory add '--l1) REPLY='text' ;;
        'memory add '--l2) REPLY='text' ;;
        'memory add '--key) REPLY='text' ;;
        'memory add '--tag) REPLY='text' ;;
        'memory add '--id) REPLY='text' ;;
        'memory get '--level) REPLY='words l0 l1 l2 all' ;;
        'memory list '--category) REPLY='words profile preference event lesson pattern case insight' ;;
        'memory list '--scope) REPLY='words user agent' ;;
        'memory list '--user) REPLY='text' ;;
        'memory list '--tag) REPLY='text' ;;
        'memory list '--language) REPLY='text' ;;
        'memory list '--since) REPLY='text' ;;
        'memory list '--until) REPLY='text' ;;
        'memory list '--sort) REPLY='words created updated retrievability' ;;
        'memory list '--limit) REPLY='text' ;;
        'memory search '-k|'memory search '--top-k) REPLY='text' ;;
        'memory search '--mode) REPLY='words hybrid lexical dense' ;;
        'memory search '--fusion) REPLY='words relative rrf' ;;
        'memory search '--category) REPLY='words profile preference event lesson pattern case insight' ;;
        'memory search '--scope) REPLY='words user agent' ;;
        'memory search '--user) REPLY='text' ;;
        'memory search '--tag) REPLY='text' ;;
        'memory search '--language) REPLY='text' ;;
        'memory search '--since) REPLY='text' ;;
        'memory search '--until) REPLY='text' ;;
        'memory search '--level) REPLY='words l0 l1 l2' ;;
        'memory edit '--l0) REPLY='text' ;;
        'memory edit '--l1) REPLY='text' ;;
        'memory edit '--l2) REPLY='text' ;;
        'memory edit '--category) REPLY='words profile preference event lesson pattern case insight' ;;
        'memory edit '--key) REPLY='text' ;;
        'memory edit '--tag) REPLY='text' ;;
        'memory edit '--clear) REPLY='text' ;;
        'memory undo '--to) REPLY='text' ;;
        'memory delete '--category) REPLY='words profile preference event lesson pattern case insight' ;;
        'memory delete '--scope) REPLY='words user agent' ;;
        'memory delete '--user) REPLY='text' ;;
        'memory delete '--tag) REPLY='text' ;;
        'memory delete '--language) REPLY='text' ;;
        'memory delete '--since) REPLY='text' ;;
        'memory delete '--until) REPLY='text' ;;
        'memory purge '--user) REPLY='text' ;;
        'memory status '--plot) REPLY='maybe picture' ;;
        'memory import '--from) REPLY='text' ;;
        'memory import '--on-conflict) REPLY='words skip overwrite newer duplicate' ;;
        'memory import '--category) REPLY='words profile preference event lesson pattern case insight' ;;
        'memory import '--user) REPLY='text' ;;
        'memory import '--scope) REPLY='words user agent' ;;
        'memory export '-o|'memory export '--output) REPLY='file' ;;
        'memory export '--format) REPLY='words json jsonl' ;;
        'memory export '--scope) REPLY='words user agent all' ;;
        'memory export '--category) REPLY='words profile preference event lesson pattern case insight' ;;
        'memory export '--user) REPLY='text' ;;
        'memory export '--tag) REPLY='text' ;;
        'memory export '--language) REPLY='text' ;;
        'memory export '--since) REPLY='text' ;;
        'memory export '--until) REPLY='text' ;;
        'memory migrate '--from) REPLY='text' ;;
        'memory migrate '--to) REPLY='text' ;;
        'session new '--channel) REPLY='text' ;;
        'session new '--chat) REPLY='text' ;;
        'session new '--user) REPLY='text' ;;
        'session new '--title) REPLY='text' ;;
        'session new '--model) REPLY='text' ;;
        'session new '--tag) REPLY='text' ;;
        'session new '--id) REPLY='text' ;;
        'session new '--from) REPLY='text' ;;
        'session ensure '--channel) REPLY='text' ;;
        'session ensure '--chat) REPLY='text' ;;
        'session ensure '--user) REPLY='text' ;;
        'session ensure '--title) REPLY='text' ;;
        'session ensure '--model) REPLY='text' ;;
        'session ensure '--tag) REPLY='text' ;;
        'session list '--status) REPLY='words active dormant archived all' ;;
        'session list '--channel) REPLY='text' ;;
        'session list '--chat) REPLY='text' ;;
        'session list '--user) REPLY='text' ;;
        'session list '--tag) REPLY='text' ;;
        'session list '--since) REPLY='text' ;;
        'session list '--until) REPLY='text' ;;
        'session list '--sort) REPLY='words last-active created messages cost' ;;
        'session list '--limit) REPLY='text' ;;
        'session tail '-n|'session tail '--lines) REPLY='text' ;;
        'session append '--role) REPLY='words user assistant tool system' ;;
        'session append '--content) REPLY='text' ;;
        'session append '--user) REPLY='text' ;;
        'session append '--call) REPLY='text' ;;
        'session append '--tokens) REPLY='text' ;;
        'session context '--budget) REPLY='text' ;;
        'session context '--strategy) REPLY='words sliding-window summary importance' ;;
        'session context '--format) REPLY='words json text openai anthropic' ;;
        'session resume '-m|'session resume '--message) REPLY='text' ;;
        'session resume '--budget) REPLY='text' ;;
        'session resume '--format) REPLY='words json text openai anthropic' ;;
        'session branch '--at) REPLY='text' ;;
        'session tag '--add) REPLY='text' ;;
        'session tag '--remove) REPLY='text' ;;
        'session trash empty '--older-than) REPLY='text' ;;
        'session search '--session) REPLY='session' ;;
        'session search '--role) REPLY='words user assistant tool system' ;;
        'session search '--since) REPLY='text' ;;
        'session search '--limit) REPLY='text' ;;
        'session usage '--by) REPLY='words session model channel day' ;;
        'session usage '--since) REPLY='text' ;;
        'session usage '--plot) REPLY='maybe picture' ;;
        'session export '-o|'session export '--output) REPLY='file' ;;
        'session export '--format) REPLY='words jsonl markdown html' ;;
        'session import '--on-conflict) REPLY='words skip new-id overwrite' ;;
        *) return 1 ;;
    esac
}

# What the argument of the command $1 after $2 others is.
_openclaw_cli_argument() {
    case "$1 $2" in
        'memory get '*) REPLY='record' ;;
        'memory edit 0') REPLY='record' ;;
        'memory history 0') REPLY='record' ;;
        'memory undo 0') REPLY='record' ;;
        'memory delete '*) REPLY='record' ;;
        'memory import 0') REPLY='file' ;;
        'memory migrate 0') REPLY='file' ;;
        'session show 0') REPLY='session' ;;
        'session tail 0') REPLY='session' ;;
        'session append 0') REPLY='session' ;;
        'session context 0') REPLY='session' ;;
        'session checkpoint 0') REPLY='session' ;;
        'session resume 0') REPLY='session' ;;
        'session branch 0') REPLY='session' ;;
        'session branches 0') REPLY='session' ;;
        'session rename 0') REPLY='session' ;;
        'session tag 0') REPLY='session' ;;
        'session archive '*) REPLY='session' ;;
        'session delete '*) REPLY='session' ;;
        'session restore '*) REPLY='trash' ;;
        'session export 0') REPLY='session' ;;
        'session import 0') REPLY='file' ;;
        'session verify '*) REPLY='session' ;;
        'config get 0') REPLY='words memory.embedding.provider memory.embedding.localModel memory.embedding.model memory.embedding.dimensions memory.embedding.batchSize memory.embedding.baseUrl memory.retrieval.mode memory.retrieval.fusion memory.retrieval.relative.lexicalWeight memory.retrieval.relative.denseWeight memory.retrieval.relative.candidates memory.retrieval.rrf.lexicalWeight memory.retrieval.rrf.denseWeight memory.retrieval.rrf.candidates memory.retrieval.rrf.k memory.retrieval.topK memory.retrieval.forgetting memory.fsrs.initialStability.profile memory.fsrs.initialStability.preference memory.fsrs.initialStability.event memory.fsrs.initialStability.lesson memory.fsrs.initialStability.pattern memory.fsrs.initialStability.case memory.dedup.same memory.dedup.new memory.reflect.minRecords memory.reflect.interval memory.reflect.maxInsights memory.shareUserMemory memory.memoryMaxTokens memory.locale memory.extractModel.baseUrl memory.extractModel.model memory.extractModel.apiKeyEnv memory.extractModel.timeout memory.wal.maxEntries memory.wal.maxBytes memory.index.hnswThreshold session.idleTimeout session.archiveAfter session.prices session.context.pruneStrategy session.context.budget session.context.threshold session.context.keepRecent session.context.model.baseUrl session.context.model.model session.context.model.apiKeyEnv session.context.model.timeout session.context.importance.user session.context.importance.assistant session.context.importance.tool session.context.importance.system session.context.importance.toolError session.context.importance.decision session.context.importance.entities session.context.importance.length session.context.importance.recency session.context.importance.halfLife' ;;
        'completion 0') REPLY='words bash zsh fish' ;;
        *) return 1 ;;
    esac
}
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
