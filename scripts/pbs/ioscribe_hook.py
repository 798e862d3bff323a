# SPDX-License-Identifier: BSD-3-Clause
"""OpenPBS hook: tells each node's ioscribe daemon of a job's begin and end.

Import it on the server (docs/site-guide.md); it runs in the job's MoMs at
execjob_begin and execjob_end. It accepts every event, whatever happens: a hook
that rejects one, or raises, keeps jobs from running.
"""
import pwd
import subprocess

import pbs

SCRIPT = "/usr/libexec/ioscribe/pbs/job"
LIMIT_S = 3  # the script itself ends within 2


def call(*arguments):
    quiet = subprocess.DEVNULL
    process = subprocess.Popen([SCRIPT, *arguments], stdin=quiet, stdout=quiet, stderr=quiet, close_fds=True)
    try:
        process.wait(LIMIT_S)
    except subprocess.TimeoutExpired:
        process.kill()


def node_of(job):
    """How many hosts the job has, this one's name, how often the job was started before."""
    try:
        hosts = {part.split("/")[0] for part in str(job.exec_host).split("+")}
        return str(len(hosts)), str(pbs.get_local_nodename()), str(max(int(job.run_version or 1) - 1, 0))
    except Exception:  # of one node, then
        return ()


def handle(event):
    if event.type == pbs.EXECJOB_BEGIN:
        user = pwd.getpwnam(str(event.job.euser))
        call("begin", str(event.job.id), str(user.pw_uid), str(user.pw_gid), *node_of(event.job))
    elif event.type == pbs.EXECJOB_END:
        call("end", str(event.job.id))


event = pbs.event()
try:
    handle(event)
except Exception as error:  # the job goes on, untraced
    pbs.logmsg(pbs.EVENT_DEBUG, "ioscribe: %s" % error)
event.accept()
