# SPDX-License-Identifier: BSD-3-Clause
# What must hold when all packages are installed, whatever their kind.
ioscribe --version
ioscribed --version
darshan-parser --version >/dev/null
ioscribe summary /pkgs/*.darshan >/dev/null
for elf in /usr/bin/ioscribe /usr/sbin/ioscribed /usr/lib/libioscribe.so /usr/lib/libioscribe-log.so.1; do
	! ldd "$elf" | grep 'not found'
done
test -f /usr/lib/slurm/spank_ioscribe.so
test -f /usr/lib/systemd/system/ioscribed.service
grep -q '^ExecStart=/usr/sbin/ioscribed --service' /usr/lib/systemd/system/ioscribed.service
test "$(stat -c '%a %u' /var/spool/ioscribe)" = '700 0'
test "$(stat -c '%a %u' /var/log/ioscribe)" = '755 0'
test -f /usr/share/man/man8/ioscribed.8.gz
gzip -dc /usr/share/man/man3/scribe_reader_free.3.gz | grep -qx '\.so man3/scribe_reader\.3'
test -f /usr/share/man/man3/scribe_reader.3.gz
for log in /pkgs/*.darshan; do
	/usr/bin/python3 -B -c 'import sys, ioscribe; assert len(ioscribe.Log(sys.argv[1]).frames())' "$log"
done
test "$(readlink /usr/share/man/man1/darshan-parser.1)" = '' && gzip -dc /usr/share/man/man1/darshan-parser.1.gz | grep -q ioscribe
# documents, and settings to begin with
for part in daemon runtime tools darshan-compat slurm dev; do
	test -s "/usr/share/doc/ioscribe-$part/copyright"
	gzip -dc "/usr/share/doc/ioscribe-$part/changelog.gz" | grep -q '^ioscribe (0'
done
test -s /usr/share/doc/ioscribe-tools/README.md
test -s /usr/share/doc/ioscribe-daemon/site-guide.md
ioscribed --check-config /etc/ioscribe/ioscribed.conf
library=$(sed -n 's/^# library  = //p' /etc/ioscribe/hooks.conf)
test -f "$library"
bash -c '. /usr/share/bash-completion/completions/darshan-parser && complete -p darshan-parser' | grep -q _ioscribe
# the hooks find their parts, and the settings
echo 'ioscribe = /pkgs/called' >>/etc/ioscribe/hooks.conf
printf '#!/bin/sh\necho "$2" >>/pkgs/calls\n' >/pkgs/called
chmod 755 /pkgs/called
env -i SLURM_JOB_ID=1 SLURM_JOB_UID=1 /usr/libexec/ioscribe/slurm/prolog
env -i SLURM_JOB_ID=1 SLURM_JOB_UID=1 /usr/libexec/ioscribe/slurm/epilog
test "$(cat /pkgs/calls)" = "begin
end"
