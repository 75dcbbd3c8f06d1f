"""Memories in and out: reading files of records, and taking them into a store.

``reading`` recognises what a file is and yields its records, ``incoming`` turns one of them into a
record document, ``importer`` decides and commits in batches.

Sessions have a format of their own, in ``sessions``: ``file`` says which, ``export`` writes it,
``readable`` writes what people read, ``importing`` reads it line by line, ``making`` makes each
session out of sight and puts it in its place, ``points`` keeps branch points fitting.

``migration`` turns files and stores of older formats into this one, and back.
"""
