// SPDX-License-Identifier: BSD-3-Clause
/*
 * Answers of analyses in Python: a shell script stands for the interpreter. One that does not end
 * is killed at its limit, or when it is to stop, with its children; outputs that are no answer, too
 * large or of a dead process are refused by name, and rows are told wherever the output is cut.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/store/analysis.h"
#include "util/store/frame_json.h"

static char folder[] = "/tmp/store_analysis.XXXXXX";
static char script[64], pids[64];

/* Rows as text. */
struct told {
	char text[1024];
	size_t used;
	int refuse_at; /* this call is refused; counted from 1 */
};

static int on_row(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v, struct scribe_err *err)
{
	struct told *t = ctx;

	if (t->refuse_at && !--t->refuse_at)
		return scribe_err_set(err, -EINVAL, "enough");
	for (int i = 0; i < n; i++) {
		char *to = t->text + t->used;
		size_t cap = sizeof(t->text) - t->used;

		if (!v)
			t->used += (size_t)snprintf(to, cap, "%s ", names[i]);
		else if (v[i].kind == SCRIBE_SQL_IS_INT)
			t->used += (size_t)snprintf(to, cap, "%lld ", (long long)v[i].i);
		else if (v[i].kind == SCRIBE_SQL_IS_REAL)
			t->used += (size_t)snprintf(to, cap, "%g ", v[i].r);
		else if (v[i].kind == SCRIBE_SQL_IS_TEXT)
			t->used += (size_t)snprintf(to, cap, "'%s' ", v[i].text);
		else
			t->used += (size_t)snprintf(to, cap, "- ");
		assert_true(t->used < sizeof(t->text));
	}
	return 0;
}

/* ---- outputs ---- */

#define HEAD "{\"columns\":[{\"text\":\"a\",\"type\":\"number\"},{\"text\":\"b\"}],\"rows\":["

static int feed(const char *text, size_t piece, struct told *told, struct scribe_err *err)
{
	struct scribe_frame_json *f = scribe_frame_json_new("it", on_row, told, err);
	size_t len = strlen(text), at = 0;
	int rc = 0;

	assert_non_null(f);
	while (at < len && !rc) {
		size_t n = piece < len - at ? piece : len - at;

		rc = scribe_frame_json_feed(f, text + at, n);
		at += n;
	}
	assert_null(scribe_frame_json_free(f));
	return rc;
}

static void rows_wherever_it_is_cut(void **state)
{
	static const char text[] = HEAD "[9223372036854775807,\"x\\u00fc\"],\n[-1.5e3,null],[true,\"\"]]}";

	for (size_t piece = 1; piece <= sizeof(text); piece++) {
		struct told told = {0};
		struct scribe_err err = {0};

		assert_int_equal(feed(text, piece, &told, &err), 1);
		assert_string_equal(told.text, "a b 9223372036854775807 'x\xc3\xbc' -1500 - 1 '' ");
	}
	for (size_t cut = 0; cut < sizeof(text) - 1; cut++) {
		struct told told = {0};
		struct scribe_err err = {0};
		char *part = strndup(text, cut);

		assert_int_equal(feed(part, cut + 1, &told, &err), 0);
		free(part);
	}
}

