"""Train the letter-group table that tells English, Spanish, Portuguese, French, German, Italian.

    python tests/eval/train_latin_ngrams.py DIRECTORY [OUTPUT]

DIRECTORY holds the Tatoeba sets ``langid_tatoeba/sentences.jsonl`` (objects with ``text`` and
``lang``) and ``tatoeba_*-en/{corpus,queries}.jsonl``. Every fifth sentence of the first set is
kept out of the training and used for the accuracy printed at the end. Without OUTPUT nothing is
written; the result depends on nothing but the input. The seed beside this file adds the words in
which memories are written (user, prefers, editor …), which Tatoeba hardly has.
"""

from __future__ import annotations

import json
import math
import sys
from collections import Counter
from pathlib import Path

from openclaw_cli.text.languages import LATIN_LANGUAGES
from openclaw_cli.text.latin import LONGEST_GROUP, LOWEST, OFFSET, STEP, WORDS, detect, groups_of
from openclaw_cli.text.normalize import fold, prepare

SIZE = 2700
SEED_WORD = 3
LEAST = 4
SMOOTHING = 0.5
HELD_OUT = 5
SEED = Path(__file__).with_name("latin_seed.json")
# So often per sentence of training, that its share is the same in every language.
SEED_SHARE = 130
WORD_COUNT = 8
# Names that Tatoeba's sentences repeat hundreds of times say nothing about a language.
NAMES = """
tom mary maria marie sami fadil boston layla dania muiriel ziri yanni skura john ken jim mennad
salima australia bob
"""

Sentences = dict[str, list[str]]


def read(path: Path) -> list[dict[str, str]]:
    """Return the objects of a JSON Lines file."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def seeds() -> dict[str, str]:
    """Return a text in the words of memories for each language."""
    seed: dict[str, str] = json.loads(SEED.read_text("utf-8"))
    return {language: seed[language] for language in LATIN_LANGUAGES}


def english_words() -> list[str]:
    """Return words of English notes, those among them that many languages share.

    English notes are full of pizza and piano: without them such words vote against English.
    """
    words: str = json.loads(SEED.read_text("utf-8"))["en_words"]
    return words.split()


def load(root: Path) -> tuple[Sentences, Sentences]:
    """Return training and test sentences by language, none in both."""
    training: Sentences = {language: [] for language in LATIN_LANGUAGES}
    test: Sentences = {language: [] for language in LATIN_LANGUAGES}
    for record in read(root / "langid_tatoeba" / "sentences.jsonl"):
        language = record["lang"]
        if language in test:
            total = len(training[language]) + len(test[language])
            kept_out = total % HELD_OUT == HELD_OUT - 1
            (test if kept_out else training)[language].append(record["text"])
    held_out = {text for texts in test.values() for text in texts}
    for path in sorted(root.glob("tatoeba_*-en/*.jsonl")):
        for record in read(path):
            if record.get("lang") in training and record["text"] not in held_out:
                training[record["lang"]].append(record["text"])
    for language, text in seeds().items():
        sentences = sorted(set(training[language]))
        training[language] = sentences + [text] * (len(sentences) // SEED_SHARE)
    return training, test


def count(sentences: list[str]) -> Counter[str]:
    """Return how often each letter group occurs, frequent words damped."""
    names = frozenset(NAMES.split())
    words = Counter(fold(w) for text in sentences for w in WORDS.findall(prepare(text)))
    counts: Counter[str] = Counter()
    for word, number in words.items():
        if word not in names:
            for group in groups_of(word):
                counts[group] += number**0.75
    return counts


def train(training: Sentences) -> dict[str, str]:
    """Return letter group -> one character per language, the most telling groups only."""
    counts = {language: count(texts) for language, texts in training.items()}
    for word in english_words():
        for group in groups_of(word):
            counts["en"][group] += WORD_COUNT**0.75
    totals: Counter[tuple[str, int]] = Counter()
    for language, counter in counts.items():
        for group, number in counter.items():
            totals[language, min(len(group), LONGEST_GROUP)] += number
    merged: Counter[str] = Counter()
    for counter in counts.values():
        merged.update(counter)
    rows: dict[str, tuple[float, str]] = {}
    for group in sorted(group for group, number in merged.items() if number >= LEAST):
        length = min(len(group), LONGEST_GROUP)
        shares = [
            counts[language][group] / totals[language, length] * 20_000 + SMOOTHING
            for language in LATIN_LANGUAGES
        ]
        mean = sum(shares) / len(shares)
        weights = [math.log(share / mean) for share in shares]
        telling = sum(share * weight for share, weight in zip(shares, weights, strict=True))
        row = "".join([chr(OFFSET + round(max(LOWEST, w) / STEP)) for w in weights])
        rows[group] = (telling, row)
    best = set(sorted(rows, key=lambda group: (-rows[group][0], group))[:SIZE])
    seed = " ".join([*seeds().values(), *english_words()])
    best.update(f" {fold(word)} " for word in WORDS.findall(seed) if len(word) > SEED_WORD)
    return {group: rows[group][1] for group in sorted(best & rows.keys())}


def main(arguments: list[str]) -> int:
    """Train, write when an output is named, and print the accuracy of the package's table."""
    if not arguments:
        print(__doc__)
        return 2
    training, test = load(Path(arguments[0]))
    if len(arguments) > 1:
        table = json.dumps(train(training), ensure_ascii=False, separators=(",", ":"))
        Path(arguments[1]).write_text(table + "\n", "utf-8")
    for language, sentences in test.items():
        guesses = Counter(detect(prepare(text))[0] for text in sentences)
        print(language, f"{guesses[language] / len(sentences):.3f}", dict(guesses))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
