/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The service. At its end jobs are finished, or left to the next daemon (--pin). Must not know of
 * jobs beyond whether there are any.
 */
#include "runtime/daemon/service.h"

#include "runtime/daemon/control/control.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/attach/syscall_attach.h"
#include "runtime/daemon/base/command_line.h"
#include "runtime/daemon/base/daemonize.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/base/journal_file.h"
#include "runtime/daemon/base/rlimits.h"
#include "runtime/daemon/base/sd_notify.h"
#include "runtime/daemon/base/subuids.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/control/server.h"
#include "runtime/daemon/control/user_quota.h"
#include "runtime/daemon/events/events.h"
#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/journal/job_journal.h"
#include "runtime/daemon/journal/saved_binary.h"
#include "runtime/daemon/loop.h"
#include "runtime/daemon/output/metrics.h"
#include "runtime/daemon/output/spool.h"
#include "runtime/daemon/privsep/helper_spawner.h"
#include "runtime/daemon/privsep/link_maker.h"
#include "runtime/daemon/privsep/procfs_reader.h"
#include "runtime/daemon/privsep/sandbox.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/tables/job_table.h"

#define LOCK_TRIES        250            /* every 20 ms */
#define FIRST_JOB_NS      60000000000ull /* without --stay, exit unless a job begins until then */
#define IDLE_SLEEP_MS     1000
#define LISTEN_BACKLOG    1024
#define LOG_BYTES_MAX     (1 << 20)
#define JOURNALS_MIB_MAX  512u /* per user */
#define LOG_DIR_DEFAULT   "/var/log/ioscribe"
#define SPOOL_DIR_DEFAULT "/var/spool/ioscribe"

static struct scribe_daemon served;

static void on_signal(int number)
{
	served.asked_to_end = number;
}

static const char *first_of(const char *a, const char *variable, const char *otherwise)
{
	const char *b = getenv(variable);

	return a ? a : b && b[0] ? b : otherwise;
}

/* Two users at their limit leave room for others. */
static uint64_t journals_mib(const char *dir)
{
	uint64_t mib = scribe_journal_room(dir) / 2 >> 20, least = SCRIBE_JOURNAL_SMALL >> 20;

	return mib < least ? least : mib < JOURNALS_MIB_MAX ? mib : JOURNALS_MIB_MAX;
}

