"""Writes the list of Thai words by which lines are broken: pkg/media/compose/text/words/th.txt.gz.

    pip download --no-deps pythainlp==5.4.0
    python3 infra/tools/words/thai.py pythainlp-5.4.0-py3-none-any.whl

The words are those of words_th.txt, which the project PyThaiNLP has put into the public domain (CC0 1.0). Left out are
proverbs, names of many words, and long compounds of which each part is a word: a line may end within them.
"""

import functools
import gzip
import re
import sys
import zipfile

LONGEST, COMPOUND, PART = 20, 13, 3
LETTERS = re.compile("[\u0e01-\u0e2e\u0e30-\u0e3a\u0e40-\u0e45\u0e47-\u0e4e]+")
ONE_LETTER = "ณธ"  # and, on; by


def begins(word: str, at: int) -> bool:
    """Whether a part of a word can begin at a letter: not at a vowel or mark that follows another letter."""
    follows = "\u0e2f" <= word[at] <= "\u0e3a" or "\u0e45" <= word[at] <= "\u0e4e"
    return not follows and (at == 0 or not "\u0e40" <= word[at - 1] <= "\u0e44")


def main() -> None:
    with zipfile.ZipFile(sys.argv[1]) as wheel:
        lines = wheel.read("pythainlp/corpus/words_th.txt").decode().split("\n")
    words = {w.strip() for w in lines}
    words = {w for w in words if LETTERS.fullmatch(w) and begins(w, 0) and (len(w) > 1 or w in ONE_LETTER)}

    def divides(word: str) -> bool:
        @functools.cache
        def rest(at: int) -> bool:
            if at == len(word):
                return True
            return any(word[at:to] in words and (to == len(word) or begins(word, to)) and rest(to)
                       for to in range(at + PART, len(word) + (at > 0)))
        return rest(0)

    kept = sorted(w for w in words if len(w) <= LONGEST and not (len(w) > COMPOUND and divides(w)))
    with open("pkg/media/compose/text/words/th.txt.gz", "wb") as out:
        out.write(gzip.compress("\n".join(kept).encode(), mtime=0))
    print(len(kept), "words")


main()
