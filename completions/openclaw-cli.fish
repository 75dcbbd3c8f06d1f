# Completion of openclaw(1) for fish. Made from the command tree by: make docs
# Try it with:  openclaw-cli completion fish | source

set -g __openclaw_cli_paths 'memory' 'session' 'session trash' 'model' 'config' 'memory add' 'memory get' 'memory list' 'memory search' 'memory edit' 'memory history' 'memory undo' 'memory delete' 'memory purge' 'memory index' 'memory status' 'memory import' 'memory export' 'memory migrate' 'session new' 'session ensure' 'session list' 'session show' 'session tail' 'session append' 'session context' 'session checkpoint' 'session resume' 'session branch' 'session branches' 'session rename' 'session tag' 'session sweep' 'session archive' 'session delete' 'session restore' 'session trash list' 'session trash empty' 'session search' 'session usage' 'session export' 'session import' 'session verify' 'model list' 'model verify' 'config get' 'config show' 'config validate' 'config schema' 'doctor' 'schema' 'completion'

# The options of the command $argv that take a value.
function __openclaw_cli_valued
    printf '%s\n' --agent --state-dir --lock-timeout --now
    switch "$argv"
        case 'memory add'
            printf '%s\n' --file --category --scope --user --l1 --l2 --key --tag --id
        case 'memory get'
            printf '%s\n' --level
        case 'memory list'
            printf '%s\n' --category --scope --user --tag --language --since --until --sort --limit
        case 'memory search'
            printf '%s\n' -k --top-k --mode --fusion --category --scope --user --tag --language --since --until --level
        case 'memory edit'
            printf '%s\n' --l0 --l1 --l2 --category --key --tag --clear
        case 'memory undo'
            printf '%s\n' --to
        case 'memory delete'
            printf '%s\n' --category --scope --user --tag --language --since --until
        case 'memory purge'
            printf '%s\n' --user
        case 'memory import'
            printf '%s\n' --from --on-conflict --category --user --scope
        case 'memory export'
            printf '%s\n' -o --output --format --scope --category --user --tag --language --since --until
        case 'memory migrate'
            printf '%s\n' --from --to
        case 'session new'
            printf '%s\n' --channel --chat --user --title --model --tag --id --from
        case 'session ensure'
            printf '%s\n' --channel --chat --user --title --model --tag
        case 'session list'
            printf '%s\n' --status --channel --chat --user --tag --since --until --sort --limit
        case 'session tail'
            printf '%s\n' -n --lines
        case 'session append'
            printf '%s\n' --role --content --user --call --tokens
        case 'session context'
            printf '%s\n' --budget --strategy --format
        case 'session resume'
            printf '%s\n' -m --message --budget --format
        case 'session branch'
            printf '%s\n' --at
        case 'session tag'
            printf '%s\n' --add --remove
        case 'session trash empty'
            printf '%s\n' --older-than
        case 'session search'
            printf '%s\n' --session --role --since --limit
        case 'session usage'
            printf '%s\n' --by --since
        case 'session export'
            printf '%s\n' -o --output --format
        case 'session import'
            printf '%s\n' --on-conflict
    end
end

# Tell whether the command line has come to the command or group $argv.
function __openclaw_cli_at
    set -l at
    set -l skip 0
    set -l count 0
    for word in (commandline -opc)[2..]
        if test $skip = 1
            set skip 0
        else if string match -q -- '-*' $word
            if contains -- "$word" (__openclaw_cli_valued "$at")
                set skip 1
            end
        else
            test "$at $word" = ' sessions'; and set word session
            set -l next (string trim -- "$at $word")
            if contains -- "$next" $__openclaw_cli_paths
                set at $next
            else
                set count (math $count + 1)
            end
        end
    end
    set -g __openclaw_cli_count $count
    test "$at" = "$argv"
end

# The same, and tell whether no argument stands before the cursor.
function __openclaw_cli_first
    __openclaw_cli_at $argv; and test $__openclaw_cli_count = 0
end

# Tell whether the word before the cursor is one of the options $argv, whose value may follow.
function __openclaw_cli_after
    contains -- (commandline -opc)[-1] $argv
end

# Files that may hold a chart, and folders on the way to one.
function __openclaw_cli_pictures
    __fish_complete_path (commandline -ct) | string match -rei '(\.svg|\.png|/)(\t|$)'
