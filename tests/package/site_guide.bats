#!/usr/bin/env bats
# SPDX-License-Identifier: BSD-3-Clause
# The five commands of docs/site-guide.md, as they stand there, on a Slurm node
# with a systemd, munge and Slurm from Debian: then a job that asks has its log.
load helper

setup() {
  scratch
  mkdir "$T/root"
}

# command N: as the guide says it
command_of_guide() {
  sed -n "s/^    \(.*[^ ]\)  *# $1\(,.*\)\?$/\1/p" "$IOSCRIBE_SOURCE/docs/site-guide.md" | grep .
}

# on_node N: by root, in the folder of the packages
on_node() {
  in_it bash -c "cd /site && export DEBIAN_FRONTEND=noninteractive LC_ALL=C && $(command_of_guide "$1")" >"$T/$1.out" 2>&1 ||
    { cat "$T/$1.out"; return 1; }
}

as_user() {
  in_it setpriv --reuid=games --regid=games --init-groups env -i PATH=/usr/bin:/bin HOME=/home/games bash -c "cd /home/games && $1"
}

node_is_idle() {
  [ "$(in_it sinfo -h -o %T)" = idle ]
}

no_jobs() {
  [ -z "$(in_it squeue -h)" ]
}

logs() {
  in_it find /var/log/ioscribe -name '*.darshan'
}

a_log() {
  [ -n "$(logs)" ]
}

@test "build, install, enable, plugin, prolog and epilog: sbatch --ioscribe leaves a log" {
  (cd "$IOSCRIBE_BUILD" && bash -c "$(command_of_guide 1) -B $T/one") >"$T/cpack.log" 2>&1 || { cat "$T/cpack.log"; false; }
  rm -rf "$T/one/_CPack_Packages"
  boot "$IOSCRIBE_SOURCE/tests/package/site.sh" "$T"
  in_it systemctl start munge slurmctld slurmd
  until_true node_is_idle || { in_it tail -n 20 /var/log/slurm/slurmctld.log /var/log/slurm/slurmd.log; false; }

  on_node 2
  on_node 3
  [ "$(in_it systemctl is-enabled ioscribed)" = enabled ]
  [ "$(in_it systemctl is-active ioscribed)" = active ]
  on_node 4
  on_node 5

  in_it install -d -o games -g games /home/games
  in_it bash -c 'printf "%s\n" "#!/bin/bash" "dd if=/dev/zero of=\$1 bs=1000 count=7" >/home/games/job.sh'
  as_user 'sbatch job.sh unasked' # the same without the flag
  as_user 'sbatch --ioscribe job.sh asked'
  until_true no_jobs
  until_true a_log || { in_it tail -n 20 /var/log/slurm/slurmd.log; in_it ioscribe job list; in_it cat /home/games/slurm-1.out /home/games/slurm-2.out; false; }
  [ "$(logs | wc -l)" -eq 1 ]
  log=$(logs)
  [ "$(in_it stat -c '%U %a' "$log")" = "games 400" ]
  [[ $log == /var/log/ioscribe/20*/games_*_id2-* ]]
  in_it ioscribe parse --base "$log" | awk -F '\t' '$4 == "POSIX_BYTES_WRITTEN" && $6 == "/home/games/asked" { print $5 }' >"$T/bytes"
  [ "$(cat "$T/bytes")" = 7000 ]
  node_is_idle # no hook has drained it

  # an ordinary user's command, and a job whose logs the site wants in the user's own directory, which the daemon sees read-only
  as_user 'ioscribe run --log mine.darshan -- bash job.sh ran'
  [ "$(in_it stat -c '%U %a' /home/games/mine.darshan)" = "games 400" ]
  in_it ioscribe parse --base /home/games/mine.darshan | grep -P 'POSIX_BYTES_WRITTEN\t7000\t/home/games/ran\t'
  in_it install -d -o games -g games /home/games/logs
  in_it bash -c 'echo "options = log_dir=/home/%u/logs log_layout=flat" >>/etc/ioscribe/hooks.conf'
  as_user 'sbatch --ioscribe job.sh home'
  until_true no_jobs
  until_true in_it bash -c 'ls /home/games/logs/*.darshan' || { in_it find /var/spool/ioscribe; false; }
  in_it bash -c 'ioscribe parse --base /home/games/logs/*.darshan' | grep -P 'POSIX_BYTES_WRITTEN\t7000\t/home/games/home\t'

  # the unit is stopped: the prolog starts no daemon beside it
  in_it systemctl stop ioscribed.socket ioscribed.service
  as_user 'sbatch --ioscribe job.sh stopped'
  until_true no_jobs
  ! in_it pgrep -x ioscribed || return 1
  run in_it ioscribe job begin --job-id 9 --uid 0
  [ "$status" -eq 1 ]
  [[ $output == *"no daemon at /run/ioscribe, where it is the unit ioscribed: systemctl enable --now ioscribed" ]]

  # the packages go while slurm.conf still names the hooks: jobs run, and the node stays
  in_it bash -c 'dpkg -r ioscribe-slurm ioscribe-daemon' >"$T/removed" 2>&1 || { cat "$T/removed"; false; }
  grep 'slurm.conf still names' "$T/removed"
  as_user 'sbatch job.sh removed'
  until_true no_jobs
  in_it test -s /home/games/removed
  node_is_idle
}
