/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Slurm options: --ioscribe, --ioscribe-dxt and --ioscribe-stream become variables of tasks and prolog
 * (SPANK_IOSCRIBE, _DXT, _STREAM). Must never fail a job.
 *
 * plugstack.conf:  optional spank_ioscribe.so [library=PATH] [dir=PATH] [comment=PATH] [off=PATH]
 *   library   preloaded into tasks that opted in; MPI ranks then write their log together
 *   dir       of the daemon (/run/ioscribe)
 *   comment   program called with the job's number when its batch step ends
 *   off       while this file exists, options are ignored (/etc/ioscribe/off, which also stops the hooks)
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <slurm/spank.h>

#include "runtime/slurm/announce.h"

SPANK_PLUGIN(ioscribe, 1)

#define BATCH_STEP   0xfffffffbU /* SLURM_BATCH_SCRIPT, missing in spank.h */
#define COMMENT_MS   3000
#define NUMBER_CHARS 12
#define PATHS_CHARS  4096
#define STREAM_CHARS 1024
#define OFF_FILE     "/etc/ioscribe/off"
#define DIR_DEFAULT  "/run/ioscribe"

enum choice { UNSAID, ON, OFF };

static enum choice chosen;
static int traced_ops;
static char stream[STREAM_CHARS]; /* empty: none */

static int on_ioscribe(int val, const char *text, int remote)
{
	(void)val;
	(void)remote;
	/* without a value, remote contexts get "", job scripts "(null)" */
	if (!text || !*text || !strcmp(text, "on") || !strcmp(text, "(null)")) {
		chosen = ON;
		return 0;
	}
	if (!strcmp(text, "off")) {
		chosen = OFF;
		return 0;
	}
	slurm_error("--ioscribe: '%s' is neither on nor off", text);
	return -1;
}

static int on_dxt(int val, const char *text, int remote)
{
	(void)val;
	(void)text;
	(void)remote;
	traced_ops = 1;
	return 0;
}

static int on_stream(int val, const char *text, int remote)
{
	static const char *const forms[] = {
		"json:", "csv:", "ldms:", "ldms-msg:", "kafka:", "every=", "rate=", "modules="};
	size_t i = 0;

	(void)val;
	(void)remote;
	/* Only the prefix is checked here, where the user sees the error; the rest when the sink is opened. */
	while (text && i < sizeof(forms) / sizeof(forms[0]) && strncmp(text, forms[i], strlen(forms[i])))
		i++;
	if (text && i < sizeof(forms) / sizeof(forms[0]) && strlen(text) < sizeof(stream)) {
		snprintf(stream, sizeof(stream), "%s", text);
		return 0;
	}
	slurm_error("--ioscribe-stream: '%.100s' is none of json:, csv:, ldms:, ldms-msg:, kafka: (docs/streams.md)",
		    text ? text : "");
	return -1;
}

static struct spank_option options[] = {
	{"ioscribe", "[on|off]", "Record the job's file I/O (off: never, not even by IOSCRIBE_ENABLE=1)", 2, 0,
	 on_ioscribe},
	{"ioscribe-dxt", NULL, "As --ioscribe, and keep each read and write with its times (DXT)", 0, 0, on_dxt},
	{"ioscribe-stream", "SINK", "As --ioscribe, and send each operation to SINK while the job runs", 1, 0,
	 on_stream},
};

static enum choice decided(void)
{
	return chosen == UNSAID && (traced_ops || stream[0]) ? ON : chosen;
}

/* Of NAME=/PATH in plugstack.conf, or NULL. */
static const char *path_of(const char *name, int argc, char **argv)
{
	size_t n = strlen(name);

	for (int i = 0; i < argc; i++) {
		if (!strncmp(argv[i], name, n) && argv[i][n] == '=' && argv[i][n + 1] == '/')
			return argv[i] + n + 1;
	}
	return NULL;
}

static int is_off(int argc, char **argv)
{
	const char *file = path_of("off", argc, argv);

	/* Checked at each call: takes effect without a restart of Slurm. */
	return access(file ? file : OFF_FILE, F_OK) == 0;
}

/* In every context that parses options. */
int slurm_spank_init(spank_t sp, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		spank_option_register(sp, &options[i]);
	return 0;
}

