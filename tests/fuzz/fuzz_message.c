/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The daemon's conversations: an input is a play with up to 12 connections of
 * three users and with the kernel's events, acted before the real daemon (of a
 * service, or of one command) whose kernel side, helpers and clock are of this
 * program (kernel.h). What must hold
 * whatever is said: it ends when told to, forgets every descriptor and byte,
 * never waits for a peer without limit, answers in its own protocol, writes logs
 * that read, and says nothing of a job to another user.
 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>

#include "logfmt/base/publish_ring.h"
#include "logfmt/rules/streams.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"
#include "tests/fuzz/kernel.h"
#include "tests/fuzz/looks.h"
#include "tests/fuzz/stage.h"

#define PEERS     STAGE_PEERS
#define LOOKS     0xf8 /* bytes from here on are a LOOK, */
#define OTHERS    0xf0 /* and from here to there one of `others` */
#define STEPS_MAX 400

static const uid_t users[] = {0, 1000, 1001};

struct peer {
	int fd; /* -1: none */
	uid_t uid;
	pid_t pid;
	char path[SCRIBE_PATH_MAX]; /* that it was given by FETCH_OK */
};

static struct play {
	struct fuzz_input in;
	struct peer peer[PEERS];
} play;

/* ---- messages by their types ---- */

static const uint8_t types[] = {
	SCRIBE_MSG_HELLO,       SCRIBE_MSG_FETCH,     SCRIBE_MSG_DONE,     SCRIBE_MSG_STREAMS,
	SCRIBE_MSG_RUN_BEGIN,   SCRIBE_MSG_ENROL,     SCRIBE_MSG_END,      SCRIBE_MSG_JOB_BEGIN,
	SCRIBE_MSG_JOB_END,     SCRIBE_MSG_JOB_LIST,  SCRIBE_MSG_JOB_SHOW, SCRIBE_MSG_JOB_TRACE,
	SCRIBE_MSG_JOB_PUBLISH, SCRIBE_MSG_JOB_CHECK, SCRIBE_MSG_ERROR,    SCRIBE_MSG_RUN_REATTACH};
/* Added later: the corpus keeps its meaning. */
static const uint8_t others[] = {SCRIBE_MSG_START,      SCRIBE_MSG_PROBED,       SCRIBE_MSG_JOB_READY,
				 SCRIBE_MSG_JOB_STATUS, SCRIBE_MSG_LIVE_REQUEST, SCRIBE_MSG_PUBLISH_TAKEN};

enum sender { FROM_NOBODY, FROM_PEER, FROM_DAEMON, FROM_BOTH };

/* Without a default: a type that is new does not build before it stands here, and in one of the lists above.
 */
static enum sender sender_of(enum scribe_msg_type type)
{
	switch (type) {
	case SCRIBE_MSG_ERROR:
		return FROM_BOTH;
	case SCRIBE_MSG_HELLO:
	case SCRIBE_MSG_FETCH:
	case SCRIBE_MSG_DONE:
	case SCRIBE_MSG_START:
	case SCRIBE_MSG_STREAMS:
	case SCRIBE_MSG_PROBED:
	case SCRIBE_MSG_RUN_BEGIN:
	case SCRIBE_MSG_ENROL:
	case SCRIBE_MSG_END:
	case SCRIBE_MSG_RUN_REATTACH:
	case SCRIBE_MSG_JOB_BEGIN:
	case SCRIBE_MSG_JOB_END:
	case SCRIBE_MSG_JOB_LIST:
	case SCRIBE_MSG_JOB_SHOW:
	case SCRIBE_MSG_JOB_TRACE:
	case SCRIBE_MSG_JOB_READY:
	case SCRIBE_MSG_JOB_CHECK:
	case SCRIBE_MSG_LIVE_REQUEST:
	case SCRIBE_MSG_JOB_STATUS:
	case SCRIBE_MSG_JOB_PUBLISH:
	case SCRIBE_MSG_PUBLISH_TAKEN:
		return FROM_PEER;
	case SCRIBE_MSG_HELLO_OK:
	case SCRIBE_MSG_FETCH_OK:
	case SCRIBE_MSG_DONE_OK:
	case SCRIBE_MSG_START_OK:
	case SCRIBE_MSG_STREAMS_OK:
	case SCRIBE_MSG_PROBED_OK:
	case SCRIBE_MSG_READY:
	case SCRIBE_MSG_ENROLLED:
	case SCRIBE_MSG_LOG:
	case SCRIBE_MSG_RESULT:
	case SCRIBE_MSG_BUILDING:
	case SCRIBE_MSG_JOB_ENTRY:
	case SCRIBE_MSG_JOB_OK:
	case SCRIBE_MSG_TRACED:
	case SCRIBE_MSG_TRACE_PART:
	case SCRIBE_MSG_LIVE_REPLY:
	case SCRIBE_MSG_PUBLISH_OK:
		return FROM_DAEMON;
	}
	return FROM_NOBODY;
}

