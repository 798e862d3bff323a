/* SPDX-License-Identifier: BSD-3-Clause */
/* The service manager's protocol, without libsystemd. Must not know what the service does. */
#include "runtime/daemon/base/sd_notify.h"

#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

/* SD_LISTEN_FDS_START */
#define FIRST_PASSED 3

/* Never blocks: a full socket loses the message; watchdog messages are repeated. */
void scribe_notify(const char *state)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	size_t n = path ? strlen(path) : 0;
	int sock;

	if (n < 2 || n >= sizeof(to.sun_path) || (path[0] != '/' && path[0] != '@'))
		return;
	memcpy(to.sun_path, path, n);
	/* '@' stands for the abstract namespace. */
	if (path[0] == '@')
		to.sun_path[0] = 0;
	sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (sock < 0)
		return;
	(void)sendto(sock, state, strlen(state), MSG_NOSIGNAL, (struct sockaddr *)&to,
		     (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n));
	close(sock);
}

/* 0: not set or not a number. */
static unsigned long long number(const char *variable)
{
	const char *text = getenv(variable);

	return text && text[0] >= '0' && text[0] <= '9' ? strtoull(text, NULL, 10) : 0;
}

uint64_t scribe_notify_watchdog(void)
{
	unsigned long long pid = number("WATCHDOG_PID");

	/* The variables may be meant for another process. */
	return pid == 0 || pid == (unsigned long long)getpid() ? number("WATCHDOG_USEC") * 1000 : 0;
}

int scribe_notify_socket(void)
{
	int type = 0, listening = 0;
	socklen_t len = sizeof(type);

	if (number("LISTEN_PID") != (unsigned long long)getpid() || number("LISTEN_FDS") < 1)
		return -1;
	/* Only a socket as this daemon makes it: SOCK_SEQPACKET, listening. */
	if (getsockopt(FIRST_PASSED, SOL_SOCKET, SO_TYPE, &type, &len) < 0 || type != SOCK_SEQPACKET)
		return -1;
	len = sizeof(listening);
	if (getsockopt(FIRST_PASSED, SOL_SOCKET, SO_ACCEPTCONN, &listening, &len) < 0 || !listening)
		return -1;
	fcntl(FIRST_PASSED, F_SETFD, FD_CLOEXEC);
	fcntl(FIRST_PASSED, F_SETFL, O_NONBLOCK);
	return FIRST_PASSED;
}