static void outputs_that_are_no_answer(void **state)
{
	static const struct {
		const char *text, *error;
	} cases[] = {
		{"Traceback", "it: its output is no answer"},
		{"1 ", "it: its output is no answer"},
		{"[]", "it: its output is no answer"},
		{"{}", "it: its output is no answer"},
		{"{\"rows\":[[1]]}", "it: its output is no answer"},
		{"{\"other\":1}", "it: its output is no answer"},
		{"{\"columns\":[]}", "it: an answer without columns"},
		{"{\"columns\":[[]]}", "it: its output is no answer"},
		{"{\"columns\":{}}", "it: its output is no answer"},
		{"{\"columns\":[{\"text\":{}}]}", "it: its output is no answer"},
		{"{\"columns\":[{\"text\":\"\"}]}", "it: a column's name is empty"},
		{"{\"columns\":[{\"text\":\"a\\\"\"}]}", "it: a column's name is empty"},
		{"{\"columns\":[{\"text\":\"a\"}]}", "it: its output is no answer"},
		{HEAD "[1]]}", "it: its output is no answer"},
		{HEAD "[1,2,3]]}", "it: its output is no answer"},
		{HEAD "[1,[2]]]}", "it: its output is no answer"},
		{HEAD "[1,{}]]}", "it: its output is no answer"},
		{HEAD "1]}", "it: its output is no answer"},
		{HEAD "],\"columns\":[]}", "it: its output is no answer"},
		{HEAD "],\"error\":\"late\"}", "it: its output is no answer"},
		{HEAD "[1,NaN]]}", "it: its output is no answer"},
		{HEAD "[1,1111111111222222222233333333334444444444555555555566666666667777]]}",
		 "it: a number of more than 63 digits"},
		{"{\"error\":\"KeyError: 'x'\"}", "it: KeyError: 'x'"},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct told told = {0};
		struct scribe_err err = {0};

		assert_int_equal(feed(cases[i].text, 1000, &told, &err), -EIO);
		if (strncmp(err.text, cases[i].error, strlen(cases[i].error)))
			fail_msg("%s: %s", cases[i].text, err.text);
	}
}

/* ---- processes ---- */

static void write_script(const char *text)
{
	FILE *f = fopen(script, "w");

	assert_non_null(f);
	fprintf(f, "#!/bin/sh\n%s\n", text);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(script, 0755), 0);
	unlink(pids);
}

static int ask(const char *text, int limit_ms, const bool *stop, struct told *told, struct scribe_err *err)
{
	const struct scribe_ask from = {.db = "x",
					.folders = "y",
					.limit = {.end_ms = limit_ms ? scribe_msg_now_ms() + limit_ms : 0,
						  .seconds = (limit_ms + 999) / 1000,
						  .stop = stop}};
	struct scribe_question q = {.name = "it", .python = script};

	write_script(text);
	return scribe_question_run(&q, NULL, &from, on_row, told, err);
}

static int64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000LL + t.tv_nsec / 1000000;
}

/* It has gone, or is a zombie of who adopted it. */
static bool has_ended(long pid)
{
	char path[64], state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
	f = fopen(path, "r");
	if (!f)
		return true;
	if (fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		state = 'Z';
	fclose(f);
	return state == 'Z';
}

/* Those that the script has written down; at least `least`. */
static void assert_all_ended(int least)
{
	FILE *f = fopen(pids, "r");
	long pid;
	int n = 0;

	assert_non_null(f);
	for (; fscanf(f, "%ld", &pid) == 1; n++) {
		int64_t end = now_ms() + 10000;

		while (!has_ended(pid) && now_ms() < end)
			usleep(1000);
		assert_true(has_ended(pid));
	}
	fclose(f);
	assert_true(n >= least);
}

#define SLEEPER "sleep 1000 & echo $$ $! >" /* and the file's name */

static void killed_at_its_limit(void **state)
{
	static const char *const waits[] = {"wait", "trap '' TERM INT; while :; do echo; sleep 0.01; done"};
	char text[256];

	for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++) {
		struct told told = {0};
		struct scribe_err err = {0};
		int64_t begin = now_ms();

		snprintf(text, sizeof(text), SLEEPER "%s; %s", pids, waits[i]);
		assert_int_equal(ask(text, 1500, NULL, &told, &err), -ETIMEDOUT);
		assert_string_equal(err.text, "it: no answer within 2 s");
		assert_true(now_ms() - begin >= 1500);
		assert_all_ended(2);
	}
}

static void stopped_by_another_thread(void **state)
{
	struct told told = {0};
	struct scribe_err err = {0};
	bool stop = true;

	assert_int_equal(ask("sleep 1000", 60000, &stop, &told, &err), -ECANCELED);
}

static void children_go_with_the_answer(void **state)
{
	struct told told = {0};
	struct scribe_err err = {0};
	char text[512];

	snprintf(text, sizeof(text), SLEEPER "%s; echo '" HEAD "[1,\"x\"]]}'", pids);
	assert_int_equal(ask(text, 60000, NULL, &told, &err), 0);
	assert_string_equal(told.text, "a b 1 'x' ");
	assert_all_ended(2);
}

