/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Gives up privileges for good. By each process of the daemon after its start-up, and by a helper that becomes a
 * reader. Must not know jobs or logs.
 */
#include "runtime/daemon/privsep/sandbox.h"
#include "bpf/user/load.h"
#include "bpf/user/map_calls.h"
#include "runtime/daemon/privsep/sandbox_syscalls.h"

#include <cap-ng.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

/* Headers older than Linux 5.8 */
#ifndef CAP_PERFMON
#define CAP_PERFMON 38
#endif
#ifndef CAP_BPF
#define CAP_BPF 39
#endif

/* Each list ends in -1; SECURITY.md justifies them. CAP_LEASE: a user's library is leased while it is probed. */
static const int kept_by_daemon[] = {CAP_BPF, CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_LEASE, -1};
static const int kept_by_admin[] = {CAP_BPF,       CAP_PERFMON, CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, CAP_LEASE,
				    CAP_SYS_ADMIN, -1};
static const int kept_by_maker[] = {CAP_SETUID, CAP_SETGID, CAP_SYS_PTRACE, CAP_SYS_CHROOT, -1};
static const int kept_by_run_maker[] = {CAP_SETUID, CAP_SETGID, CAP_SYS_PTRACE, CAP_DAC_OVERRIDE, -1};
static const int kept_by_linker[] = {CAP_BPF, CAP_PERFMON, -1};
static const int kept_by_helper[] = {-1};
static const int kept_by_root_helper[] = {CAP_SYS_PTRACE, CAP_DAC_OVERRIDE, -1};

static const int kept_by_procfs[] = {CAP_SYS_PTRACE, CAP_DAC_READ_SEARCH, -1};

static const int *const kept[] = {
	[SCRIBE_PROCESS_DAEMON] = kept_by_daemon,         [SCRIBE_PROCESS_ADMIN] = kept_by_admin,
	[SCRIBE_PROCESS_SPAWNER] = kept_by_maker,         [SCRIBE_PROCESS_LINKER] = kept_by_linker,
	[SCRIBE_PROCESS_RUN_SPAWNER] = kept_by_run_maker, [SCRIBE_PROCESS_HELPER] = kept_by_helper,
	[SCRIBE_PROCESS_READER] = kept_by_helper,         [SCRIBE_PROCESS_ROOT_HELPER] = kept_by_root_helper,
	[SCRIBE_PROCESS_SNAPSHOT] = kept_by_helper,       [SCRIBE_PROCESS_PROCFS] = kept_by_procfs,
};

/* With kernel.perf_event_paranoid above 2, as in Debian, trace events need CAP_SYS_ADMIN. */
static bool events_are_admins(void)
{
	FILE *f = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	int paranoid = 0;

	if (f && fscanf(f, "%d", &paranoid) != 1)
		paranoid = 0;
	if (f)
		fclose(f);
	return paranoid > 2;
}

static int drop_capabilities(enum scribe_process_role role)
{
	const int *caps = kept[role];
	bool had[64] = {false}, admin;

	/* capng_apply() fails on a capability that the process does not have. */
	for (const int *c = caps; *c >= 0; c++)
		had[*c] = capng_have_capability(CAPNG_PERMITTED, (unsigned)*c) == 1;
	/* A container may have CAP_SYS_ADMIN instead of the two newer ones. */
	admin = (role == SCRIBE_PROCESS_DAEMON || role == SCRIBE_PROCESS_LINKER) &&
		(!(had[CAP_BPF] && had[CAP_PERFMON]) || (scribe_bpf_uses_events() && events_are_admins())) &&
		capng_have_capability(CAPNG_PERMITTED, CAP_SYS_ADMIN) == 1;
	capng_clear(CAPNG_SELECT_BOTH);
	if (admin)
		capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET, CAP_SYS_ADMIN);
	for (const int *c = caps; *c >= 0; c++)
		if (had[*c])
			capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED | CAPNG_BOUNDING_SET, (unsigned)*c);
	/* Needs CAP_SETPCAP, which a container's root may lack. A snapshot never executes a program. */
	if (role != SCRIBE_PROCESS_SNAPSHOT)
		(void)capng_apply(CAPNG_SELECT_BOUNDS);
	return capng_apply(CAPNG_SELECT_CAPS) ? -EPERM : 0;
}

int scribe_sandbox(enum scribe_process_role role, struct scribe_err *err)
{
	int rc;

	/* Before the filter: otherwise the kernel requires CAP_SYS_ADMIN for one. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return scribe_err_set(err, -errno, "cannot refuse new privileges: %s", strerror(errno));
	scribe_map_calls_allow(role == SCRIBE_PROCESS_DAEMON || role == SCRIBE_PROCESS_ADMIN);
	/* A reader was a helper, which has none. */
	rc = role == SCRIBE_PROCESS_READER ? 0 : drop_capabilities(role);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot drop capabilities");
	rc = scribe_calls_filter(role);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot filter system calls: %s", strerror(-rc));
	return 0;
}
