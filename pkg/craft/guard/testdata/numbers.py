"""Writes numbers.tsv: numbers in words by the Python package num2words, for the test of this package.

    python3 -m venv venv && venv/bin/pip install num2words==0.5.14
    venv/bin/python numbers.py > numbers.tsv
"""
import random
from num2words import num2words
random.seed(7)
some = sorted(set(list(range(20, 100, 3)) + [100, 101, 115, 120, 200, 342, 500, 777, 999, 1000, 1200, 2000, 2500, 4300, 9999,
    10000, 12000, 15400, 50000, 100000, 250000, 654321, 1000000] + [random.randrange(100, 10**k) for k in (3, 4, 5, 6) for _ in range(6)]))
for lang in "ar de en es fr he it ja ko pl pt ru th tr uk vi".split():
    for n in some:
        print(lang, n, num2words(n, lang=lang), sep="\t")
