"""Prints a table of widths of texts as HarfBuzz sets them: widths.py FONTS TABLE > NEW.

Each row of TABLE has the file of a font in the folder FONTS, a text, and its width in ems, with tabs between them. The
widths of the rows are computed anew. It needs uharfbuzz (Apache-2.0), and knows nothing of the service.
"""

import os
import sys

import uharfbuzz

fonts = {}


def width(file, text):
    if file not in fonts:
        face = uharfbuzz.Face(uharfbuzz.Blob.from_file_path(file))
        fonts[file] = uharfbuzz.Font(face), face.upem
    font, upem = fonts[file]
    buffer = uharfbuzz.Buffer()
    buffer.add_str(text)
    buffer.guess_segment_properties()
    buffer.language = "und"
    uharfbuzz.shape(font, buffer)
    return sum(p.x_advance for p in buffer.glyph_positions) / upem


def main(folder, table):
    for line in open(table, encoding="utf-8"):
        file, text = line.rstrip("\n").split("\t")[:2]
        print(file, text, f"{width(os.path.join(folder, file), text):.4f}", sep="\t")


if __name__ == "__main__":
    main(*sys.argv[1:])
