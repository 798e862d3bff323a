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
#include "runtime/daemon/libs.h"

static void usage(FILE *to)
{
	fputs("usage: ioscribed --private --fd N [--verbose]\n"
	      "       ioscribed --probe\n"
	      "       ioscribed --help | --version\n"
	      "\n"
	      "Started by `ioscribe run` and `ioscribe doctor`; see ioscribed(8).\n",
	      to);
}

/* Load and attach everything once, say what was chosen. */
static int probe(bool verbose)
{
	struct scribe_bpf_options options = {.slots = 1024, .procs = 256, .verbose = verbose};
	struct scribe_bpf *bpf = NULL;
	struct scribe_err err = {0};
	int rc = scribe_bpf_open(&options, &bpf, &err);

	if (rc == 0)
		rc = scribe_bpf_attach(bpf, &err);
	if (rc < 0) {
		printf("programs\tfailed\t%s\n", err.text);
		scribe_bpf_free(bpf);
		return 1;
	}
	printf("programs\tok\tall load and attach, by %s\n",
	       scribe_bpf_chosen(bpf) == SCRIBE_BPF_TP_BTF ? "tp_btf" : "raw_tp");
	scribe_bpf_free(bpf);
	return 0;
}

static struct scribe_daemon *served;

static void on_term(int number)
{
	(void)number;
	served->asked_to_end = 1;
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
	scribe_libs_stop(&d);
	d.bpf = scribe_bpf_free(d.bpf);
	while (d.works)
		scribe_work_free(d.works);
	scribe_clients_close(&d);
	scribe_hands_close();
	scribe_map_clear(&d.by_tgid);
	free(d.slot);
	close(d.epoll);
	return rc < 0;
}

static int number(const char *text)
{
	char *end;
	long n = strtol(text, &end, 10);

	return *text && !*end && n >= 0 && n < 1 << 20 ? (int)n : -1;
}

int main(int argc, char **argv)
{
	bool private_one = false, verbose = false, probing = false;
	int fd = -1;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--private")) {
			private_one = true;
		} else if (!strcmp(argv[i], "--probe")) {
			probing = true;
		} else if (!strcmp(argv[i], "--verbose")) {
			verbose = true;
		} else if (!strcmp(argv[i], "--fd") && i + 1 < argc && number(argv[i + 1]) >= 0) {
			fd = number(argv[++i]);
		} else if (!strcmp(argv[i], "--version")) {
			puts("ioscribed " IOSCRIBE_VERSION);
			return 0;
		} else if (!strcmp(argv[i], "--help")) {
			usage(stdout);
			return 0;
		} else {
			fprintf(stderr, "ioscribed: bad argument '%s'\n", argv[i]);
			usage(stderr);
			return 2;
		}
	}
	if (probing)
		return probe(verbose);
	if (!private_one || fd < 0) {
		fprintf(stderr, "ioscribed: --private and --fd N are needed\n");
		usage(stderr);
		return 2;
	}
	return serve_private(fd, verbose);
}
