"""What is remembered, found and merged; commands come in through ``service`` only.

* ``categories`` – what a kind of memory means: scope, merge strategy, initial stability
* ``levels`` – L0, L1, L2 and which text of a record is indexed
* ``fsrs`` – how well a memory is retained at a moment
* ``documents`` – a record as the index sees it
* ``embedding`` – which model reads a text, and its vectors
* ``store`` – one agent's memory opened for a command
* ``adding``, ``merging`` – a new statement becomes a record or changes one
* ``history``, ``editing`` – what a record was before, and how it stands again
* ``lookup``, ``deleting`` – which record an id means; records go
* ``purging``, ``proof`` – a user is forgotten, and nothing of theirs is left
* ``indexing`` – records and WAL (``changes``) become the next generation (``build``) with its
  vectors (``vectorising``); ``checkpoint`` is what comes before and after a write
* ``doctor`` – what ``checkup`` asks (``checks_*``, ``examined``) and repairs (``repair``)
* ``occupancy`` – where the space went; ``figures`` – what is drawn of it
* ``filters``, ``retrieval``, ``listing``, ``status`` – the reading commands
"""
