"""The file back-end: plain files in one generation folder, memory-mapped, never loaded whole.

* ``lines`` – sorted JSON Lines and binary search in them
* ``postings`` – ``bm25.idx``: building, merging, looking up
* ``metadata`` – ``metadata.json``: one column a line, loaded one by one
* ``vectors``, ``hnsw`` – ``vectors.<model>.f32`` exactly, ``vector.idx`` approximately
* ``generation`` – ``config.json``: what a generation is made of, and whether it is sound
* ``base`` – a generation as it is read
* ``snapshot`` – base plus what came since: the `Index` that searches use
* ``builder`` – writes the next generation
"""
