"""Answers over derived data: which documents hold these terms, which vectors are near?

``protocol`` is what every back-end offers, ``file`` is the back-end of plain files, ``bm25`` and
``fusion`` are the formulas. The index sees terms, vectors and ids, never a record's text.
"""