static int make_dir(struct scribe_service *s, const char *dir, struct scribe_err *err)
{
	struct stat st;

	if (dir[0] != '/' || strlen(dir) >= sizeof(s->dir))
		return scribe_err_set(err, -EINVAL,
				      "%.200s: the service's directory is an absolute path of at most %zu bytes", dir,
				      sizeof(s->dir) - 1);
	strcpy(s->dir, dir);
	if (mkdir(dir, 0711) < 0 && errno != EEXIST)
		return scribe_err_set(err, -errno, "cannot make %s: %s", dir, strerror(errno));
	if (lstat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		return scribe_err_set(err, -ENOTDIR, "%s is not a directory", dir);
	/* Not listable either: a reader could lock it and so prevent new files. */
	if ((st.st_uid != 0 && st.st_uid != geteuid()) || st.st_mode & 066)
		return scribe_err_set(err, -EPERM,
				      "%s can be changed or listed by others: it must be root's, mode 0711", dir);
	s->user_mib = journals_mib(dir);
	return 0;
}

/* Standard error without a service manager; truncated at 1 MiB. */
static int open_log(const struct scribe_service *s, struct scribe_err *err)
{
	char path[128];
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/log", s->dir);
	fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return scribe_err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	/* A file that cannot be truncated must not grow. */
	if (fstat(fd, &st) < 0 || st.st_size <= LOG_BYTES_MAX || ftruncate(fd, 0) == 0)
		dup2(fd, STDERR_FILENO);
	close(fd);
	return 0;
}

/* `handed_over`: descriptor of the lock, from a daemon that has this build finish its jobs. */
static int take_lock(struct scribe_service *s, int handed_over, struct scribe_err *err)
{
	char path[128], text[32];
	int n;

	if (handed_over >= 0)
		return flock(handed_over, LOCK_EX | LOCK_NB) < 0
			       ? scribe_err_set(err, -errno, "descriptor %d is not the lock of %s", handed_over, s->dir)
			       : 0;
	snprintf(path, sizeof(path), "%s/pid", s->dir);
	/* Anyone that can open it could lock it. */
	s->pid_file = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (s->pid_file < 0 || fchmod(s->pid_file, 0600) < 0)
		return scribe_err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	for (int i = 0; flock(s->pid_file, LOCK_EX | LOCK_NB) < 0; i++) {
		if (i == LOCK_TRIES) {
			close(s->pid_file); /* belongs to the other daemon */
			s->pid_file = -1;
			return scribe_err_set(err, -EALREADY, "a daemon serves %s already", s->dir);
		}
		usleep(20000);
	}
	n = snprintf(text, sizeof(text), "%d\n", (int)getpid());
	if (ftruncate(s->pid_file, 0) < 0 || pwrite(s->pid_file, text, (size_t)n, 0) != n)
		return scribe_err_set(err, -errno, "cannot write %s: %s", path, strerror(errno));
	return 0;
}

static int open_socket(struct scribe_daemon *d, struct scribe_err *err)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	mode_t before;
	int rc;

	snprintf(d->socket, sizeof(d->socket), "%s/%s", d->service->dir, SCRIBE_SERVICE_SOCKET);
	d->listen = scribe_notify_socket();
	d->service->passed = d->listen >= 0;
	if (d->listen >= 0) {
		scribe_clients_take_no_descriptors(d->listen);
		return scribe_watch_in(d->epoll, d->listen, &d->listen);
	}
	snprintf(at.sun_path, sizeof(at.sun_path), "%s", d->socket);
	unlink(d->socket); /* left by a killed daemon: this one has the lock */
	d->listen = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	/* Mode 0666: requests are checked by credentials. */
	before = umask(0);
	rc = d->listen < 0 || bind(d->listen, (struct sockaddr *)&at, sizeof(at)) < 0 || chmod(d->socket, 0666) < 0 ||
			     listen(d->listen, LISTEN_BACKLOG) < 0
		     ? -errno
		     : 0;
	umask(before);
	if (rc < 0)
		return scribe_err_set(err, rc, "cannot listen on %s: %s", d->socket, strerror(-rc));
	scribe_clients_take_no_descriptors(d->listen);
	return scribe_watch_in(d->epoll, d->listen, &d->listen);
}

/* Default for `library`. */
static void own_library(struct scribe_config *c)
{
	static const char *const places[] = {"../lib/libioscribe.so", "../lib/x86_64-linux-gnu/libioscribe.so",
					     "../lib/aarch64-linux-gnu/libioscribe.so", "../lib64/libioscribe.so",
					     "../client/libioscribe.so"};
	char self[SCRIBE_PATH_MAX], path[2 * SCRIBE_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
	char *slash;

	if (c->library[0] || n <= 0)
		return;
	self[n] = 0;
	slash = strrchr(self, '/');
	if (!slash)
		return;
	*slash = 0;
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		char real[PATH_MAX];

		snprintf(path, sizeof(path), "%s/%s", self, places[i]);
		if (realpath(path, real) && strlen(real) < sizeof(c->library)) {
			strcpy(c->library, real);
			return;
		}
	}
}

static int read_config(struct scribe_service *s, const char *path, struct scribe_err *err)
{
	const char *file = first_of(path, SCRIBE_ENV_CONFIG, SCRIBE_SERVICE_CONFIG);
	bool asked = strcmp(file, SCRIBE_SERVICE_CONFIG) != 0 || path;
	int rc = scribe_config_default(&s->config, err);

	strcpy(s->config.log_dir, LOG_DIR_DEFAULT);
	strcpy(s->config.spool_dir, SPOOL_DIR_DEFAULT);
	s->config.dated = true;
	s->config_file = asked || access(file, F_OK) == 0 ? file : NULL;
	if (rc == 0 && s->config_file)
		rc = scribe_config_file(&s->config, file, err);
	if (rc == 0)
		own_library(&s->config);
	return rc < 0 ? rc : scribe_config_environment(&s->config, err);
}

