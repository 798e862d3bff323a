// SPDX-License-Identifier: BSD-3-Clause
// Plays the daemon for the runtime, with the real protocol and records made up,
// so that a daemon that is slow, hung, dead or talks nonsense can be had at will,
// and the collective path can be tested without tracing.
//
//   fake_daemon SOCKET NRANKS PARTIAL [BEHAVIOUR [DEADLINE_MS]]
//
// BEHAVIOUR: ok (default), deaf (accepts, never answers), no-fetch (HELLO only),
// no-done, hangup (closes at FETCH), nonsense, bad-image, no-collective,
// deny-one (rank 1's FETCH fails), many (5,000 files a rank).
// Prints "ready", then a line for each HELLO, FETCH and DONE. Ends when NRANKS
// have said DONE, or when its standard input ends.
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "logfmt/base/hash.h"
#include "logfmt/base/proto.h"
#include "logfmt/counters/records.h"
#include "logfmt/file/writer.h"

enum { PEERS = 64, START_S = 1700000000, MANY = 5000 };

struct peer {
	int fd, rank, size;
};

static const char *behaviour = "ok", *partial;
static unsigned deadline_ms = 10000;

static int is(const char *what)
{
	return strcmp(behaviour, what) == 0;
}

static void die(const char *what)
{
	fprintf(stderr, "fake_daemon: %s\n", what);
	exit(1);
}

/* What rank r did to a file, made up so that sums are easy to check. */
static void record_of(int rank, const char *name, int64_t writes, struct scribe_posix_record *ret_rec)
{
	struct scribe_posix_record r = {.base = {scribe_record_id(name, strlen(name)), rank}};

	r.counters[SCRIBE_POSIX_OPENS] = 1;
	r.counters[SCRIBE_POSIX_WRITES] = writes;
	r.counters[SCRIBE_POSIX_BYTES_WRITTEN] = writes * 100;
	r.counters[SCRIBE_POSIX_ACCESS1_ACCESS] = 100;
	r.counters[SCRIBE_POSIX_ACCESS1_COUNT] = writes;
	r.counters[SCRIBE_POSIX_MAX_BYTE_WRITTEN] = writes * 100 - 1;
	r.fcounters[SCRIBE_POSIX_F_WRITE_TIME] = 0.5 * (rank + 1);
	/* ranks start one second apart: their times are moved to one base */
	r.fcounters[SCRIBE_POSIX_F_WRITE_START_TIMESTAMP] = 1;
	r.fcounters[SCRIBE_POSIX_F_WRITE_END_TIMESTAMP] = 2;
	*ret_rec = r;
}

struct name_list {
	char name[MANY + 8][64];
	int64_t writes[MANY + 8];
	int n;
};

static void add(struct name_list *l, const char *name, int64_t writes)
{
	snprintf(l->name[l->n], sizeof(l->name[0]), "%s", name);
	l->writes[l->n++] = writes;
}

static void names_of(int rank, struct name_list *ret_l)
{
	char name[64];

	ret_l->n = 0;
	if (rank == 2)
		return;                     /* one rank has done no I/O at all */
	add(ret_l, "/data/most", rank + 1); /* all but rank 2: not shared */
	snprintf(name, sizeof(name), "/data/own.%d", rank);
	add(ret_l, name, 10 + rank);
	if (rank % 2)
		add(ret_l, "/data/odd", 3);
}

static void all_names_of(int rank, struct name_list *ret_l)
{
	char name[64];

	ret_l->n = 0;
	add(ret_l, "/data/shared", 10 * (rank + 1));
	snprintf(name, sizeof(name), "/data/own.%d", rank);
	add(ret_l, name, 10 + rank);
	for (int i = 0; is("many") && i < MANY; i++) {
		snprintf(name, sizeof(name), "/data/many.%d", i);
		add(ret_l, name, i + 1);
	}
}

static int write_image(struct scribe_writer *w, const struct peer *p, const struct scribe_log_job *job)
{
	static struct name_list l;
	struct scribe_posix_record rec;
	struct scribe_posix_ext_record ext = {.base = {0, p->rank}};

	if (is("idle-rank"))
		names_of(p->rank, &l);
	else
		all_names_of(p->rank, &l);
	if (scribe_writer_job(w, job, "fake program", &(struct scribe_mount){"ext4", "/"}, 1) < 0)
		return -1;
	for (int i = 0; i < l.n; i++)
		if (scribe_writer_name(w, scribe_record_id(l.name[i], strlen(l.name[i])), l.name[i],
				       strlen(l.name[i])) < 0)
			return -1;
	for (int i = 0; i < l.n; i++) {
		record_of(p->rank, l.name[i], l.writes[i], &rec);
		if (scribe_writer_record(w, SCRIBE_MOD_POSIX, &rec, sizeof(rec)) < 0)
			return -1;
	}
	if (l.n && p->rank % 2 == 0) { /* a module that only even ranks use */
		ext.base.id = rec.base.id;
		ext.counters[SCRIBE_EXT_CLOSES] = 1;
		if (scribe_writer_record(w, SCRIBE_MOD_POSIX_EXT, &ext, sizeof(ext)) < 0)
			return -1;
	}
	return scribe_writer_finish(w);
}

