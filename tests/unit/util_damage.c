/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Damaged logs through the log tools, called as their command lines call them:
 * exit 0 or 1, and with 1 one line that says what is wrong and where. Real logs,
 * cut at every byte and with bits turned; files that are no logs at all.
 */
#include <ctype.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "util/commands.h"
#include "util/tool/command.h"

#define WORDS 6
#ifdef __SANITIZE_ADDRESS__ /* tens of times slower: a part of it */
#define STEPS 7
#else
#define STEPS 1
#endif
#define LOG  "LOG"  /* the damaged log */
#define GOOD "GOOD" /* the log before */
#define OUT  "OUT"

/* From one place that is damaged to the next, odd; in the gate fewer places. */
static size_t step(size_t all)
{
	return (all * STEPS * (getenv("IOSCRIBE_GATE") ? 4 : 1)) | 1;
}

/* The first is tried on all damage, each of the others on a part of it. */
static const char *const commands[][WORDS] = {
	{"parse", "--all", LOG},
	{"parse", "--base", LOG},
	{"parse", "--total", "--file", "--perf", LOG},
	{"dxt", LOG},
	{"summary", LOG},
	{"convert", "--bzip2", LOG, OUT},
	{"convert", "--obfuscate", LOG, OUT},
	{"diff", GOOD, LOG},
	{"merge", "--output", OUT, LOG, GOOD},
	{"merge", "--shared-redux", "--output", OUT, LOG},
};
#define COMMANDS (sizeof(commands) / sizeof(commands[0]))

static const char *const logs[] = {
	"mpi-io-test-x86_64-3.0.0.darshan", /* the oldest */
	"mpi-io-test-ppc64-3.0.1.darshan",  /* the other byte order */
	"mpi-io-test-x86_64-3.5.0.darshan", /* the newest */
};
#define LOGS (sizeof(logs) / sizeof(logs[0]))

struct damage {
	int log, errors, saved_out, saved_err;
	char log_path[64], good_path[256], out_path[64];
	unsigned char *bytes;
	size_t n;
	unsigned refused, accepted;
};

static void load(struct damage *d, const char *name)
{
	struct stat st;
	int fd;

	memset(d, 0, sizeof(*d));
	snprintf(d->good_path, sizeof(d->good_path), "%s/logs/%s", SCRIBE_TEST_DATA, name);
	fd = open(d->good_path, O_RDONLY | O_CLOEXEC);
	assert_true(fd >= 0 && fstat(fd, &st) == 0 && st.st_size > 500);
	d->n = (size_t)st.st_size;
	d->bytes = malloc(d->n);
	assert_int_equal(read(fd, d->bytes, d->n), d->n);
	close(fd);
	d->log = memfd_create("damaged", MFD_CLOEXEC);
	d->errors = memfd_create("errors", MFD_CLOEXEC);
	snprintf(d->log_path, sizeof(d->log_path), "/proc/self/fd/%d", d->log);
	snprintf(d->out_path, sizeof(d->out_path), "/tmp/ioscribe-damage.%d", (int)getpid());
}

static void unload(struct damage *d)
{
	close(d->log);
	close(d->errors);
	free(d->bytes);
}

/* Standard output to nowhere, standard error to memory; and back. */
static void hush(struct damage *d)
{
	int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

	fflush(NULL);
	assert_int_equal(ftruncate(d->errors, 0), 0);
	lseek(d->errors, 0, SEEK_SET);
	d->saved_out = dup(STDOUT_FILENO);
	d->saved_err = dup(STDERR_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(d->errors, STDERR_FILENO);
	close(null);
}

static void unhush(struct damage *d)
{
	fflush(NULL);
	dup2(d->saved_out, STDOUT_FILENO);
	dup2(d->saved_err, STDERR_FILENO);
	close(d->saved_out);
	close(d->saved_err);
}

/* One line with the log's path, and an offset or a number of bytes in it or the module. */
static int says_where(const char *text, const char *path)
{
	const char *end = strchr(text, '\n');

	return end && end[1] == 0 && strstr(text, path) &&
	       (strstr(text, "offset ") || strstr(text, " bytes") || strstr(text, "the file is empty") ||
		strstr(text, "not a Darshan log") || strstr(text, "data are incomplete"));
}

static int run(struct damage *d, const char *const *line, const char *what, size_t at)
{
	char words[WORDS][256] = {""}, *argv[WORDS + 1] = {NULL}, text[4096] = "";
	int argc = 0, status;

	for (; argc < WORDS && line[argc]; argc++) {
		const char *word = !strcmp(line[argc], LOG)    ? d->log_path
				   : !strcmp(line[argc], GOOD) ? d->good_path
				   : !strcmp(line[argc], OUT)  ? d->out_path
							       : line[argc];

		snprintf(words[argc], sizeof(words[argc]), "%s", word);
		argv[argc] = words[argc];
	}
	hush(d);
	scribe_commands_set(scribe_all_commands);
	status = scribe_command_by_name(line[0])->main(argc, argv);
	unhush(d);
	assert_true(pread(d->errors, text, sizeof(text) - 1, 0) >= 0);
	if ((status != 0 && status != 1) || (status == 1 && !says_where(text, d->log_path)))
		fail_msg("%s %s, %s, %s %zu: exit %d, says '%s'", line[0], line[1], d->good_path, what, at, status,
			 text);
	if (status == 1 && access(d->out_path, F_OK) == 0)
		fail_msg("%s %s, %s, %s %zu: left its output", line[0], line[1], d->good_path, what, at);
	unlink(d->out_path);
	d->refused += status == 1;
	d->accepted += status == 0;
	return status;
}

/* The damaged log through the first command and one of the others in turn. */
static void through_tools(struct damage *d, const char *what, size_t at)
{
	run(d, commands[0], what, at);
	run(d, commands[1 + at % (COMMANDS - 1)], what, at);
}

static void write_log(struct damage *d, size_t n)
{
	assert_int_equal(ftruncate(d->log, 0), 0);
	assert_int_equal(pwrite(d->log, d->bytes, n, 0), n);
}

static void cut_at_every_byte(void **state)
{
	struct damage d;

	(void)state;
	for (size_t i = 0; i < LOGS; i++) {
		load(&d, logs[i]);
		for (size_t n = 0; n < d.n; n += n < 256 ? 1 : step(1)) {
			write_log(&d, n);
			through_tools(&d, "cut at byte", n);
		}
		assert_int_equal(d.accepted, 0);
		write_log(&d, d.n);
		for (size_t c = 0; c < COMMANDS; c++)
			assert_int_equal(run(&d, commands[c], "whole", 0), 0);
		unload(&d);
	}
}

static void turned_bits(void **state)
{
	struct damage d;

	(void)state;
	for (size_t i = 0; i < LOGS; i++) {
		load(&d, logs[i]);
		for (size_t bit = i; bit < 8 * d.n; bit += bit < 8 * 32 ? 1 : step(5)) {
			d.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
			write_log(&d, d.n);
			through_tools(&d, "bit", bit);
			d.bytes[bit / 8] ^= (unsigned char)(1 << bit % 8);
		}
		/* compressed data have check sums: nearly all of it shows */
		assert_true(d.refused > 100);
		unload(&d);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cut_at_every_byte),
		cmocka_unit_test(turned_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