/* Is every type that a peer sends sent here? */
static void check_types(void)
{
	for (unsigned type = 0; type <= UINT8_MAX; type++)
		if (sender_of((enum scribe_msg_type)type) == FROM_PEER && !memchr(types, (int)type, sizeof(types)) &&
		    !memchr(others, (int)type, sizeof(others)))
			abort();
}

/* ---- the input ---- */

static unsigned byte(void)
{
	return fuzz_byte(&play.in);
}

static size_t take(void *to, size_t cap)
{
	return fuzz_take(&play.in, to, cap);
}

static int tgid(void)
{
	return FUZZ_TGID + (int)(byte() % FUZZ_TGIDS);
}

/* ---- peers ---- */

static void hear(struct peer *p);

static void leave(struct peer *p)
{
	if (p->fd < 0)
		return;
	hear(p);
	close(p->fd);
	p->fd = -1;
}

static void arrive(struct peer *p)
{
	unsigned who = byte();

	leave(p);
	p->uid = users[who % 3];
	p->pid = FUZZ_TGID + (int)(who / 3 % FUZZ_TGIDS);
	p->fd = stage_connect(p->uid, p->pid);
}

/* Two uses of places, in the memory that the daemon has made. */
static void count(int fd)
{
	const uint32_t used = 2, gen = 1;

	if (lseek(fd, 0, SEEK_END) != (off_t)sizeof(struct scribe_shm_counters) || !ftruncate(fd, 0) ||
	    pwrite(fd, &used, sizeof(used), offsetof(struct scribe_shm_counters, used)) < 0)
		abort();
	for (unsigned i = 0; i < used; i++) {
		const uint32_t closed = byte() & 1;

		if (pwrite(fd, &gen, 4, (off_t)(offsetof(struct scribe_shm_counters, gen) + i * 4)) < 0 ||
		    pwrite(fd, &closed, 4, (off_t)(offsetof(struct scribe_shm_counters, closed) + i * 4)) < 0)
			abort();
	}
}

/* A ring of operations: of a job of the peer's own, unless he is root. */
static void look_at_ring(const struct peer *p, int fd)
{
	struct scribe_publish_job job;

	if (fd < 0 || lseek(fd, 0, SEEK_END) != (off_t)SCRIBE_PUBLISH_FILE_BYTES)
		abort();
	/* the first frame is the job; of what it says nothing is there before the first operation */
	if (pread(fd, &job, sizeof(job), sizeof(struct scribe_publish_head)) != (ssize_t)sizeof(job) ||
	    (p->uid && job.frame.bytes && job.uid != p->uid))
		abort();
}