/* For prolog and epilog. */
int slurm_spank_init_post_opt(spank_t sp, int argc, char **argv)
{
	if (spank_context() == S_CTX_REMOTE || decided() == UNSAID || is_off(argc, argv))
		return 0;
	/* Variables of job control get the prefix SPANK_. */
	spank_job_control_setenv(sp, "IOSCRIBE", decided() == ON ? "on" : "off", 1);
	if (traced_ops)
		spank_job_control_setenv(sp, "IOSCRIBE_DXT", "1", 1);
	if (stream[0])
		spank_job_control_setenv(sp, "IOSCRIBE_STREAM", stream, 1);
	return 0;
}

static void preload(spank_t sp, const char *library, const char *dir)
{
	char preloads[PATHS_CHARS], both[2 * PATHS_CHARS], socket_path[PATHS_CHARS];
	int rc;

	if (access(library, R_OK) < 0)
		return;
	snprintf(socket_path, sizeof(socket_path), "%s/socket", dir ? dir : DIR_DEFAULT);
	rc = (int)spank_getenv(sp, "LD_PRELOAD", preloads, sizeof(preloads));
	if (rc == (int)ESPANK_ENV_NOEXIST)
		preloads[0] = 0;
	else if (rc != (int)ESPANK_SUCCESS)
		return; /* too long: leave it */
	snprintf(both, sizeof(both), "%s%s%s", library, preloads[0] ? ":" : "", preloads);
	/* Before the user's libraries, and once: a step may inherit it. */
	if (!strstr(preloads, library))
		spank_setenv(sp, "LD_PRELOAD", both, 1);
	spank_setenv(sp, "IOSCRIBE_SOCKET", socket_path, 1);
}

/* By option, or in the environment of the tasks. */
static int wanted(spank_t sp)
{
	char value[NUMBER_CHARS];

	return decided() == ON ||
	       (decided() == UNSAID && spank_getenv(sp, "IOSCRIBE_ENABLE", value, sizeof(value)) == ESPANK_SUCCESS &&
		!strcmp(value, "1"));
}

static void announce(spank_t sp, const char *dir)
{
	uint32_t job;

	if (wanted(sp) && spank_get_item(sp, S_JOB_ID, &job) == ESPANK_SUCCESS)
		scribe_announce(dir ? dir : DIR_DEFAULT, job);
}

/* For the tasks of a step. */
int slurm_spank_user_init(spank_t sp, int argc, char **argv)
{
	const char *library = path_of("library", argc, argv);

	if (is_off(argc, argv))
		return 0;
	if (decided() == ON) {
		spank_setenv(sp, "IOSCRIBE_ENABLE", "1", 1);
		spank_unsetenv(sp, "IOSCRIBE_DISABLE");
		if (library)
			preload(sp, library, path_of("dir", argc, argv));
	} else if (decided() == OFF) {
		spank_setenv(sp, "IOSCRIBE_DISABLE", "1", 1);
	}
	if (traced_ops)
		spank_setenv(sp, "IOSCRIBE_DXT", "1", 1);
	announce(sp, path_of("dir", argc, argv));
	return 0;
}

/* With the job's number as argument, at most COMMENT_MS. */
static void run_comment(const char *program, uint32_t job)
{
	char number[NUMBER_CHARS];
	struct pollfd ended = {.events = POLLIN};
	pid_t pid;

	snprintf(number, sizeof(number), "%u", job);
	pid = fork();
	if (pid < 0)
		return;
	if (pid == 0) {
		setpgid(0, 0);
		/* A process group, so that its children can be killed, too. */
		execl(program, program, number, (char *)NULL);
		_exit(127);
	}
	ended.fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (ended.fd < 0 || poll(&ended, 1, COMMENT_MS) != 1)
		kill(-pid, SIGKILL);
	if (ended.fd >= 0)
		close(ended.fd);
	while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* At the end of the batch step, when the job can still get a comment. */
int slurm_spank_exit(spank_t sp, int argc, char **argv)
{
	const char *comment = path_of("comment", argc, argv);
	uint32_t step = 0, job = 0;

	if (spank_context() != S_CTX_REMOTE || spank_get_item(sp, S_JOB_STEPID, &step) != ESPANK_SUCCESS ||
	    step != BATCH_STEP || spank_get_item(sp, S_JOB_ID, &job) != ESPANK_SUCCESS)
		return 0;
	if (comment && !is_off(argc, argv))
		run_comment(comment, job);
	return 0;
}
