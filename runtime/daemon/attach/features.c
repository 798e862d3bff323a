/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tries ways to trace with the real programs, sandboxed as the daemon is. In a separate process. Must not know
 * jobs.
 */
#include "runtime/daemon/attach/features.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/user/load.h"
#include "bpf/user/refusal.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/base/rlimits.h"
#include "runtime/daemon/config/library_selection.h"
#include "runtime/daemon/privsep/helper.h"
#include "runtime/daemon/privsep/helper_spawner.h"
#include "runtime/daemon/privsep/sandbox.h"
#include "uprobes/attach/attach.h"

struct trial {
	bool verbose;
	struct scribe_bpf *bpf; /* at the best level, pinned if possible */
	int pinned;             /* 0 or an error */
	struct scribe_err no_bpf, no_pins;
};

struct feature {
	const char *name;
	int (*try)(struct trial *t, int level, struct scribe_err *err);
	int level;
	const char *what, *lost;
};

static int load(const struct trial *t, enum scribe_bpf_level level, const char *pins, struct scribe_bpf **ret_bpf,
		struct scribe_err *err)
{
	const struct scribe_bpf_options options = {
		.slots = 1024, .procs = 256, .level = level, .verbose = t->verbose, .pins = pins};
	struct scribe_bpf *bpf = NULL;
	int rc = scribe_limits_check(err);

	if (rc == 0)
		rc = scribe_bpf_open(&options, &bpf, err);
	if (rc == 0)
		rc = scribe_bpf_attach(bpf, err);
	if (rc < 0) {
		scribe_bpf_free(bpf);
		return rc;
	}
	*ret_bpf = bpf;
	return 0;
}

static int try_types(struct trial *t, int level, struct scribe_err *err)
{
	(void)t;
	(void)level;
	return access("/sys/kernel/btf/vmlinux", R_OK) < 0 ? scribe_refused(err, -errno, SCRIBE_STEP_TYPES, NULL) : 0;
}

static int try_system_calls(struct trial *t, int level, struct scribe_err *err)
{
	struct scribe_bpf *bpf = NULL;
	int rc = load(t, (enum scribe_bpf_level)level, NULL, &bpf, err);

	scribe_bpf_free(bpf);
	return rc;
}

static int need_bpf(struct trial *t, struct scribe_err *err)
{
	char pins[64];

	if (!t->bpf && !t->no_bpf.code) {
		/* pinned first, because maps are then created differently */
		snprintf(pins, sizeof(pins), "/sys/fs/bpf/ioscribe-try-%d", (int)getpid());
		t->pinned = load(t, SCRIBE_BPF_AUTO, pins, &t->bpf, &t->no_pins);
		if (t->pinned < 0)
			load(t, SCRIBE_BPF_AUTO, NULL, &t->bpf, &t->no_bpf);
	}
	return t->bpf ? 0 : scribe_err_set(err, -EAGAIN, "no system calls can be traced");
}

static int try_libraries(struct trial *t, int level, struct scribe_err *err)
{
	const struct scribe_uprobes_options options = {.modules = scribe_libs_modules("auto"),
						       .level = (enum scribe_uprobe_level)level,
						       .verbose = t->verbose};
	struct scribe_uprobes *u = NULL;
	int rc = need_bpf(t, err);

	if (rc == 0)
		rc = scribe_uprobes_open(t->bpf, &options, &u, err);
	if (rc == 0)
		rc = scribe_uprobes_try(u, err);
	scribe_uprobes_free(u);
	return rc;
}

static int try_pins(struct trial *t, int level, struct scribe_err *err)
{
	int rc = need_bpf(t, err);

	(void)level;
	if (rc == 0 && t->pinned < 0)
		*err = t->no_pins;
	return rc < 0 ? rc : t->pinned;
}

/* Name, function, level, what it is, what is lost without it. */
static const struct feature features[] = {
	{"types", try_types, 0, "the kernel's types (BTF)", "nothing can be traced"},
	{"tp_btf", try_system_calls, SCRIBE_BPF_TP_BTF, "system calls by typed tracepoints and direct loads",
	 "the next way is taken, at some nanoseconds more a call"},
	{"tp_btf_probe", try_system_calls, SCRIBE_BPF_TP_BTF_PROBE, "system calls by typed tracepoints and probe reads",
	 "the next way is taken"},
	{"tracepoint", try_system_calls, SCRIBE_BPF_TRACEPOINT,
	 "system calls by trace events, whose programs are not preempted",
	 "where the others' programs are preempted (Linux 7), threads on one processor may lose operations"},
	{"uprobe_multi", try_libraries, SCRIBE_UPROBE_MULTI, "libraries, by one link a file (Linux 6.6)",
	 "the next way is taken, at some 0.2 s a file when it ends"},
	{"uprobe_events", try_libraries, SCRIBE_UPROBE_EVENTS, "libraries, by trace events of tracefs",
	 "nothing, where uprobe_multi goes; else MPI-IO, HDF5, PnetCDF and cuFile are not recorded"},
	{"pins", try_pins, 0, "a BPF file system at /sys/fs/bpf, for ioscribed --pin",
	 "jobs of a service end with its daemon"},
};

