# SPDX-License-Identifier: Apache-2.0
"""`deny.py CALL PROGRAM ARGUMENTS...` runs a program that gets EPERM from one system call, as in a container with a seccomp
profile. Test code, x86-64."""
import ctypes
import errno
import os
import struct
import sys

CALLS = {"clone": 56, "ptrace": 101, "process_vm_readv": 310, "pidfd_open": 434}
LOAD_NUMBER, IF_EQUAL, RETURN = 0x20, 0x15, 0x06
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, FILTER = 38, 22, 2
FAIL, ALLOW = 0x00050000, 0x7FFF0000


def main():
    steps = [(LOAD_NUMBER, 0, 0, 0), (IF_EQUAL, 0, 1, CALLS[sys.argv[1]]), (RETURN, 0, 0, FAIL | errno.EPERM), (RETURN, 0, 0, ALLOW)]
    code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
    program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(PR_SET_SECCOMP, FILTER, ctypes.c_void_p(ctypes.addressof(program)), 0, 0):
        sys.exit("no filter: %s" % os.strerror(ctypes.get_errno()))
    os.execvp(sys.argv[2], sys.argv[2:])


if __name__ == "__main__":
    main()
