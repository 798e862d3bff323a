/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hands answer: a play of questions, and of the packets that a helper has sent by then, for one may have been
 * taken over by who wrote the files it reads. What the asker gets is a code, or a descriptor that has come with
 * the answer; no other descriptor stays with it, and it does not wait.
 */
#include <errno.h>
#include <poll.h>
#include <sys/socket.h>

#include "runtime/daemon/privsep/helper.h"
#include "runtime/daemon/privsep/helper_main.h"
#include "runtime/daemon/privsep/helper_wire.h"
#include "runtime/daemon/privsep/library_search.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/input.h"
#include "uprobes/elf/analysis.h"

#define STEPS_MAX 60

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms);
int __real_poll(struct pollfd *fds, nfds_t n, int timeout_ms);

static struct fuzz_input in;
static struct scribe_helper helper;
static int other = -1; /* the helper's end */

int __wrap_poll(struct pollfd *fds, nfds_t n, int timeout_ms)
{
	return __real_poll(fds, n, 0);
}

static unsigned byte(void)
{
	return fuzz_byte(&in);
}

static size_t take(void *to, size_t cap)
{
	return fuzz_take(&in, to, cap);
}

/* ---- the helper ---- */

static void send_packet(const void *bytes, size_t n, unsigned nfds)
{
	char control[CMSG_SPACE(4 * sizeof(int))] __attribute__((aligned(8))) = {0};
	struct iovec iov = {(void *)(uintptr_t)bytes, n};
	struct msghdr m = {.msg_iov = &iov, .msg_iovlen = 1};

	if (nfds) {
		struct cmsghdr *c = (void *)control;

		m.msg_control = control;
		m.msg_controllen = CMSG_SPACE(nfds * sizeof(int));
		c->cmsg_level = SOL_SOCKET;
		c->cmsg_type = SCM_RIGHTS;
		c->cmsg_len = CMSG_LEN(nfds * sizeof(int));
		for (unsigned i = 0; i < nfds; i++)
			memcpy(CMSG_DATA(c) + i * sizeof(int), &other, sizeof(other));
	}
	(void)sendmsg(other, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
}

static void answer(void)
{
	static const int codes[] = {0, 0, 0, -ENOENT, -EACCES, 1, 3, 5, INT32_MAX, INT32_MIN, -EAGAIN, -ETIMEDOUT};
	static const size_t sizes[] = {sizeof(struct scribe_helper_answer), sizeof(struct scribe_elf_analysis),
				       sizeof(struct scribe_helper_found), sizeof(uint32_t)};
	static char packet[sizeof(struct scribe_elf_analysis) + sizeof(struct scribe_helper_path)]
		__attribute__((aligned(8)));
	unsigned how = byte();
	size_t n = how & 0x40 ? sizeof(struct scribe_helper_path) : sizes[how % 4];

	memset(packet, 0, sizeof(packet));
	if (how & 0x80) {
		n = take(packet, byte());
	} else {
		int code = codes[byte() % (sizeof(codes) / sizeof(codes[0]))];

		memcpy(packet, &code, sizeof(code));
		take(packet + sizeof(code), byte());
	}
	send_packet(packet, n, how >> 2 & 1 ? 1 + (how >> 3 & 1) * 3 : 0);
}

/* A question is whole, and its texts end. */
static void hear(void)
{
	static struct scribe_helper_question q;
	int fd, rc;

	while ((rc = scribe_helper_recv(other, &q, sizeof(q), &fd, MSG_DONTWAIT)) == 0) {
		if (fd >= 0)
			close(fd);
		if (q.op < 0 || q.op > SCRIBE_HELPER_ENVIRON || !memchr(q.path, 0, sizeof(q.path)) ||
		    !memchr(q.to, 0, sizeof(q.to)) || !memchr(q.drop, 0, sizeof(q.drop)))
			abort();
	}
	if (rc != -EAGAIN && rc != -EPIPE)
		abort();
}

/* ---- the asker ---- */

static void must(bool holds)
{
	if (!holds)
		abort();
}

/* A descriptor that has come now, or a code. */
static void check_fd(int fd, uint64_t before)
{
	if (fd < 0)
		return;
	must(fd < 64 && !(before >> fd & 1) && fcntl(fd, F_GETFD) >= 0);
	close(fd);
}

/* Of a path with links: asked, and looked after a few times. */
static void resolve(void)
{
	static struct scribe_helper_path path;
	int rc = scribe_helper_resolve(&helper, other, "/a", byte() & 1, byte() & 1 ? 0 : 3600000);

	must(rc <= 0);
	for (int i = 0; rc == 0 && i < 3; i++) {
		if (!scribe_helper_resolved(&helper, &path, &rc))
			continue;
		must(rc < 0 ||
		     (path.text[0] == '/' && strlen(path.text) == path.bytes && path.bytes < sizeof(path.text)));
		rc = rc < 0 ? rc : 1;
	}
}

static void cmdline(void)
{
	static struct scribe_helper_path text;
	int rc = scribe_helper_process_text(&helper, 1, byte() & 1, 0, byte() & 1 ? 0 : 3600000);

	must(rc <= 0);
	for (int i = 0; rc == 0 && i < 3; i++)
		if (scribe_helper_process_text_read(&helper, &text, &rc)) {
			must(rc < 0 || text.bytes <= sizeof(text.text));
			rc = rc < 0 ? rc : 1;
		}
}

static void ask_now(unsigned what)
{
	static struct scribe_elf_analysis study;
	struct scribe_err err = {0};
	uint64_t before = fuzz_in_use();
	uint32_t value = 0;
	int rc;

	switch (what) {
	case 0:
		must(scribe_helper_mkdirs(&helper, "/a/b", byte(), &err) <= 0);
		break;
	case 1:
		check_fd(scribe_helper_create(&helper, "/a/b", &err), before);
		break;
	case 2:
		must(scribe_helper_remove(&helper, "/a/b", &err) <= 0);
		break;
	case 3:
		resolve();
		break;
	case 4:
		rc = scribe_helper_analyse(&helper, other, &study, 1000);
		must(rc <= 0);
		if (rc == 0)
			(void)scribe_elf_analysis_check(&study, 1 << 20);
		break;
	case 5:
		must(scribe_helper_peek(&helper, 1, 4096, 4, &value, 1000) <= 0);
		break;
	default:
		cmdline();
	}
}

static void ask_for_files(void)
{
	static struct scribe_search s;
	struct scribe_helper_found f = {.more = 1};
	int rc = scribe_helper_search(&helper, &s), fd = -1;

	must(rc <= 0);
	while (rc == 0 && f.more) {
		uint64_t before = fuzz_in_use();

		fd = -1;
		rc = scribe_helper_found(&helper, &f, &fd, 1000);
		must(rc <= 0);
		if (rc == 0) {
			must(memchr(f.label, 0, sizeof(f.label)));
			check_fd(fd, before);
		}
	}
}

static void ask_later(unsigned what)
{
	uint32_t ms = byte() & 1 ? 0 : 3600000;
	struct scribe_helper_put put = {.fd = other, .partial = "/a/p", .to = "/a/t", .drop = "/a/d"};
	int rc = 0;

	switch (what) {
	case 0:
		rc = scribe_helper_put(&helper, &put, ms);
		break;
	case 1:
		rc = scribe_helper_fetch(&helper, "/a/f", other, ms);
		break;
	case 2:
		rc = scribe_helper_days(&helper, "/a/2026/f", 2, ms);
		break;
	case 3:
		rc = scribe_helper_ready(&helper, "/a/f", 2, byte() & 1, ms);
		break;
	case 4:
		rc = scribe_helper_attributes(&helper, "user.a", other, ms);
		break;
	case 5:
		rc = scribe_helper_merge(&helper, "/a", byte() & 1, byte() & 1 ? other : -1, ms);
		break;
	default:
		rc = scribe_helper_check_exclusion(&helper, other, byte() & 1, ms);
	}
	must(rc <= 0);
}

static void look_after(void)
{
	struct scribe_helper_answer a;
	int rc = 1;

	if (byte() & 1) {
		if (scribe_helper_answered(&helper, &rc))
			must(rc <= 0 && !helper.asked);
	} else if (scribe_helper_answer(&helper, &a)) {
		must(a.rc <= 0 &&
		     !helper.asked); /* what else it says is for exclusion_check.c, and for fuzz_message.c */
	}
}

static void step(void)
{
	unsigned b = byte();

	switch (b % 5) {
	case 0:
	case 1:
		answer();
		break;
	case 2:
		ask_now(b / 5 % 7);
		break;
	case 3:
		if (b & 0x80)
			ask_for_files();
		else
			ask_later(b / 5 % 7);
		break;
	default:
		if (b == 0xfe)
			shutdown(other, SHUT_RDWR);
		else
			look_after();
	}
	hear();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	uint64_t before = fuzz_in_use();
	int pair[2];

	in = (struct fuzz_input){data, data + size};
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		abort();
	helper = (struct scribe_helper){.pid = -1, .sock = pair[0]};
	other = pair[1];
	for (int i = 0; i < STEPS_MAX && in.at < in.end; i++)
		step();
	scribe_helper_stop(&helper);
	close(other);
	must(fuzz_in_use() == before);
	return 0;
}
