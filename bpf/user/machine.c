// SPDX-License-Identifier: BSD-3-Clause
/*
 * Facts of this machine and process, read after a refusal or for a list of features. Main thread. Must not know
 * what they mean (refusal.c).
 */
#include "bpf/user/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#define TRACE_FS       0x74726163ul
#define NO_BPF_COMMAND 0x7fffffff
#define NO_LIMIT       (1ull << 60) /* cgroup v1 reports "none" as a huge number */

/* Without its last newline. False: unreadable. */
static bool text_of(const char *path, char *buffer, size_t cap)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, buffer, cap - 1);

	if (fd >= 0)
		close(fd);
	buffer[n > 0 ? n : 0] = 0;
	if (n > 0 && buffer[n - 1] == '\n')
		buffer[n - 1] = 0;
	return n > 0;
}

static int number_of(const char *path, int unknown)
{
	char text[32];

	return text_of(path, text, sizeof(text)) ? atoi(text) : unknown;
}

static bool is_on(const char *path, unsigned long type)
{
	struct statfs st;

	return statfs(path, &st) == 0 && (unsigned long)(unsigned)st.f_type == type;
}

static void read_status(struct scribe_machine *m)
{
	FILE *f = fopen("/proc/self/status", "re");
	char line[256];
	int mode = 0;

	m->no_proc = !f;
	while (f && fgets(line, sizeof(line), f)) {
		sscanf(line, "CapEff: %" SCNx64, &m->caps);
		sscanf(line, "Seccomp: %d", &mode);
	}
	if (f)
		fclose(f);
	m->filtered = mode == 2;
}

static bool in_user_ns(void)
{
	unsigned first, parent_first, n;
	char text[128];

	if (!text_of("/proc/self/uid_map", text, sizeof(text)))
		return access("/proc/self/uid_map", F_OK) == 0; /* nothing is mapped */
	return sscanf(text, "%u %u %u", &first, &parent_first, &n) != 3 || first || parent_first || n != UINT32_MAX;
}

static bool is_confidential(void)
{
	char text[4096];

	/* without securityfs: what was requested at boot */
	if (text_of("/sys/kernel/security/lockdown", text, sizeof(text)))
		return strstr(text, "[confidentiality]");
	return text_of("/proc/cmdline", text, sizeof(text)) && strstr(text, "lockdown=confidentiality");
}

static uint64_t limit_of(int what)
{
	struct rlimit limit;

	return getrlimit(what, &limit) < 0 || limit.rlim_cur == RLIM_INFINITY ? UINT64_MAX : limit.rlim_cur;
}

/* The limit of any group applies to those below: takes the least on the path upwards. */
static void least_of(struct scribe_machine *m, const char *root, const char *group, const char *file)
{
	char path[PATH_MAX], text[64];
	size_t n = strlen(group);

	for (;;) {
		uint64_t limit = UINT64_MAX;

		snprintf(path, sizeof(path), "%s%.*s/%s", root, (int)n, group, file);
		if (text_of(path, text, sizeof(text)) && text[0] >= '0' && text[0] <= '9')
			limit = strtoull(text, NULL, 10);
		if (limit < NO_LIMIT && limit < m->memory_limit) {
			m->memory_limit = limit;
			snprintf(m->memory_group, sizeof(m->memory_group), "%.*s", n ? (int)n : 1, n ? group : "/");
		}
		if (!n)
			return;
		while (n && group[--n] != '/')
			;
	}
}

static void read_memory(struct scribe_machine *m)
{
	FILE *f = fopen("/proc/self/cgroup", "re");
	char line[PATH_MAX];

	m->memory_limit = UINT64_MAX;
	while (f && fgets(line, sizeof(line), f)) {
		char *controllers = strchr(line, ':'), *group = controllers ? strchr(controllers + 1, ':') : NULL;

		if (!group)
			continue;
		*group++ = 0;
		group[strcspn(group, "\n")] = 0;
		/* in a cgroup namespace the path may be outside of the mount */
		if (group[0] != '/' || !strcmp(group, "/") || !strncmp(group, "/..", 3))
			group = "";
		if (!controllers[1]) {
			least_of(m, "/sys/fs/cgroup", group, "memory.max");
			least_of(m, "/sys/fs/cgroup/unified", group, "memory.max");
		} else if (strstr(controllers + 1, "memory")) {
			least_of(m, "/sys/fs/cgroup/memory", group, "memory.limit_in_bytes");
		}
	}
	if (f)
		fclose(f);
}

static void try_calls(struct scribe_machine *m)
{
	struct perf_event_attr perf;
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	memset(&perf, 0, sizeof(perf));
	perf.type = UINT32_MAX;
	/* Invalid on every kernel: an errno other than EINVAL then comes from a filter. */
	perf.size = sizeof(perf);
	perf.exclude_kernel = 1;
	m->bpf_errno = syscall(SYS_bpf, NO_BPF_COMMAND, &attr, sizeof(attr)) < 0 ? errno : 0;
	m->perf_errno = syscall(SYS_perf_event_open, &perf, 0, -1, -1, 0) < 0 ? errno : 0;
}

void scribe_machine_read(struct scribe_machine *m)
{
	struct utsname u;
	int fd;

	memset(m, 0, sizeof(*m));
	uname(&u);
	snprintf(m->release, sizeof(m->release), "%s", u.release);
	if (sscanf(u.release, "%u.%u", &m->major, &m->minor) != 2)
		m->major = m->minor = 0;
	m->uid = geteuid();
	read_status(m);
	m->user_ns = in_user_ns();
	m->confidential = is_confidential();
	try_calls(m);
	m->nofile = limit_of(RLIMIT_NOFILE);
	m->space = limit_of(RLIMIT_AS);
	fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	m->types_errno = fd < 0 ? errno : 0;
	if (fd >= 0)
		close(fd);
	m->tracefs = is_on("/sys/kernel/tracing", TRACE_FS) || is_on("/sys/kernel/debug/tracing", TRACE_FS);
	m->paranoid = number_of("/proc/sys/kernel/perf_event_paranoid", INT_MIN);
	read_memory(m);
}

bool scribe_machine_older(const struct scribe_machine *m, unsigned major, unsigned minor)
{
	return m->major && (m->major < major || (m->major == major && m->minor < minor));
}

bool scribe_machine_can(const struct scribe_machine *m, unsigned cap)
{
	uint64_t enough = 1ull << cap;

	/* CAP_SYS_ADMIN includes both. Without /proc the capabilities are unknown: assume them. */
	if (cap == SCRIBE_CAP_BPF || cap == SCRIBE_CAP_PERFMON)
		enough |= 1ull << SCRIBE_CAP_SYS_ADMIN;
	return m->no_proc || m->caps & enough;
}
