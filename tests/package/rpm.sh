# SPDX-License-Identifier: BSD-3-Clause
# Run by packages.bats in an overlay of the machine's root. What the packages need
# came by dpkg here: rpm knows none of it (--nodeps).
rpm --initdb
rpm -i --nodeps /pkgs/*-0.*.rpm
. /pkgs/installed.sh
rpm -U --nodeps /pkgs/ioscribe-daemon-9.9.9-*.rpm
test "$(rpm -q --qf '%{VERSION}' ioscribe-daemon)" = 9.9.9
grep -qx 'ioscribe = /pkgs/called' /etc/ioscribe/hooks.conf
test -x /usr/sbin/ioscribed
test -d /var/spool/ioscribe
# removed while Slurm still names the hooks: a prolog that is not there drains the node
mkdir -p /etc/slurm
printf 'Prolog=/usr/libexec/ioscribe/slurm/prolog\nEpilog=/etc/slurm/own-epilog\n' >/etc/slurm/slurm.conf
rpm -e --nodeps ioscribe-slurm >/pkgs/said 2>&1
grep -q 'slurm.conf still names' /pkgs/said
for hook in prolog epilog task-prolog; do
	test "$(env -i SLURM_JOB_ID=1 SLURM_JOB_UID=1 /usr/libexec/ioscribe/slurm/$hook 2>&1)" = ''
done
rm /etc/slurm/slurm.conf /usr/libexec/ioscribe/slurm/*
rmdir /usr/libexec/ioscribe/slurm
mkdir -p /run/ioscribe
touch /run/ioscribe/log
rpm -e --nodeps ioscribe-daemon ioscribe-runtime ioscribe-darshan-compat ioscribe-tools ioscribe-dev 2>/dev/null
test ! -e /run/ioscribe
! rpm -qa | grep ioscribe
test ! -e /usr/sbin/ioscribed
test ! -e /var/spool/ioscribe
test -f /etc/ioscribe/hooks.conf.rpmsave
echo "rpm: all done"
