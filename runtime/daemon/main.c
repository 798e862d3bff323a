/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * ioscribed: arguments, and the private daemon, a child of `ioscribe run` that serves an inherited socket. The
 * service is in service.c.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/features.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/base/rlimits.h"
#include "runtime/daemon/control/control.h"
#include "runtime/daemon/control/server.h"
#include "runtime/daemon/control/user_quota.h"
#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/loop.h"
#include "runtime/daemon/privsep/helper_spawner.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "runtime/daemon/service.h"
#include "runtime/daemon/state/daemon.h"

static void usage(FILE *to)
{
	fputs("usage: ioscribed --service [--dir DIR] [--config FILE] [--foreground] [--stay] [--pin] "
	      "[--verbose]\n"
	      "       ioscribed --private --fd N [--verbose]\n"
	      "       ioscribed --finish [--dir DIR] [--config FILE] [--fd N] [--verbose]\n"
	      "       ioscribed --check-config [FILE] | --list-keys\n"
	      "       ioscribed --probe | --features [--verbose]\n"
	      "       ioscribed --help | --version\n"
	      "\n"
	      "Started by `ioscribe run` and `ioscribe doctor`; see ioscribed(8).\n",
	      to);
}

static struct scribe_daemon *served; /* for signal handlers */

static void on_term(int number)
{
	(void)number;
	served->asked_to_end = 1;
}

static void on_orphaned(int number)
{
	(void)number;
	/* The parent has died. Without work under way nothing is lost by exiting at once. */
	if (!served->under_way)
		_exit(0);
	/* Otherwise release its standard error, which a reader may be waiting on. */
	dup2(STDIN_FILENO, STDERR_FILENO);
}

static int watch_starter(int fd)
{
	struct sigaction a = {.sa_handler = on_orphaned, .sa_flags = SA_RESTART};
	struct ucred starter;
	socklen_t len = sizeof(starter);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &starter, &len) < 0 || sigaction(SIGUSR1, &a, NULL) < 0 ||
	    prctl(PR_SET_PDEATHSIG, SIGUSR1) < 0)
		return -errno;
	/* Checked after prctl(): the parent may have died before it. */
	return getppid() == starter.pid ? 0 : -ESRCH;
}

static void end_private(struct scribe_daemon *d)
{
	while (d->jobs)
		scribe_job_free(d->jobs);
	/* The caller must not wait for the end of this process. */
	if (dup2(STDIN_FILENO, STDERR_FILENO) < 0)
		close(STDERR_FILENO);
	scribe_clients_close(d);
	scribe_helpers_close();
	scribe_libs_stop(d, true);
	scribe_shm_counters_clear(d);
	d->bpf = scribe_bpf_free(d->bpf);
	scribe_map_clear(&d->by_tgid);
	scribe_user_end(d);
	free(d->slot);
	close(d->epoll);
	scribe_iterations_close(&d->iterations);
}

static int serve_private(int fd, bool verbose)
{
	struct scribe_daemon d = {.ops = &scribe_control_ops, .epoll = -1, .listen = -1, .verbose = verbose};
	struct scribe_client *own;
	struct scribe_err err = {0};
	int type = 0, rc = 0;
	socklen_t len = sizeof(type);

	if (getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET) {
		fprintf(stderr, "ioscribed: descriptor %d is not a packet socket\n", fd);
		return 2;
	}
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	served = &d;
	/* Signals of the terminal are for CMD; this process ends with the socket. */
	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, on_term); /* write the logs, then exit */
	scribe_limits_raise();
	if (watch_starter(fd) < 0)
		return 1;
	/* First, so that helpers inherit nothing. */
	if (scribe_helpers_open(true, &err) < 0) {
		fprintf(stderr, "ioscribed: %s\n", err.text);
		return 1;
	}
	d.epoll = epoll_create1(EPOLL_CLOEXEC);
	own = d.epoll < 0 ? NULL : scribe_clients_add(&d, fd);
	if (own)
		own->own = true;
	else
		rc = -errno;
	if (rc == 0)
		rc = scribe_loop(&d, NULL);
	if (rc < 0)
		fprintf(stderr, "ioscribed: %s\n", strerror(-rc));
	end_private(&d);
	return rc < 0;
}

static int number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	return *text && !*end && n >= 0 && n < 1 << 20 ? (int)n : -1;
}

static int check_config(const char *path)
{
	struct scribe_config config;
	struct scribe_err err = {0};
	int rc = scribe_config_default(&config, &err);

	if (rc == 0 && (path || access(SCRIBE_SERVICE_CONFIG, F_OK) == 0))
		rc = scribe_config_file(&config, path ? path : SCRIBE_SERVICE_CONFIG, &err);
	if (rc == 0)
		scribe_config_report_old_keys(&config);
	scribe_config_clear(&config);
	if (rc < 0)
		fprintf(stderr, "ioscribed: %s\n", err.text);
	return rc < 0;
}

