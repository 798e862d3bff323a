// SPDX-License-Identifier: BSD-3-Clause
#include "runtime/daemon/privsep/subprocess.h"

#include <errno.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "logfmt/base/err.h"
#include "runtime/daemon/privsep/helper_wire.h"

#define START_MS 20000 /* for the first message, on a loaded machine */
#define END_MS   5000  /* after an error */
#define STEP_MS  5

/* The first message is 0 or a negative errno. */
static _Noreturn void begin(const struct scribe_subprocess_plan *plan, int sock)
{
	const int only = 3;
	struct scribe_err err;
	int rc = scribe_helper_alone(sock);

	setsid();
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	signal(SIGINT, SIG_IGN);
	prctl(PR_SET_NAME, plan->name);
	if (rc == 0 && plan->before)
		plan->before();
	if (rc == 0 && chdir("/") < 0)
		rc = -errno;
	if (rc == 0)
		rc = scribe_sandbox(plan->role, &err);
	if (scribe_helper_send(only, &rc, sizeof(rc), -1) < 0 || rc < 0)
		_exit(1);
	plan->serve(only);
	_exit(0);
}

int scribe_subprocess_start(struct scribe_subprocess *ret, const struct scribe_subprocess_plan *plan)
{
	int pair[2], rc, answered, given;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) < 0)
		return -errno;
	ret->pid = fork();
	if (ret->pid == 0)
		begin(plan, pair[1]);
	rc = ret->pid < 0 ? -errno : 0;
	close(pair[1]);
	ret->sock = pair[0];
	if (rc == 0)
		rc = scribe_helper_recv_within(ret->sock, &answered, sizeof(answered), &given, START_MS);
	if (rc == 0)
		rc = answered;
	if (rc < 0)
		scribe_subprocess_close(ret, END_MS);
	return rc;
}

void scribe_subprocess_close(struct scribe_subprocess *p, int ms)
{
	if (p->sock >= 0)
		close(p->sock);
	for (int i = 0; p->pid > 0 && i < ms / STEP_MS && waitpid(p->pid, NULL, WNOHANG) == 0; i++)
		usleep(STEP_MS * 1000);
	*p = (struct scribe_subprocess)SCRIBE_NO_SUBPROCESS;
}
