"""Durable storage: bytes, records, the write-ahead log, locks and recovery – nothing of search.

Which question does each module answer?

* ``disk`` – which single steps can a crash fall between?
* ``fsio`` – how do bytes become durable, and who may change a state file? (only it)
* ``files`` – how is a state file read without trusting what stands in its place?
* ``locks`` – who may write now, and who is in the way?
* ``jsonl`` – what does one line of JSON Lines say?
* ``wal`` – what was acknowledged since the index's last checkpoint?
* ``records`` – is this file a memory record, and what does it say?
* ``recovery`` – what does the WAL know that the record files lack?
* ``repository`` – records and WAL as one: how is a change acknowledged and applied?
* ``generations`` – which index is current, and how is the next one put in its place?
* ``scan`` – which record files were added, changed or removed by hand?
* ``survey`` – what is there below a memory folder, and what is each file for?
* ``checksummed`` – which lines of a file that carries checksums are sound?
"""
