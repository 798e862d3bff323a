// SPDX-License-Identifier: BSD-3-Clause
/* ioscribe-top: its command line, and samples as text. Must not know a terminal (screen.c). */
#include "util/cmd/top/top.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "util/cmd/top/screen.h"
#include "util/tool/command.h"

static int take_seconds(double *to, const char *value, struct scribe_err *err)
{
	char *end;
	double v = strtod(value, &end);

	if (end == value || *end || !(v >= 0.1) || v > 3600)
		return scribe_err_set(err, -EINVAL, "--interval %.60s is not a number of seconds from 0.1 to 3600",
				      value);
	*to = v;
	return 0;
}

static int take_number(const char *name, unsigned long most, unsigned long *to, const char *value,
		       struct scribe_err *err)
{
	char *end;
	unsigned long v = strtoul(value, &end, 10);

	if (value[0] < '0' || value[0] > '9' || *end || !v || v > most)
		return scribe_err_set(err, -EINVAL, "--%s %.60s is not a number from 1 to %lu", name, value, most);
	*to = v;
	return 0;
}

static int take_word(const char *name, int (*of)(const char *), unsigned *to, const char *value, struct scribe_err *err)
{
	int found = of(value);

	if (found < 0)
		return scribe_err_set(err, -EINVAL, "--%s %.60s: ioscribe top --help lists what there is", name, value);
	*to = (unsigned)found;
	return 0;
}

static int take(void *ctx, int key, const char *value, struct scribe_err *err)
{
	struct scribe_top_options *o = ctx;
	unsigned long pid = 0;

	switch (key) {
	case SCRIBE_TOP_KEY_JOB:
		o->scope.job_id = value;
		return 0;
	case SCRIBE_TOP_KEY_VIEW:
		return take_word("view", scribe_top_view_of, &o->scope.view, value, err);
	case SCRIBE_TOP_KEY_SORT:
		return take_word("sort", scribe_top_sort_of, &o->sort, value, err);
	case SCRIBE_TOP_KEY_FILTER:
		o->filter = value;
		return 0;
	case SCRIBE_TOP_KEY_PID:
		if (take_number("pid", 1ul << 22, &pid, value, err) < 0)
			return -EINVAL;
		o->scope.pid = (int32_t)pid;
		return 0;
	case SCRIBE_TOP_KEY_INTERVAL:
		return take_seconds(&o->interval_s, value, err);
	case SCRIBE_TOP_KEY_ROWS:
		return take_number("rows", 1ul << 22, &o->rows, value, err);
	case SCRIBE_TOP_KEY_COUNT:
		return take_number("count", 1ul << 30, &o->count, value, err);
	default:
		o->once = o->once || key == SCRIBE_TOP_KEY_ONCE;
		o->json = o->json || key == SCRIBE_TOP_KEY_JSON;
		o->lines = o->lines || key == SCRIBE_TOP_KEY_LINES;
		return 0;
	}
}

static int check(struct scribe_top_options *o, struct scribe_err *err)
{
	if (o->json && o->lines)
		return scribe_err_set(err, -EINVAL, "--json and --lines are two forms: one of them");
	if (o->once && o->count)
		return scribe_err_set(err, -EINVAL, "--once is one sample: without --count");
	if (!o->once && !o->json && !o->lines && o->count)
		return scribe_err_set(err, -EINVAL, "--count goes with --json or --lines");
	if (!o->once && !o->json && !o->lines && (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)))
		return scribe_err_set(err, -EINVAL,
				      "standard input or output is no terminal: --once, --json or --lines");
	return 0;
}

static int choose(const struct scribe_top_options *o, struct scribe_top_rows *rows, struct scribe_top_names *names,
		  struct scribe_live_link *link, struct scribe_err *err)
{
	bool by_name = o->filter || o->sort == SCRIBE_TOP_BY_NAME;
	int rc = by_name ? scribe_top_names_fetch(names, link, rows, 0, rows->n, err) : 0;

	if (rc == 0 && o->filter)
		scribe_top_rows_filter(rows, o->filter, o->scope.view, names);
	scribe_top_rows_sort(rows, o->sort, o->scope.view, names);
	return rc == 0 ? scribe_top_names_fetch(names, link, rows, 0, o->rows, err) : rc;
}

static int print(const struct scribe_top_options *o, const struct scribe_top_sample *before,
		 const struct scribe_top_sample *now, struct scribe_top_names *names, struct scribe_live_link *link,
		 struct scribe_err *err)
{
	enum scribe_top_format format = o->json ? SCRIBE_TOP_JSON : o->lines ? SCRIBE_TOP_LINES : SCRIBE_TOP_TABLE;
	struct scribe_top_rows rows = {0};
	struct scribe_out out = {0};
	int rc = scribe_top_rows_make(before, now, &o->scope, &rows);

	if (rc < 0)
		return scribe_err_set(err, rc, "out of memory");
	rc = choose(o, &rows, names, link, err);
	if (rc == 0)
		rc = scribe_out_open(&out, STDOUT_FILENO, err);
	if (rc == 0)
		rc = scribe_top_print(&out, format, &rows, o->rows, o->scope.view, names, now->real_ns);
	if (rc == 0)
		rc = scribe_out_flush(&out, err);
	scribe_out_close(&out);
	scribe_top_rows_clear(&rows);
	return rc;
}

static void wait_for(double seconds)
{
	struct timespec left = {.tv_sec = (time_t)seconds,
				.tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};

	while (nanosleep(&left, &left) < 0 && errno == EINTR)
		;
}

static int print_samples(const struct scribe_top_options *o, struct scribe_live_link *link, struct scribe_err *err)
{
	struct scribe_top_names *names = scribe_top_names_new();
	struct scribe_top_sample before = {0}, now = {0};
	int rc = names ? scribe_sample_take(link, &before, err) : scribe_err_set(err, -ENOMEM, "out of memory");

	if (rc == 0 && link->job_id && !before.jobs)
		rc = scribe_err_set(err, -ENOENT, "no job %.100s here", link->job_id);
	for (unsigned long n = 0; rc == 0 && (!o->count || n < o->count); n++) {
		wait_for(o->interval_s);
		rc = scribe_sample_take(link, &now, err);
		if (rc == 0)
			rc = print(o, &before, &now, names, link, err);
		scribe_sample_clear(&before);
		before = now;
		now = (struct scribe_top_sample){0};
	}
	scribe_sample_clear(&before);
	scribe_top_names_free(names);
	return rc;
}

int scribe_top_main(int argc, char **argv)
{
	struct scribe_top_options o = {.self = argv[0], .scope = {.rank = -1}, .interval_s = 2, .rows = 1000};
	struct scribe_live_link link = {.sock = -1};
	struct scribe_err err = {0};
	int first, status = scribe_args_read(&scribe_command_top, argc, argv, take, &o, &first), rc;

	if (status >= 0)
		return status;
	if (check(&o, &err) < 0) {
		scribe_complain_err(argv[0], &err);
		return SCRIBE_EXIT_USAGE;
	}
	setlocale(LC_CTYPE, "");
	if (o.once)
		o.count = 1;
	link.job_id = o.scope.job_id;
	rc = o.once || o.json || o.lines ? print_samples(&o, &link, &err) : scribe_top_screen(&o, &link, &err);
	scribe_live_link_close(&link);
	return rc < 0 ? scribe_complain_err(argv[0], &err) : SCRIBE_EXIT_OK;
}