/* What an answer may hold. */
static void judge(struct peer *p, const char *packet, size_t bytes, int fd)
{
	const struct scribe_msg_header *h = (const void *)packet;
	const struct scribe_msg_fetch_ok *ok = (const void *)(h + 1);
	struct scribe_err err;
	const void *payload;

	if (scribe_msg_check(packet, bytes, &payload, &err) < 0 ||
	    !(sender_of((enum scribe_msg_type)h->type) & FROM_DAEMON))
		abort();
	if (h->type == SCRIBE_MSG_JOB_ENTRY && p->uid && !fuzz_looks_own(payload, h->len, p->uid))
		abort();
	if (h->type == SCRIBE_MSG_LIVE_REPLY)
		fuzz_looks_judge(p->uid, payload, h->len);
	if (fd >= 0 && h->type != SCRIBE_MSG_FETCH_OK && h->type != SCRIBE_MSG_STREAMS_OK &&
	    h->type != SCRIBE_MSG_PUBLISH_OK)
		abort();
	if (h->type == SCRIBE_MSG_PUBLISH_OK)
		look_at_ring(p, fd);
	if (h->type == SCRIBE_MSG_STREAMS_OK)
		count(fd);
	if (h->type != SCRIBE_MSG_FETCH_OK)
		return;
	if (fd < 0 || lseek(fd, 0, SEEK_END) != (off_t)ok->image_bytes || !(fcntl(fd, F_GET_SEALS) & F_SEAL_WRITE))
		abort();
	memcpy(p->path, ok->path, sizeof(p->path));
	fuzz_hands_image(fd);
	fuzz_read(fd);
}

/* All that has come. */
static void hear(struct peer *p)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));

	while (p->fd >= 0) {
		char control[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8)));
		struct iovec iov = {packet, sizeof(packet)};
		struct msghdr m = {
			.msg_iov = &iov, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof(control)};
		ssize_t n = recvmsg(p->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
		struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&m) : NULL;
		int fd = -1;

		if (n <= 0)
			return;
		if (c)
			memcpy(&fd, CMSG_DATA(c), sizeof(fd));
		judge(p, packet, (size_t)n, fd);
		if (fd >= 0)
			close(fd);
	}
}

/* A descriptor to pass, by kind; -1: none. */
static int passed(unsigned kind, const struct peer *p)
{
	int ends[2];

	switch (kind % 4) {
	case 1:
		if (pipe2(ends, O_CLOEXEC) < 0)
			abort();
		close(ends[0]);
		return ends[1];
	case 2:
		return dup(p->fd);
	case 3:
		return memfd_create("empty", MFD_CLOEXEC);
	default:
		return -1;
	}
}

