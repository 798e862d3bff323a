# SPDX-License-Identifier: BSD-3-Clause
"""Asks for a window of a job, and does not take its log before the daemon has disconnected it for nonsense.

usage: unread.py SOCKET JOB MS [nonsense]   prints the bytes of the log that it holds then
"""
import array
import os
import select
import socket
import struct
import sys

MAGIC, VERSION, JOB_TRACE, TRACED = 0x62637369, 1, 68, 73
HEAD = struct.Struct("=IHHII")

s = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
s.connect(sys.argv[1])
text = f"job_id={sys.argv[2]}\nms={sys.argv[3]}".encode()
s.send(HEAD.pack(MAGIC, VERSION, JOB_TRACE, 0, len(text)) + text)
s.recv(65536)  # the window is open
select.select([s], [], [])  # and its log is there, not taken
if sys.argv[4:] == ["nonsense"]:
    s.send(b"nonsense")
    hung_up = select.poll()
    hung_up.register(s, select.POLLHUP)
    hung_up.poll()
data, ancillary, _, _ = s.recvmsg(65536, socket.CMSG_SPACE(4))
assert HEAD.unpack_from(data)[2] == TRACED, data
print(os.fstat(array.array("i", ancillary[0][2])[0]).st_size)
