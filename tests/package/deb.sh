# SPDX-License-Identifier: BSD-3-Clause
# Run by packages.bats in an overlay of the machine's root.
rm -f /var/lib/man-db/auto-update # no index of manual pages: it takes long
dpkg -i /pkgs/*_0.*.deb >/pkgs/dpkg.log 2>&1 || { cat /pkgs/dpkg.log; exit 1; }
. /pkgs/installed.sh
dpkg -i /pkgs/ioscribe-daemon_9.9.9_*.deb >/pkgs/dpkg.log 2>&1 || { cat /pkgs/dpkg.log; exit 1; }
dpkg-query -W -f '${Version}\n' ioscribe-daemon | grep -qx 9.9.9
grep -qx 'ioscribe = /pkgs/called' /etc/ioscribe/hooks.conf # what the site changed stays
test -x /usr/sbin/ioscribed
dpkg -r ioscribe-slurm ioscribe-daemon >/dev/null
test -f /etc/ioscribe/hooks.conf
test ! -e /usr/sbin/ioscribed
dpkg --purge ioscribe-daemon ioscribe-slurm ioscribe-runtime ioscribe-tools ioscribe-dev >/pkgs/dpkg.log 2>&1 ||
	{ cat /pkgs/dpkg.log; exit 1; }
! dpkg-query -W -f '${Package} ${db:Status-Status}\n' 'ioscribe*' 2>/dev/null | grep -v 'not-installed'
test ! -e /etc/ioscribe
test ! -e /var/spool/ioscribe
echo "deb: all done"
