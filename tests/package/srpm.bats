#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# packaging/rpm/ioscribe.spec: a source package, built by rpmbuild in a folder of its own.

setup() {
  T=$(mktemp -d /tmp/ioscribe-srpm.XXXXXX)
}

teardown() {
  rm -rf "$T"
}

# Names of the files in packages, without the name of the libraries' folder and compression.
names() {
  local p
  for p in "$@"; do rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$p"; done | awk '!/^d/ { print $2 }' |
    sed -e 's,/usr/lib64/,/usr/lib/,' -e 's,/usr/lib/[a-z0-9_]*-linux-gnu/,/usr/lib/,' -e 's,\.gz$,,' | sort
}

@test "srpm: builds from the source package alone, and packs what cpack packs" {
  local version
  version=$(sed -n 's/^project(ioscribe VERSION \([0-9.]*\).*/\1/p' "$IOSCRIBE_SOURCE/CMakeLists.txt")
  mkdir "$T/ioscribe-$version"
  (cd "$IOSCRIBE_SOURCE" && git ls-files -z | tar --null -T - -c) | tar -x -C "$T/ioscribe-$version"
  tar -C "$T" -czf "$T/ioscribe-$version.tar.gz" "ioscribe-$version"
  # Debian's rpm knows nothing of packages that dpkg has installed
  rpmbuild --nodeps --define "_topdir $T/rpm" -ts "$T/ioscribe-$version.tar.gz" >"$T/out" 2>&1 || { tail -n 40 "$T/out"; false; }
  rpmbuild --nodeps --define "_topdir $T/rpm" --rebuild "$T"/rpm/SRPMS/*.src.rpm >"$T/out" 2>&1 || { tail -n 60 "$T/out"; false; }
  [ "$(ls "$T"/rpm/RPMS/*/*.rpm | wc -l)" -eq 6 ]
  (cd "$IOSCRIBE_BUILD" && cpack -G RPM -B "$T/cpack" >"$T/out" 2>&1) || { tail -n 40 "$T/out"; false; }
  names "$T"/cpack/*.rpm >"$T/want"
  names "$T"/rpm/RPMS/*/*.rpm | diff "$T/want" -
  rpm -qp --scripts "$T"/rpm/RPMS/*/ioscribe-daemon-*.rpm | grep -q 'systemctl try-restart ioscribed.service'
  rpm -qpc "$T"/rpm/RPMS/*/ioscribe-daemon-*.rpm | grep -qx /etc/ioscribe/hooks.conf
}
