#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The systemd unit as systemd judges it offline; booted.bats runs it.

setup() {
  T=$(mktemp -d /tmp/ioscribe-unit.XXXXXX)
  DESTDIR=$T cmake --install "$IOSCRIBE_BUILD" --prefix /usr --component daemon >"$T/install.log"
  UNIT=$T/usr/lib/systemd/system/ioscribed.service
}

teardown() {
  rm -rf "$T"
}

@test "the unit's exposure is at most 2.3" {
  # 0.3 of it: the real-time priority that calls on maps have where the kernel preempts itself
  # 0.2: helpers change their root directory (chroot)
  run systemd-analyze security --offline=true --no-pager --threshold=23 "$UNIT"
  echo "$output" | grep -v '^✓'
  [ "$status" -eq 0 ]
  [[ $output == *"exposure level for ioscribed.service: "[012].* ]]
}

@test "the check can fail: a unit without the hardening is refused" {
  grep -Ev '^(Protect|Private|Restrict|SystemCall|Capability|NoNew)' "$UNIT" >"$T/ioscribed.service"
  run systemd-analyze security --offline=true --no-pager --threshold=25 "$T/ioscribed.service"
  [ "$status" -ne 0 ]
}

@test "systemd understands every line" {
  # programs and manual pages are not installed on this machine
  sed -i "s|/usr/sbin/ioscribed|/bin/true|; /^Documentation/d" "$T"/usr/lib/systemd/system/ioscribed.*
  run systemd-analyze verify --man=no "$UNIT" "${UNIT%service}socket"
  echo "$output"
  [ "$status" -eq 0 ]
  [ -z "$(grep ioscribed <<<"$output")" ]
}

@test "programs and settings stand where the prefix says" {
  grep -qx 'ExecStart=/usr/sbin/ioscribed --service --foreground --pin' "$UNIT"
  [ -f "$T/etc/ioscribe/hooks.conf" ]
  cmake --install "$IOSCRIBE_BUILD" --prefix "$T/opt" --component daemon >"$T/install.log"
  grep -qx "ExecStart=$T/opt/sbin/ioscribed --service --foreground --pin" "$T/opt/lib/systemd/system/ioscribed.service"
  [ -f "$T/opt/etc/ioscribe/hooks.conf" ]
}
