#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The packages: built by cpack from this build folder, installed, upgraded and
# removed in an overlay of the machine's root that vanishes with its namespace.

setup_file() {
  [ "$(id -u)" -eq 0 ] || { echo "the package tests need root"; return 1; }
  T=$(mktemp -d /tmp/ioscribe-package.XXXXXX)
  export T
  cd "$IOSCRIBE_BUILD"
  cpack -G "DEB;RPM" -B "$T/one" >"$T/cpack.log" 2>&1 || { tail -n 40 "$T/cpack.log"; return 1; }
  # the same files under a later version: what an upgrade of the daemon needs
  cpack -G "DEB;RPM" -B "$T/two" -R 9.9.9 -D CPACK_COMPONENTS_ALL=daemon >"$T/cpack.log" 2>&1 ||
    { tail -n 40 "$T/cpack.log"; return 1; }
  rm -rf "$T"/*/_CPack_Packages
}

teardown_file() {
  rm -rf "$T"
}

# in_root SCRIPT: a script of this folder, in an overlay of / with the packages in /pkgs.
# Everything mounted here belongs to the new namespace alone.
in_root() {
  unshare --mount --propagation private bash -euc '
    mkdir -p "$0/m" && mount -t tmpfs tmpfs "$0/m" && cd "$0/m"
    mkdir upper work root
    mount -t overlay overlay -o "lowerdir=/,upperdir=$PWD/upper,workdir=$PWD/work" root
    mkdir -p root/pkgs && cp "$0"/one/*.* "$0"/two/*.* "$1" "$2" "${1%/*}/installed.sh" root/pkgs
    mount -t proc proc root/proc
    mount --rbind /dev root/dev
    status=0
    chroot root /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C DEBIAN_FRONTEND=noninteractive \
      bash -eu "/pkgs/${1##*/}" </dev/null || status=$?
    # what is left of us anywhere but in records of the package tools
    find upper -name "*ioscribe*" ! -path "upper/pkgs*" ! -path "upper/var/lib/*" ! -path "upper/var/cache/*" \
      ! -path "upper/root/.rpmdb*" ! -type c | sed "s/^/left: /"
    exit $status' "$T" "$BATS_TEST_DIRNAME/$1" "$IOSCRIBE_SOURCE/tests/data/logs/mpi-io-test-x86_64-3.5.0.darshan" 3>&-
}

@test "six packages of each kind" {
  local part
  for part in daemon runtime tools darshan-compat slurm dev; do
    ls "$T"/one/ioscribe-"$part"_*.deb "$T"/one/ioscribe-"$part"-*.rpm
  done
  [ "$(ls "$T/one" | wc -l)" -eq 12 ]
}

@test "deb: installed, upgraded, purged" {
  run in_root deb.sh
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"deb: all done"* ]]
  [[ $output != *"left: "* ]]
}

@test "rpm: installed, upgraded, erased" {
  run in_root rpm.sh
  echo "$output"
  [ "$status" -eq 0 ]
  [[ $output == *"rpm: all done"* ]]
  [ "$(grep 'left: ' <<<"$output")" = "left: upper/etc/ioscribe" ] # an edited hooks.conf.rpmsave is in it
}

@test "cpack without file(1), as on a bare Debian: it says what it needs" {
  mkdir -p "$T/m"
  cd "$IOSCRIBE_BUILD"
  # /usr/bin with that one program taken out, for this command alone
  run unshare --mount --propagation private bash -euc 'mount -t tmpfs tmpfs "$0" && mkdir "$0/up" "$0/work"
    mknod "$0/up/file" c 0 0
    mount -t overlay overlay -o "lowerdir=/usr/bin,upperdir=$0/up,workdir=$0/work" /usr/bin
    cpack -G DEB -B "$1" -D CPACK_COMPONENTS_ALL=compat' "$T/m" "$T/none"
  echo "$output"
  [ "$status" -ne 0 ]
  [[ $output == *"cpack -G DEB needs file; on Debian: scripts/install-deps package"* ]]
  grep -q '^package=.* file ' "$IOSCRIBE_SOURCE/scripts/install-deps"
}

@test "the sample of ioscribed.conf: every line is a key, as it stands and with the # taken away" {
  sed -n 's/^#\([a-z_]* =\)/\1/p' "$IOSCRIBE_SOURCE/packaging/ioscribed.conf" >"$T/all.conf"
  [ "$(wc -l <"$T/all.conf")" -gt 15 ]
  "$IOSCRIBE_BUILD/runtime/daemon/ioscribed" --check-config "$T/all.conf"
  "$IOSCRIBE_BUILD/runtime/daemon/ioscribed" --check-config "$IOSCRIBE_SOURCE/packaging/ioscribed.conf"
}

@test "no package has a file of another" {
  local kind
  for p in "$T"/one/*.deb; do dpkg-deb -c "$p" | awk '!/^d/ { print $6 }'; done | sort | uniq -d >"$T/twice"
  cat "$T/twice"
  [ ! -s "$T/twice" ]
  for p in "$T"/one/*.rpm; do rpm -qp --qf '[%{FILEMODES:perms} %{FILENAMES}\n]' "$p" | awk '!/^d/ { print $2 }'; done |
    sort | uniq -d >"$T/twice"
  cat "$T/twice"
  [ ! -s "$T/twice" ]
}

@test "the SBOM names every library that a packed program is linked to, with its version" {
  DESTDIR=$T/all cmake --install "$IOSCRIBE_BUILD" --prefix /usr >/dev/null
  sbom=$T/all/usr/share/doc/ioscribe-tools/sbom.spdx.json
  jq -e '.spdxVersion == "SPDX-2.3" and (.packages | all(.versionInfo | test("^[0-9]"))) and
    ([.packages[].SPDXID] - [.relationships[].relatedSpdxElement] == [])' "$sbom"
  find "$T/all/usr" -type f ! -name '*.o' ! -name '*.a' -exec readelf -d {} + 2>/dev/null |
    sed -n 's/.*Shared library: \[\(.*\)\.so.*/\1.so/p' | sort -u |
    grep -vE '^(libc|libm|libpthread|ld-linux.*|libtinfo|libdarshan-util|libioscribe.*)\.so' >"$T/linked"
  [ "$(wc -l <"$T/linked")" -gt 8 ]
  jq -r '.packages[].packageFileName // empty' "$sbom" | sort >"$T/named"
  comm -23 "$T/linked" "$T/named" | { ! grep .; }
}
