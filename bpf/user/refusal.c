// SPDX-License-Identifier: BSD-3-Clause
/*
 * Causes of refusals, the surest first: a table of functions, each of which knows
 * one cause by errno, step, log and facts, and says it. Must not know libbpf.
 */
#include "bpf/user/refusal.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bpf/user/libbpf_log.h"
#include "bpf/user/verifier_log.h"

#define OLDEST_MAJOR 6 /* the oldest that the kernel matrix boots and takes */
#define OLDEST_MINOR 1
#define FILES_LEAST  128       /* descriptors that maps, programs and links take, and some */
#define NO_FIELD     "#195896080" /* the helper that libbpf puts where a field is missing */

struct line {
	char where[128];   /* "program scribe_sys_exit" */
	char verdict[256]; /* the verifier's last words; "" it has not spoken */
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

static bool denied(const struct scribe_refusal *r)
{
	return r->code == -EPERM || r->code == -EACCES;
}

static void find_where(const struct scribe_refusal *r, struct line *l)
{
	static const char *const doing[] = {[SCRIBE_STEP_TYPES] = "the kernel's types",
					    [SCRIBE_STEP_LOAD] = "loading the programs",
					    [SCRIBE_STEP_MEMORY] = "mapping the records",
					    [SCRIBE_STEP_PIN] = "pinning the programs",
					    [SCRIBE_STEP_ATTACH] = "attaching",
					    [SCRIBE_STEP_PROBE_MULTI] = "probing libraries",
					    [SCRIBE_STEP_PROBE_PERF] = "probing libraries",
					    [SCRIBE_STEP_EVENT] = "opening trace events"};
	const char *map = strstr(r->log, "': failed to create");
	char name[64];

	if (r->what)
		snprintf(l->where, sizeof(l->where), r->step == SCRIBE_STEP_ATTACH ? "attaching %s" : "%s",
			 r->what);
	else if (map && scribe_log_word(r->log, "libbpf: map '", "'", name, sizeof(name)))
		snprintf(l->where, sizeof(l->where), "map %s", name);
	else if (r->step != SCRIBE_STEP_TYPES &&
		 scribe_log_word(r->log, "libbpf: prog '", "'", name, sizeof(name)))
		snprintf(l->where, sizeof(l->where), "program %s", name);
	else
		snprintf(l->where, sizeof(l->where), "%s", doing[r->step]);
}

/* ---- limits ---- */

static bool files(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	/* libbpf goes on without some maps, and the verifier misses them */
	bool hidden = m->nofile < FILES_LEAST && (strstr(r->log, "Too many open files") ||
						  strstr(r->log, "is referenced but wasn't created"));

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
	return say(l,
		   "no memory in the kernel: ask for fewer records (--records, or records= of the service)");
}

/* Before 5.11 maps count as locked memory; a map that is beyond is refused as by privileges. */
static bool memlock(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if (r->code != -EPERM || r->step != SCRIBE_STEP_LOAD || !scribe_machine_older(m, 5, 11) ||
	    m->memlock == UINT64_MAX || !strstr(r->log, "failed to create"))
		return false;
	return say(l,
		   "the limit of locked memory is %llu KiB here, and Linux %s counts maps there: ulimit -l "
		   "unlimited, or CAP_SYS_RESOURCE",
		   (unsigned long long)(m->memlock >> 10), m->release);
}

/* ---- what the machine lacks ---- */

static bool types(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	bool asked = r->step == SCRIBE_STEP_TYPES || strstr(r->log, "failed to find valid kernel BTF");

	if (!asked || (!m->types_errno && r->step != SCRIBE_STEP_TYPES))
		return false;
	snprintf(l->where, sizeof(l->where), "/sys/kernel/btf/vmlinux");
	if (m->types_errno == EACCES || m->types_errno == EPERM)
		return say(l, "the kernel's types (BTF) may not be read: a rule of this system or container "
			      "forbids it: allow reading that file");
	if (!m->sysfs)
		return say(l,
			   "the kernel's types (BTF) are not there, because /sys is not mounted here: in a "
			   "container, give it the machine's /sys (read-only is enough)");
	if (m->types_errno == ENOENT)
		return say(
			l,
			"Linux %s offers no types (BTF): use a kernel built with CONFIG_DEBUG_INFO_BTF, or "
			"do not hide /sys/kernel/btf from this container",
			m->release);
	return say(l, "the kernel's types (BTF) cannot be read: %s",
		   strerror(m->types_errno ? m->types_errno : -r->code));
}

static bool bpffs(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if (r->step != SCRIBE_STEP_PIN || m->bpffs)
		return false;
	return say(l, "this is on no BPF file system: mount -t bpf bpf /sys/fs/bpf, or start the service "
		      "without --pin (its jobs do not outlive it then)");
}

static bool no_call(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if (r->code != -ENOSYS || m->filtered)
		return false;
	return say(l,
		   "Linux %s is built without this system call: CONFIG_BPF_SYSCALL and "
		   "CONFIG_PERF_EVENTS are needed",
		   m->release);
}

/* ---- privileges ---- */

static bool user_ns(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if (!denied(r) || l->verdict[0] || !m->user_ns)
		return false;
	return say(l, "not possible in a user namespace (a rootless container, unshare -U), whatever "
		      "capabilities it shows: trace from outside, as the machine's root");
}

static bool capability(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	bool map = r->step == SCRIBE_STEP_LOAD && strstr(r->log, "': failed to create");
	bool bpf = scribe_machine_can(m, SCRIBE_CAP_BPF), perfmon = scribe_machine_can(m, SCRIBE_CAP_PERFMON);

	if (!denied(r) || l->verdict[0])
		return false;
	if (m->uid && !bpf && !perfmon)
		return say(l,
			   "not permitted for user %u: run as root (sudo), or with CAP_BPF and CAP_PERFMON",
			   m->uid);
	if (!bpf && (map || perfmon))
		return say(l, "CAP_BPF is missing%s: give it (container: --cap-add BPF)",
			   m->uid ? "" : ", though this is root");
	if (!bpf)
		return say(l,
			   "CAP_BPF and CAP_PERFMON are missing%s: give both (container: --cap-add BPF "
			   "--cap-add PERFMON)",
			   m->uid ? "" : ", though this is root");
	if (!perfmon)
		return say(l, "CAP_PERFMON is missing%s: give it (container: --cap-add PERFMON)",
			   m->uid ? "" : ", though this is root");
	return false;
}

static bool seccomp(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	bool event = r->step == SCRIBE_STEP_PROBE_PERF || r->step == SCRIBE_STEP_EVENT;
	int had = event ? m->perf_errno : m->bpf_errno;
	const char *call = event ? "perf_event_open" : "bpf";

	if (!m->filtered || l->verdict[0] || (had != EPERM && had != EACCES && had != ENOSYS) ||
	    (!denied(r) && r->code != -ENOSYS))
		return false;
	/* Debian's kernels say EACCES themselves, to whatever is asked for */
	if (strcmp(call, "perf_event_open") == 0 && had == EACCES && m->paranoid > 2)
		return false;
	return say(l,
		   "a seccomp filter forbids the system call %s here: allow it (container: a profile with "
		   "%s, as --security-opt seccomp=FILE)",
		   call, call);
}

static bool lockdown(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	/* every kernel since 5.5 has the helper, but does not give it then */
	bool reads = strstr(l->verdict, "probe_read") && !scribe_machine_older(m, 5, 5);

	if (l->verdict[0] ? !reads : m->lockdown != SCRIBE_LOCKDOWN_CONFIDENTIALITY || !denied(r))
		return false;
	return say(l, "lockdown of the kernel is at confidentiality, which forbids reading its memory: boot "
		      "with lockdown=integrity or none");
}

/* Trace events are looked up and made there. */
static bool tracefs(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if ((r->step != SCRIBE_STEP_PROBE_PERF && r->step != SCRIBE_STEP_EVENT) || m->tracefs ||
	    l->verdict[0])
		return false;
	return say(l, "there are no trace events here: mount -t tracefs tracefs /sys/kernel/tracing");
}

static bool paranoid(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if ((r->step != SCRIBE_STEP_PROBE_PERF && r->step != SCRIBE_STEP_EVENT) || !denied(r))
		return false;
	if (!scribe_machine_can(m, SCRIBE_CAP_SYS_ADMIN) && m->paranoid > 2)
		return say(l,
			   "perf_event_open is refused: kernel.perf_event_paranoid is %d, CAP_SYS_ADMIN is "
			   "missing: sysctl kernel.perf_event_paranoid=2",
			   m->paranoid);
	if (!scribe_machine_can(m, SCRIBE_CAP_SYS_ADMIN))
		return say(l, "perf_event_open is refused without CAP_SYS_ADMIN, which the daemon does not keep");
	return say(l, "perf_event_open is refused (kernel.perf_event_paranoid is %d)", m->paranoid);
}

/* ---- what this kernel does not have, or the verifier does not take ---- */

static bool verifier(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	(void)r;
	if (!l->verdict[0])
		return false;
	if (strstr(l->verdict, NO_FIELD))
		return say(l,
			   "a field or type of the kernel that it reads is not there in Linux %s: a newer ioscribe may "
			   "know it; ioscribe run --verbose names it",
			   m->release);
	if (scribe_machine_older(m, OLDEST_MAJOR, OLDEST_MINOR))
		return say(l, "Linux %s is too old: its verifier refuses it: %s; %u.%u or newer is needed",
			   m->release, l->verdict, OLDEST_MAJOR, OLDEST_MINOR);
	return say(l,
		   "the verifier of Linux %s refuses it: %s (not a matter of privileges; ioscribe doctor "
		   "--features shows which ways are left)",
		   m->release, l->verdict);
}

static bool multi(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if (r->step != SCRIBE_STEP_PROBE_MULTI || l->verdict[0] || !scribe_machine_older(m, 6, 6) ||
	    (r->code != -EINVAL && r->code != -ENOTSUP && r->code != -524))
		return false;
	return say(l, "Linux %s has no uprobe_multi (of Linux 6.6)", m->release);
}

static bool old(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	if (denied(r) || !scribe_machine_older(m, OLDEST_MAJOR, OLDEST_MINOR))
		return false;
	return say(l, "Linux %s does not take it (%s): %u.%u or newer is needed", m->release,
		   strerror(-r->code), OLDEST_MAJOR, OLDEST_MINOR);
}

/* Nothing above explains it: the modules that may forbid it without a word. */
static bool module(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	static const char *const guards[] = {"selinux", "apparmor", "smack", "tomoyo", "bpf"};

	for (size_t i = 0; denied(r) && i < sizeof(guards) / sizeof(guards[0]); i++)
		if (strstr(m->modules, guards[i]))
			return say(l,
				   "%s, though privileges are there: a security module may forbid it (here: "
				   "%s): see the kernel's and the audit log",
				   strerror(-r->code), m->modules);
	return false;
}

static bool unknown(const struct scribe_refusal *r, const struct scribe_machine *m, struct line *l)
{
	const char *log = strstr(r->log, "libbpf: ");
	int n = log ? (int)strcspn(log, "\n") : 0;

	return say(
		l,
		"%s: Linux %s does not take it%s%.*s: ioscribe doctor --features shows what it takes, ioscribe run "
		"--verbose what it says",
		scribe_strerror(r->code), m->release, n ? ": " : "", n, n ? log : "");
}

static const struct {
	const char *name;
	cause_fn is;
} causes[] = {
	{"open files", files},
	{"types", types},
	{"BPF file system", bpffs},
	{"memory", memory},
	{"user namespace", user_ns},
	{"capability", capability}, /* a container's filter goes with its capabilities */
	{"seccomp", seccomp},
	{"locked memory", memlock},
	{"lockdown", lockdown},
	{"verifier", verifier},
	{"uprobe_multi", multi},
	{"trace file system", tracefs},
	{"perf events", paranoid},
	{"no system call", no_call},
	{"old kernel", old},
	{"security module", module},
	{"unknown", unknown},
};

const char *scribe_refusal_line(const struct scribe_refusal *refusal, const struct scribe_machine *m,
				char *ret_line, size_t cap)
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

int scribe_refused(struct scribe_err *err, int code, enum scribe_step step, const char *what,
		   const char *pins)
{
	const struct scribe_refusal r = {.code = code, .step = step, .what = what, .log = scribe_said()};
	struct scribe_machine m;
	char line[sizeof(err->text)];

	scribe_machine_read(pins, &m);
	last_cause = scribe_refusal_line(&r, &m, line, sizeof(line));
	return scribe_err_set(err, code, "%s", line);
}
