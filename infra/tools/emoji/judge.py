"""Draws glyphs of a font in color with Skia: judge.py FONT SIZE EM BACKGROUND GLYPHS OUTPUT.

GLYPHS has a line with a glyph's number, and the place of its origin, for each. OUTPUT gets the pixels of a square
picture, three bytes each. It knows nothing of the service.
"""

import sys

import skia


def main(font_file, size, em, background, glyphs, output):
    size = int(size)
    face = skia.Typeface.MakeFromFile(font_file)
    font = skia.Font(face, float(em))
    font.setEdging(skia.Font.Edging.kAntiAlias)
    font.setSubpixel(True)
    font.setHinting(skia.FontHinting.kNone)
    surface = skia.Surface(size, size)
    gray = int(background)
    surface.getCanvas().clear(skia.Color(gray, gray, gray))
    for line in open(glyphs):
        glyph, x, y = line.split()
        run = skia.TextBlobBuilder()
        run.allocRunPos(font, [int(glyph)], [skia.Point(float(x), float(y))])
        surface.getCanvas().drawTextBlob(run.make(), 0, 0, skia.Paint(AntiAlias=True))
    pixels = surface.makeImageSnapshot().toarray(colorType=skia.kRGBA_8888_ColorType)
    with open(output, "wb") as out:
        out.write(pixels[:, :, :3].tobytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