static void sessions_of_their_own_go_too(void **state)
{
	static const struct {
		const char *then;
		int limit_ms, code;
	} cases[] = {{"echo '" HEAD "[1,\"x\"]]}'", 60000, 0}, {"wait", 1500, -ETIMEDOUT}};
	char text[1024];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct told told = {0};
		struct scribe_err err = {0};

		snprintf(text, sizeof(text),
			 "setsid sh -c 'setsid sleep 1000 & echo $$ $! >%s; wait' & "
			 "while [ ! -s %s ]; do sleep 0.01; done; %s",
			 pids, pids, cases[i].then);
		assert_int_equal(ask(text, cases[i].limit_ms, NULL, &told, &err), cases[i].code);
		assert_all_ended(2);
	}
}

static void processes_without_an_answer(void **state)
{
	static const struct {
		const char *text, *error;
		int code;
	} cases[] = {
		{"exit 3", "it: ended with status 3 and no answer", -EIO},
		{"kill -SEGV $$", "it: ended with signal 11 and no answer", -EIO},
		{"echo '" HEAD "'; exit 0", "it: ended with status 0 and no answer", -EIO},
		{"echo '{\"error\":\"x\"}'; exit 1", "it: x", -EIO},
		{"echo '" HEAD "'; yes ''", "it: an answer of more than 64 MiB", -SCRIBE_E_LIMIT},
		{"echo '" HEAD "'; while :; do echo '[1,2],'; done", "enough", -EINVAL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int limit = 0; limit <= 60000; limit += 60000) {
			struct told told = {.refuse_at = i == 5 ? 3 : 0};
			struct scribe_err err = {0};

			assert_int_equal(ask(cases[i].text, limit, NULL, &told, &err), cases[i].code);
			assert_string_equal(err.text, cases[i].error);
		}
}

/* It would run without an end. */
static void sql_ends_at_its_limit(void **state)
{
	static char endless[] =
		"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n";
	struct scribe_question q = {.name = "it", .sql = endless};
	struct scribe_ask from = {.limit = {.seconds = 1}};
	struct scribe_store *store;
	struct told told = {0};
	struct scribe_err err = {0};
	bool stop = true;
	char place[64];

	snprintf(place, sizeof(place), "%s/sqlite", folder);
	assert_int_equal(scribe_store_open(place, false, NULL, NULL, &store, &err), 0);
	scribe_store_close(store);
	assert_int_equal(scribe_store_open(place, true, NULL, NULL, &from.store, &err), 0);
	from.limit.end_ms = scribe_msg_now_ms() + 300;
	assert_int_equal(scribe_question_run(&q, NULL, &from, on_row, &told, &err), -ETIMEDOUT);
	assert_string_equal(err.text, "it: no answer within 1 s");
	from.limit = (struct scribe_sql_limit){.stop = &stop};
	assert_int_equal(scribe_question_run(&q, NULL, &from, on_row, &told, &err), -ECANCELED);
	scribe_store_close(from.store);
	assert_int_equal(unlink(place), 0);
}

static int setup(void **state)
{
	if (!mkdtemp(folder))
		return -1;
	snprintf(script, sizeof(script), "%s/python", folder);
	snprintf(pids, sizeof(pids), "%s/pids", folder);
	return setenv("IOSCRIBE_PYTHON", script, 1);
}

static int teardown(void **state)
{
	unlink(script);
	unlink(pids);
	return rmdir(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_wherever_it_is_cut),      cmocka_unit_test(outputs_that_are_no_answer),
		cmocka_unit_test(killed_at_its_limit),          cmocka_unit_test(stopped_by_another_thread),
		cmocka_unit_test(children_go_with_the_answer),  cmocka_unit_test(processes_without_an_answer),
		cmocka_unit_test(sessions_of_their_own_go_too), cmocka_unit_test(sql_ends_at_its_limit),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