end

# Ids on disk with what they are, asked of the program by its long name, beside the one that was
# typed: the short one may be another's, which is never run.
function __openclaw_cli_ids
    set -l words (commandline -opc)
    set -l program (string match -r '.*/' -- $words[1])openclaw-cli
    test -n "$program"; or set program openclaw-cli
    $program __complete $argv[1] (commandline -ct) $words[2..] 2>/dev/null
end


# The short name is completed, too, where it is this program or nobody's.
set -l names -c openclaw-cli
set -l short (command -s openclaw)
set -l long (command -s openclaw-cli)
if test -z "$short"; or cmp -s "$short" "$long"
    set -a names -c openclaw
end
complete $names -f
complete $names -l agent -xka '(__openclaw_cli_ids agent)' -d 'The agent [default: $OPENCLAW_AGENT, else main].'
complete $names -l state-dir -xa '(__fish_complete_directories)' -d 'The state directory [default: ~/.openclaw].'
complete $names -l json -d 'Print one JSON document.'
complete $names -s q -l quiet -d 'Say no more than what was asked for.'
complete $names -s v -l verbose -d 'Say more; show tracebacks.'
complete $names -l no-color -d 'Use no colours (also: $NO_COLOR).'
complete $names -l lock-timeout -x -d 'Wait so long for other writers [default: 10].'
complete $names -l now -x -d 'Take this as the present [default: the clock].'
complete $names -s h -l help -d 'Show this help.'
complete $names -n '__openclaw_cli_at' -a memory -d 'Store, find and look after memories.'
complete $names -n '__openclaw_cli_at' -a session -d 'Conversations: their metadata, their messages, their life.'
complete $names -n '__openclaw_cli_at' -a model -d 'The embedding models on this machine.'
complete $names -n '__openclaw_cli_at' -a config -d 'The configuration in force, and where it comes from.'
complete $names -n '__openclaw_cli_at' -a doctor -d 'Check everything, and repair what is safe.'
complete $names -n '__openclaw_cli_at' -a schema -d 'Print the JSON Schema of what a command prints with --json.'
complete $names -n '__openclaw_cli_at' -a completion -d 'Print the completion of a shell, or install it for you.'
complete $names -n '__openclaw_cli_at' -s V -l version -d 'Print the version.'
complete $names -n '__openclaw_cli_at' -l all-agents -d 'Work on every agent, where the command can.'
complete $names -n '__openclaw_cli_at memory' -a add -d 'Store one memory.'
complete $names -n '__openclaw_cli_at memory' -a get -d 'Show memories by id.'
complete $names -n '__openclaw_cli_at memory' -a list -d 'List memories, newest first.'
complete $names -n '__openclaw_cli_at memory' -a search -d 'Find memories by words and by meaning.'
complete $names -n '__openclaw_cli_at memory' -a edit -d 'Change what a memory says; what it said is kept.'
complete $names -n '__openclaw_cli_at memory' -a history -d 'Show what a memory said before, oldest first.'
complete $names -n '__openclaw_cli_at memory' -a undo -d 'Let an earlier state of a memory stand again.'
complete $names -n '__openclaw_cli_at memory' -a delete -d 'Delete memories by id or by filter.'
complete $names -n '__openclaw_cli_at memory' -a purge -d 'Forget everything of one user, and prove it.'
complete $names -n '__openclaw_cli_at memory' -a index -d 'Bring the search index up to date with the records.'
complete $names -n '__openclaw_cli_at memory' -a status -d 'Tell what is stored, what is indexed and what is pending.'
complete $names -n '__openclaw_cli_at memory' -a import -d 'Read memories from a file or standard input.'
complete $names -n '__openclaw_cli_at memory' -a export -d 'Write memories to a file or standard output.'
complete $names -n '__openclaw_cli_at memory' -a migrate -d 'Bring a file or the store from an older format to this one.'
complete $names -n '__openclaw_cli_at memory' -l all-agents -d 'Work on every agent, where the command can.'
complete $names -n '__openclaw_cli_at session' -a trash -d 'What session delete has put away.'
complete $names -n '__openclaw_cli_at session' -a new -d 'Make a session, always a new one.'
complete $names -n '__openclaw_cli_at session' -a ensure -d 'Return the session of a channel and chat, made if there is none.'
complete $names -n '__openclaw_cli_at session' -a list -d 'List sessions, those active last first.'
complete $names -n '__openclaw_cli_at session' -a show -d 'Show a session\'s metadata, where it lies and how large it is.'
complete $names -n '__openclaw_cli_at session' -a tail -d 'Show the last messages of a session, the newest at the end.'
complete $names -n '__openclaw_cli_at session' -a append -d 'Append one message, or those of JSON Lines on standard input.'
complete $names -n '__openclaw_cli_at session' -a context -d 'Build a context: messages that fit a budget of tokens.'
complete $names -n '__openclaw_cli_at session' -a checkpoint -d 'Store a checkpoint, given as JSON on standard input.'
complete $names -n '__openclaw_cli_at session' -a resume -d 'Print the messages with which a session goes on.'
complete $names -n '__openclaw_cli_at session' -a branch -d 'Name a place in a history, to begin from.'
complete $names -n '__openclaw_cli_at session' -a branches -d 'List the named places in a history.'
complete $names -n '__openclaw_cli_at session' -a rename -d 'Give a session a title.'
complete $names -n '__openclaw_cli_at session' -a tag -d 'Add tags to a session, or remove them.'
complete $names -n '__openclaw_cli_at session' -a sweep -d 'Make idle sessions dormant and archive old ones.'
complete $names -n '__openclaw_cli_at session' -a archive -d 'Archive sessions: compress their histories.'
complete $names -n '__openclaw_cli_at session' -a delete -d 'Move sessions to the trash.'
complete $names -n '__openclaw_cli_at session' -a restore -d 'Bring sessions back from the trash, as they were.'
complete $names -n '__openclaw_cli_at session' -a search -d 'Find messages by their words, in all sessions or in one.'
complete $names -n '__openclaw_cli_at session' -a usage -d 'Sum up the tokens that turns have used, or record one turn.'
complete $names -n '__openclaw_cli_at session' -a export -d 'Write sessions to a file or standard output.'
complete $names -n '__openclaw_cli_at session' -a import -d 'Read sessions from a file of session export.'
complete $names -n '__openclaw_cli_at session' -a verify -d 'Check sessions line by line, and repair them on demand.'
complete $names -n '__openclaw_cli_at session' -l all-agents -d 'Work on every agent, where the command can.'
complete $names -n '__openclaw_cli_at session trash' -a list -d 'List the sessions in the trash, the last deleted first.'
complete $names -n '__openclaw_cli_at session trash' -a empty -d 'Remove the sessions in the trash for good.'
complete $names -n '__openclaw_cli_at model' -a list -d 'List the embedding models and the languages they read.'
complete $names -n '__openclaw_cli_at model' -a verify -d 'Check the files of the models against their recorded digests.'
complete $names -n '__openclaw_cli_at config' -a get -d 'Show configuration values.'
complete $names -n '__openclaw_cli_at config' -a show -d 'Show every setting, its meaning and its origin.'
complete $names -n '__openclaw_cli_at config' -a validate -d 'Check the configuration file and the environment.'
complete $names -n '__openclaw_cli_at config' -a schema -d 'List what the configuration may hold.'
complete $names -n '__openclaw_cli_at memory add' -l file -rF -d 'Read the text from this file.'
complete $names -n '__openclaw_cli_at memory add' -l category -xa 'profile preference event lesson pattern case insight' -d 'One of profile, preference, event, lesson, pattern, case, insight.  [default: event]'
complete $names -n '__openclaw_cli_at memory add' -l scope -xa 'user agent' -d 'Whose memory it is.'
complete $names -n '__openclaw_cli_at memory add' -l user -x -d 'The user it is about.'
complete $names -n '__openclaw_cli_at memory add' -l l1 -x -d 'An overview to keep with it.'
complete $names -n '__openclaw_cli_at memory add' -l l2 -x -d 'The full original [default: the text].'
complete $names -n '__openclaw_cli_at memory add' -l key -x -d 'The slot it fills: one value at a time.'
complete $names -n '__openclaw_cli_at memory add' -l tag -x -d 'A tag (repeatable).'
complete $names -n '__openclaw_cli_at memory add' -l id -x -d 'The id, instead of a new one.'
complete $names -n '__openclaw_cli_at memory add' -l no-embed -d 'Make no vectors now; memory index makes them later.'
complete $names -n '__openclaw_cli_at memory add' -l allow-duplicate -d 'Store it even if the same text is there.'
complete $names -n '__openclaw_cli_at memory get' -l level -xa 'l0 l1 l2 all' -d 'Summary, overview, full text, or all of them.  [default: all]'
complete $names -n '__openclaw_cli_at memory get' -fka '(__openclaw_cli_ids record)'
complete $names -n '__openclaw_cli_at memory list' -l category -xa 'profile preference event lesson pattern case insight' -d 'Only this category (repeatable).'
complete $names -n '__openclaw_cli_at memory list' -l scope -xa 'user agent' -d 'Only this scope (repeatable).'
complete $names -n '__openclaw_cli_at memory list' -l user -x -d 'Only of this user (repeatable).'
complete $names -n '__openclaw_cli_at memory list' -l tag -x -d 'Only with this tag (repeatable).'
complete $names -n '__openclaw_cli_at memory list' -l language -x -d 'Only in this language, as zh (repeatable).'
complete $names -n '__openclaw_cli_at memory list' -l since -x -d 'Only from this time on: a date, a time, or 7d.'
complete $names -n '__openclaw_cli_at memory list' -l until -x -d 'Only from before this time.'
complete $names -n '__openclaw_cli_at memory list' -l pending -d 'Only those that wait for a vector.'
complete $names -n '__openclaw_cli_at memory list' -l sort -xa 'created updated retrievability' -d 'Newest, latest changed, or best remembered first.  [default: created]'
complete $names -n '__openclaw_cli_at memory list' -l limit -x -d 'At most so many, 0 for all [default: 50; all with --jsonl].  [x>=0]'
complete $names -n '__openclaw_cli_at memory list' -l jsonl -d 'Print one JSON object a line, as they are found.'
complete $names -n '__openclaw_cli_at memory search' -s k -l top-k -x -d 'At most so many [default: 10].  [1<=x<=1000]'
complete $names -n '__openclaw_cli_at memory search' -l mode -xa 'hybrid lexical dense' -d 'Ask words, vectors, or both [default: hybrid].'
complete $names -n '__openclaw_cli_at memory search' -l fusion -xa 'relative rrf' -d 'How both become one list [default: relative].'
complete $names -n '__openclaw_cli_at memory search' -l category -xa 'profile preference event lesson pattern case insight' -d 'Only this category (repeatable).'
complete $names -n '__openclaw_cli_at memory search' -l scope -xa 'user agent' -d 'Only this scope (repeatable).'
complete $names -n '__openclaw_cli_at memory search' -l user -x -d 'Only of this user (repeatable).'
complete $names -n '__openclaw_cli_at memory search' -l tag -x -d 'Only with this tag (repeatable).'
complete $names -n '__openclaw_cli_at memory search' -l language -x -d 'Only in this language, as zh (repeatable).'
complete $names -n '__openclaw_cli_at memory search' -l since -x -d 'Only from this time on: a date, a time, or 7d.'
complete $names -n '__openclaw_cli_at memory search' -l until -x -d 'Only from before this time.'
complete $names -n '__openclaw_cli_at memory search' -l explain -d 'Show how each score came about.'
complete $names -n '__openclaw_cli_at memory search' -l touch -d 'Record in each hit that it was recalled.'
complete $names -n '__openclaw_cli_at memory search' -l level -xa 'l0 l1 l2' -d 'Show the summary, the overview or the full text.  [default: l0]'
complete $names -n '__openclaw_cli_at memory edit' -l l0 -x -d 'The summary that is found.'
complete $names -n '__openclaw_cli_at memory edit' -l l1 -x -d 'The overview.'
complete $names -n '__openclaw_cli_at memory edit' -l l2 -x -d 'The full original.'
complete $names -n '__openclaw_cli_at memory edit' -l category -xa 'profile preference event lesson pattern case insight' -d 'The category.'
complete $names -n '__openclaw_cli_at memory edit' -l key -x -d 'The slot it fills.'
complete $names -n '__openclaw_cli_at memory edit' -l tag -x -d 'A tag in place of those it has (repeatable).'
complete $names -n '__openclaw_cli_at memory edit' -l clear -x -d 'Empty l1, l2, key or tags (repeatable).'
complete $names -n '__openclaw_cli_at memory edit' -l no-embed -d 'Make no vectors now; memory index makes them later.'
complete $names -n '__openclaw_cli_first memory edit' -fka '(__openclaw_cli_ids record)'
complete $names -n '__openclaw_cli_first memory history' -fka '(__openclaw_cli_ids record)'
complete $names -n '__openclaw_cli_at memory undo' -l to -x -d 'The entry of memory history [default: the last state].  [x>=1]'
complete $names -n '__openclaw_cli_at memory undo' -l no-embed -d 'Make no vectors now; memory index makes them later.'
complete $names -n '__openclaw_cli_first memory undo' -fka '(__openclaw_cli_ids record)'
complete $names -n '__openclaw_cli_at memory delete' -l category -xa 'profile preference event lesson pattern case insight' -d 'Only this category (repeatable).'
complete $names -n '__openclaw_cli_at memory delete' -l scope -xa 'user agent' -d 'Only this scope (repeatable).'
complete $names -n '__openclaw_cli_at memory delete' -l user -x -d 'Only of this user (repeatable).'
complete $names -n '__openclaw_cli_at memory delete' -l tag -x -d 'Only with this tag (repeatable).'
complete $names -n '__openclaw_cli_at memory delete' -l language -x -d 'Only in this language, as zh (repeatable).'
complete $names -n '__openclaw_cli_at memory delete' -l since -x -d 'Only from this time on: a date, a time, or 7d.'
complete $names -n '__openclaw_cli_at memory delete' -l until -x -d 'Only from before this time.'
complete $names -n '__openclaw_cli_at memory delete' -l dry-run -d 'Say what would be done, change nothing.'
complete $names -n '__openclaw_cli_at memory delete' -s y -l yes -d 'Do not ask.'
complete $names -n '__openclaw_cli_at memory delete' -fka '(__openclaw_cli_ids record)'
complete $names -n '__openclaw_cli_at memory purge' -l user -x -d 'Whose data to forget.  [required]'
complete $names -n '__openclaw_cli_at memory purge' -l sessions -d 'Their sessions and ledger lines, too.'
complete $names -n '__openclaw_cli_at memory purge' -l group-messages -d 'With --sessions: what they said in others\', too.'
complete $names -n '__openclaw_cli_at memory purge' -l verify -d 'Then read every file for what must not be left anywhere.'
complete $names -n '__openclaw_cli_at memory purge' -l dry-run -d 'Say what would be done, change nothing.'
complete $names -n '__openclaw_cli_at memory purge' -s y -l yes -d 'Do not ask.'
complete $names -n '__openclaw_cli_at memory purge' -l all-agents -d 'Work on every agent.'
complete $names -n '__openclaw_cli_at memory index' -l verify -d 'Read and hash every file instead of trusting dates.'
complete $names -n '__openclaw_cli_at memory index' -l rebuild -d 'Make the index anew from the records.'
complete $names -n '__openclaw_cli_at memory index' -l reembed -d 'Make every vector anew (an interrupted run goes on).'
complete $names -n '__openclaw_cli_at memory index' -l no-embed -d 'Make no vectors now; memory index makes them later.'
complete $names -n '__openclaw_cli_at memory index' -l all-agents -d 'Work on every agent.'
complete $names -n '__openclaw_cli_at memory status' -l bytes -d 'Show where the space went, file by file.'
complete $names -n '__openclaw_cli_at memory status' -l plot -d 'Draw charts: here, or into FILE (.svg, .png).'
complete $names -n '__openclaw_cli_at memory status; and __openclaw_cli_after --plot' -fka '(__openclaw_cli_pictures)'
complete $names -n '__openclaw_cli_at memory status' -l force -d 'Replace the FILE of --plot if it is there already.'
complete $names -n '__openclaw_cli_at memory status' -l all-agents -d 'Work on every agent.'
complete $names -n '__openclaw_cli_at memory import' -l from -x -d 'auto, openclaw or jsonl.  [default: auto]'
complete $names -n '__openclaw_cli_at memory import' -l on-conflict -xa 'skip overwrite newer duplicate' -d 'What to do with an id that is there already.  [default: skip]'
complete $names -n '__openclaw_cli_at memory import' -l category -xa 'profile preference event lesson pattern case insight' -d 'For memories that name none.'
complete $names -n '__openclaw_cli_at memory import' -l user -x -d 'For memories that name none.'
complete $names -n '__openclaw_cli_at memory import' -l scope -xa 'user agent' -d 'For memories that name none.'
complete $names -n '__openclaw_cli_at memory import' -l dedup -d 'Skip a text that is there already.'
complete $names -n '__openclaw_cli_at memory import' -l no-embed -d 'Make no vectors now; memory index makes them later.'
complete $names -n '__openclaw_cli_at memory import' -l dry-run -d 'Check everything, change nothing.'
complete $names -n '__openclaw_cli_first memory import' -F
complete $names -n '__openclaw_cli_at memory export' -s o -l output -rF -d 'The file (.gz packs it); - is standard output.'
complete $names -n '__openclaw_cli_at memory export' -l format -xa 'json jsonl' -d 'One document, or one record a line [default: by name].'
complete $names -n '__openclaw_cli_at memory export' -l scope -xa 'user agent all' -d 'Whose memories.  [default: all]'
complete $names -n '__openclaw_cli_at memory export' -l category -xa 'profile preference event lesson pattern case insight' -d 'Only this category (repeatable).'
complete $names -n '__openclaw_cli_at memory export' -l user -x -d 'Only of this user (repeatable).'
complete $names -n '__openclaw_cli_at memory export' -l tag -x -d 'Only with this tag (repeatable).'
complete $names -n '__openclaw_cli_at memory export' -l language -x -d 'Only in this language, as zh (repeatable).'
complete $names -n '__openclaw_cli_at memory export' -l since -x -d 'Only from this time on: a date, a time, or 7d.'
complete $names -n '__openclaw_cli_at memory export' -l until -x -d 'Only from before this time.'
complete $names -n '__openclaw_cli_at memory export' -l force -d 'Replace the file if it is there already.'
complete $names -n '__openclaw_cli_at memory migrate' -l from -x -d 'What it must be, as 1.x.'
complete $names -n '__openclaw_cli_at memory migrate' -l to -x -d 'What it becomes [default: 2.0].'
complete $names -n '__openclaw_cli_at memory migrate' -l rollback -d 'Restore what the migration has kept.'
complete $names -n '__openclaw_cli_at memory migrate' -l dry-run -d 'Show each change, make none.'
complete $names -n '__openclaw_cli_first memory migrate' -F
complete $names -n '__openclaw_cli_at session new' -l channel -x -d 'Where it takes place.'
complete $names -n '__openclaw_cli_at session new' -l chat -x -d 'The chat or group there.'
complete $names -n '__openclaw_cli_at session new' -l user -x -d 'The user it is with.'
complete $names -n '__openclaw_cli_at session new' -l title -x -d 'What to call it.'
complete $names -n '__openclaw_cli_at session new' -l model -x -d 'The model that answers.'
complete $names -n '__openclaw_cli_at session new' -l tag -x -d 'A tag (repeatable).'
complete $names -n '__openclaw_cli_at session new' -l id -x -d 'The id, instead of a new one.'
complete $names -n '__openclaw_cli_at session new' -l from -x -d 'Begin as this session, up to a branch or message.'
complete $names -n '__openclaw_cli_at session ensure' -l channel -x -d 'Where it takes place.  [required]'
complete $names -n '__openclaw_cli_at session ensure' -l chat -x -d 'The chat or group there.  [required]'
complete $names -n '__openclaw_cli_at session ensure' -l user -x -d 'For a new one: the user.'
complete $names -n '__openclaw_cli_at session ensure' -l title -x -d 'For a new one: its title.'
complete $names -n '__openclaw_cli_at session ensure' -l model -x -d 'For a new one: the model.'
complete $names -n '__openclaw_cli_at session ensure' -l tag -x -d 'For a new one: a tag (repeatable).'
complete $names -n '__openclaw_cli_at session list' -l status -xa 'active dormant archived all' -d 'Only of this status [default: not archived].'
complete $names -n '__openclaw_cli_at session list' -l channel -x -d 'Only of this channel (repeatable).'
complete $names -n '__openclaw_cli_at session list' -l chat -x -d 'Only of this chat (repeatable).'
complete $names -n '__openclaw_cli_at session list' -l user -x -d 'Only of this user (repeatable).'
complete $names -n '__openclaw_cli_at session list' -l tag -x -d 'Only with this tag (repeatable).'
complete $names -n '__openclaw_cli_at session list' -l since -x -d 'Only from this time on: a date, a time, or 7d.'
complete $names -n '__openclaw_cli_at session list' -l until -x -d 'Only from before this time.'
complete $names -n '__openclaw_cli_at session list' -l sort -xa 'last-active created messages cost' -d 'Latest, newest, longest or dearest first.  [default: last-active]'
complete $names -n '__openclaw_cli_at session list' -l limit -x -d 'At most so many, 0 for all [default: 50; all with --jsonl].  [x>=0]'
complete $names -n '__openclaw_cli_at session list' -l jsonl -d 'Print one JSON object a line, as they are found.'
complete $names -n '__openclaw_cli_first session show' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session tail' -s n -l lines -x -d 'How many messages.  [default: 20; x>=0]'
complete $names -n '__openclaw_cli_at session tail' -s f -l follow -d 'Go on with those that others append.'
complete $names -n '__openclaw_cli_at session tail' -l jsonl -d 'Print one JSON object a line, as they are found.'
complete $names -n '__openclaw_cli_first session tail' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session append' -l role -xa 'user assistant tool system' -d 'Who says it.'
complete $names -n '__openclaw_cli_at session append' -l content -x -d 'What is said.'
complete $names -n '__openclaw_cli_at session append' -l user -x -d 'Which user says it.'
complete $names -n '__openclaw_cli_at session append' -l call -x -d 'The tool call that it answers.'
complete $names -n '__openclaw_cli_at session append' -l tokens -x -d 'How many tokens it has.  [x>=0]'
complete $names -n '__openclaw_cli_first session append' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session context' -l budget -x -d 'How many tokens it may take [default: session.context.budget].  [x>=1]'
complete $names -n '__openclaw_cli_at session context' -l strategy -xa 'sliding-window summary importance' -d 'How a long history is shortened [default: session.context.pruneStrategy].'
complete $names -n '__openclaw_cli_at session context' -l format -xa 'json text openai anthropic' -d 'What the messages look like [default: text, json with --json].'
complete $names -n '__openclaw_cli_at session context' -l explain -d 'Tell what each message takes, and its score.'
complete $names -n '__openclaw_cli_first session context' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_first session checkpoint' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session resume' -s m -l message -x -d 'What the operator has to say, if anything.'
complete $names -n '__openclaw_cli_at session resume' -l budget -x -d 'How many tokens it may take [default: session.context.budget].  [x>=1]'
complete $names -n '__openclaw_cli_at session resume' -l format -xa 'json text openai anthropic' -d 'What the messages look like [default: text, json with --json].'
complete $names -n '__openclaw_cli_first session resume' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session branch' -l at -x -d 'The last message of it [default: now].  [x>=0]'
complete $names -n '__openclaw_cli_first session branch' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_first session branches' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_first session rename' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session tag' -l add -x -d 'Add it (repeatable).'
complete $names -n '__openclaw_cli_at session tag' -l remove -x -d 'Remove it (repeatable).'
complete $names -n '__openclaw_cli_first session tag' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session sweep' -l dry-run -d 'Say what would be done, change nothing.'
complete $names -n '__openclaw_cli_at session sweep' -l all-agents -d 'Work on every agent.'
complete $names -n '__openclaw_cli_at session archive' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session delete' -l dry-run -d 'Say what would be done, change nothing.'
complete $names -n '__openclaw_cli_at session delete' -s y -l yes -d 'Do not ask.'
complete $names -n '__openclaw_cli_at session delete' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session restore' -fka '(__openclaw_cli_ids trash)'
complete $names -n '__openclaw_cli_at session trash empty' -l older-than -x -d 'Only what was deleted before: 30d.'
complete $names -n '__openclaw_cli_at session trash empty' -l dry-run -d 'Say what would be done, change nothing.'
complete $names -n '__openclaw_cli_at session trash empty' -s y -l yes -d 'Do not ask.'
complete $names -n '__openclaw_cli_at session search' -l session -xka '(__openclaw_cli_ids session)' -d 'Only in this session.'
complete $names -n '__openclaw_cli_at session search' -l role -xa 'user assistant tool system' -d 'Only what this role says (repeatable).'
complete $names -n '__openclaw_cli_at session search' -l since -x -d 'Only from this time on: a date, a time, or 7d.'
complete $names -n '__openclaw_cli_at session search' -l limit -x -d 'At most so many.  [default: 20; 1<=x<=10000]'
complete $names -n '__openclaw_cli_at session usage' -l by -xa 'session model channel day' -d 'What to sum up by [default: day].'
complete $names -n '__openclaw_cli_at session usage' -l since -x -d 'Only from this time on: a date, a time, or 7d.'
complete $names -n '__openclaw_cli_at session usage' -l csv -d 'Print CSV with a line of names.'
complete $names -n '__openclaw_cli_at session usage' -l record -d 'Append one turn, JSON on standard input.'
complete $names -n '__openclaw_cli_at session usage' -l plot -d 'Draw charts: here, or into FILE (.svg, .png).'
complete $names -n '__openclaw_cli_at session usage; and __openclaw_cli_after --plot' -fka '(__openclaw_cli_pictures)'
complete $names -n '__openclaw_cli_at session usage' -l force -d 'Replace the FILE of --plot if it is there already.'
complete $names -n '__openclaw_cli_at session export' -l all -d 'All sessions, archived ones too.'
complete $names -n '__openclaw_cli_at session export' -s o -l output -rF -d 'The file (.gz packs it); - is standard output.'
complete $names -n '__openclaw_cli_at session export' -l format -xa 'jsonl markdown html' -d 'To import again, or to read [default: by name].'
complete $names -n '__openclaw_cli_at session export' -l force -d 'Replace the file if it is there already.'
complete $names -n '__openclaw_cli_first session export' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_at session import' -l on-conflict -xa 'skip new-id overwrite' -d 'What to do with an id that is there already.  [default: skip]'
complete $names -n '__openclaw_cli_at session import' -l dry-run -d 'Check everything, change nothing.'
complete $names -n '__openclaw_cli_first session import' -F
complete $names -n '__openclaw_cli_at session verify' -l repair -d 'Put right what can be; damage is set aside.'
complete $names -n '__openclaw_cli_at session verify' -l all-agents -d 'Work on every agent.'
complete $names -n '__openclaw_cli_at session verify' -fka '(__openclaw_cli_ids session)'
complete $names -n '__openclaw_cli_first config get' -fa 'memory.embedding.provider memory.embedding.localModel memory.embedding.model memory.embedding.dimensions memory.embedding.batchSize memory.embedding.baseUrl memory.retrieval.mode memory.retrieval.fusion memory.retrieval.relative.lexicalWeight memory.retrieval.relative.denseWeight memory.retrieval.relative.candidates memory.retrieval.rrf.lexicalWeight memory.retrieval.rrf.denseWeight memory.retrieval.rrf.candidates memory.retrieval.rrf.k memory.retrieval.topK memory.retrieval.forgetting memory.fsrs.initialStability.profile memory.fsrs.initialStability.preference memory.fsrs.initialStability.event memory.fsrs.initialStability.lesson memory.fsrs.initialStability.pattern memory.fsrs.initialStability.case memory.dedup.same memory.dedup.new memory.reflect.minRecords memory.reflect.interval memory.reflect.maxInsights memory.shareUserMemory memory.memoryMaxTokens memory.locale memory.extractModel.baseUrl memory.extractModel.model memory.extractModel.apiKeyEnv memory.extractModel.timeout memory.wal.maxEntries memory.wal.maxBytes memory.index.hnswThreshold session.idleTimeout session.archiveAfter session.prices session.context.pruneStrategy session.context.budget session.context.threshold session.context.keepRecent session.context.model.baseUrl session.context.model.model session.context.model.apiKeyEnv session.context.model.timeout session.context.importance.user session.context.importance.assistant session.context.importance.tool session.context.importance.system session.context.importance.toolError session.context.importance.decision session.context.importance.entities session.context.importance.length session.context.importance.recency session.context.importance.halfLife'
complete $names -n '__openclaw_cli_at config show' -l origin -d 'Show where each value comes from.'
complete $names -n '__openclaw_cli_at doctor' -l fix -d 'Repair what is safe; set damage aside, delete none.'
complete $names -n '__openclaw_cli_at doctor' -l all-agents -d 'Work on every agent.'
complete $names -n '__openclaw_cli_at completion' -l install -d 'Write it to where the shell looks for it.'
complete $names -n '__openclaw_cli_at completion' -l force -d 'With --install: replace a file that is not ours.'
complete $names -n '__openclaw_cli_first completion' -fa 'bash zsh fish'
