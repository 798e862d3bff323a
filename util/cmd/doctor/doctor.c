// SPDX-License-Identifier: BSD-3-Clause
/*
 * `ioscribe doctor`: checks what this kernel and user can do, a line per check. Changes nothing. Must not know how the
 * daemon works.
 */
#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/cmd/doctor/doctor_parts.h"
#include "util/link/installed.h"
#include "util/tool/command.h"

/* File system types of linux/magic.h; memory for 114,688 records plus the daemon. */
#define BPF_FS_TYPE      0xcafe4a11
#define TRACE_FS_TYPE    0x74726163
#define MEMORY_WANTED_KB (300u << 10)

static const char *file_line(const char *path, char *capacity, size_t cap)
{
	FILE *f = fopen(path, "re");

	capacity[0] = 0;
	if (f && fgets(capacity, (int)cap, f))
		capacity[strcspn(capacity, "\n")] = 0;
	if (f)
		fclose(f);
	return capacity;
}

static void check_kernel(void)
{
	struct utsname u;
	int major = 0, minor = 0, code;

	uname(&u);
	/* Only a note, because doctor_trace.c tries what a job needs. */
	if (sscanf(u.release, "%d.%d", &major, &minor) == 2 && (major < 6 || (major == 6 && minor < 1)))
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "kernel",
				   "%s: older than 6.1, so it may lack what is needed; what it takes is tried below",
				   u.release);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "kernel", "%s %s", u.release, u.machine);
	code = access("/sys/kernel/btf/vmlinux", R_OK) < 0 ? errno : 0;
	if (!code)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "kernel types (BTF)", "/sys/kernel/btf/vmlinux");
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "kernel types (BTF)", "/sys/kernel/btf/vmlinux: %s: %s",
				   strerror(code),
				   access("/sys/kernel", F_OK) < 0
					   ? "/sys is not mounted here (a container?)"
					   : "use a kernel built with CONFIG_DEBUG_INFO_BTF, or do not hide it "
					     "from this container");
}

static void check_lockdown(void)
{
	char text[4096], *asked;

	/* In confidentiality mode BPF programs may not read kernel memory, which all of ours do. */
	if (!file_line("/sys/kernel/security/lockdown", text, sizeof(text))[0]) {
		asked = strstr(file_line("/proc/cmdline", text, sizeof(text)), "lockdown=");
		if (asked)
			asked[strcspn(asked, " ")] = 0;
		memmove(text, asked ? asked : "", asked ? strlen(asked) + 1 : 1);
	}
	if (strstr(text, "[confidentiality]") || strstr(text, "=confidentiality"))
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "lockdown",
				   "confidentiality: reading kernel memory is refused; use integrity or none");
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "lockdown", "%s", text[0] ? text : "none");
}

static void check_mount(const char *what, const char *path, unsigned long type, const char *need)
{
	struct statfs st;

	/* A note only, because `ioscribe run` needs neither file system. */
	if (statfs(path, &st) == 0 && (unsigned long)(unsigned)st.f_type == type)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, what, "%s", path);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, what, "not at %s: %s", path, need);
}

static void check_limits(void)
{
	struct rlimit files;
	unsigned long kb = 0;
	char text[128];
	FILE *f = fopen("/proc/meminfo", "re");

	while (f && fgets(text, sizeof(text), f))
		if (sscanf(text, "MemAvailable: %lu", &kb) == 1)
			break;
	if (f)
		fclose(f);
	if (kb < MEMORY_WANTED_KB)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "memory",
				   "%lu MiB available: the default of 114688 records takes about 170 MiB of kernel "
				   "memory; use --records with less",
				   kb >> 10);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "memory", "%lu MiB available", kb >> 10);
	getrlimit(RLIMIT_NOFILE, &files);
	/* The hard limit counts: the daemon raises its soft one to it. */
	scribe_doctor_line(files.rlim_max < 128 ? SCRIBE_DOCTOR_FIX : SCRIBE_DOCTOR_OK, "open files", "%lu%s",
			   (unsigned long)files.rlim_max,
			   files.rlim_max < 128 ? ": fewer than 128; raise ulimit -n to 256 or more" : "");
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

	if (scribe_installed_find(places, path, sizeof(path)) == 0)
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "MPI runtime", "%s", path);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "MPI runtime",
				   "libioscribe.so not found: the daemon reduces ranks' records instead");
}

