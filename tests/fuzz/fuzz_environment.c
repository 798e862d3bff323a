/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The environment of a program at exec: where it is cut, a byte a piece, up to a 0, then the block. What is read of
 * it must not depend on where it was cut; what it says for the job is a user's word.
 */
#include "runtime/daemon/state/daemon.h"
#include "runtime/daemon/tables/job_env.h"
#include "tests/fuzz/fuzz.h"
#include "tests/fuzz/longer.h"
#include "tests/fuzz/settings.h"

static struct scribe_envreader reader[2];
static struct scribe_jobenv jobenv[2];
static struct scribe_rankenv rank[2];

static void feed(int i, const char *text, size_t bytes)
{
	scribe_envreader_feed(&reader[i], text, bytes);
	scribe_jobenv_feed(&jobenv[i], text, bytes);
}

static void check_rank(const struct scribe_rankenv *r)
{
	if (r->rank < -1 || r->size < -1 || r->size == 0 || r->jobid < -1)
		abort();
	if ((r->launcher == SCRIBE_RANK_NONE) != (r->rank < 0) || (r->size >= 0 && r->rank >= r->size))
		abort();
	if (!memchr(r->world, 0, sizeof(r->world)))
		abort();
}

/* Whole lines, each of a name that begins as ours do. */
static void check_lines(const struct scribe_jobenv *e)
{
	const char *line = e->text, *end = e->text + e->bytes;

	if (e->bytes > sizeof(e->text) || e->at > sizeof(e->text) || e->at < e->bytes)
		abort();
	while (line < end) {
		const char *newline = memchr(line, '\n', (size_t)(end - line));

		if (!newline || memchr(line, 0, (size_t)(newline - line)))
			abort();
		line = newline + 1;
	}
}

static void apply(const struct scribe_jobenv *e)
{
	static struct scribe_daemon d;
	static struct scribe_job w;

	w = (struct scribe_job){.daemon = &d};
	if (scribe_config_copy(&w.config, settings_defaults()) < 0)
		abort();
	(void)scribe_jobenv_is_set(e);
	scribe_jobenv_apply(&w, e->text, e->bytes);
	if (w.config.locked || w.config.late)
		abort();
	settings_check(&w.config, true, true);
	scribe_config_clear(&w.config);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *zero = memchr(data, 0, size);
	const uint8_t *block = zero ? zero + 1 : data;
	struct fuzz_longer longer = fuzz_longer(block, size - (size_t)(block - data));
	const char *text = (const char *)longer.bytes;
	size_t bytes = longer.n, at = 0;

	for (int i = 0; i < 2; i++) {
		scribe_envreader_begin(&reader[i]);
		memset(&jobenv[i], 0, sizeof(jobenv[i]));
	}
	feed(0, text, bytes);
	for (const uint8_t *cut = data; zero && cut < zero && at + *cut < bytes; at += *cut++)
		feed(1, text + at, *cut);
	feed(1, text + at, bytes - at);
	for (int i = 0; i < 2; i++) {
		memset(&rank[i], 0, sizeof(rank[i]));
		scribe_envreader_end(&reader[i], (uint64_t[SCRIBE_RANK_SOURCES]){0}, &rank[i]);
		check_rank(&rank[i]);
		check_lines(&jobenv[i]);
	}
	if (rank[0].launcher != rank[1].launcher || rank[0].rank != rank[1].rank || rank[0].size != rank[1].size ||
	    rank[0].jobid != rank[1].jobid || rank[0].disabled != rank[1].disabled ||
	    strcmp(rank[0].world, rank[1].world))
		abort();
	if (jobenv[0].bytes != jobenv[1].bytes || memcmp(jobenv[0].text, jobenv[1].text, jobenv[0].bytes))
		abort();
	apply(&jobenv[0]);
	free(longer.bytes);
	return 0;
}
