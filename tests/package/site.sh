#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Becomes process 1 of a Slurm node: a systemd in an overlay of the machine's
# root that vanishes with its namespaces, with the machine's own units, none of
# which starts by itself. The packages lie in /site.
#   unshare … site.sh FOLDER
set -e
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$1/root"
cd "$1/root"
mkdir upper work root
mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/upper,workdir=$PWD/work" root
mount -t proc proc root/proc
mount --bind root/proc/sys root/proc/sys
mount -o remount,bind,ro root/proc/sys
mount --rbind /dev root/dev
mount --rbind /sys root/sys
umount -R root/sys/fs/cgroup
mount -t cgroup2 cgroup2 root/sys/fs/cgroup
mount -t bpf bpf root/sys/fs/bpf
mount -t tmpfs -o mode=755 tmpfs root/run
mkdir -p root/run/systemd/system root/site
cp "$1"/one/*.deb root/site
chmod 755 root/site
rm -f root/var/lib/man-db/auto-update # no index of manual pages: it takes long
for target in booted sysinit basic shutdown sockets local-fs remote-fs network-online time-sync; do
  printf '[Unit]\nDefaultDependencies=no\n' >root/run/systemd/system/$target.target
done
echo node >root/etc/hostname
ip link set lo up
ip address add 10.0.0.1/32 dev lo # names are resolved only where there is more than 127.0.0.1
echo '10.0.0.1 node' >>root/etc/hosts
cat >root/etc/slurm/slurm.conf <<'CONF'
ClusterName=site
SlurmctldHost=node(10.0.0.1)
SlurmUser=root
StateSaveLocation=/var/lib/slurm/slurmctld
SlurmdSpoolDir=/var/lib/slurm/slurmd
SlurmctldLogFile=/var/log/slurm/slurmctld.log
SlurmdLogFile=/var/log/slurm/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
ReturnToService=2
SlurmdParameters=config_overrides
NodeName=node NodeAddr=10.0.0.1 CPUs=2 State=UNKNOWN
PartitionName=main Nodes=node Default=YES State=UP
CONF

echo 'CgroupPlugin=cgroup/v1' >root/etc/slurm/cgroup.conf # named, for there may be both
pivot_root root root/mnt
umount -l /mnt
export container=unshare SYSTEMD_GENERATOR_PATH=/run/none SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/run/none \
  SYSTEMD_LOG_TARGET=console
exec /lib/systemd/systemd --system --unit=booted.target --show-status=no