/* Send bytes as they are, with `nfds` copies of a descriptor. */
static void say(struct peer *p, const void *bytes, size_t n, int fd, unsigned nfds)
{
	char control[CMSG_SPACE(6 * sizeof(int))] __attribute__((aligned(8)));
	struct iovec iov = {(void *)(uintptr_t)bytes, n};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (fd >= 0 && nfds) {
		struct cmsghdr *c = (void *)control;

		memset(control, 0, sizeof(control));
		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		for (unsigned i = 0; i < nfds; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &fd, sizeof(fd));
	}
	if (p->fd >= 0)
		(void)sendmsg(p->fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	if (fd >= 0)
		close(fd);
}

static const char *const pieces[] = {
	"job_id=1\n",
	"job_id=2\n",
	"uid=1000\n",
	"uid=1001\n",
	"uid=0\n",
	"match_env=J=1\n",
	"deadline_s=0\n",
	"deadline_s=5\n",
	"last_node=1\n",
	"nodes=2\n",
	"node=1\n",
	"pid=5000001\n",
	"pid=5000002\n",
	"below=1\n",
	"records=20\n",
	"cgroup=/x\n",
	"log_dir=/l\n",
	"log_file=/l/f.darshan\n",
	"collective=0\n",
	"runtime=0\n",
	"runtime=1\n",
	"exclude=/data\n",
	"gid=7\n",
	"libraries=all\n",
	"opt_out=1\n",
	"user=joe\n",
	"log_layout=flat\n",
	"mem_alignment=8\n",
	"job_number=77\n",
	"write_deadline_ms=100\n",
	"DISABLE_SHARED_REDUCTION\n",
	"MAX_RECORDS 3 POSIX\n",
	"NAME_EXCLUDE .* *\n",
	"modules=null\n",
};

#define WINDOW_PIECES 0xdd /* bytes from here to 0xdf */
static const char *const window_pieces[] = {"ms=1\n", "ms=2000\n", "stop=1\n"};

/* key=value lines: known pieces, or bytes of the input. */
static size_t text(char *to, size_t cap)
{
	size_t n = 0;

	for (unsigned i = byte() % 16; i > 0; i--) {
		unsigned b = byte();
		const char *piece = b >= WINDOW_PIECES && b < 0xe0 ? window_pieces[b - WINDOW_PIECES]
								   : pieces[b % (sizeof(pieces) / sizeof(pieces[0]))];

		if (b < 0xe0 && n + strlen(piece) < cap) {
			memcpy(to + n, piece, strlen(piece));
			n += strlen(piece);
		} else if (n + 64 < cap) {
			n += take(to + n, byte() % 64);
		}
	}
	return n;
}

/* The fields that matter, small; the rest of the payload from the input. */
static size_t payload(const struct peer *p, unsigned type, char *to, size_t cap)
{
	int bytes = scribe_msg_payload_bytes(type);
	size_t n = bytes < 0 ? 0 : (size_t)bytes;

	if (bytes < 0)
		return text(to, cap);
	memset(to, 0, n);
	if (type == SCRIBE_MSG_HELLO) {
		struct scribe_msg_hello *m = (void *)to;

		m->rank = (int8_t)byte();
		m->size = (int8_t)byte();
		m->mpi = byte() % 4;
		take(m->world, byte() % 8);
	} else if (type == SCRIBE_MSG_ENROL) {
		((struct scribe_msg_enrol *)(void *)to)->pid = tgid();
	} else if (type == SCRIBE_MSG_END) {
		((struct scribe_msg_end *)(void *)to)->exit_grace_ms = byte() * 10;
	} else if (type == SCRIBE_MSG_DONE) {
		struct scribe_msg_done *m = (void *)to;

		unsigned b = byte();

		m->ok = b & 1;
		if (b & 2)
			take(m->path, byte() % 64);
		else
			memcpy(m->path, p->path, sizeof(m->path));
	} else if (type == SCRIBE_MSG_STREAMS) {
		((struct scribe_msg_streams *)(void *)to)->id = byte() % 4;
		((struct scribe_msg_streams *)(void *)to)->made_ns = (uint64_t)fuzz_now_ns;
	} else if (type == SCRIBE_MSG_LIVE_REQUEST) {
		fuzz_looks_ask(&play.in, &stage.d, (void *)to);
	} else if (n) {
		take(to, n < 16 ? n : 16);
	}
	return n;
}

static void say_message(struct peer *p)
{
	static char packet[SCRIBE_MSG_MAX] __attribute__((aligned(8)));
	struct scribe_msg_header *h = (void *)packet;
	unsigned how = byte();
	int fd = -1;

	*h = (struct scribe_msg_header){.magic = SCRIBE_MSG_MAGIC, .version = SCRIBE_MSG_VERSION};
	h->type = how >= LOOKS    ? SCRIBE_MSG_LIVE_REQUEST
		  : how >= OTHERS ? others[how % sizeof(others)]
				  : types[how % sizeof(types)];
	how = how >= OTHERS ? 4 * (how & 1) : how / sizeof(types);
	h->len = (uint32_t)payload(p, h->type, packet + sizeof(*h), 4096);
	if (how & 1)
		fd = passed(byte(), p);
	say(p, packet, sizeof(*h) + h->len, fd, how & 2 ? 5 : 1);
	if (how & 4) /* told twice */
		say(p, packet, sizeof(*h) + h->len, -1, 0);
}

static void say_anything(struct peer *p)
{
	static char packet[SCRIBE_MSG_MAX + 64] __attribute__((aligned(8)));
	struct scribe_msg_header *h = (void *)packet;
	unsigned how = byte();
	size_t n = sizeof(*h);

	memset(packet, 0, sizeof(packet));
	*h = (struct scribe_msg_header){SCRIBE_MSG_MAGIC, SCRIBE_MSG_VERSION, (uint16_t)byte(), 0, 0};
	n += take(packet + n, byte());
	h->len = (uint32_t)(n - sizeof(*h));
	if (how & 1) /* a byte of it is another one */
		packet[byte() % 32] ^= (char)byte();
	if (how & 2)
		n = byte();
	if (how & 4)
		n = sizeof(packet);
	say(p, packet, n, how & 8 ? passed(byte(), p) : -1, 1 + (how >> 4) % 6);
}

/* ---- what happens beside ---- */

static void exec(int pid)
{
	static const char programs[][32] = {"./app\0x", "mpiexec\0-n\0002\0./app", "/usr/bin/python3\0a.py",
					    "srun\0./app", "sh\0-c\0ls"};
	unsigned b = byte();

	fuzz_kernel_exec(pid, programs[b % 5], sizeof(programs[0]), b & 0x80);
}

static void environment(int pid)
{
	char env[128] = "";
	unsigned b = byte();
	int n = 0;

	if (b & 0x80) {
		n = (int)take(env, byte() % sizeof(env));
	} else {
		n += snprintf(env + n, sizeof(env) - (size_t)n, "PMI_RANK=%u", b % 4) + 1;
		n += snprintf(env + n, sizeof(env) - (size_t)n, "PMI_SIZE=%u", 1 + b / 4 % 4) + 1;
		if (b & 0x40)
			n += snprintf(env + n, sizeof(env) - (size_t)n, "SLURM_JOB_ID=1") + 1;
	}
	fuzz_kernel_env(pid, env, (uint32_t)n, !(b & 0x20));
}

static void kernel(void)
{
	unsigned b = byte();
	int pid = tgid();

	switch (b % 10) {
	case 0:
		fuzz_kernel_join(pid, byte() % 4, users[b / 10 % 3]);
		break;
	case 1:
		fuzz_kernel_fork(pid, tgid());
		break;
	case 2:
		exec(pid);
		break;
	case 3:
		environment(pid);
		break;
	case 4:
		fuzz_kernel_exit(pid, (int)byte() << 4, b & 0x40);
		break;
	case 5:
		fuzz_kernel_stream(pid, byte() % 4, byte() % 4);
		break;
	case 6:
		fuzz_kernel_mapped(pid, byte());
		break;
	case 7:
		fuzz_kernel_lost(byte() % 4);
		break;
	case 8:
		fuzz_kernel_fail(byte());
		break;
	default:
		fuzz_kernel_touch(pid, 1 + byte() % 8, byte() * 100, 1 + byte() % 10, b & 0x40);
	}
}

static void hands(void)
{
	static const int answers[] = {0, -ENOSPC, -EACCES, -ETIMEDOUT, -EPERM, -EEXIST};
	static char file[4096];
	unsigned b = byte();

	fuzz_hands(answers[b % 6], b / 6 % 8);
	if (b & 0x80)
		fuzz_hands_file(file, take(file, byte() * 16));
}

static void step(void)
{
	unsigned b = byte();
	struct peer *p = &play.peer[b / 8 % PEERS];

	switch (b % 8) {
	case 0:
		arrive(p);
		break;
	case 1:
	case 2:
		say_message(p);
		break;
	case 3:
		say_anything(p);
		break;
	case 4:
		if (b & 0x80)
			leave(p);
		else
			hear(p);
		break;
	case 5:
		kernel();
		break;
	case 6:
		if (b & 0x80)
			hands();
		else
			fuzz_now_ns += 1000000ll << byte() % 16;
		break;
	default:
		stage_turn(1 + b / 8 % 4);
	}
}

/* ---- beginning and end ---- */

static void begin(const uint8_t *data, size_t size)
{
	check_types();
	stage_begin();
	play = (struct play){.in = {data, data + size}};
	for (unsigned i = 0; i < PEERS; i++)
		play.peer[i].fd = -1;
	if (byte() & 1) {
		play.peer[0].fd = stage_private(FUZZ_TGID);
		play.peer[0].pid = FUZZ_TGID;
	}
}

static void end(void)
{
	stage_turn(1);
	for (unsigned i = 0; i < PEERS; i++)
		leave(&play.peer[i]);
	stage_end();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static bool made;
	uint64_t before;

	if (!made) { /* what is made once, before it is counted */
		stage_begin();
		stage_end();
		made = true;
	}
	before = fuzz_in_use();
	begin(data, size);
	for (unsigned i = 0; i < STEPS_MAX && play.in.at < play.in.end; i++)
		step();
	end();
	if (fuzz_in_use() != before)
		abort();
	return 0;
}
