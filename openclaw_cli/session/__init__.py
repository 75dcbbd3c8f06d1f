"""Sessions: state on disk that outlives every process. What each module answers:

==================  ================================================================================
``schema``          what metadata and a message are; unknown fields survive
``lifecycle``       which status and run state may follow which: the two tables
``lines``           what one line of a history holds, damaged or not
``transcript``      a history read forwards and from its end, and appended to
``archive``         a history compressed and unpacked again, each proved before the other goes
``metadata``        meta.json, corrected by what the history or the catalogue knows better
``store``           one agent's sessions opened for a command: walked through, locked, changed
``catalog``         the derived file that spares ``list`` and ``ensure`` opening every folder
``lookup``          which session an id, the end of an id, or a channel and chat mean; making one
``listing``         list, show, tail
``following``       a history while others append to it
``appending``       messages checked, numbered and appended
``changing``        rename, tag, archive, and the sweep that applies the lifecycle
``removing``        delete, restore, and the trash
``verification``    what is wrong with a session (``findings``): read whole (``examine``), the small
                    files ``beside`` it, the ``report`` on many; ``repair`` puts right what can be,
                    ``carrying`` branch points and summaries over where their place moves
``context``         what an agent is told: ``recent`` messages, each ``weighing`` its tokens, calls
                    ``pairing`` with their results; ``pruning``, ``importance``, or ``summaries``
                    made by ``compaction``; ``attachments`` named; ``formats`` of providers;
                    ``build`` is the strategy's window in a format
``exchange``        messages as turns in which every call stands with its one result
``resumption``      ``checkpoints`` stored or refused, ``fitting`` a history or not, ``resuming``
``branches``        named places in a history, each with a hash of what lies before it
``forking``         a session that begins as another one did
``searching``       messages by their words, in plain and archived histories
``ledger``          the tokens that turns have used: a line each, appended and read
``usage``           these summed up, with what they cost
``purging``         a user forgotten: their sessions, and their messages in those of groups
``trimming``        a history written anew without one user's messages
``requests``        what the commands ask for
``service``         the one door through which commands reach an agent's sessions
==================  ================================================================================

Moving sessions from machine to machine belongs to ``transfer``.

Locks are taken in the order lookup, session, catalogue. A change is made in the order: the
catalogue says that the session is about to change; the history; the metadata; the catalogue says
what it is now. So a process killed anywhere leaves a catalogue that knows whom to ask again.
"""
