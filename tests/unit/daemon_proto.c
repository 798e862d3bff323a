/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages: every refusal by its text, truncation at every byte, descriptors, deadlines. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/base/proto.h"
#include "tests/harness/seed.h"

static const unsigned types[] = {
	SCRIBE_MSG_ERROR,    SCRIBE_MSG_HELLO,  SCRIBE_MSG_HELLO_OK,     SCRIBE_MSG_FETCH,
	SCRIBE_MSG_FETCH_OK, SCRIBE_MSG_DONE,   SCRIBE_MSG_DONE_OK,      SCRIBE_MSG_RUN_BEGIN,
	SCRIBE_MSG_READY,    SCRIBE_MSG_ENROL,  SCRIBE_MSG_ENROLLED,     SCRIBE_MSG_END,
	SCRIBE_MSG_LOG,      SCRIBE_MSG_RESULT, SCRIBE_MSG_RUN_REATTACH, SCRIBE_MSG_BUILDING,
};

static char packet[SCRIBE_MSG_MAX + 16] __attribute__((aligned(8)));

static size_t make(unsigned type, size_t len)
{
	struct scribe_msg_header h = {SCRIBE_MSG_MAGIC, SCRIBE_MSG_VERSION, (uint16_t)type, 0, (uint32_t)len};

	memset(packet, 0, sizeof(packet));
	memcpy(packet, &h, sizeof(h));
	return sizeof(h) + len;
}

static void refused(size_t bytes, const char *text)
{
	struct scribe_err err = {0};
	const void *payload = NULL;

	assert_int_equal(scribe_msg_check(packet, bytes, &payload, &err), -EPROTO);
	if (!strstr(err.text, text))
		fail_msg("'%s' instead of '%s'", err.text, text);
	assert_null(payload);
}

static void every_type_at_its_length_only(void **state)
{
	const void *payload;

	(void)state;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		int want = scribe_msg_payload_bytes(types[i]);

		if (want < 0)
			continue;
		assert_int_equal(scribe_msg_check(packet, make(types[i], (size_t)want), &payload, NULL), 0);
		assert_ptr_equal(payload, packet + sizeof(struct scribe_msg_header));
		if (want > 0) {
			make(types[i], (size_t)want - 1);
			refused(sizeof(struct scribe_msg_header) + (size_t)want - 1, "payload instead of");
		}
		make(types[i], (size_t)want + 1);
		refused(sizeof(struct scribe_msg_header) + (size_t)want + 1, "payload instead of");
		make(types[i], (size_t)want);
		for (size_t cut = 0; cut < sizeof(struct scribe_msg_header) + (size_t)want; cut++)
			refused(cut,
				cut < sizeof(struct scribe_msg_header) ? "shorter than a header" : "payload and has");
	}
}

static void bad_headers(void **state)
{
	struct scribe_msg_header *h = (void *)packet;
	size_t n;

	(void)state;
	n = make(SCRIBE_MSG_DONE_OK, 0);
	h->magic++;
	refused(n, "not ours");
	n = make(SCRIBE_MSG_DONE_OK, 0);
	h->version++;
	refused(n, "protocol version 2, this is version 1");
	n = make(999, 0);
	refused(n, "unknown type 999");
	n = make(SCRIBE_MSG_ERROR, SCRIBE_TEXT_MAX + 1);
	refused(n, "of text, at most 512");
	n = make(SCRIBE_MSG_RUN_BEGIN, SCRIBE_OPTIONS_MAX + 1);
	refused(n, "of text, at most");
	n = make(SCRIBE_MSG_HELLO, sizeof(struct scribe_msg_hello));
	memset(packet + n - SCRIBE_WORLD_MAX, 'x', SCRIBE_WORLD_MAX);
	refused(n, "string without end");
	n = make(SCRIBE_MSG_DONE, sizeof(struct scribe_msg_done));
	memset(packet + n - SCRIBE_PATH_MAX, 'x', SCRIBE_PATH_MAX);
	refused(n, "string without end");
}

