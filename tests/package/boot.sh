#!/bin/bash
# SPDX-License-Identifier: BSD-3-Clause
# Becomes process 1 of fresh namespaces: a systemd that knows the units in
# /run/units and nothing else; /run is a copy of a folder. What it would write outside lies on file systems of
# its own; no setting of the kernel can be changed.
#   unshare … boot.sh FOLDER
set -e
mount --make-rprivate /
mount -t proc proc /proc
mount --bind /proc/sys /proc/sys
mount -o remount,bind,ro /proc/sys
umount -R /sys/fs/cgroup
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t bpf bpf /sys/fs/bpf
for at in /run /var/log /var/spool; do mount -t tmpfs -o mode=755 tmpfs "$at"; done
cp -r "$1"/* /run/
export container=unshare SYSTEMD_UNIT_PATH=/run/units SYSTEMD_GENERATOR_PATH=/run/none \
  SYSTEMD_ENVIRONMENT_GENERATOR_PATH=/run/none SYSTEMD_LOG_TARGET=console
exec /lib/systemd/systemd --system --unit=booted.target --show-status=no
