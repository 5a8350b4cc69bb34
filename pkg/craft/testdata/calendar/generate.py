"""Writes holidays.tsv: the public holidays of 2026 to 2030 by the Python package holidays, for the test of this package.

    python3 -m venv venv && venv/bin/pip install holidays==0.109
    venv/bin/python generate.py > holidays.tsv

Left out are elections, bridges between holidays, days of one year, days off that only follow from another holiday, and
the later days of a holiday of several days.
"""
import datetime
import re

import holidays

# Ukraine has no public holidays while martial law lasts.
COUNTRIES = (
    "AE AR AT AU BE BG BR CA CH CN CO CZ DE DK EG ES FI FR GB GR HU ID IE IL IN IT JP KR KZ MA MX NL NO NZ PL PT RO RU "
    "SA SE SG TH TR US VN ZA SK SI HR RS LT LV EE IS LU CL PE PH MY"
).split()
OTHER = re.compile(
    r"(?i)observed|substituted|day off|in lieu|additional|bridge|election|non-working|visit of|change of federal"
    r"|preceding|second day of (korean|chuseok|lunar)|(third|fourth|fifth) day|new year holidays"
)
DAY = datetime.timedelta(1)

for country in COUNTRIES:
    languages = holidays.country_holidays(country).supported_languages
    options = {"years": range(2026, 2031), "observed": country == "CO"}  # most holidays of Colombia are moved to a Monday
    options |= {"language": next(l for l in languages if l.startswith("en"))} if languages else {}
    found = holidays.country_holidays(country, **options)
    names = {}
    for day in sorted(found):
        for name in found.get_list(day):
            if not OTHER.search(name.replace("(observed)", "").replace("(observed, estimated)", "")):
                name = re.sub(r"\s*\((estimated|observed)[^)]*\)", "", name)
                names.setdefault(name, []).append(day)
    for name, days in names.items():
        for day in days:
            if day - DAY not in days:
                print(country, day, name, sep="\t")