static void make_log_dir(const struct scribe_config *c)
{
	if (!strcmp(c->log_dir, LOG_DIR_DEFAULT))
		(void)mkdir(LOG_DIR_DEFAULT, 0755);
}

static void signals(void)
{
	signal(SIGPIPE, SIG_IGN);
	signal(SIGHUP, SIG_IGN); /* a closed terminal does not end the service */
	signal(SIGINT, on_signal);
	signal(SIGTERM, on_signal);
}

static int begin(struct scribe_daemon *d, struct scribe_service *s, const struct scribe_service_options *o,
		 struct scribe_err *err)
{
	int rc = make_dir(s, first_of(o->dir, SCRIBE_ENV_DIR, SCRIBE_SERVICE_DIR), err);

	if (rc == 0)
		rc = read_config(s, o->config, err);
	if (rc == 0)
		rc = take_lock(s, o->lock, err);
	if (rc < 0)
		return rc;
	signals();
	scribe_limits_raise();
	if (!o->foreground && open_log(s, err) < 0)
		return err->code;
	scribe_config_report_old_keys(&s->config);
	scribe_subuids_read("/etc/subuid");
	make_log_dir(&s->config);
	/* Spawner and link makers are forked before privileges are given up. */
	rc = scribe_helpers_open(false, err);
	if (rc == 0)
		rc = scribe_linker_open(err);
	if (rc == 0)
		rc = scribe_procfs_open(err);
	if (rc == 0 && s->config.spool_dir[0])
		rc = scribe_spool_open(s->config.spool_dir, &d->spool, err);
	if (rc < 0)
		return rc;
	d->metrics = scribe_metrics_open(&s->config);
	d->epoll = epoll_create1(EPOLL_CLOEXEC);
	if (d->epoll < 0)
		return scribe_err_set(err, -errno, "cannot wait for events: %s", strerror(errno));
	d->calls_reported = true; /* an earlier daemon may have left the file */
	scribe_sysattach_end(d);
	rc = scribe_job_journal_resume(d, err);
	if (s->finish)
		d->asked_to_end = SIGINT;
	if (rc == 0 && !s->finish)
		rc = open_socket(d, err);
	if (rc == 0)
		rc = scribe_sandbox(scribe_libs_role(&s->config), err);
	d->sandboxed = rc == 0;
	return rc;
}

/* The file shows clients why they wait. */
static void mark_loading(const struct scribe_service *s, bool loading)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/" SCRIBE_SERVICE_LOADING, s->dir);
	if (!loading) {
		unlink(path);
		return;
	}
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd >= 0)
		close(fd);
}

static bool to_load(const struct scribe_daemon *d)
{
	return d->service->config.load_at_start && !d->bpf;
}

/* Takes seconds on a slow node, so it is done before the first job. Requests wait in the socket. */
static int load(struct scribe_daemon *d, bool managed, struct scribe_err *err)
{
	struct scribe_service *s = d->service;
	int rc;

	if (!to_load(d))
		return 0;
	rc = scribe_jobs_load(d, &s->config, err);
	if (rc == 0)
		scribe_libs_start(d, &s->config);
	mark_loading(s, false);
	if (rc == 0 || managed)
		return rc;
	/* Each new job tries again. */
	fprintf(stderr, "ioscribed: %s\n", err->text);
	return 0;
}

static void leave_jobs(struct scribe_daemon *d)
{
	/* Memory of closed streams is known to this process only. */
	scribe_shm_counters_sweep(d);
	for (struct scribe_job *job = d->jobs; job; job = job->next)
		scribe_journal_close(&job->journal);
	d->bpf = scribe_bpf_close_keep_pins(d->bpf);
}