static int image_of(const struct peer *p)
{
	struct scribe_writer_options o = {.compression = SCRIBE_COMP_NONE, .list_own = true};
	struct scribe_log_job job = {.uid = getuid(),
				     .start_time_sec = START_S + p->rank,
				     .end_time_sec = START_S + 100 + p->rank,
				     .nprocs = p->size,
				     .jobid = 77};
	struct scribe_writer *w;
	int fd = memfd_create("image", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	strcpy(job.metadata, "lib_ver=fake\n");
	if (fd < 0 || scribe_writer_create_fd(fd, &o, &w, NULL) < 0 || write_image(w, p, &job) < 0)
		die("cannot make an image");
	scribe_writer_free(w);
	if (is("bad-image") && p->rank == 0 && pwrite(fd, "xxxx", 4, 0) != 4)
		die("cannot spoil the image");
	fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
	return fd;
}

static void on_hello(struct peer *p, const struct scribe_msg_hello *m)
{
	struct scribe_msg_hello_ok ok = {.collective = !is("no-collective"), .finalize_timeout_ms = deadline_ms};

	p->rank = m->rank;
	p->size = m->size;
	printf("hello %d/%d mpi %u\n", m->rank, m->size, m->mpi);
	if (is("nonsense"))
		send(p->fd, "what is this?", 13, MSG_NOSIGNAL);
	else if (!is("deaf"))
		scribe_msg_send(p->fd, SCRIBE_MSG_HELLO_OK, 0, &ok, sizeof(ok), -1, 1000);
}

/* Before the program begins. */
static void on_probed(struct peer *p)
{
	if (is("nonsense"))
		send(p->fd, "what is this?", 13, MSG_NOSIGNAL);
	else if (!is("deaf"))
		scribe_msg_send(p->fd, SCRIBE_MSG_PROBED_OK, 0, NULL, 0, -1, 1000);
}

static void on_fetch(struct peer *p)
{
	struct scribe_msg_fetch_ok ok = {.mem_align = 8};
	int fd;

	printf("fetch %d\n", p->rank);
	if (is("no-fetch") || is("deaf"))
		return;
	if (is("hangup")) {
		shutdown(p->fd, SHUT_RDWR);
		return;
	}
	if (is("deny-one") && p->rank == 1) {
		scribe_msg_send(p->fd, SCRIBE_MSG_ERROR, SCRIBE_ST_FAILED, "no records", 10, -1, 1000);
		return;
	}
	fd = image_of(p);
	ok.image_bytes = (uint64_t)lseek(fd, 0, SEEK_END);
	ok.partial = p->rank == 3 ? 1ull << SCRIBE_MOD_POSIX_EXT : 0;
	if (p->rank == 0)
		snprintf(ok.path, sizeof(ok.path), "%s", partial);
	scribe_msg_send(p->fd, SCRIBE_MSG_FETCH_OK, 0, &ok, sizeof(ok), fd, 1000);
	close(fd);
}

/* 1 when the peer is done. */
static int serve(struct peer *p)
{
	static char packet[SCRIBE_MSG_MAX];
	const struct scribe_msg_header *h = (const void *)packet;
	const void *payload = h + 1;

	if (scribe_msg_recv(p->fd, packet, NULL, 1000, NULL) <= 0) {
		close(p->fd);
		p->fd = -1;
		return 0;
	}
	switch (h->type) {
	case SCRIBE_MSG_PROBED:
		on_probed(p);
		return 0;
	case SCRIBE_MSG_HELLO:
		on_hello(p, payload);
		return 0;
	case SCRIBE_MSG_FETCH:
		on_fetch(p);
		return 0;
	case SCRIBE_MSG_DONE:
		printf("done %d %s\n", p->rank, ((const struct scribe_msg_done *)payload)->ok ? "ok" : "failed");
		if (!is("no-done"))
			scribe_msg_send(p->fd, SCRIBE_MSG_DONE_OK, 0, NULL, 0, -1, 1000);
		return 1;
	}
	die("a message of another kind");
	return 0;
}

static int listen_at(const char *path)
{
	struct sockaddr_un at = {.sun_family = AF_UNIX};
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (sock < 0 || bind(sock, (struct sockaddr *)&at, sizeof(at)) < 0 || listen(sock, PEERS) < 0)
		die("cannot listen");
	return sock;
}

int main(int argc, char **argv)
{
	static struct peer peer[PEERS];
	struct pollfd p[PEERS + 2];
	int nranks = argc > 2 ? atoi(argv[2]) : 0, done = 0;

	if (argc < 4)
		die("usage: fake_daemon SOCKET NRANKS PARTIAL [BEHAVIOUR [DEADLINE_MS]]");
	partial = argv[3];
	behaviour = argc > 4 ? argv[4] : behaviour;
	deadline_ms = argc > 5 ? (unsigned)atoi(argv[5]) : deadline_ms;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (int i = 0; i < PEERS; i++)
		peer[i].fd = -1;
	p[0] = (struct pollfd){listen_at(argv[1]), POLLIN, 0};
	p[1] = (struct pollfd){0, POLLIN, 0};
	puts("ready");
	while (done < nranks) {
		for (int i = 0; i < PEERS; i++)
			p[i + 2] = (struct pollfd){peer[i].fd, POLLIN, 0};
		if (poll(p, PEERS + 2, -1) <= 0)
			continue;
		if (p[1].revents)
			break;
		for (int i = 0; i < PEERS; i++)
			if (p[i + 2].revents && peer[i].fd >= 0)
				done += serve(&peer[i]);
		for (int i = 0; p[0].revents && i < PEERS; i++) {
			if (peer[i].fd >= 0)
				continue;
			peer[i].fd = accept4(p[0].fd, NULL, NULL, SOCK_CLOEXEC);
			break;
		}
	}
	return 0;
}
