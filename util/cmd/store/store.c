// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-store: stores logs, then lines until inputs end or a signal. What was committed stays. */
#include "util/cmd/store/store_cmd.h"

#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/store/sql_shown.h"
#include "util/tool/command.h"
#include "util/tool/user_number.h"

#define MAX_KEEP_DAYS 36500
#define KEEP_BYTES    (64 << 20) /* free memory that malloc keeps */

struct options {
	const char *db;
	int64_t keep_days;
	int64_t stream_uid, erase_uid; /* -1: none */
	bool follow;
};

static volatile sig_atomic_t stop;

static void on_signal(int number)
{
	stop = 1;
}

static int take_user(const char *option, const char *value, int64_t *ret_uid, struct scribe_err *err)
{
	*ret_uid = scribe_user_number(value);
	return *ret_uid < 0 ? scribe_err_set(err, -EINVAL, "%s: '%.40s' is no user", option, value) : 0;
}

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct options *o = ctx;
	char *end;

	switch (key) {
	case 'd':
		o->db = value;
		return 0;
	case 'f':
		o->follow = true;
		return 0;
	case 's':
		return take_user("--stream-user", value, &o->stream_uid, err);
	case 'e':
		return take_user("--erase", value, &o->erase_uid, err);
	default:
		errno = 0;
		o->keep_days = strtol(value, &end, 10);
		if (errno || *end || end == value || o->keep_days < 1 || o->keep_days > MAX_KEEP_DAYS)
			return scribe_err_set(err, -EINVAL, "--keep: '%.40s' is no number of days from 1 to %d", value,
					      MAX_KEEP_DAYS);
		return 0;
	}
}

static void report(void *ctx, const char *line)
{
	scribe_complain(ctx, "%s", line);
}

static int forget_old(struct scribe_store *store, int64_t days, struct scribe_err *err)
{
	uint64_t rows = 0, values = 0;
	int rc = scribe_store_forget(store, ((int64_t)time(NULL) - days * 86400) * 1000000, &rows, &values, err);

	if (rc >= 0 && rows)
		printf("%" PRIu64 " operations of more than %" PRId64 " day%s ago deleted\n", rows, days,
		       days == 1 ? "" : "s");
	if (rc >= 0 && values)
		printf("%" PRIu64 " values of samples of more than %" PRId64 " day%s ago deleted\n", values, days,
		       days == 1 ? "" : "s");
	return rc;
}

static int erase(struct scribe_store *store, int64_t uid, struct scribe_err *err)
{
	uint64_t rows = 0, jobs = 0;
	int rc = scribe_store_erase(store, uid, &rows, &jobs, err);

	if (rc >= 0)
		printf("%" PRIu64 " operation%s of %" PRIu64 " job%s of user %" PRId64 " erased\n", rows,
		       rows == 1 ? "" : "s", jobs, jobs == 1 ? "" : "s", uid);
	return rc;
}

static int feed_all(struct scribe_feed *f, char **inputs, int n, struct scribe_err *err)
{
	int lines = 0, rc = 0;

	for (int i = 0; i < n && rc >= 0 && !stop; i++) {
		if (!scribe_feed_is_log(inputs[i])) {
			inputs[lines++] = inputs[i];
			continue;
		}
		rc = scribe_feed_log(f, inputs[i], err);
		if (rc < 0 && err->code <= -SCRIBE_E_FORMAT) {
			f->failed = true;
			scribe_complain_err(f->argv0, err);
			rc = 0;
		}
	}
	return rc < 0 || stop || !lines ? rc : scribe_feed_lines(f, inputs, lines, err);
}

static void print_counts(const struct scribe_feed *f, const char *db)
{
	struct scribe_store_counts c = scribe_store_counted(f->store);
	char *shown = scribe_sql_shown(db);

	printf("%s: %" PRIu64 " operation%s added, %" PRIu64 " already there", shown ? shown : "store", c.rows,
	       c.rows == 1 ? "" : "s", c.known);
	if (c.other)
		printf(", %" PRIu64 " left out", c.other);
	if (c.samples || c.samples_known)
		printf(", %" PRIu64 " sample%s added, %" PRIu64 " already there", c.samples, c.samples == 1 ? "" : "s",
		       c.samples_known);
	if (f->bad_lines)
		printf(", %" PRIu64 " bad line%s", f->bad_lines, f->bad_lines == 1 ? "" : "s");
	putchar('\n');
	free(shown);
}

static void keep_memory(void)
{
	/* Otherwise each statement with a savepoint returns the end of the heap and requests it again. */
	mallopt(M_TRIM_THRESHOLD, KEEP_BYTES);
}

static void catch_signals(void)
{
	struct sigaction end = {.sa_handler = on_signal};

	sigaction(SIGINT, &end, NULL);
	sigaction(SIGTERM, &end, NULL);
	sigaction(SIGHUP, &end, NULL);
	signal(SIGPIPE, SIG_IGN);
}

int scribe_store_main(int argc, char **argv)
{
	struct options o = {.stream_uid = -1, .erase_uid = -1};
	struct scribe_feed f = {.argv0 = argv[0], .stop = &stop};
	struct scribe_err err = {0};
	int first, rc, status = scribe_args_read(&scribe_command_store, argc, argv, take, &o, &first);

	if (status >= 0)
		return status;
	if (!o.db) {
		scribe_complain(argv[0], "--db DB is missing; see ioscribe store --help");
		return SCRIBE_EXIT_USAGE;
	}
	if (first == argc && o.erase_uid < 0) {
		scribe_complain(argv[0], "INPUT expected, or --erase; see ioscribe store --help");
		return SCRIBE_EXIT_USAGE;
	}
	f.follow = o.follow;
	f.keep_days = o.keep_days;
	f.stream_uid = o.stream_uid;
	f.forget = forget_old;
	catch_signals();
	keep_memory();
	rc = scribe_store_open(o.db, false, report, argv[0], &f.store, &err);
	if (rc >= 0 && o.erase_uid >= 0)
		rc = erase(f.store, o.erase_uid, &err);
	if (rc >= 0)
		rc = scribe_event_json_new(&f.json, &err);
	if (rc >= 0)
		rc = scribe_sample_json_new(&f.samples, &err);
	if (rc >= 0)
		rc = feed_all(&f, argv + first, argc - first, &err);
	if (rc >= 0 && o.keep_days)
		rc = forget_old(f.store, o.keep_days, &err);
	if (f.store && first < argc)
		print_counts(&f, o.db);
	scribe_event_json_free(f.json);
	scribe_sample_json_free(f.samples);
	scribe_store_close(f.store);
	status = scribe_print_end(argv[0]);
	if (rc < 0)
		return scribe_complain_err(argv[0], &err);
	return f.bad_lines || f.failed ? SCRIBE_EXIT_FAILED : status;
}
