# SPDX-License-Identifier: Apache-2.0
"""What no report tells of a recording, as where its chunks are and when the last sample was taken: read as docs/internals/recording.md says."""
import ctypes
import struct

FILE_HEADER = 24
CHUNK = struct.Struct("<4sB3xIIQIIQQ")
META, UNITS, PLACES, TIMES, COLUMNS = 7, 8, 9, 10, (12, 13, 14)


def _decompressed(payload, length):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_decompress.restype = ctypes.c_size_t
    zstd.ZSTD_decompress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t]
    out = ctypes.create_string_buffer(length)
    assert zstd.ZSTD_decompress(out, length, payload, len(payload)) == length
    return out.raw


def _varint(data, at):
    """(value, where the next one begins)"""
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift += 7
        at += 1
        if data[at - 1] < 0x80:
            return value, at


def _varints(data):
    at = 0
    while at < len(data):
        value, at = _varint(data, at)
        yield value


def _sections(data):
    """{tag: bytes}"""
    found, at = {}, 0
    while at < len(data):
        tag, at = _varint(data, at)
        length, at = _varint(data, at)
        found[tag] = data[at : at + length]
        at += length
    return found


def _sum(data):
    """FNV-1a of 64 bits."""
    found = 0xCBF29CE484222325
    for byte in data:
        found = (found ^ byte) * 0x100000001B3 % (1 << 64)
    return found


def _compressed(data):
    zstd = ctypes.CDLL("libzstd.so.1")
    zstd.ZSTD_compress.restype = zstd.ZSTD_compressBound.restype = ctypes.c_size_t
    zstd.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    zstd.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    out = ctypes.create_string_buffer(zstd.ZSTD_compressBound(len(data)))
    length = zstd.ZSTD_compress(out, len(out), data, len(data), 9)
    return out.raw[:length]


def _chunk(sequence, samples, before, payload, plain):
    head = struct.pack("<4sB3xIIQIIQ", b"\x89PLC", 1, sequence, samples, before, len(payload), plain, _sum(payload))
    return head + struct.pack("<Q", _sum(head)) + payload


def with_samples(data, chunks, each):
    """A recording and, behind its first chunk with samples, so many more of so many samples each: the first one again and again."""
    at, sections = next(chunk for chunk in _whole_chunks(data) if PLACES in chunk[1])
    _, _, sequence, samples, before, length, _, _, _ = CHUNK.unpack_from(data, at - CHUNK.size)
    zeros = {UNITS: sections[UNITS], PLACES: sections[PLACES], TIMES: b"\0", **{tag: bytes(each) for tag in COLUMNS}}
    plain = b"".join(_coded(tag) + _coded(len(content)) + content for tag, content in zeros.items())
    payload = _compressed(plain)
    more = [_chunk(sequence + 1 + i, each, before + samples + i * each, payload, len(plain)) for i in range(chunks)]
    return data[: at + length] + b"".join(more)


def _coded(value):
    out = bytearray()
    while value > 0x7F:
        out.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*out, value])


def _whole_chunks(data):
    """(where its payload begins, sections) of each."""
    at = FILE_HEADER
    while at + CHUNK.size <= len(data):
        magic, _, _, _, _, length, plain, _, _ = CHUNK.unpack_from(data, at)
        assert magic == b"\x89PLC", "no chunk at %d" % at
        at += CHUNK.size
        if at + length > len(data):
            return
        yield at, _sections(_decompressed(data[at : at + length], plain))
        at += length


def last_sample_ns(path):
    """When the last sample was taken, in nanoseconds of the time of day; None without any."""
    last = None
    for _, chunk in _whole_chunks(path.read_bytes()):
        if TIMES not in chunk:
            continue
        unit_ns = 1 << next(_varints(chunk[UNITS]))
        deltas = [(value >> 1) ^ -(value & 1) for value in _varints(chunk[TIMES])]
        last = next(_varints(chunk[META])) + unit_ns * sum(deltas)
    return last


def chunks_with_samples(path):
    """Where the payloads of the chunks begin that hold samples."""
    return [at for at, chunk in _whole_chunks(path.read_bytes()) if TIMES in chunk]
