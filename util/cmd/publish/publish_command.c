// SPDX-License-Identifier: BSD-3-Clause
/* `ioscribe publish`: options, help and start of ioscribe-publish, so that others do not load sinks' libraries. */
#include <stddef.h>

#include "util/cmd/publish/publish_cmd.h"
#include "util/tool/libexec.h"

static int cmd_publish(int argc, char **argv)
{
	(void)argc;
	return scribe_libexec_run("ioscribe-publish", "sends operations to other systems", argv);
}

static const struct scribe_option options[] = {
	{"job", SCRIBE_PUBLISH_KEY_JOB, "ID", "the job, as \"ioscribe job list\" has it"},
	{"pid", SCRIBE_PUBLISH_KEY_PID, "PID",
	 "the job that this process is of, such as the command of an ioscribe run"},
	{"node", SCRIBE_PUBLISH_KEY_NODE, "SECONDS",
	 "instead of a job's operations samples of this node's disks, NFS and Lustre, so often (1 to 3600)"},
	{"notify", SCRIBE_PUBLISH_KEY_NOTIFY, "FD", "write a byte to this descriptor when it has begun (ioscribe run)"},
	{NULL, 0, NULL, NULL},
};

static const char *const examples[] = {
	"ioscribe publish --job 1234 json:events.json",
	"the operations of job 1234 from now on, appended to a file",
	"ioscribe publish --job 1234 json:unix:/run/user/1000/in.sock",
	"to whoever listens at the socket, as ioscribe store does",
	"ioscribe publish --job 1234 ldms:sock:node1:10444:munge",
	"to an LDMS daemon, as Darshan's connector does",
	"ioscribe publish --job 1234 every=10,modules=MPIIO,csv:events.csv",
	"all opens and closes of MPI-IO, and each tenth read and write, as CSV",
	"ioscribe publish --node 10 json:unix:/run/ioscribe-store.sock",
	"what this node reads and writes, every ten seconds, to a store",
	NULL,
};

const struct scribe_command scribe_command_publish = {
	.name = "publish",
	.summary = "send the operations of a running job to another system",
	.main = cmd_publish,
	.operands = "SINK",
	.min_operands = 1,
	.max_operands = 1,
	.options = options,
	.about =
		"Sends each open, read, write and close of a job that this node's service traces to SINK while the job "
		"runs, from now on until it ends or this command is interrupted. A message is that of Darshan's "
		"connector for LDMS, one JSON object a line; docs/streams.md has its fields. SINK is json:FILE, a file "
		"or named pipe that lines are appended to; json:unix:PATH, a socket that somebody listens at; the same "
		"with csv:; ldms:XPRT:HOST:PORT:AUTH, a daemon of LDMS (ldms-msg: by its message channels); or "
		"kafka:BROKERS/TOPIC. Options may stand before it: every=N, with a comma behind "
		"it (of a file's reads and writes the first of N), rate=N (at most N a second), "
		"modules=POSIX+STDIO+MPIIO+HDF5+PNETCDF (only these).\n\n"
		"A sink that is not there, or not there any more, is tried again until the job has ended. The traced "
		"program waits for none of this: what a sink does not take in time (beyond 8 MiB, some 90,000 "
		"operations) is left out, counted and told at the end. Where a reader comes back, every file's open is "
		"sent again first. Five seconds after the end of the job what could not be sent is given up.\n\n"
		"With --node it sends samples instead, without a service and for any user, until it is interrupted: "
		"totals since boot of pressure (/proc/pressure), disks, and mounts of NFS and Lustre, as far as this "
		"node has them. What a sink has not taken when the next sample is due is left out and counted. A store "
		"takes samples as it takes messages, and \"ioscribe query samples\" joins them.\n\n"
		"Root may publish every job, a user his own. ioscribe run --stream SINK does the same from a command's "
		"first call on, without a service, too.",
	.examples = examples,
};