static void random_packets_never_crash(void **state)
{
	struct scribe_err err;
	const void *payload;

	(void)state;
	srand((unsigned)scribe_test_seed(7));
	for (int i = 0; i < 20000; i++) {
		unsigned type = types[(size_t)rand() % (sizeof(types) / sizeof(types[0]))];
		int want = scribe_msg_payload_bytes(type);
		size_t n = make(type, want < 0 ? (size_t)rand() % 600 : (size_t)want);

		for (int k = rand() % 8; k > 0; k--)
			packet[(size_t)rand() % n] = (char)rand();
		(void)scribe_msg_check(packet, (size_t)rand() % 3 ? n : (size_t)rand() % (n + 1), &payload, &err);
	}
}

static void over_a_socket(void **state)
{
	struct scribe_msg_hello hello = {.rank = 3, .size = 4, .tid = 77, .world = "ns"};
	struct scribe_err err = {0};
	int s[2], pipe_fd[2], got = -1;
	char byte;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
	assert_int_equal(pipe(pipe_fd), 0);
	assert_int_equal(scribe_msg_send(s[0], SCRIBE_MSG_HELLO, 0, &hello, sizeof(hello), pipe_fd[0], 100), 0);
	assert_int_equal(scribe_msg_recv(s[1], packet, &got, 100, &err),
			 sizeof(struct scribe_msg_header) + sizeof(hello));
	assert_memory_equal(packet + sizeof(struct scribe_msg_header), &hello, sizeof(hello));
	assert_true(got >= 0);
	assert_int_equal(fcntl(got, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
	assert_int_equal(write(pipe_fd[1], "z", 1), 1);
	assert_int_equal(read(got, &byte, 1), 1);
	close(got);
	/* a descriptor nobody asked for is closed, not leaked */
	assert_int_equal(scribe_msg_send(s[0], SCRIBE_MSG_DONE_OK, 0, NULL, 0, pipe_fd[0], 100), 0);
	assert_int_equal(scribe_msg_recv(s[1], packet, NULL, 100, &err), sizeof(struct scribe_msg_header));
	got = open("/dev/null", O_RDONLY);
	assert_true(got <= pipe_fd[1] + 1);
	close(got);
	/* nothing comes: the deadline */
	assert_int_equal(scribe_msg_recv(s[1], packet, NULL, 20, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "no answer in time");
	/* the peer goes */
	close(s[0]);
	assert_int_equal(scribe_msg_recv(s[1], packet, NULL, 100, &err), 0);
	assert_int_equal(scribe_msg_send(s[1], SCRIBE_MSG_DONE_OK, 0, NULL, 0, -1, 100), -EPIPE);
	close(s[1]);
	close(pipe_fd[0]);
	close(pipe_fd[1]);
}

static void a_full_socket_has_a_deadline(void **state)
{
	static char text[1000];
	int s[2], rc = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
	for (int i = 0; i < 100000 && rc == 0; i++)
		rc = scribe_msg_send(s[0], SCRIBE_MSG_RUN_BEGIN, 0, text, sizeof(text), -1, 10);
	assert_int_equal(rc, -ETIMEDOUT);
	assert_int_equal(scribe_msg_send(s[0], SCRIBE_MSG_RUN_BEGIN, 0, text, SCRIBE_MSG_MAX, -1, 10), -EMSGSIZE);
	close(s[0]);
	close(s[1]);
}

static void garbage_over_a_socket(void **state)
{
	struct scribe_err err = {0};
	int s[2];

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, s), 0);
	assert_int_equal(send(s[0], "hello", 5, 0), 5);
	assert_int_equal(scribe_msg_recv(s[1], packet, NULL, 100, &err), -EPROTO);
	assert_non_null(strstr(err.text, "shorter than a header"));
	make(SCRIBE_MSG_DONE_OK, 0);
	assert_int_equal(send(s[0], packet, SCRIBE_MSG_MAX + 8, 0), SCRIBE_MSG_MAX + 8);
	assert_int_equal(scribe_msg_recv(s[1], packet, NULL, 100, &err), -EPROTO);
	assert_non_null(strstr(err.text, "longer than"));
	close(s[0]);
	close(s[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_at_its_length_only), cmocka_unit_test(bad_headers),
		cmocka_unit_test(random_packets_never_crash),    cmocka_unit_test(over_a_socket),
		cmocka_unit_test(a_full_socket_has_a_deadline),  cmocka_unit_test(garbage_over_a_socket),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
