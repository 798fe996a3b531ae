# SPDX-License-Identifier: Apache-2.0
"""A JIT compiler in small: two functions of machine code, which it tells of by the interface of GDB, as LLVM does. The outer
one has an unwind table, the inner one has none, and computes. --told perf: it writes their names into a perf map instead, where
the code was another's before."""
import _ctypes
import ctypes
import mmap
import os
import struct

TURNS = 1000000
CODE_ROOM, TABLES_AT = 4096, 2048

# push %r12; push %rbx; sub $24,%rsp; mov %rdi,%rbx; 1: mov %rbx,%r12; dec %rbx; jnz 1b; xor %eax,%eax; add $24,%rsp; pop %rbx;
# pop %r12; ret
INNER = b"\x41\x54\x53\x48\x83\xec\x18\x48\x89\xfb\x49\x89\xdc\x48\xff\xcb\x75\xf8\x31\xc0\x48\x83\xc4\x18\x5b\x41\x5c\xc3"
# push %rbx; sub $16,%rsp; movabs $inner,%rax
OUTER_BEGIN = b"\x53\x48\x83\xec\x10\x48\xb8"
# call *%rax; mov %rax,%rbx; add $16,%rsp; pop %rbx; ret
OUTER_END = b"\xff\xd0\x48\x89\xc3\x48\x83\xc4\x10\x5b\xc3"
OUTER_AT = 64

SHT_PROGBITS, SHT_SYMTAB, SHT_STRTAB = 1, 2, 3
SHF_ALLOC, SHF_EXECINSTR = 2, 4
ET_REL, EM_X86_64, STT_FUNC_GLOBAL = 1, 62, 0x12
EHDR, SHDR, SYM = "<16sHHIQQQIHHHHHH", "<IIQQQQIIQQ", "<IBBHQQ"


def machine_code(at):
    """(the bytes that are to lie at this address, where the outer function is, its length)"""
    outer = OUTER_BEGIN + struct.pack("<Q", at) + OUTER_END
    return INNER.ljust(OUTER_AT, b"\xcc") + outer, at + OUTER_AT, len(outer)


def record(body):
    body += b"\0" * (-(len(body) + 4) % 8)
    return struct.pack("<I", len(body)) + body


def unwind_tables(at, outer, size):
    """.eh_frame of the outer function, to lie at this address."""
    shared = record(struct.pack("<IB", 0, 1) + b"zR\0\x01\x78\x10\x01\x1c" + b"\x0c\x07\x08\x90\x01")
    place = at + len(shared) + 8
    rules = b"\x41\x0e\x10\x83\x02\x44\x0e\x20\x53\x0e\x10\x41\x0e\x08"
    own = record(struct.pack("<IqQB", len(shared) + 4, outer - place, size, 0) + rules)
    return shared + own + b"\0\0\0\0"


def object_file(code_at, code, tables_at, tables, functions):
    """An ELF file as a JIT compiler has it in memory: its sections say where they lie, its symbols count from the code.
    `functions`: [(name, offset, size)]"""
    strings = b"\0" + b"".join(name + b"\0" for name in (b".text", b".eh_frame", b".symtab", b".strtab"))
    symbols = struct.pack(SYM, 0, 0, 0, 0, 0, 0)
    for name, offset, size in functions:
        symbols += struct.pack(SYM, len(strings), STT_FUNC_GLOBAL, 0, 1, offset, size)
        strings += name + b"\0"
    parts = [(b".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, code_at, code, 0, 0),
             (b".eh_frame", SHT_PROGBITS, SHF_ALLOC, tables_at, tables, 0, 0),
             (b".symtab", SHT_SYMTAB, 0, 0, symbols, 4, struct.calcsize(SYM)),
             (b".strtab", SHT_STRTAB, 0, 0, strings, 0, 0)]
    headers, body = struct.pack(SHDR, *[0] * 10), b""
    for name, kind, flags, address, held, link, each in parts:
        headers += struct.pack(SHDR, strings.index(name + b"\0"), kind, flags, address, struct.calcsize(EHDR) + len(body), len(held), link,
                               0, 8, each)
        body += held + b"\0" * (-len(held) % 8)
    return struct.pack(EHDR, b"\x7fELF\x02\x01\x01", ET_REL, EM_X86_64, 1, 0, 0, struct.calcsize(EHDR) + len(body), 0,
                       struct.calcsize(EHDR), 0, 0, struct.calcsize(SHDR), len(parts) + 1, 4) + body + headers


def made_up(at):
    """(code, tables, object file) for code at this address."""
    code, outer, size = machine_code(at)
    tables = unwind_tables(at + TABLES_AT, outer, size)
    functions = [(b"_ZN5outer8compiledB2v1El", OUTER_AT, size), (b"compiled_inner", 0, len(INNER))]
    return code, tables, object_file(at, code, at + TABLES_AT, tables, functions)


class Compiler(object):
    """Holds the memory of all that it has made. The head of the list lies in memory of a library."""

    def __init__(self):
        self.code = mmap.mmap(-1, CODE_ROOM, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS,
                              prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        self.at = ctypes.addressof(ctypes.c_char.from_buffer(self.code))
        code, tables, self.file = made_up(self.at)
        self.code[:len(code)] = code
        self.code[TABLES_AT:TABLES_AT + len(tables)] = tables
        self.file = ctypes.create_string_buffer(self.file, len(self.file))
        self.entry = (ctypes.c_uint64 * 4)(0, 0, ctypes.addressof(self.file), len(self.file))

    def tell_perf(self):
        """As a file that is only added to."""
        with open("/tmp/perf-%d.map" % os.getpid(), "w") as f:
            f.write("%x %x of_before\n%x %x compiled_inner\n" % (self.at, len(INNER), self.at, len(INNER)))
            f.write("%x %x outer::compiled(long)\n" % (self.at + OUTER_AT, 64))

    def tell_gdb(self):
        with open(_ctypes.__file__, "rb") as f:
            self.head = mmap.mmap(f.fileno(), 4096, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_WRITE)
        entry = ctypes.addressof(self.entry)
        self.head[40:64] = struct.pack("<IIQQ", 1, 1, entry, entry)

    def outer(self):
        return ctypes.PYFUNCTYPE(ctypes.c_long, ctypes.c_long)(self.at + OUTER_AT)


def main():
    import parley

    compiler = Compiler()
    if parley.argument("told", "gdb") == "perf":
        compiler.tell_perf()
    else:
        compiler.tell_gdb()
    compiled = compiler.outer()

    def calls(_):
        return compiled(TURNS)

    parley.ready()
    while not parley.over():
        sorted(range(5), key=calls)
        parley.tick()


if __name__ == "__main__":
    main()
