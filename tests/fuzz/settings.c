/* SPDX-License-Identifier: BSD-3-Clause */
/* What holds of a configuration whatever was said; see settings.h. */
#include "tests/fuzz/settings.h"

#include "tests/fuzz/fuzz.h"

const struct scribe_config *settings_defaults(void)
{
	static struct scribe_config defaults;
	struct scribe_err err;

	if (!defaults.records && scribe_config_default(&defaults, &err) < 0)
		abort();
	return &defaults;
}

static void must(bool holds)
{
	if (!holds)
		abort();
}

static void check_texts(const struct scribe_config *c)
{
#define ENDS(field) must(memchr(c->field, 0, sizeof(c->field)))
	ENDS(bpf_attach_mode);
	ENDS(modules);
	ENDS(trace_libraries);
	ENDS(library_attach);
	ENDS(user_libraries);
	ENDS(library_paths);
	ENDS(log_hints);
	ENDS(job_number);
	ENDS(log_file);
	ENDS(log_dir);
	ENDS(spool_dir);
	ENDS(layout_source);
	ENDS(user);
	ENDS(user_said);
	ENDS(library);
#undef ENDS
	must(!c->log_file[0] || c->log_file[0] == '/');
	must(!c->log_dir[0] || c->log_dir[0] == '/');
	must(!c->library[0] || c->library[0] == '/');
}

static void check_numbers(const struct scribe_config *c)
{
	must(c->records >= 16 && c->records <= 1u << 24);
	must(c->processes >= 16 && c->processes <= 1u << 22);
	must(c->job_records <= 1u << 24 && c->job_processes <= 1u << 22);
	must(c->max_listed_processes >= 1 && c->max_listed_processes <= 1000000);
	must(c->mem_alignment <= 1u << 30);
	must(c->exit_grace_ms <= 3600000 && c->finalize_timeout_ms >= 1 && c->finalize_timeout_ms <= 3600000);
	must(c->write_deadline_ms >= 100 && c->write_deadline_ms <= 3600000);
	must(c->layout_deadline_ms >= 1 && c->layout_deadline_ms <= 3600000);
	must(c->user_jobs <= 255 && c->user_connections >= 1 && c->client_idle_timeout_ms >= 100);
	must(c->paths.out.n <= SCRIBE_PREFIXES_MAX && c->paths.in.n <= SCRIBE_PREFIXES_MAX + 1);
}

/* Keys of the site and who the user is. */
static void check_site(const struct scribe_config *c, const struct scribe_config *was)
{
	must(c->uid == was->uid && c->gid == was->gid && !strcmp(c->user, was->user));
	must(c->processes == was->processes && c->job_records == was->job_records);
	must(c->job_processes == was->job_processes);
	must(c->opt_out == was->opt_out && c->show_privileged == was->show_privileged);
	must(c->require_selftest == was->require_selftest);
	must(c->user_jobs == was->user_jobs && c->user_connections == was->user_connections);
	must(c->client_idle_timeout_ms == was->client_idle_timeout_ms && c->load_at_start == was->load_at_start);
	must(!strcmp(c->bpf_attach_mode, was->bpf_attach_mode) && !strcmp(c->trace_libraries, was->trace_libraries));
	must(!strcmp(c->library_paths, was->library_paths) && !strcmp(c->spool_dir, was->spool_dir));
	must(c->write_deadline_ms == was->write_deadline_ms && !strcmp(c->layout_source, was->layout_source));
	must(c->layout_deadline_ms == was->layout_deadline_ms);
	must(c->stdio_wrap == was->stdio_wrap);
	must(c->mpiio_wrap == was->mpiio_wrap && c->library_cache == was->library_cache);
}

static void check_beginning(const struct scribe_config *c, const struct scribe_config *was)
{
	must(c->records == was->records && c->exit_grace_ms == was->exit_grace_ms && c->runtime == was->runtime);
	must(c->all_types == was->all_types && !strcmp(c->modules, was->modules));
	must(!strcmp(c->library, was->library));
}

static int top(void *ctx, const char *name)
{
	(void)ctx;
	must(name[0] && !strchr(name, '/'));
	return 0;
}

/* Expressions as the worker gets them: their number and bytes. */
static size_t rules_text(const struct scribe_exclusion_rules *r, char **ret)
{
	int fd = fuzz_file(NULL, NULL, 0), n;
	size_t at = 0, bytes;

	lseek(fd, 0, SEEK_SET);
	n = scribe_exclusion_rules_write(r, fd);
	bytes = (size_t)lseek(fd, 0, SEEK_END);
	*ret = malloc(bytes + 1);
	must(n >= 0 && *ret && pread(fd, *ret, bytes, 0) == (ssize_t)bytes);
	for (; n > 0; n--) {
		struct scribe_rule_text head;

		must(bytes - at >= sizeof(head));
		memcpy(&head, *ret + at, sizeof(head));
		at += sizeof(head);
		must(head.bytes && head.bytes <= bytes - at && !(*ret)[at + head.bytes - 1]);
		must(strlen(*ret + at) == head.bytes - 1);
		at += head.bytes;
	}
	must(at == bytes);
	return bytes;
}

void settings_check(const struct scribe_config *c, bool locked, bool late)
{
	static const char *const paths[] = {"/", "/home/a/data", "/usr/lib/x", "/dev/null", "/tmp,/x"};
	struct scribe_config copy;
	char *rules, *again;
	size_t bytes;

	check_texts(c);
	check_numbers(c);
	if (locked)
		check_site(c, settings_defaults());
	if (late)
		check_beginning(c, settings_defaults());
	must(scribe_config_copy(&copy, c) == 0);
	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
		must(scribe_exclusions_match(&c->paths, paths[i], strlen(paths[i])) ==
		     scribe_exclusions_match(&copy.paths, paths[i], strlen(paths[i])));
	must(scribe_exclusions_tops(&c->paths, top, NULL) == 0);
	bytes = rules_text(&c->exclusion_rules, &rules);
	must(rules_text(&copy.exclusion_rules, &again) == bytes && !memcmp(rules, again, bytes));
	for (int64_t rank = -1; rank < 4; rank++)
		must(scribe_exclusion_rules_rank_out(&c->exclusion_rules, rank) ==
		     scribe_exclusion_rules_rank_out(&copy.exclusion_rules, rank));
	free(rules);
	free(again);
	scribe_config_clear(&copy);
}
