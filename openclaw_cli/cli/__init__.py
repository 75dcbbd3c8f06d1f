"""The command line: a table of commands, their options, one renderer, one error boundary.

Which question does each module answer? ``registry``: which commands are there. ``app``: which
one is meant, and how does a failure end. ``options``: what may be said with it. ``context``:
which state, agent and service does it work on. ``commands``: what does it do. ``render``: how is
it told. ``view``: how do texts, times and tables look to people. ``progress``: how far is it.
"""
