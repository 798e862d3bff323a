/* SPDX-License-Identifier: BSD-3-Clause */
/* Sends JOB_READY to the daemon and waits for its reply. Runs in slurmstepd. Must not know Slurm. */
#include "runtime/slurm/announce.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "logfmt/base/proto.h"

#define ANNOUNCE_MS   300 /* longest delay of a step */
#define REQUEST_CHARS 32

void scribe_announce(const char *dir, uint32_t job)
{
	int64_t deadline = scribe_msg_now_ms() + ANNOUNCE_MS;
	int sock = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	char request[REQUEST_CHARS], *answer = malloc(SCRIBE_MSG_MAX);
	int n = snprintf(request, sizeof(request), "job_id=%u\n", job);
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	struct scribe_err err;

	if (sock >= 0 && answer &&
	    snprintf(to.sun_path, sizeof(to.sun_path), "%s/" SCRIBE_SERVICE_SOCKET, dir) < (int)sizeof(to.sun_path) &&
	    scribe_msg_connect(sock, (const struct sockaddr *)&to, sizeof(to), deadline) == 0 &&
	    scribe_msg_send(sock, SCRIBE_MSG_JOB_READY, 0, request, (size_t)n, -1, scribe_msg_left_ms(deadline)) == 0)
		(void)scribe_msg_recv(sock, answer, NULL, scribe_msg_left_ms(deadline), &err);
	/* The content does not matter: the reply means that programs are attached. */
	free(answer);
	if (sock >= 0)
		close(sock);
}