struct arguments {
	enum { NOTHING, PRIVATE, PROBE, FEATURES, SERVICE, FINISH, CHECK, LIST_KEYS, HELP, VERSION } mode;
	int fd;
	const char *file;
	struct scribe_service_options service;
};

enum { FD = 0x100, DIR_OPTION, CONFIG, VERBOSE, FOREGROUND, STAY, PIN };

static const struct option options[] = {
	{"private", no_argument, NULL, PRIVATE},
	{"probe", no_argument, NULL, PROBE},
	{"features", no_argument, NULL, FEATURES},
	{"service", no_argument, NULL, SERVICE},
	{"finish", no_argument, NULL, FINISH},
	{"check-config", no_argument, NULL, CHECK},
	{"list-keys", no_argument, NULL, LIST_KEYS},
	{"help", no_argument, NULL, HELP},
	{"version", no_argument, NULL, VERSION},
	{"fd", required_argument, NULL, FD},
	{"dir", required_argument, NULL, DIR_OPTION},
	{"config", required_argument, NULL, CONFIG},
	{"verbose", no_argument, NULL, VERBOSE},
	{"foreground", no_argument, NULL, FOREGROUND},
	{"stay", no_argument, NULL, STAY},
	{"pin", no_argument, NULL, PIN},
	{NULL, 0, NULL, 0},
};

static int wrong(const char *what, const char *word)
{
	fprintf(stderr, "ioscribed: ");
	fprintf(stderr, what, word);
	fputs("; see ioscribed --help\n", stderr);
	return 2;
}

/* getopt does not report ambiguous options as such. */
static int refused(int key, const char *word)
{
	size_t n = strcspn(word, "=");
	int fits = 0;

	for (const struct option *o = options; o->name && n > 2; o++)
		fits += !strncmp(word + 2, o->name, n - 2);
	if (key == ':')
		return wrong("option '%s' needs an argument", word);
	return wrong(fits > 1 ? "option '%s' is ambiguous" : "unknown option '%s'", word);
}

static int take(struct arguments *a, int key)
{
	switch (key) {
	case FD:
		a->fd = number(optarg);
		return a->fd < 0 ? wrong("--fd '%s' is no descriptor", optarg) : 0;
	case DIR_OPTION:
		a->service.dir = optarg;
		return 0;
	case CONFIG:
		a->service.config = optarg;
		return 0;
	case VERBOSE:
		a->service.verbose = true;
		return 0;
	case FOREGROUND:
		a->service.foreground = true;
		return 0;
	case STAY:
		a->service.stay = true;
		return 0;
	case PIN:
		a->service.pin = true;
		return 0;
	default:
		a->mode = key;
		return 0;
	}
}

/* 0 or the exit code. */
static int read_arguments(struct arguments *a, int argc, char **argv)
{
	int key, rc = 0;

	/* Modes from LIST_KEYS on work with any other option. */
	opterr = 0;
	while (rc == 0 && a->mode < LIST_KEYS && (key = getopt_long(argc, argv, ":", options, NULL)) != -1)
		rc = key == '?' || key == ':' ? refused(key, argv[optind - 1]) : take(a, key);
	if (rc || a->mode >= LIST_KEYS)
		return rc;
	if (a->mode == CHECK && optind < argc)
		a->file = argv[optind++];
	return optind < argc ? wrong("unexpected argument '%s'", argv[optind]) : 0;
}

static const char *absolute(const char *path, char *capacity)
{
	char cwd[PATH_MAX];

	if (!path || path[0] == '/' || !getcwd(cwd, sizeof(cwd)) ||
	    snprintf(capacity, PATH_MAX, "%s/%s", cwd, path) >= PATH_MAX)
		return path;
	return capacity;
}

int main(int argc, char **argv)
{
	static char config[PATH_MAX], dir[PATH_MAX];
	struct arguments a = {.fd = -1, .service.lock = -1};
	int rc = read_arguments(&a, argc, argv);

	if (rc)
		return rc;
	scribe_clock_calibrate();
	switch (a.mode) {
	case HELP:
		usage(stdout);
		return 0;
	case VERSION:
		puts("ioscribed " IOSCRIBE_VERSION);
		return 0;
	case LIST_KEYS:
		scribe_config_print_keys();
		return 0;
	case PROBE:
		return scribe_probe_print(a.service.verbose);
	case FEATURES:
		return scribe_features_print(a.service.verbose);
	case FINISH:
		a.service.finish = a.service.pin = a.service.foreground = true;
		a.service.lock = a.fd;
		return scribe_service_run(&a.service);
	case SERVICE:
		/* The service changes to /. */
		a.service.config = absolute(a.service.config, config);
		a.service.dir = absolute(a.service.dir, dir);
		return scribe_service_run(&a.service);
	case CHECK:
		return check_config(a.file);
	case PRIVATE:
		if (a.fd >= 0)
			return serve_private(a.fd, a.service.verbose);
		break;
	default:
		break;
	}
	fprintf(stderr, "ioscribed: --service, or --private and --fd N, are needed\n");
	usage(stderr);
	return 2;
}
