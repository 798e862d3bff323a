// SPDX-License-Identifier: BSD-3-Clause
/*
 * ioscribe doctor: what this kernel and this user can do, a line each: ok, or
 * what to do. Changes nothing. Must not know: how the daemon works.
 */
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/command.h"
#include "util/doctor_parts.h"
#include "util/run_parts.h"

#define BPF_FS_TYPE      0xcafe4a11
#define TRACE_FS_TYPE    0x74726163
#define CAP_PERFMON_BIT  38
#define CAP_BPF_BIT      39
#define CAP_ADMIN_BIT    21
#define MEMORY_WANTED_KB (300u << 10)

static int bad_lines;

void scribe_doctor_line(enum scribe_doctor v, const char *what, const char *fmt, ...)
{
	static const char *const word[] = {"ok", "note", "FIX"};
	char text[512];
	va_list args;

	va_start(args, fmt);
	vsnprintf(text, sizeof(text), fmt, args);
	va_end(args);
	printf("%-5s %-22s %s\n", word[v], what, text);
	bad_lines += v == SCRIBE_DOCTOR_FIX;
}

/* First line of a small file, or an empty string. */
static const char *file_line(const char *path, char *room, size_t cap)
{
	FILE *f = fopen(path, "re");

	room[0] = 0;
	if (f && fgets(room, (int)cap, f))
		room[strcspn(room, "\n")] = 0;
	if (f)
		fclose(f);
	return room;
}

static void check_kernel(void)
{
	struct utsname u;
	int major = 0, minor = 0;

	uname(&u);
	if (sscanf(u.release, "%d.%d", &major, &minor) == 2 && (major < 5 || (major == 5 && minor < 14)))
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "kernel", "%s: 5.14 or newer is needed", u.release);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "kernel", "%s %s", u.release, u.machine);
	if (access("/sys/kernel/btf/vmlinux", R_OK) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "kernel types (BTF)", "/sys/kernel/btf/vmlinux");
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "kernel types (BTF)",
				   "none: use a kernel built with CONFIG_DEBUG_INFO_BTF");
}

static uint64_t effective_caps(void)
{
	FILE *f = fopen("/proc/self/status", "re");
	uint64_t caps = 0;
	char text[256];

	while (f && fgets(text, sizeof(text), f))
		if (sscanf(text, "CapEff: %" SCNx64, &caps) == 1)
			break;
	if (f)
		fclose(f);
	return caps;
}

static void check_user(void)
{
	uint64_t caps = effective_caps();
	bool bpf = caps >> CAP_BPF_BIT & 1, perfmon = caps >> CAP_PERFMON_BIT & 1;
	bool admin = caps >> CAP_ADMIN_BIT & 1;
	char text[64];

	if (geteuid() == 0 && ((bpf && perfmon) || admin))
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "privileges", "root%s",
				   bpf && perfmon ? " with CAP_BPF and CAP_PERFMON" : " with CAP_SYS_ADMIN");
	else if (geteuid() == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "privileges",
				   "root without CAP_BPF and CAP_PERFMON (in a container? give it both)");
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "privileges",
				   "not root: use sudo for ioscribe run and ioscribe doctor");
	file_line("/sys/kernel/security/lockdown", text, sizeof(text));
	if (strstr(text, "[confidentiality]"))
		scribe_doctor_line(
			SCRIBE_DOCTOR_FIX, "lockdown",
			"confidentiality: reading kernel memory is refused; use integrity or none");
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "lockdown", "%s", text[0] ? text : "none");
}

static void check_mount(const char *what, const char *path, unsigned long type, const char *need)
{
	struct statfs st;

	if (statfs(path, &st) == 0 && (unsigned long)(unsigned)st.f_type == type)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, what, "%s", path);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, what, "not at %s: %s", path, need);
}

static void check_limits(void)
{
	struct rlimit files, lock;
	unsigned long kb = 0;
	char text[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(text, sizeof(text), f))
		if (sscanf(text, "MemAvailable: %lu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	if (kb < MEMORY_WANTED_KB)
		scribe_doctor_line(
			SCRIBE_DOCTOR_FIX, "memory",
			"%lu MiB available: the default of 114688 records takes about 170 MiB of kernel "
			"memory; use --records with less",
			kb >> 10);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "memory", "%lu MiB available", kb >> 10);
	getrlimit(RLIMIT_NOFILE, &files);
	getrlimit(RLIMIT_MEMLOCK, &lock);
	scribe_doctor_line(files.rlim_cur < 256 ? SCRIBE_DOCTOR_FIX : SCRIBE_DOCTOR_OK, "open files", "%lu%s",
			   (unsigned long)files.rlim_cur,
			   files.rlim_cur < 256 ? ": at least 256 are needed, raise ulimit -n" : "");
	if (lock.rlim_cur == RLIM_INFINITY)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "locked memory", "unlimited");
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "locked memory",
				   "%lu KiB (kernels from 5.11 on do not count maps here)",
				   (unsigned long)lock.rlim_cur >> 10);
}

