// SPDX-License-Identifier: BSD-3-Clause
/*
 * Without uprobe_multi (before Linux 6.6): all addresses of a file and direction share a trace event (several
 * per event since Linux 5.5) and a perf event. Separate perf events would be detached one by one under a lock,
 * two RCU grace periods each. Main thread. Must not know: points, layers, files.
 */
#include "uprobes/attach/uprobe_events.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/* and the maker's process id */
#define GROUP     "ioscribe_"
#define LINE_MAX_ 256

static const char *const mounted_at[] = {"/sys/kernel/tracing", "/sys/kernel/debug/tracing"};

static bool is_left_behind(const char *line, char *ret_name, size_t cap)
{
	int pid, at = 0;

	if (sscanf(line, "%*[pr]:" GROUP "%d/%n", &pid, &at) != 1 || !at)
		return false;
	if (kill(pid, 0) == 0 || errno != ESRCH)
		return false;
	snprintf(ret_name, cap, "%.*s", (int)strcspn(line + 2, " \n"), line + 2);
	return true;
}

static void remove_event(int fd, const char *name)
{
	char line[LINE_MAX_];
	int n = snprintf(line, sizeof(line), "-:%s", name);

	/* fails if in use */
	if (n > 0 && (size_t)n < sizeof(line) && write(fd, line, (size_t)n) < 0)
		return;
}

static void remove_left_behind(struct scribe_events *e)
{
	char path[LINE_MAX_], line[1024], name[LINE_MAX_], last[LINE_MAX_] = "";
	FILE *list;

	snprintf(path, sizeof(path), "%s/uprobe_events", e->folder);
	list = fopen(path, "re");
	while (list && fgets(line, sizeof(line), list)) {
		/* one line per address */
		if (!is_left_behind(line, name, sizeof(name)) || !strcmp(name, last))
			continue;
		remove_event(e->fd, name);
		memcpy(last, name, sizeof(last));
	}
	if (list)
		fclose(list);
}

int scribe_events_open(struct scribe_events *e, struct scribe_err *err)
{
	char path[LINE_MAX_];
	int rc = -ENOENT;

	e->fd = -1;
	for (size_t i = 0; e->fd < 0 && i < sizeof(mounted_at) / sizeof(mounted_at[0]); i++) {
		e->folder = mounted_at[i];
		snprintf(path, sizeof(path), "%s/uprobe_events", e->folder);
		e->fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
		if (e->fd < 0 && rc == -ENOENT)
			rc = -errno;
	}
	if (e->fd >= 0) {
		remove_left_behind(e);
		return 0;
	}
	if (rc == -ENOENT && access("/sys/bus/event_source/devices/uprobe", F_OK))
		return scribe_err_set(err, rc, "uprobe events: the kernel has none (CONFIG_UPROBE_EVENTS)");
	if (rc == -ENOENT)
		return scribe_err_set(err, rc,
				      "uprobe events: tracefs is not mounted: mount -t tracefs "
				      "tracefs /sys/kernel/tracing");
	return scribe_err_set(err, rc, "uprobe events: %s/uprobe_events: %s: root is needed%s", mounted_at[0],
			      strerror(-rc), rc == -EPERM ? ", and a kernel that is not locked down" : "");
}

void scribe_events_close(struct scribe_events *e)
{
	if (e->fd >= 0)
		close(e->fd);
	e->fd = -1;
}

static int define(const struct scribe_events *e, const char *name, const char *path,
		  const struct scribe_event_address *point, size_t n, bool at_return)
{
	char line[LINE_MAX_];

	for (size_t i = 0; i < n; i++) {
		/* A line with an existing name adds an address to that event. */
		int k = snprintf(line, sizeof(line), "%c:%s %s:0x%llx", at_return ? 'r' : 'p', name, path,
				 (unsigned long long)point[i].offset);

		if (point[i].semaphore)
			k += snprintf(line + k, sizeof(line) - (size_t)k, "(0x%llx)",
				      (unsigned long long)point[i].semaphore);
		if ((size_t)k >= sizeof(line))
			return -ENAMETOOLONG;
		if (write(e->fd, line, (size_t)k) != k)
			return -errno;
	}
	return 0;
}

/* Its id in tracefs, or a negative errno. */
static int number_of(const struct scribe_events *e, const char *name)
{
	char path[LINE_MAX_];
	int id = -1;
	FILE *f;

	snprintf(path, sizeof(path), "%s/events/%s/id", e->folder, name);
	f = fopen(path, "re");
	if (!f)
		return -errno;
	if (fscanf(f, "%d", &id) != 1)
		id = -EIO;
	fclose(f);
	return id;
}

static int perf_event(int number)
{
	struct perf_event_attr attr = {
		.type = PERF_TYPE_TRACEPOINT, .size = sizeof(attr), .config = (unsigned)number, .sample_period = 1};
	/* An event on one CPU arms the uprobe for all processes. */
	int fd = (int)syscall(SYS_perf_event_open, &attr, -1, 0, -1, PERF_FLAG_FD_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

/* Part of union bpf_attr (uapi/linux/bpf.h of 5.15). */
static int perf_link(int program, int perf, uint64_t cookie)
{
	struct {
		uint32_t prog_fd, target_fd, attach_type, flags;
		uint64_t cookie;
	} attr = {
		.prog_fd = (uint32_t)program,
		.target_fd = (uint32_t)perf,
		.attach_type = BPF_PERF_EVENT,
		.cookie = cookie,
	};
	int fd = (int)syscall(SYS_bpf, BPF_LINK_CREATE, &attr, sizeof(attr));

	return fd < 0 ? -errno : fd;
}

/* On failure it removes what was made. */
int scribe_events_attach(struct scribe_events *e, int program, const char *path,
			 const struct scribe_event_address *point, size_t n, bool at_return, uint64_t cookie,
			 struct scribe_event_link *ret_link)
{
	struct scribe_event_link l = {.perf = -1};
	int rc;

	snprintf(l.name, sizeof(l.name), GROUP "%d/u%u", (int)getpid(), e->made++);
	rc = define(e, l.name, path, point, n, at_return);
	if (rc == 0)
		rc = number_of(e, l.name);
	if (rc >= 0)
		rc = l.perf = perf_event(rc);
	if (rc >= 0)
		rc = perf_link(program, l.perf, cookie);
	if (rc < 0) {
		scribe_events_detach(e, &l);
		return rc;
	}
	*ret_link = l;
	return rc;
}

void scribe_events_detach(const struct scribe_events *e, struct scribe_event_link *l)
{
	/* An event in use cannot be removed. */
	if (l->perf >= 0)
		close(l->perf);
	if (l->name[0] && e->fd >= 0)
		remove_event(e->fd, l->name);
	l->perf = -1;
	l->name[0] = 0;
}
