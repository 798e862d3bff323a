/* SPDX-License-Identifier: BSD-3-Clause */
/* ioscribed: arguments, start and end of the daemon. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "runtime/daemon/daemon.h"
#include "runtime/daemon/features.h"
#include "runtime/daemon/libs.h"
#include "runtime/daemon/limits.h"
#include "runtime/daemon/service.h"
#include "runtime/daemon/streams.h"

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

static struct scribe_daemon *served;

static void on_term(int number)
{
	(void)number;
	served->asked_to_end = 1;
}

/*
 * Who started us is gone. Before anything is under way that is the end, wherever loading
 * stands; else what we say has no reader, and whoever waits for its end need not wait for ours.
 */
static void on_orphaned(int number)
{
	(void)number;
	if (!served->under_way)
		_exit(0);
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
	return getppid() == starter.pid ? 0 : -ESRCH;
}

/* The caller has its answer, and waits for nothing that follows: not for the end of what we say either. */
static void end_private(struct scribe_daemon *d)
{
	while (d->works)
		scribe_work_free(d->works);
	if (dup2(STDIN_FILENO, STDERR_FILENO) < 0)
		close(STDERR_FILENO);
	scribe_clients_close(d);
	scribe_hands_close();
	scribe_libs_stop(d, true);
	scribe_streams_clear(d);
	d->bpf = scribe_bpf_free(d->bpf);
	scribe_map_clear(&d->by_tgid);
	free(d->slot);
	close(d->epoll);
}

static int serve_private(int fd, bool verbose)
{
	struct scribe_daemon d = {.epoll = -1, .listen = -1, .verbose = verbose};
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
	/* the terminal's signals are for CMD; a hang-up of the socket ends us */
	setsid();
	signal(SIGPIPE, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	signal(SIGQUIT, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGTERM, on_term); /* write what there is, then go */
	scribe_limits_raise();
	if (watch_starter(fd) < 0)
		return 1;
	if (scribe_hands_open(true, &err) < 0) {
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
		rc = scribe_loop(&d);
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

/* Read a configuration as the service would, which needs none; say what is wrong with it. */
static int check_config(const char *path)
{
	struct scribe_config config;
	struct scribe_err err = {0};
	int rc = scribe_config_default(&config, &err);

	if (rc == 0 && (path || access(SCRIBE_SERVICE_CONFIG, F_OK) == 0))
		rc = scribe_config_file(&config, path ? path : SCRIBE_SERVICE_CONFIG, &err);
	scribe_config_clear(&config);
	if (rc < 0)
		fprintf(stderr, "ioscribed: %s\n", err.text);
	return rc < 0;
}

struct arguments {
	enum { NOTHING, PRIVATE, PROBE, FEATURES, SERVICE, FINISH, CHECK } mode;
	int fd;
	const char *file;
	struct scribe_service_options service;
};

/* One argument and perhaps its value; how many were taken, 0: not known. */
static int take(struct arguments *a, const char *word, const char *value)
{
	const char **text = !strcmp(word, "--dir")      ? &a->service.dir
			    : !strcmp(word, "--config") ? &a->service.config
							: NULL;
	static const struct {
		const char *name;
		int mode;
	} modes[] = {{"--private", PRIVATE},
		     {"--probe", PROBE},
		     {"--features", FEATURES},
		     {"--service", SERVICE},
		     {"--finish", FINISH},
		     {"--check-config", CHECK}};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (strcmp(word, modes[i].name))
			continue;
		a->mode = modes[i].mode;
		a->file = a->mode == CHECK && value && value[0] != '-' ? value : NULL;
		return a->file ? 2 : 1;
	}
	if (text && value) {
		*text = value;
		return 2;
	}
	if (!strcmp(word, "--fd") && value && number(value) >= 0) {
		a->fd = number(value);
		return 2;
	}
	a->service.verbose = a->service.verbose || !strcmp(word, "--verbose");
	a->service.foreground = a->service.foreground || !strcmp(word, "--foreground");
	a->service.stay = a->service.stay || !strcmp(word, "--stay");
	a->service.pin = a->service.pin || !strcmp(word, "--pin");
	return !strcmp(word, "--verbose") || !strcmp(word, "--foreground") || !strcmp(word, "--stay") ||
	       !strcmp(word, "--pin");
}

int main(int argc, char **argv)
{
	struct arguments a = {.fd = -1, .service.lock = -1};

	for (int i = 1, n; i < argc; i += n) {
		if (!strcmp(argv[i], "--version")) {
			puts("ioscribed " IOSCRIBE_VERSION);
			return 0;
		}
		if (!strcmp(argv[i], "--list-keys")) {
			scribe_config_print_keys();
			return 0;
		}
		if (!strcmp(argv[i], "--help")) {
			usage(stdout);
			return 0;
		}
		n = take(&a, argv[i], i + 1 < argc ? argv[i + 1] : NULL);
		if (!n) {
			fprintf(stderr, "ioscribed: bad argument '%s'\n", argv[i]);
			usage(stderr);
			return 2;
		}
	}
	switch (a.mode) {
	case PROBE:
		return scribe_probe_print(a.service.verbose);
	case FEATURES:
		return scribe_features_print(a.service.verbose);
	case FINISH:
		a.service.finish = a.service.pin = a.service.foreground = true;
		a.service.lock = a.fd;
		return scribe_service_run(&a.service);
	case SERVICE:
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