static void check_clock(void)
{
	char text[64];

	/* Kernel programs read the clock twice per call. */
	file_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", text, sizeof(text));
	if (!strcmp(text, "hpet") || !strcmp(text, "acpi_pm") || !strcmp(text, "jiffies"))
		scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "clock",
				   "%s: slow to read, every traced call pays for it; tsc would be better", text);
	else
		scribe_doctor_line(SCRIBE_DOCTOR_OK, "clock", "%s", text[0] ? text : "unknown");
}

struct wanted {
	bool service, features, selftest;
	const char *user;
};

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct wanted *w = ctx;

	if (key == 3)
		w->user = value;
	else
		*(key == 1 ? &w->service : key == 2 ? &w->features : &w->selftest) = true;
	return 0;
}

static const struct scribe_option options[] = {
	{"service", 1, NULL, "only the lines about the service of this node: soon done, for a node's health check"},
	{"features", 2, NULL,
	 "only the ways to trace that this kernel has, each tried: which it refuses, why, and what is lost"},
	{"selftest", 4, NULL,
	 "trace a known program by each way (calls, threads, io_uring, STDIO, MPI-IO) and compare its log, in some "
	 "seconds"},
	{"user", 3, "NAME", "whose job's log the service tries to write (default: who called sudo, else nobody)"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {"sudo ioscribe doctor",
				       "check this machine",
				       "sudo ioscribe doctor --features",
				       "which ways to trace this kernel takes",
				       "ioscribe doctor --service",
				       "check this node's service",
				       "ioscribe doctor --selftest",
				       "whether what is recorded here is right, after an upgrade of the kernel",
				       NULL};

const struct scribe_command scribe_command_doctor = {
	.name = "doctor",
	.summary = "what this kernel and this user can do, and what to fix",
	.main = scribe_cmd_doctor,
	.min_operands = 0,
	.max_operands = 0,
	.options = options,
	.about = "Checks the kernel, its type information, privileges, mounts, limits, the runtime and the "
		 "clock, and lets the daemon try all that a job needs: become the user, load and attach its "
		 "programs, probe libraries; of the node's service whether it answers, its configuration, the "
		 "hooks' settings, the directory of logs, what waits in the spool, and Slurm's settings. Asked "
		 "by root, the running service writes a log as a job's user would, with the hooks' options and from "
		 "within its sandbox, and removes it. Each line begins with ok, "
		 "note (works, with what is said) or FIX. The exit status is 1 when a line says FIX, or when "
		 "no way to trace is left (--features).",
	.examples = examples,
};

static void check_machine(void)
{
	check_kernel();
	scribe_doctor_trace();
	check_lockdown();
	check_mount("bpf file system", "/sys/fs/bpf", BPF_FS_TYPE,
		    "only a service daemon needs it; mount -t bpf bpf /sys/fs/bpf");
	check_mount("trace file system", "/sys/kernel/tracing", TRACE_FS_TYPE,
		    "only the weakest way of probing libraries needs it; mount -t tracefs tracefs "
		    "/sys/kernel/tracing");
	check_limits();
	check_runtime();
	check_clock();
}

int scribe_cmd_doctor(int argc, char **argv)
{
	struct wanted wanted = {0};
	int first, status = scribe_args_read(&scribe_command_doctor, argc, argv, take, &wanted, &first);

	if (status >= 0)
		return status;
	if (wanted.features)
		return scribe_doctor_features();
	scribe_doctor_lines_to_fix = 0;
	if (wanted.selftest)
		return scribe_doctor_selftest();
	if (!wanted.service)
		check_machine();
	scribe_doctor_service(wanted.user);
	return scribe_doctor_lines_to_fix ? SCRIBE_EXIT_FAILED : SCRIBE_EXIT_OK;
}
