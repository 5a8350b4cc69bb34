"""Writes the table by which pkg/base/clock is tested, from Python's zoneinfo and the pinned tzdata.

    python3 -m venv v && v/bin/pip install --require-hashes -r infra/tools/zones/requirements.txt
    v/bin/python infra/tools/zones/table.py pkg/base/clock/testdata

zones.zip has the files of the zones, so that the test does not depend on the data of its machine. A line of zones.tsv is
a zone, and then runs: for each quarter of an hour that a wall clock could show from 2026 to 2030, in their order, the
minutes by which its instant is behind it in UTC, as minutes*count.
"""
import datetime
import importlib.resources
import io
import itertools
import pathlib
import sys
import zipfile
import zoneinfo

ZONES = """Africa/Cairo Africa/Casablanca America/Asuncion America/Havana America/New_York America/Nuuk America/Santiago
Antarctica/Troll Asia/Beirut Asia/Kathmandu Asia/Tehran Atlantic/Azores Australia/Lord_Howe Europe/Berlin
Pacific/Auckland Pacific/Chatham""".split()
UTC = datetime.timezone.utc


def shown(wall, zone, fold):
    """Returns the instant of a wall time by PEP 495, and what the clocks show at it."""
    at = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
    return at, at.astimezone(zone).replace(tzinfo=None)


def instant(wall, zone):
    """Returns the first instant that shows the wall time. A skipped time moves on, or back if it leaves its day."""
    at, shows = shown(wall, zone, 0)
    if shows.date() != wall.date():
        at, shows = shown(wall, zone, 1)
    assert shows.date() == wall.date()
    return at


def runs(zone):
    wall, end = datetime.datetime(2026, 1, 1), datetime.datetime(2031, 1, 1)
    behind = []
    while wall < end:
        behind.append((wall - instant(wall, zone).replace(tzinfo=None)) // datetime.timedelta(minutes=1))
        wall += datetime.timedelta(minutes=15)
    return ' '.join(f'{minutes}*{len(list(same))}' for minutes, same in itertools.groupby(behind))


def main(folder):
    table = ''
    with zipfile.ZipFile(folder / 'zones.zip', 'w', zipfile.ZIP_DEFLATED) as files:
        for name in ZONES:
            data = importlib.resources.files('tzdata').joinpath('zoneinfo', *name.split('/')).read_bytes()
            files.writestr(zipfile.ZipInfo(name), data, zipfile.ZIP_DEFLATED)
            table += f'{name}\t{runs(zoneinfo.ZoneInfo.from_file(io.BytesIO(data), name))}\n'
    (folder / 'zones.tsv').write_text(table)


main(pathlib.Path(sys.argv[1]))