static int become_daemon(struct scribe_err *err)
{
	scribe_limits_raise();
	/* trace events need more privileges: a daemon configured for them keeps these */
	return scribe_sandbox(
		scribe_uprobes_need_admin(SCRIBE_UPROBE_EVENTS) ? SCRIBE_PROCESS_ADMIN : SCRIBE_PROCESS_DAEMON, err);
}

int scribe_features_print(bool verbose)
{
	struct trial t = {.verbose = verbose};
	struct scribe_err err = {0};
	bool traced = false;

	if (become_daemon(&err) < 0) {
		fprintf(stderr, "ioscribed: %s\n", err.text);
		return 1;
	}
	for (size_t i = 0; i < sizeof(features) / sizeof(features[0]); i++) {
		const struct feature *f = &features[i];
		int rc;

		err.text[0] = 0;
		rc = f->try(&t, f->level, &err);
		traced = traced || (rc == 0 && f->try == try_system_calls);
		printf("%s\t%s\t%s\t%s\t%s\n", f->name,
		       rc == 0         ? "ok"
		       : rc == -EAGAIN ? "untried"
				       : "refused",
		       f->what, rc == 0 ? "" : err.text, f->lost);
		fflush(stdout);
	}
	scribe_bpf_free(t.bpf);
	return !traced;
}

static void print_part(const char *part, bool ok, const char *text)
{
	printf("%s\t%s\t%s\t%s\n", part, ok ? "ok" : "failed", text, ok ? "" : scribe_refused_cause());
	fflush(stdout);
}

static uid_t number_in(const char *variable, uid_t otherwise)
{
	const char *text = getenv(variable);

	return text && text[0] >= '0' && text[0] <= '9' ? (uid_t)strtoul(text, NULL, 10) : otherwise;
}

/* Before become_daemon(): the spawner needs capabilities that are dropped there. */
static void probe_identity(void)
{
	uid_t uid = number_in("SUDO_UID", getuid());
	gid_t gid = number_in("SUDO_GID", getgid());
	struct scribe_helper helper = {.pid = -1, .sock = -1};
	struct scribe_err err = {0};
	char text[64];
	int rc = scribe_helpers_open(true, &err);

	if (rc == 0)
		rc = scribe_helper_start(&helper, uid, gid, "", &err);
	if (rc == 0)
		rc = scribe_helper_meet(&helper, &err);
	snprintf(text, sizeof(text), "logs are written as user %u", (unsigned)uid);
	print_part("identity", rc == 0, rc == 0 ? text : err.text);
	if (rc == 0)
		scribe_helper_stop(&helper);
	scribe_helpers_close();
}

static void probe_libraries(struct trial *t)
{
	struct scribe_err why = {0}, err = {0};

	if (try_libraries(t, SCRIBE_UPROBE_MULTI, &why) == 0)
		print_part("libraries", true, "MPI-IO, HDF5, PnetCDF, cuFile: programs load, by one link a file");
	else if (try_libraries(t, SCRIBE_UPROBE_EVENTS, &err) == 0)
		print_part("libraries", true, "MPI-IO, HDF5, PnetCDF, cuFile: programs load, by trace events");
	else
		printf("libraries\tfailed\t%s; %s\n", why.text, err.text);
}

int scribe_probe_print(bool verbose)
{
	struct trial t = {.verbose = verbose, .pinned = -EAGAIN};
	struct scribe_err err = {0};
	char text[96];
	int rc;

	scribe_limits_raise();
	probe_identity();
	rc = become_daemon(&err);
	if (rc == 0)
		rc = load(&t, SCRIBE_BPF_AUTO, NULL, &t.bpf, &err);
	if (rc < 0) {
		print_part("programs", false, err.text);
		return 1;
	}
	snprintf(text, sizeof(text), "all load and attach, by %s", scribe_bpf_level_name(scribe_bpf_chosen(t.bpf)));
	print_part("programs", true, text);
	probe_libraries(&t);
	scribe_bpf_free(t.bpf);
	return 0;
}