/* The lock ends with the process. */
static void end(struct scribe_daemon *d)
{
	struct scribe_service *s = d->service;

	if (d->listen >= 0 && !s->passed)
		unlink(d->socket);
	scribe_libs_stop(d, !scribe_jobs_left(d));
	if (scribe_jobs_left(d))
		leave_jobs(d);
	else if (s->pin && d->bpf)
		scribe_build_forget(s->dir);
	if (d->bpf)
		scribe_sysattach_end(d);
	while (d->jobs)
		scribe_job_free(d->jobs);
	d->bpf = scribe_bpf_free(d->bpf);
	scribe_clients_close(d);
	d->spool = scribe_spool_free(d->spool);
	d->metrics = scribe_metrics_free(d->metrics);
	scribe_helpers_close();
	scribe_linker_close();
	scribe_procfs_close();
	scribe_map_clear(&d->by_tgid);
	scribe_user_end(d);
	scribe_config_clear(&s->config);
	free(d->slot);
	if (d->epoll >= 0)
		close(d->epoll);
	scribe_iterations_close(&d->iterations);
	if (d->root > 0)
		close(d->root);
	if (s->pid_file >= 0 && ftruncate(s->pid_file, 0) == 0)
		close(s->pid_file);
}

/* Returns the longest sleep in ms: at most half of the watchdog's interval. */
static int tick(struct scribe_daemon *d)
{
	struct scribe_service *s = d->service;
	uint64_t now = scribe_now_ns();

	/* Only a new daemon can start a spawner. */
	if (s->pin && scribe_helpers_lost() && !d->asked_to_end) {
		fprintf(stderr, "ioscribed: the process that makes helpers has ended: this daemon ends, too; "
				"its jobs go on\n");
		d->asked_to_end = SIGTERM;
		s->failed = true;
	}
	if (s->watchdog_ns && now >= s->next_ping_ns) {
		scribe_notify("WATCHDOG=1");
		s->next_ping_ns = now + s->watchdog_ns / 2;
	}
	if (!s->stay && (d->jobs_started || now - s->started_ns > FIRST_JOB_NS))
		d->until_idle = true;
	return s->watchdog_ns && s->watchdog_ns < 2000000ull * IDLE_SLEEP_MS ? (int)(s->watchdog_ns / 4000000)
									     : IDLE_SLEEP_MS;
}

int scribe_service_run(const struct scribe_service_options *o)
{
	bool managed = getenv("NOTIFY_SOCKET") || getenv("LISTEN_FDS");
	struct scribe_service s = {.pid_file = -1, .stay = o->stay || managed, .pin = o->pin, .finish = o->finish};
	struct scribe_daemon *d = &served;
	struct scribe_err err = {0};
	int ready = -1, rc = 0;

	if (!o->foreground)
		rc = scribe_daemonize(&ready, &err);
	if (rc > 0)
		return 0;
	scribe_empty_command_line();
	*d = (struct scribe_daemon){
		.ops = &scribe_control_ops, .epoll = -1, .listen = -1, .verbose = o->verbose, .service = &s};
	if (managed)
		d->root = open("/proc/1/root", O_PATH | O_CLOEXEC | O_DIRECTORY);
	if (d->root < 0)
		d->root = 0; /* 0 means none */
	if (rc == 0)
		rc = begin(d, &s, o, &err);
	/* First: a daemon that dies repeatedly must still free the jobs' records. */
	if (rc == 0 && d->jobs)
		scribe_events_take(d, 0, NULL);
	scribe_job_journal_survived(d);
	if (rc == 0)
		mark_loading(&s, to_load(d));
	scribe_daemonize_ready(ready, rc < 0 ? err.text : NULL);
	if (rc == 0)
		rc = load(d, managed, &err);
	if (rc < 0 && ready < 0)
		fprintf(stderr, "ioscribed: %s\n", err.text);
	if (rc == 0) {
		s.started_ns = scribe_now_ns();
		s.watchdog_ns = scribe_notify_watchdog();
		scribe_notify("READY=1");
		rc = scribe_loop(d, tick);
		scribe_notify("STOPPING=1");
	}
	end(d);
	return rc < 0 || s.failed;
}
