#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A Slurm of our own for the tests: munged, slurmctld and two slurmd as two
virtual nodes of this machine, all below one folder, on ports and with node
names, job numbers and cgroups that no other instance has.

  cluster.py start DIR [KEY=VALUE...]   started and both nodes idle; exit 1 and the logs' ends if not.
                          KEY=VALUE: prolog, epilog, task_prolog, plugstack; accounting=yes: with slurmdbd on a MariaDB
  cluster.py stop DIR     everything of it is gone afterwards, its jobs too
"""
import os
import pathlib
import pwd
import signal
import socket
import subprocess
import sys
import time

START_S = 120
STOP_S = 60
CGROUPS = pathlib.Path("/sys/fs/cgroup")

SLURM_CONF = """\
ClusterName={name}
SlurmctldHost=localhost(127.0.0.1)
SlurmUser=root
SlurmctldPort={ports[0]}
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket
CredType=cred/munge
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation={dir}/state
SlurmdSpoolDir={dir}/spool.%n
SlurmctldPidFile={dir}/pid.slurmctld
SlurmdPidFile={dir}/pid.%n
SlurmctldLogFile={dir}/log/slurmctld
SlurmdLogFile={dir}/log/%n
SlurmdDebug=info
SlurmdParameters=config_overrides
TmpFS={dir}/tmp.%n
FirstJobId={first_job}
ReturnToService=2
MpiDefault=none
ProctrackType=proctrack/cgroup
TaskPlugin={task_plugin}
JobAcctGatherType=jobacct_gather/linux
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=200
SchedulerType=sched/backfill
SchedulerParameters=sched_interval=5,bf_interval=5
{accounting}
JobCompType=jobcomp/filetxt
JobCompLoc={dir}/log/jobcomp
PrologFlags=Alloc,Contain
PrologEpilogTimeout=300
BatchStartTimeout=60
MessageTimeout=60
SlurmdTimeout=300
KillWait=3
MinJobAge=600
{hooks}
NodeName={node1} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[1]} CPUs={cpus} RealMemory=4000 State=UNKNOWN
NodeName={node2} NodeHostname=localhost NodeAddr=127.0.0.1 Port={ports[2]} CPUs={cpus} RealMemory=4000 State=UNKNOWN
PartitionName=main Nodes={node1},{node2} Default=YES MaxTime=INFINITE State=UP
"""


SLURMDBD_CONF = """\
AuthType=auth/munge
AuthInfo=socket={dir}/munge/socket
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={port}
SlurmUser=root
PidFile={dir}/pid.slurmdbd
LogFile={dir}/log/slurmdbd
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={database}
StorageUser=root
StorageLoc=slurm
"""


def free_ports(count):
    """Ports that were free a moment ago: all held open together, then given up."""
    held = []
    for _ in range(count):
        s = socket.socket()
        s.bind(("127.0.0.1", 0))
        held.append(s)
    ports = [s.getsockname()[1] for s in held]
    for s in held:
        s.close()
    return ports


def unified():
    return (CGROUPS / "cgroup.controllers").exists()


def cgroup_conf():
    if unified():
        return "CgroupPlugin=cgroup/v2\nIgnoreSystemd=yes\nConstrainRAMSpace=yes\nAllowedSwapSpace=0\n"
    return ("CgroupPlugin=cgroup/v1\nCgroupMountpoint=/sys/fs/cgroup\nCgroupAutomount=no\n"
            "ConstrainCores=no\nConstrainRAMSpace=yes\nAllowedSwapSpace=0\n")


def cgroup_dirs(node):
    """The topmost cgroups of a node's jobs."""
    if unified():
        return [CGROUPS / "system.slice" / f"{node}_slurmstepd.scope"]
    return [c / f"slurm_{node}" for c in CGROUPS.iterdir() if (c / f"slurm_{node}").is_dir()]


def wait(what, limit_s, done):
    end = time.monotonic() + limit_s
    while time.monotonic() < end:
        if done():
            return
        time.sleep(0.05)
    raise TimeoutError(f"waited {limit_s} s for {what}")


