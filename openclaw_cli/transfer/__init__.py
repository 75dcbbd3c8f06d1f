"""Memories in and out: reading files of records, and taking them into a store.

``reading`` recognises what a file is and yields its records, ``incoming`` turns one of them into a
record document, ``importer`` decides and commits in batches.

Sessions have a file format of their own: ``sessionfile`` says which, ``sessionexport`` writes it,
``sessiontranscript`` writes what people read, ``sessionimport`` reads it line by line, and
``sessionmaking`` makes each session out of sight and puts it in its place.
"""
