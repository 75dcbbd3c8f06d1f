"""OpenClaw memory and sessions as an offline command line.

Records on disk are the truth; the WAL says what changed; an index answers; commands ask; one
renderer speaks. The layers, from the top (a module imports from its own layer and from those
below, never sideways between packages of one layer and never upwards; ``tests/arch`` walks the
imports):

==================================  ==========================================================
``cli``                             options, one file a command, the renderer, the error boundary
``memory``, ``session``,            what is remembered, found, merged; conversations and their
``transfer``                        histories; what is carried in and out
``index``, ``embed``, ``llm``,      terms and vectors; texts to vectors; questions to answers;
``text``                            texts to terms
``store``                           durable files, locks, records and the write-ahead log
``errors``, ``result``, ``clock``,  leaves: the standard library only, apart from the JSON
``ids``, ``paths``, ``config``,     parsers that ``config`` loads when there is a file to read
``environment``
==================================  ==========================================================

This module imports nothing, so that ``--version`` costs no more than the interpreter.
"""

__version__ = "0.1.0"
