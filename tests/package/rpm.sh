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
rpm -e --nodeps ioscribe-slurm ioscribe-daemon ioscribe-runtime ioscribe-tools ioscribe-dev 2>/dev/null
! rpm -qa | grep ioscribe
test ! -e /usr/sbin/ioscribed
test ! -e /var/spool/ioscribe
test -f /etc/ioscribe/hooks.conf.rpmsave
echo "rpm: all done"
