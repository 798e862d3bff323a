// SPDX-License-Identifier: BSD-3-Clause
/*
 * The doctor's lines about tracing: output of the daemon with --probe or --features, which has tab-separated
 * fields. Must not know BPF.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "util/cmd/doctor/doctor_parts.h"
#include "util/link/installed.h"
#include "util/link/privileges.h"
#include "util/tool/command.h"

/* Fields of a --features line: name, verdict, text, cause, loss. */
#define FIELDS_MAX 5

static FILE *daemon_says(const char *option)
{
	char path[PATH_MAX], command[PATH_MAX + 64];
	FILE *f;

	if (scribe_installed_daemon(path, sizeof(path)) < 0) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "daemon",
				   "ioscribed not found beside this program or in its sbin: install it");
		return NULL;
	}
	/* The path goes into a shell command within single quotes. */
	if (strchr(path, '\'')) {
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "daemon", "%s: a quote in the daemon's path", path);
		return NULL;
	}
	snprintf(command, sizeof(command), "'%s' %s 2>/dev/null", path, option);
	f = popen(command, "re");
	if (!f)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "daemon", "%s: cannot be started", path);
	return f;
}

static bool next_line(FILE *f, char *capacity, size_t cap, char *field[FIELDS_MAX])
{
	char *rest = capacity;

	if (!fgets(capacity, (int)cap, f))
		return false;
	capacity[strcspn(capacity, "\n")] = 0;
	for (int i = 0; i < FIELDS_MAX; i++) {
		field[i] = strsep(&rest, "\t");
		if (!field[i])
			field[i] = capacity + strlen(capacity);
	}
	return true;
}

static void without_privileges(void)
{
	if (scribe_in_user_ns())
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "privileges",
				   "this is a user namespace (a rootless container, unshare -U): trace from "
				   "outside, as the machine's root");
	else
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "privileges",
				   "not root: use sudo for ioscribe run and ioscribe doctor");
	scribe_doctor_line(SCRIBE_DOCTOR_NOTE, "tracing programs", "not tried without privileges");
}

static void say_privileges(const char *cause, const char *text)
{
	/* The kernel's refusal decides: seccomp or a container may deny what this process seems to have. */
	static const char *const of_privileges[] = {"capability", "seccomp", "identity"};
	bool both = scribe_has_cap(SCRIBE_CAP_BPF) && scribe_has_cap(SCRIBE_CAP_PERFMON);

	for (size_t i = 0; i < sizeof(of_privileges) / sizeof(of_privileges[0]); i++)
		if (!strcmp(cause, of_privileges[i])) {
			scribe_doctor_line(SCRIBE_DOCTOR_FIX, "privileges", "%s", text);
			return;
		}
	scribe_doctor_line(SCRIBE_DOCTOR_OK, "privileges", "user %u with %s", (unsigned)geteuid(),
			   both ? "CAP_BPF and CAP_PERFMON" : "CAP_SYS_ADMIN");
}

/* One of --probe's three lines: identity, programs, probes. */
struct part {
	bool seen, ok;
	char text[768], cause[32];
};

static void store_result(struct part *p, char *const field[FIELDS_MAX])
{
	p->seen = true;
	p->ok = !strcmp(field[1], "ok");
	snprintf(p->text, sizeof(p->text), "%s", field[2]);
	snprintf(p->cause, sizeof(p->cause), "%s", field[3]);
}

void scribe_doctor_trace(void)
{
	struct part identity = {0}, programs = {0}, probes = {0};
	char line[1024], *field[FIELDS_MAX];
	FILE *f;

	if (!scribe_may_trace()) {
		without_privileges();
		return;
	}
	f = daemon_says("--probe");
	if (!f)
		return;
	while (next_line(f, line, sizeof(line), field))
		store_result(!strcmp(field[0], "identity")   ? &identity
			     : !strcmp(field[0], "programs") ? &programs
							     : &probes,
			     field);
	pclose(f);
	if (!programs.seen)
		snprintf(programs.text, sizeof(programs.text), "the daemon cannot be started, or was ended");
	if (identity.seen && !identity.ok)
		say_privileges("identity", identity.text);
	else
		say_privileges(programs.ok ? "" : programs.cause, programs.text);
	scribe_doctor_line(programs.ok ? SCRIBE_DOCTOR_OK : SCRIBE_DOCTOR_FIX, "tracing programs", "%s", programs.text);
	/* Only a note: system calls are traced without library probes. */
	if (probes.seen)
		scribe_doctor_line(probes.ok ? SCRIBE_DOCTOR_OK : SCRIBE_DOCTOR_NOTE, "library probes", "%s%s",
				   probes.ok ? "" : "MPI-IO, HDF5, PnetCDF and cuFile are not recorded: ", probes.text);
}

int scribe_doctor_features(void)
{
	char line[2048], *field[FIELDS_MAX];
	bool any = false;
	FILE *f;
	int status;

	if (!scribe_may_trace()) {
		without_privileges();
		return SCRIBE_EXIT_FAILED;
	}
	f = daemon_says("--features");
	if (!f)
		return SCRIBE_EXIT_FAILED;
	while (next_line(f, line, sizeof(line), field)) {
		any = true;
		printf("%-14s %-8s %s\n", field[0], field[1], field[2]);
		if (field[3][0])
			printf("%24swhy: %s\n%24swithout it: %s\n", "", field[3], "", field[4]);
	}
	status = pclose(f);
	if (!any)
		scribe_doctor_line(SCRIBE_DOCTOR_FIX, "daemon", "it cannot be started, or was ended");
	return any && status == 0 ? SCRIBE_EXIT_OK : SCRIBE_EXIT_FAILED;
}
