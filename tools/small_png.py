# SPDX-License-Identifier: Apache-2.0
"""A picture with few colours: screenshots of the report page have few but for the shades of letters. small_png.py FILE...
Needs nothing but Python; takes PNGs of eight bits a channel without interlacing, as browsers write them."""
import collections
import pathlib
import struct
import sys
import zlib

MAGIC = b"\x89PNG\r\n\x1a\n"
COLOURS = (256, 96, 48, 28, 20)  # so many, or fewer where the picture is larger than that
LARGEST = 60_000


def chunks(data):
    at = len(MAGIC)
    while at < len(data):
        size, kind = struct.unpack_from(">I4s", data, at)
        yield kind, data[at + 8:at + 8 + size]
        at += 12 + size


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def paeth(left, up, corner):
    near = left + up - corner
    by_left, by_up, by_corner = abs(near - left), abs(near - up), abs(near - corner)
    return left if by_left <= by_up and by_left <= by_corner else up if by_up <= by_corner else corner


def unfiltered(kind, row, above, step):
    """The bytes of a row, of what is stored of it; PNG, 9.2."""
    for i, byte in enumerate(row):
        left, corner = (row[i - step], above[i - step]) if i >= step else (0, 0)
        guess = (0, left, above[i], (left + above[i]) // 2, paeth(left, above[i], corner) if kind == 4 else 0)[kind]
        row[i] = (byte + guess) & 255
    return row


def read(data):
    """Width, height, and the colours of all pixels in rows."""
    parts = collections.defaultdict(bytes)
    for kind, content in chunks(data):
        parts[kind] += content
    width, height, depth, colour, _, _, interlaced = struct.unpack(">IIBBBBB", parts[b"IHDR"])
    if depth != 8 or colour not in (2, 6) or interlaced:
        raise ValueError("it is not a picture of eight bits a channel without interlacing")
    step, stored = (3 if colour == 2 else 4), zlib.decompress(parts[b"IDAT"])
    rows, above = [], bytearray(width * step)
    for y in range(height):
        at = y * (1 + width * step)
        above = unfiltered(stored[at], bytearray(stored[at + 1:at + 1 + width * step]), above, step)
        rows.append(list(zip(above[0::step], above[1::step], above[2::step])))
    return width, height, rows


def distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other))


def nearest(colour, palette):
    return min(range(len(palette)), key=lambda i: distance(colour, palette[i]))


def chosen(counts, most):
    """One after the other that which is furthest from those before, and is there often: a small sample in a legend counts, too."""
    palette = [counts.most_common(1)[0][0]]
    left = {colour: distance(colour, palette[0]) for colour in counts}
    while len(palette) < min(most, len(counts)):
        palette.append(max(left, key=lambda colour: left[colour] * counts[colour] ** 0.4))
        left = {colour: min(far, distance(colour, palette[-1])) for colour, far in left.items()}
    return palette


def small(picture, most):
    width, height, rows = picture
    counts = collections.Counter(colour for row in rows for colour in row)
    palette = chosen(counts, most)
    number = {colour: nearest(colour, palette) for colour in counts}
    pixels = b"".join(b"\0" + bytes(number[colour] for colour in row) for row in rows)
    head = struct.pack(">IIBBBBB", width, height, 8, 3, 0, 0, 0)
    colours = b"".join(bytes(colour) for colour in palette)
    return MAGIC + chunk(b"IHDR", head) + chunk(b"PLTE", colours) + chunk(b"IDAT", zlib.compress(pixels, 9)) + chunk(b"IEND", b"")


def main(*names):
    for name in names:
        picture = read(pathlib.Path(name).read_bytes())
        data = next((data for data in (small(picture, most) for most in COLOURS) if len(data) <= LARGEST), small(picture, COLOURS[-1]))
        pathlib.Path(name).write_bytes(data)


if __name__ == "__main__":
    main(*sys.argv[1:])