def alive(pid):
    """A process that runs: one that is dead and not yet collected does not."""
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def kill(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


class Cluster:
    def __init__(self, folder):
        self.dir = pathlib.Path(folder).resolve()
        self.etc = self.dir / "etc"
        self.database = None
        self.env = dict(os.environ, SLURM_CONF=str(self.etc / "slurm.conf"))

    def prepare(self, hooks):
        for name in ("etc", "state", "log", "munge"):
            (self.dir / name).mkdir(parents=True, exist_ok=True)
        self.dir.chmod(0o755)
        munge = pwd.getpwnam("munge")
        os.chown(self.dir / "munge", munge.pw_uid, munge.pw_gid)
        # a port that three sockets hold in turn is a number that nobody else has now
        ports = free_ports(5)
        nodes = [f"io{port}" for port in ports[1:3]]
        for node in nodes:
            (self.dir / f"spool.{node}").mkdir(exist_ok=True)
            (self.dir / f"tmp.{node}").mkdir(exist_ok=True)
            (self.dir / f"tmp.{node}").chmod(0o1777)
        keys = {"prolog": "Prolog", "epilog": "Epilog", "task_prolog": "TaskProlog", "plugstack": "PlugStackConfig"}
        lines = [f"{keys[k]}={v}" for k, v in hooks.items() if k != "accounting"]
        accounting = "AccountingStorageType=accounting_storage/none"
        if "accounting" in hooks:
            accounting = ("AccountingStorageType=accounting_storage/slurmdbd\nAccountingStorageHost=localhost\n"
                          f"AccountingStoragePort={ports[3]}\nAccountingStoragePass={self.dir}/munge/socket\n"
                          "AccountingStoreFlags=job_comment")
            dbd = self.etc / "slurmdbd.conf"
            dbd.write_text(SLURMDBD_CONF.format(dir=self.dir, port=ports[3], database=ports[4]))
            dbd.chmod(0o600)
            self.database = ports[4]
        if "plugstack" not in hooks:
            (self.etc / "plugstack.conf").write_text("")
            lines.append(f"PlugStackConfig={self.etc}/plugstack.conf")
        (self.etc / "slurm.conf").write_text(SLURM_CONF.format(
            dir=self.dir, ports=ports, node1=nodes[0], node2=nodes[1], name=f"io{ports[0]}",
            first_job=ports[0] * 1000 + 1, accounting=accounting, hooks="\n".join(lines), task_plugin="task/cgroup", cpus=2))
        (self.etc / "cgroup.conf").write_text(cgroup_conf())
        (self.etc / "nodes").write_text("\n".join(nodes) + "\n")

    def nodes(self):
        return (self.etc / "nodes").read_text().split()

    def daemon(self, command):
        """Run what puts itself into the background."""
        with open(self.dir / "log" / "start", "ab") as log:
            subprocess.run(command, env=self.env, stdin=subprocess.DEVNULL, stdout=log, stderr=log, check=True,
                           timeout=START_S)

    def launch(self):
        munge = self.dir / "munge"
        self.daemon(["setpriv", "--reuid=munge", "--regid=munge", "--clear-groups", "munged",
                     "--key-file=/etc/munge/munge.key", f"--socket={munge}/socket", f"--pid-file={munge}/pid",
                     f"--log-file={munge}/log", f"--seed-file={munge}/seed"])
        if self.database:
            self.launch_accounting()
        self.daemon(["slurmctld", "-c"])
        for node in self.nodes():
            self.daemon(["slurmd", "-N", node])

    def launch_accounting(self):
        nobody = pwd.getpwnam("nobody")
        data = self.dir / "mysql"
        data.mkdir(exist_ok=True)
        os.chown(data, nobody.pw_uid, nobody.pw_gid)
        common = ["--no-defaults", f"--datadir={data}/data", "--user=nobody"]
        self.daemon(["mariadb-install-db", *common, "--auth-root-authentication-method=normal", "--skip-test-db"])
        with open(self.dir / "log" / "mariadbd", "ab") as log:
            server = subprocess.Popen(
                ["mariadbd", *common, f"--socket={data}/socket", "--bind-address=127.0.0.1",
                 f"--port={self.database}", f"--pid-file={data}/pid"], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                start_new_session=True)
        (self.dir / "pid.mariadbd").write_text(f"{server.pid}\n")
        wait("the database", START_S, (data / "socket").exists)
        self.daemon(["slurmdbd"])
        wait("slurmdbd", START_S, lambda: subprocess.run(
            ["sacctmgr", "-n", "list", "cluster"], env=self.env, capture_output=True).returncode == 0)

    def idle(self):
        out = subprocess.run(["sinfo", "-h", "-N", "-o", "%N %T"], env=self.env, capture_output=True, text=True)
        return sorted(out.stdout.split("\n"))[1:] == sorted(f"{n} idle" for n in self.nodes())

    def pids(self):
        """Those of the daemons, by their pid files."""
        found = []
        for path in [self.dir / "munge" / "pid", *self.dir.glob("pid.*")]:
            try:
                found.append(int(path.read_text()))
            except (OSError, ValueError):
                pass
        return [pid for pid in found if alive(pid)]

    def job_pids(self):
        """Everything in the cgroups of our nodes: slurmstepd, the extern step's sleep, the jobs."""
        found = set()
        for node in self.nodes():
            for top in cgroup_dirs(node):
                for procs in [top / "cgroup.procs", *top.rglob("cgroup.procs")]:
                    try:
                        found.update(int(p) for p in procs.read_text().split())
                    except OSError:
                        pass
        return [pid for pid in found if pid > 1 and alive(pid)]

    def thaw(self):
        for node in self.nodes():
            for top in cgroup_dirs(node):
                for state in top.rglob("freezer.state"):
                    try:
                        state.write_text("THAWED")
                    except OSError:
                        pass

    def gone(self, pids, number):
        for pid in pids():
            kill(pid, number)
        return not pids()

    def remove_cgroups(self):
        for node in self.nodes():
            for top in cgroup_dirs(node):
                for path in sorted([top, *(p for p in top.rglob("*") if p.is_dir())], reverse=True):
                    try:
                        path.rmdir()
                    except OSError:
                        pass
        return not any(cgroup_dirs(node) for node in self.nodes())

    def stop(self):
        if not (self.etc / "nodes").exists():
            return
        for pid in self.pids():
            kill(pid, signal.SIGTERM)
        try:
            wait("daemons to end", 10, lambda: not self.pids())
        except TimeoutError:
            wait("killed daemons to be gone", STOP_S, lambda: self.gone(self.pids, signal.SIGKILL))
        self.thaw()
        wait("processes of jobs to be gone", STOP_S, lambda: self.gone(self.job_pids, signal.SIGKILL))
        wait("cgroups to be gone", STOP_S, self.remove_cgroups)

    def start(self, hooks):
        last = None
        for _ in range(2):
            self.prepare(hooks)
            try:
                self.launch()
                wait("both nodes to be idle", START_S, self.idle)
                return
            except (TimeoutError, subprocess.SubprocessError) as error:
                last = error
                self.stop()
                subprocess.run(["rm", "-rf", str(self.dir / "state")], check=True)
        for path in [*sorted((self.dir / "log").iterdir()), self.dir / "munge" / "log"]:
            if path.exists():
                print(f"== {path}\n" + "\n".join(path.read_text(errors="replace").splitlines()[-15:]))
        sys.exit(f"cluster: {last}")


def main():
    if len(sys.argv) < 3 or sys.argv[1] not in ("start", "stop"):
        sys.exit(__doc__)
    cluster = Cluster(sys.argv[2])
    if sys.argv[1] == "start":
        cluster.start(dict(pair.split("=", 1) for pair in sys.argv[3:]))
    else:
        cluster.stop()


if __name__ == "__main__":
    main()
