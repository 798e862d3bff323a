/* SPDX-License-Identifier: BSD-3-Clause */
/* See stage.h. */
#include "tests/fuzz/stage.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "logfmt/base/clock.h"
#include "runtime/daemon/attach/library_probes.h"
#include "runtime/daemon/base/event_loop.h"
#include "runtime/daemon/control/connection.h"
#include "runtime/daemon/control/control.h"
#include "runtime/daemon/control/server.h"
#include "runtime/daemon/control/user_quota.h"
#include "runtime/daemon/jobs/lifecycle.h"
#include "runtime/daemon/programs/shm_counters.h"
#include "tests/fuzz/kernel.h"

#define END_TURNS 2000

struct stage stage;
static struct scribe_config defaults;
static struct sockaddr_un address;
static socklen_t address_bytes;
static int listening = -1;

static void once(void)
{
	struct scribe_err err;

	signal(SIGPIPE, SIG_IGN);
	if (scribe_config_default(&defaults, &err) < 0)
		abort();
	defaults.records = FUZZ_SLOTS - 1;
	defaults.processes = FUZZ_PROCS - 1;
	strcpy(defaults.log_dir, "/log");
	defaults.spool_dir[0] = 0;
	listening = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	address.sun_family = AF_UNIX; /* a name of the kernel's choice */
	address_bytes = sizeof(address);
	if (listening < 0 || bind(listening, (struct sockaddr *)&address, sizeof(sa_family_t)) < 0 ||
	    listen(listening, 2 * STAGE_PEERS) < 0 ||
	    getsockname(listening, (struct sockaddr *)&address, &address_bytes) < 0)
		abort();
}

void stage_begin(void)
{
	if (listening < 0)
		once();
	fuzz_kernel_reset();
	fuzz_calls_reset();
	stage = (struct stage){.service = {.dir = "/run/ioscribe", .pid_file = -1, .stay = true}};
	stage.d = (struct scribe_daemon){
		.ops = &scribe_control_ops, .service = &stage.service, .epoll = epoll_create1(EPOLL_CLOEXEC)};
	stage.d.listen = dup(listening);
	if (scribe_config_copy(&stage.service.config, &defaults) < 0 || stage.d.epoll < 0 || stage.d.listen < 0 ||
	    scribe_watch_in(stage.d.epoll, stage.d.listen, &stage.d.listen) < 0)
		abort();
	stage.service.started_ns = scribe_now_ns();
	stage.pace.next_sweep_ns = stage.service.started_ns;
}

int stage_connect(uid_t uid, pid_t pid)
{
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		abort();
	if (connect(fd, (struct sockaddr *)&address, address_bytes) == 0 && fuzz_calls_arriving(pid, uid))
		return fd;
	close(fd);
	return -1;
}

int stage_private(pid_t pid)
{
	struct scribe_client *own;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, pair) < 0)
		abort();
	fuzz_calls_arriving(pid, 0);
	stage.d.service = NULL;
	own = scribe_clients_add(&stage.d, pair[1]);
	if (!own)
		abort();
	own->own = true;
	return pair[0];
}

void stage_turn(unsigned times)
{
	for (unsigned i = 0; i < times && !stage.d.quit; i++)
		if (scribe_loop_iteration(&stage.d, &stage.pace) < 0)
			abort();
}

void stage_end(void)
{
	struct scribe_daemon *d = &stage.d;
	int late;

	fuzz_hands(0, 0);
	fuzz_kernel_fail(0);
	d->asked_to_end = SIGINT;
	stage_turn(END_TURNS);
	if (!d->quit)
		abort();
	scribe_libs_stop(d, true);
	while (d->jobs)
		scribe_job_free(d->jobs);
	scribe_shm_counters_clear(d);
	d->bpf = scribe_bpf_free(d->bpf);
	scribe_clients_close(d);
	scribe_user_end(d);
	scribe_iterations_close(&d->iterations);
	scribe_map_clear(&d->by_tgid);
	scribe_config_clear(&stage.service.config);
	free(d->slot);
	close(d->epoll);
	while ((late = accept4(listening, NULL, NULL, SOCK_CLOEXEC)) >= 0) /* it had gone already */
		close(late);
}