/* A kind of program or map; `optional`: what is lost without it. */
static void check_probe(enum scribe_probe what, const char *name, const char *optional)
{
	int rc = scribe_probe(what);

	if (rc == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, name, "loads");
	else if (optional)
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, name, "refused (%s): %s", strerror(-rc), optional);
	else if (rc == -EPERM)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, name,
				   "refused (%s): run as root, or give CAP_BPF and CAP_PERFMON",
				   strerror(-rc));
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, name, "refused (%s)", strerror(-rc));
}

static void check_programs(void)
{
	check_probe(SCRIBE_PROBE_MMAP_ARRAY, "mappable arrays", NULL);
	check_probe(SCRIBE_PROBE_RINGBUF, "ring buffers", NULL);
	check_probe(SCRIBE_PROBE_RAW_TP, "raw tracepoints", NULL);
	check_probe(SCRIBE_PROBE_TP_BTF, "typed tracepoints",
		    "raw tracepoints are used, at a few ns more a call");
	check_probe(SCRIBE_PROBE_UPROBE, "uprobes", "libraries cannot be probed; system calls can");
	check_probe(SCRIBE_PROBE_FENTRY, "function entries", "not needed: tracepoints do");
}

/* The daemon loads and attaches all it has, for a moment. */
static void check_daemon(void)
{
	char path[PATH_MAX], command[PATH_MAX + 32], text[768] = "";
	char *message;
	FILE *f;

	if (scribe_run_find_daemon(path, sizeof(path)) < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "daemon",
				   "ioscribed not found beside this program or in its sbin: install it");
		return;
	}
	scribe_doctor_line(SCRIBE_DOCTOR_OK, "daemon", "%s", path);
	if (geteuid() != 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "tracing programs", "not tried: not root");
		return;
	}
	if (strchr(path, '\'')) {
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "tracing programs",
				   "not tried: a quote in the daemon's path");
		return;
	}
	snprintf(command, sizeof(command), "'%s' --probe 2>/dev/null", path);
	f = popen(command, "re");
	if (f && fgets(text, sizeof(text), f))
		text[strcspn(text, "\n")] = 0;
	message = strrchr(text, '\t');
	if (f && pclose(f) == 0 && message)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "tracing programs", "%s", message + 1);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "tracing programs", "%s",
				   message ? message + 1 : "the daemon cannot be started");
}

static void check_runtime(void)
{
	static const char *const places[] = {"../lib/libioscribe.so",
					     "../lib/x86_64-linux-gnu/libioscribe.so",
					     "../lib/aarch64-linux-gnu/libioscribe.so",
					     "../lib64/libioscribe.so",
					     "libioscribe.so",
					     "../runtime/client/libioscribe.so",
					     NULL};
	char path[PATH_MAX];

	if (scribe_run_find(places, path, sizeof(path)) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "MPI runtime", "%s", path);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "MPI runtime",
				   "libioscribe.so not found: the daemon reduces ranks' records instead");
}

static void check_clock(void)
{
	char text[64];

	file_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof(text));
	if (!strcmp(text, "hpet") || !strcmp(text, "acpi_pm") || !strcmp(text, "jiffies"))
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "clock",
				   "%s: slow to read, every traced call pays for it; tsc would be better",
				   text);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "clock", "%s", text[0] ? text : "unknown");
}

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	*(bool *)ctx = true;
	return 0;
}

static const struct scribe_option options[] = {
	{"service", 1, NULL,
	 "only the lines about the service of this node: soon done, for a node's health check"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {"sudo ioscribe doctor", "check this machine",
				       "ioscribe doctor --service", "check this node's service", NULL};

const struct scribe_command scribe_command_doctor = {
	.name = "doctor",
	.summary = "what this kernel and this user can do, and what to fix",
	.main = scribe_cmd_doctor,
	.min_operands = 0,
	.max_operands = 0,
	.options = options,
	.about = "Checks the kernel, its type information, privileges, mounts, limits, which kinds of "
		 "programs load "
		 "(by loading the smallest one), the daemon, the runtime and the clock; of the node's "
		 "service whether it answers, its "
		 "configuration, the directory of logs, what waits in the spool, and Slurm's settings. Each "
		 "line begins "
		 "with ok, "
		 "note (works, with what is said) or FIX. The exit status is 1 when a line says FIX.",
	.examples = examples,
};

static void check_machine(void)
{
	check_kernel();
	check_user();
	check_mount("bpf file system", "/sys/fs/bpf", BPF_FS_TYPE,
		    "only a service daemon needs it; mount -t bpf bpf /sys/fs/bpf");
	check_mount("trace file system", "/sys/kernel/tracing", TRACE_FS_TYPE,
		    "only the weakest way of probing libraries needs it; mount -t tracefs tracefs "
		    "/sys/kernel/tracing");
	check_limits();
	check_programs();
	check_daemon();
	check_runtime();
	check_clock();
}

int scribe_cmd_doctor(int argc, char **argv)
{
	bool service = false;
	int first, status = scribe_args_read(&scribe_command_doctor, argc, argv, take, &service, &first);

	if (status >= 0)
		return status;
	bad_lines = 0;
	if (!service)
		check_machine();
	scribe_doctor_service();
	return bad_lines ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}
