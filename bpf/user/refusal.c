// SPDX-License-Identifier: BSD-3-Clause
/*
 * Explains refusals of the kernel: nine causes, most certain first; otherwise libbpf's last message. Main
 * thread; the last cause's name is static.
 */
#include "bpf/user/refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/user/libbpf_log.h"
#include "bpf/user/verifier_log.h"

#define OLDEST_MAJOR 6 /* oldest kernel that the kernel matrix accepts */
#define OLDEST_MINOR 1
#define FILES_LEAST  128 /* descriptors for maps, programs, links and others */

struct line {
	char where[128];   /* "program scribe_sys_exit" */
	char verdict[256]; /* last line of its log; "": none */
	char *text;
	size_t cap;
};

typedef bool (*cause_fn)(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l);

static bool say(struct line *l, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static bool say(struct line *l, const char *fmt, ...)
{
	int n = snprintf(l->text, l->cap, "%s: ", l->where);
	va_list args;

	va_start(args, fmt);
	if (n > 0 && (size_t)n < l->cap)
		vsnprintf(l->text + n, l->cap - (size_t)n, fmt, args);
	va_end(args);
	return true;
}

/* Kernels differ in which they return. */
static bool denied(const struct scribe_refusal *r)
{
	return r->code == -EPERM || r->code == -EACCES;
}

static void find_where(const struct scribe_refusal *r, struct line *l)
{
	static const char *const doing[] = {
		[SCRIBE_STEP_TYPES] = "the kernel's types",      [SCRIBE_STEP_LOAD] = "loading the programs",
		[SCRIBE_STEP_MEMORY] = "mapping the records",    [SCRIBE_STEP_ATTACH] = "attaching",
		[SCRIBE_STEP_PROBE_MULTI] = "probing libraries", [SCRIBE_STEP_PROBE_PERF] = "probing libraries",
		[SCRIBE_STEP_EVENT] = "opening trace events"};
	const char *map = strstr(r->log, "': failed to create");
	char name[64];

	if (r->what)
		snprintf(l->where, sizeof(l->where), r->step == SCRIBE_STEP_ATTACH ? "attaching %s" : "%s", r->what);
	else if (map && scribe_log_word(r->log, "libbpf: map '", "'", name, sizeof(name)))
		snprintf(l->where, sizeof(l->where), "map %s", name);
	else if (r->step != SCRIBE_STEP_TYPES && scribe_log_word(r->log, "libbpf: prog '", "'", name, sizeof(name)))
		snprintf(l->where, sizeof(l->where), "program %s", name);
	else
		snprintf(l->where, sizeof(l->where), "%s", doing[r->step]);
}

static bool files(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	/* libbpf continues without some maps, and the verifier misses them */
	bool hidden = m->nofile < FILES_LEAST &&
		      (strstr(r->log, "Too many open files") || strstr(r->log, "is referenced but wasn't created"));

	if (r->code == -ENFILE)
		return say(l, "the machine's limit of open files is reached: raise the sysctl fs.file-max");
	if (r->code != -EMFILE && !hidden)
		return false;
	return say(l, "the limit of open files is %llu here (ulimit -n): raise it to 256 or more",
		   (unsigned long long)m->nofile);
}

static bool memory(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if (r->code != -ENOMEM)
		return false;
	if (m->space != UINT64_MAX)
		return say(l,
			   "no memory: the limit of address space is %llu MiB here (ulimit -v), and the records are "
			   "mapped: raise it",
			   (unsigned long long)(m->space >> 20));
	if (m->memory_limit != UINT64_MAX)
		return say(l,
			   "no memory: the control group %s may have %llu MiB, and the records count there: "
			   "raise that, or ask for fewer (--records, or records= of the service)",
			   m->memory_group, (unsigned long long)(m->memory_limit >> 20));
	return say(l, "no memory in the kernel: ask for fewer records (--records, or records= of the service)");
}

static bool types(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	bool asked = r->step == SCRIBE_STEP_TYPES || strstr(r->log, "failed to find valid kernel BTF");

	if (!asked || (!m->types_errno && r->step != SCRIBE_STEP_TYPES))
		return false;
	snprintf(l->where, sizeof(l->where), "/sys/kernel/btf/vmlinux");
	if (m->types_errno == EACCES || m->types_errno == EPERM)
		return say(l, "the kernel's types (BTF) may not be read: a rule of this system or container "
			      "forbids it: allow reading that file");
	return say(l,
		   "Linux %s offers no types (BTF) here: use a kernel built with CONFIG_DEBUG_INFO_BTF, and give a "
		   "container the machine's /sys (read-only is enough)",
		   m->release);
}

static bool capability(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	bool bpf = scribe_machine_can(m, SCRIBE_CAP_BPF), perfmon = scribe_machine_can(m, SCRIBE_CAP_PERFMON);

	if (!denied(r) || l->verdict[0])
		return false;
	if (m->user_ns)
		return say(l, "not possible in a user namespace (a rootless container, unshare -U), whatever "
			      "capabilities it shows: trace from outside, as the machine's root");
	if (bpf && perfmon)
		return false;
	return say(l, "not permitted for user %u without %s%s%s: run as root (sudo), or add %s (container: --cap-add)",
		   m->uid, bpf ? "" : "CAP_BPF", bpf || perfmon ? "" : " and ", perfmon ? "" : "CAP_PERFMON",
		   bpf || perfmon ? "it" : "both");
}

static bool seccomp(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	bool event = r->step == SCRIBE_STEP_PROBE_PERF || r->step == SCRIBE_STEP_EVENT;
	int had = event ? m->perf_errno : m->bpf_errno;
	const char *call = event ? "perf_event_open" : "bpf";

	/* Without a filter an invalid call returns EINVAL. */
	if (!m->filtered || l->verdict[0] || (had != EPERM && had != EACCES && had != ENOSYS) ||
	    (!denied(r) && r->code != -ENOSYS))
		return false;
	/* Debian's kernels return EACCES themselves, for any event */
	if (strcmp(call, "perf_event_open") == 0 && had == EACCES && m->paranoid > 2)
		return false;
	return say(l,
		   "a seccomp filter forbids the system call %s here: allow it (container: --security-opt "
		   "seccomp=FILE)",
		   call);
}

static bool lockdown(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	/* the verifier then does not know the helper that reads kernel memory */
	if (!m->confidential || (l->verdict[0] ? !strstr(l->verdict, "probe_read") : !denied(r)))
		return false;
	return say(l, "lockdown of the kernel is at confidentiality, which forbids reading its memory: boot "
		      "with lockdown=integrity or none");
}

static bool perf_events(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if ((r->step != SCRIBE_STEP_PROBE_PERF && r->step != SCRIBE_STEP_EVENT) || l->verdict[0])
		return false;
	/* Needed before perf_event_open() can be refused. */
	if (!m->tracefs)
		return say(l, "there are no trace events here: mount -t tracefs tracefs /sys/kernel/tracing");
	if (!denied(r))
		return false;
	return say(l,
		   "perf_event_open is refused: kernel.perf_event_paranoid is %d%s: sysctl "
		   "kernel.perf_event_paranoid=2",
		   m->paranoid, scribe_machine_can(m, SCRIBE_CAP_SYS_ADMIN) ? "" : " and CAP_SYS_ADMIN is missing");
}

/* A hint if the kernel is older than any tested one. */
static const char *newer(const struct scribe_machine *m, char text[48])
{
	text[0] = 0;
	if (scribe_machine_older(m, OLDEST_MAJOR, OLDEST_MINOR))
		snprintf(text, 48, ": %u.%u or newer is needed", OLDEST_MAJOR, OLDEST_MINOR);
	return text;
}

static bool verifier(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	char old[48];

	(void)r;
	return l->verdict[0] &&
	       say(l,
		   "the verifier of Linux %s refuses it: %s%s (not a matter of privileges; ioscribe doctor --features "
		   "shows which ways are left)",
		   m->release, l->verdict, newer(m, old));
}

/* For processes that attach within a time limit. */
static bool late(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	(void)m;
	return r->code == -ETIMEDOUT && !l->verdict[0] &&
	       say(l, "the kernel has not done it in time: the machine is busy, or memory of a process that "
		      "maps the file is locked");
}

static bool unknown(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	const char *log = strstr(r->log, "libbpf: ");
	int n = log ? (int)strcspn(log, "\n") : 0;
	char old[48];

	return say(l, "%s: Linux %s does not take it%s%.*s%s", scribe_strerror(r->code), m->release, n ? ": " : "", n,
		   n ? log : "", newer(m, old));
}

static const struct {
	const char *name;
	cause_fn is;
} causes[] = {
	{"open files", files},        {"types", types},       {"memory", memory},
	{"capability", capability}, /* a container's filter usually comes with missing capabilities */
	{"seccomp", seccomp},         {"lockdown", lockdown}, {"verifier", verifier},
	{"perf events", perf_events}, {"time", late},         {"unknown", unknown},
};

const char *scribe_refusal_line(const struct scribe_refusal *refusal, const struct scribe_machine *m, char *ret_line,
				size_t cap)
{
	struct line l = {.text = ret_line, .cap = cap};
	struct scribe_refusal r = *refusal;
	size_t i = 0;

	if (!r.log)
		r.log = "";
	scribe_verdict(r.log, l.verdict, sizeof(l.verdict));
	find_where(&r, &l);
	while (!causes[i].is(&r, m, &l))
		i++;
	return causes[i].name;
}

static const char *last_cause = "";

const char *scribe_refused_cause(void)
{
	return last_cause;
}

int scribe_refused(struct scribe_err *err, int code, enum scribe_load_step step, const char *what)
{
	const struct scribe_refusal r = {.code = code, .step = step, .what = what, .log = scribe_said()};
	struct scribe_machine m;
	char line[sizeof(err->text)];

	scribe_machine_read(&m);
	last_cause = scribe_refusal_line(&r, &m, line, sizeof(line));
	return scribe_err_set(err, code, "%s", line);
}
