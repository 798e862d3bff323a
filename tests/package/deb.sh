# SPDX-License-Identifier: BSD-3-Clause
# Run by packages.bats in an overlay of the machine's root.
rm -f /var/lib/man-db/auto-update # no index of manual pages: it takes long
dpkg -i /pkgs/*_0.*.deb >/pkgs/dpkg.log 2>&1 || { cat /pkgs/dpkg.log; exit 1; }
. /pkgs/installed.sh
dpkg -i /pkgs/ioscribe-daemon_9.9.9_*.deb >/pkgs/dpkg.log 2>&1 || { cat /pkgs/dpkg.log; exit 1; }
dpkg-query -W -f '${Version}\n' ioscribe-daemon | grep -qx 9.9.9
grep -qx 'ioscribe = /pkgs/called' /etc/ioscribe/hooks.conf # what the site changed stays
test -x /usr/sbin/ioscribed
# removed while Slurm still names the hooks: a prolog that is not there drains the node
mkdir -p /etc/slurm
printf 'Prolog=/usr/libexec/ioscribe/slurm/prolog\nEpilog=/etc/slurm/own-epilog\n' >/etc/slurm/slurm.conf
dpkg -r ioscribe-slurm ioscribe-daemon >/pkgs/said 2>&1
grep -q 'slurm.conf still names' /pkgs/said
for hook in prolog epilog task-prolog; do
	test "$(env -i SLURM_JOB_ID=1 SLURM_JOB_UID=1 /usr/libexec/ioscribe/slurm/$hook 2>&1)" = ''
done
test -f /etc/ioscribe/hooks.conf
test ! -e /usr/sbin/ioscribed
# a site's own prolog that calls ours counts as well; without either, nothing stays
printf 'Epilog=/etc/slurm/own-epilog\n' >/etc/slurm/slurm.conf
printf '#!/bin/sh\n/usr/libexec/ioscribe/slurm/epilog\n' >/etc/slurm/own-epilog
dpkg --purge ioscribe-slurm >/dev/null 2>&1
test -x /usr/libexec/ioscribe/slurm/epilog
dpkg -i /pkgs/ioscribe-slurm_*.deb >/pkgs/dpkg.log 2>&1 || dpkg -i --force-depends /pkgs/ioscribe-slurm_*.deb >/pkgs/dpkg.log 2>&1
rm /etc/slurm/slurm.conf
mkdir -p /run/ioscribe
touch /run/ioscribe/log /etc/ioscribe/off
dpkg --purge ioscribe-daemon ioscribe-slurm ioscribe-runtime ioscribe-darshan-compat ioscribe-tools ioscribe-dev >/pkgs/dpkg.log 2>&1 ||
	{ cat /pkgs/dpkg.log; exit 1; }
! dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'ioscribe*' 2>/dev/null | grep -v 'not-installed'
test ! -e /etc/ioscribe
test ! -e /run/ioscribe
test ! -e /usr/libexec/ioscribe
test ! -e /var/spool/ioscribe
echo "deb: all done"
