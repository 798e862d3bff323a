# SPDX-License-Identifier: BSD-3-Clause
"""Asks for a window of a job, and does not take its log; the daemon disconnects it for nonsense.

usage: unread.py SOCKET JOB MS   prints the bytes of the log that it was promised and the descriptors that it has got
                                 by then, and keeps its end of the connection until its input ends
"""
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
data, ancillary, _, _ = s.recvmsg(65536, socket.CMSG_SPACE(4))
assert HEAD.unpack_from(data)[2] == TRACED, data
s.send(b"nonsense")
hung_up = select.poll()
hung_up.register(s, select.POLLHUP)
hung_up.poll()
print(struct.unpack_from("=3Q", data, HEAD.size)[2], len(ancillary), flush=True)
sys.stdin.read()
