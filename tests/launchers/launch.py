#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Stands in for a launcher: sets for each worker the variables that the real one sets.

usage: NAME --world W --folder DIR [--local N] [--nodes M] [--node K] [--restarts R]

NAME is that of the launcher (torchrun, accelerate, deepspeed, lightning, horovodrun, rrun, palsd, jsrun, flux,
mpirun_rsh, mpirun3, export). Before each restart one worker of a node fails. Each worker is worker.py,
which gets its rank as an argument, so that it does not depend on the variables.
"""
import argparse
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.realpath(__file__))


def torch(a, rank, local):
    return {"RANK": rank, "LOCAL_RANK": local, "WORLD_SIZE": a.size, "LOCAL_WORLD_SIZE": a.local, "GROUP_RANK": a.node,
            "ROLE_RANK": rank, "ROLE_WORLD_SIZE": a.size, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": a.port,
            "TORCHELASTIC_RESTART_COUNT": a.attempt, "TORCHELASTIC_MAX_RESTARTS": a.restarts,
            "TORCHELASTIC_RUN_ID": "none"}


def deepspeed(a, rank, local):
    return {"RANK": rank, "LOCAL_RANK": local, "WORLD_SIZE": a.size, "LOCAL_SIZE": a.local, "CROSS_RANK": a.node,
            "CROSS_SIZE": a.nodes, "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": a.port}


def lightning(a, rank, local):
    if rank == 0:
        return {}
    return {"LOCAL_RANK": local, "NODE_RANK": a.node, "WORLD_SIZE": a.size, "MASTER_ADDR": "127.0.0.1",
            "MASTER_PORT": a.port}


def horovod(a, rank, local):
    return {"HOROVOD_RANK": rank, "HOROVOD_SIZE": a.size, "HOROVOD_LOCAL_RANK": local, "HOROVOD_LOCAL_SIZE": a.local,
            "HOROVOD_CROSS_RANK": a.node, "HOROVOD_CROSS_SIZE": a.nodes, "HOROVOD_CONTROLLER": "gloo",
            "HOROVOD_GLOO_RENDEZVOUS_ADDR": "127.0.0.1", "HOROVOD_GLOO_RENDEZVOUS_PORT": a.port}


def rrun(a, rank, _local):
    return {"RRUN_RANK": rank, "RRUN_NRANKS": a.size, "RRUN_ROOT_ADDR": f"127.0.0.1:{a.port}"}


def pals(a, rank, local):
    return {"PALS_RANKID": rank, "PALS_LOCAL_RANKID": local, "PALS_NODEID": a.node, "PALS_APID": f"apid-{a.port}",
            "PMI_RANK": rank, "PMI_SIZE": a.size}


def jsrun(a, rank, local):
    return {"JSM_NAMESPACE_RANK": rank, "JSM_NAMESPACE_SIZE": a.size, "JSM_NAMESPACE_LOCAL_RANK": local}


def flux(a, rank, local):
    return {"FLUX_TASK_RANK": rank, "FLUX_JOB_SIZE": a.size, "FLUX_TASK_LOCAL_ID": local, "FLUX_JOB_ID": f"f{a.port}"}


def mvapich2(a, rank, local):
    return {"MV2_COMM_WORLD_RANK": rank, "MV2_COMM_WORLD_SIZE": a.size, "MV2_COMM_WORLD_LOCAL_RANK": local,
            "MV2_COMM_WORLD_LOCAL_SIZE": a.local, "PMI_ID": rank}


def mvapich(a, rank, _local):
    return {"MVP_COMM_WORLD_RANK": rank, "MVP_COMM_WORLD_SIZE": a.size}


LAUNCHERS = {"torchrun": torch, "accelerate": torch, "deepspeed": deepspeed, "lightning": lightning,
             "horovodrun": horovod, "rrun": rrun, "palsd": pals, "jsrun": jsrun, "flux": flux,
             "mpirun_rsh": mvapich2, "mpirun3": mvapich}  # fmt: skip


def worker(a, rank, local):
    return [sys.executable, "-S", os.path.join(HERE, "worker.py"), a.folder, a.world, str(a.attempt), str(rank),
            "fail" if a.attempt < a.restarts and local == a.local - 1 else "end"]


def attempt(a, variables):
    """Whether all workers ended with 0."""
    running = []
    for local in range(a.local):
        rank = a.node * a.local + local
        if variables is lightning and rank == 0:
            continue
        env = dict(os.environ, **{name: str(value) for name, value in variables(a, rank, local).items()})
        running.append(subprocess.Popen(worker(a, rank, local), env=env))
    if variables is lightning and a.node == 0:  # this process is rank 0
        with open(f"{a.folder}/{a.world}.0.0", "w", encoding="ascii") as f:
            f.write("x" * 1000)
    return [p.wait() for p in running].count(0) == len(running)


def main():
    args = argparse.ArgumentParser()
    args.add_argument("--world", required=True)
    args.add_argument("--folder", required=True)
    args.add_argument("--port", type=int, default=29500)
    for name, default in (("local", 2), ("nodes", 1), ("node", 0), ("restarts", 0)):
        args.add_argument(f"--{name}", type=int, default=default)
    a = args.parse_args()
    a.size = a.local * a.nodes
    variables = LAUNCHERS[os.path.basename(sys.argv[0])]
    with open(f"{a.folder}/{a.world}.launcher.{a.node}", "w", encoding="ascii") as f:
        f.write("x" * 77)
    for a.attempt in range(a.restarts + 1):
        if attempt(a, variables) != (a.attempt == a.restarts):
            sys.exit("launch: a worker ended otherwise than it was to")


main()
