"""Writes the list of Chinese words by which lines are broken: pkg/media/compose/text/words/zh.txt.gz.

    pip download --no-deps --no-binary :all: jieba==0.42.1
    pip install opencc-python-reimplemented==0.1.7
    python3 infra/tools/words/chinese.py jieba-0.42.1.tar.gz

The words are the frequent ones of jieba, in simplified characters and, by OpenCC, in traditional ones.
"""

import gzip
import sys
import tarfile

import opencc

# The least frequency of words by their length, in characters: two words of two characters are as good as one of four.
FREQUENT = {2: 5, 3: 20, 4: 50}


def main() -> None:
    with tarfile.open(sys.argv[1]) as source:
        lines = source.extractfile("jieba-0.42.1/jieba/dict.txt").read().decode().splitlines()
    simplified = set()
    for line in lines:
        word, frequency, *_ = line.split(" ")
        han = all("\u4e00" <= c <= "\u9fff" for c in word)
        if han and int(frequency) >= FREQUENT.get(len(word), sys.maxsize):
            simplified.add(word)
    words = set(simplified)
    for region in "s2t", "s2tw", "s2hk":
        words |= set(map(opencc.OpenCC(region).convert, simplified))
    with open("pkg/media/compose/text/words/zh.txt.gz", "wb") as out:
        out.write(gzip.compress("\n".join(sorted(words)).encode(), mtime=0))
    print(len(words), "words")


main()
