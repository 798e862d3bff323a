/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys: names, ranges, scopes, defaults, and parsing of values. */
#include "runtime/daemon/config/config.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bpf/user/load.h"
#include "logfmt/base/old_names.h"
#include "runtime/core/module_table.h"

#define OURS SCRIBE_CONFIG_VARIABLE

/* Type of the field: uint32_t, bool, or char[]. LAYOUT is a bool; EXCLUDE and INCLUDE share the list of paths. */
enum kind { NUMBER, SWITCH, TEXT, MODULES, PATH, CHOICE, LAYOUT, EXCLUDE, INCLUDE };

#define SCRIBE_X(id, number, name) ", " name
#define LEVEL_NAMES                "auto" SCRIBE_BPF_LEVELS(SCRIBE_X)

static const struct key {
	const char *name;
	enum kind kind;
	size_t at, bytes;                                  /* offset and size of the field */
	unsigned long least, most;                         /* of a number */
	enum { ANYBODY, BEGINNING, SITE, IDENTITY } scope; /* BEGINNING: by users, before the job begins */
} keys[] = {
#define FIELD(f) offsetof(struct scribe_config, f), sizeof(((struct scribe_config *)0)->f)
	{"records", NUMBER, FIELD(records), 16, 16777216, BEGINNING},
	{"processes", NUMBER, FIELD(processes), 16, 4194304, SITE},
	{"job_records", NUMBER, FIELD(job_records), 0, 16777216, SITE},
	{"job_processes", NUMBER, FIELD(job_processes), 0, 4194304, SITE},
	{"max_listed_processes", NUMBER, FIELD(max_listed_processes), 1, 1000000, ANYBODY},
	{"mem_alignment", NUMBER, FIELD(mem_alignment), 0, 1u << 30, ANYBODY},
	{"job_number", TEXT, FIELD(job_number), 0, 0, ANYBODY},
	{"opt_out", SWITCH, FIELD(opt_out), 0, 0, SITE},
	{"show_privileged", SWITCH, FIELD(show_privileged), 0, 0, SITE},
	{"all_types", SWITCH, FIELD(all_types), 0, 0, BEGINNING},
	{"exit_grace_ms", NUMBER, FIELD(exit_grace_ms), 0, 3600000, BEGINNING},
	{"finalize_timeout_ms", NUMBER, FIELD(finalize_timeout_ms), 1, 3600000, ANYBODY},
	{"collective", CHOICE, FIELD(collective), 0, 0, ANYBODY},
	{"runtime", SWITCH, FIELD(runtime), 0, 0, BEGINNING},
	{"user_jobs", NUMBER, FIELD(user_jobs), 0, 255, SITE},
	{"user_connections", NUMBER, FIELD(user_connections), 1, 3840, SITE},
	{"user_spool_mib", NUMBER, FIELD(user_spool_mib), 0, 1048576, SITE},
	{"user_records", NUMBER, FIELD(user_records), 0, 16777216, SITE},
	{"user_files", NUMBER, FIELD(user_files), 64, 16777216, SITE},
	{"user_processes", NUMBER, FIELD(user_processes), 0, 4194304, SITE},
	{"user_helper_share", NUMBER, FIELD(user_helper_share), 1, 6400, SITE},
	{"client_idle_timeout_ms", NUMBER, FIELD(client_idle_timeout_ms), 100, 3600000, SITE},
	{"load_at_start", SWITCH, FIELD(load_at_start), 0, 0, SITE},
	{"require_selftest", SWITCH, FIELD(require_selftest), 0, 0, SITE},
	{"attach_at_begin", SWITCH, FIELD(attach_at_begin), 0, 0, SITE},
	{"attach_linger_ms", NUMBER, FIELD(attach_linger_ms), 0, 3600000, SITE},
	{"bpf_attach_mode", CHOICE, FIELD(bpf_attach_mode), 0, 0, SITE},
	{"attach_inexact", SWITCH, FIELD(attach_inexact), 0, 0, SITE},
	{"modules", MODULES, FIELD(modules), 0, 0, BEGINNING},
	{"trace_libraries", TEXT, FIELD(trace_libraries), 0, 0, SITE},
	{"library_attach", CHOICE, FIELD(library_attach), 0, 0, SITE},
	{"library_cache", SWITCH, FIELD(library_cache), 0, 0, SITE},
	{"mpiio_wrap", SWITCH, FIELD(mpiio_wrap), 0, 0, SITE},
	{"stdio_wrap", SWITCH, FIELD(stdio_wrap), 0, 0, SITE},
	{"user_libraries", CHOICE, FIELD(user_libraries), 0, 0, SITE},
	{"library_paths", TEXT, FIELD(library_paths), 0, 0, SITE},
	{"dxt", SWITCH, FIELD(dxt), 0, 0, BEGINNING},
	{"dxt_threads", SWITCH, FIELD(dxt_threads), 0, 0, BEGINNING},
	{"dxt_memory", NUMBER, FIELD(dxt_memory), 1, 1048576, SITE},
	{"dxt_spool", NUMBER, FIELD(dxt_spool), 0, 1073741824, SITE},
	{"dxt_dir", PATH, FIELD(dxt_dir), 0, 0, SITE},
	{"overhead_budget", NUMBER, FIELD(overhead_budget), 0, 100, ANYBODY},
	{"exclude", EXCLUDE, FIELD(paths), 0, 0, ANYBODY},
	{"include", INCLUDE, FIELD(paths), 0, 0, ANYBODY},
	{"log_file", PATH, FIELD(log_file), 0, 0, ANYBODY},
	{"log_dir", PATH, FIELD(log_dir), 0, 0, ANYBODY},
	{"spool_dir", PATH, FIELD(spool_dir), 0, 0, SITE},
	{"metrics_file", PATH, FIELD(metrics_file), 0, 0, SITE},
	{"metrics_interval_s", NUMBER, FIELD(metrics_interval_s), 1, 3600, SITE},
	{"write_deadline_ms", NUMBER, FIELD(write_deadline_ms), 100, 3600000, SITE},
	{"layout_deadline_ms", NUMBER, FIELD(layout_deadline_ms), 1, 3600000, SITE},
	{"layout_source", TEXT, FIELD(layout_source), 0, 0, SITE},
	{"stream", TEXT, FIELD(stream), 0, 0, SITE},
	{"stream_uid", NUMBER, FIELD(stream_uid), 0, 4294967294ul, SITE},
	{"stream_hosts", TEXT, FIELD(stream_hosts), 0, 0, SITE},
	{"log_layout", LAYOUT, FIELD(dated), 0, 0, ANYBODY},
	{"uid", NUMBER, FIELD(uid), 0, 4294967294ul, IDENTITY},
	{"gid", NUMBER, FIELD(gid), 0, 4294967294ul, IDENTITY},
	{"user", TEXT, FIELD(user), 0, 0, IDENTITY},
	{"library", PATH, FIELD(library), 0, 0, BEGINNING},
#undef FIELD
};

static const struct {
	const char *name, *words;
} choices[] = {
	{"collective", "auto, yes, no"},
	{"bpf_attach_mode", LEVEL_NAMES},
	{"library_attach", "auto, multi, events"},
	{"user_libraries", "never, always"},
#undef SCRIBE_X
};

static const char *words_of(const struct key *k)
{
	size_t i = 0;

	/* Every CHOICE key has a row. */
	while (strcmp(choices[i].name, k->name))
		i++;
	return choices[i].words;
}

/* Depends on the machine: the caller's ids, and Cray's burst buffers if mounted. */
int scribe_config_default(struct scribe_config *c, struct scribe_err *err)
{
	memset(c, 0, sizeof(*c));
	c->records = 114688;
	c->processes = 16384;
	c->max_listed_processes = 4096;
	c->mem_alignment = 8;
	c->exit_grace_ms = 2000;
	c->finalize_timeout_ms = 10000;
	c->write_deadline_ms = 20000;
	c->metrics_interval_s = 15;
	c->layout_deadline_ms = 5000;
	c->load_at_start = true;
	c->attach_linger_ms = 10000;
	c->user_jobs = 200;
	c->user_connections = 1024;
	c->user_spool_mib = 1024;
	c->user_files = 262144;
	c->user_helper_share = 50;
	c->client_idle_timeout_ms = 10000;
	strcpy(c->collective, "auto");
	c->runtime = true;
	c->dxt_memory = 64;
	c->dxt_spool = 4096;
	strcpy(c->dxt_dir, "/var/tmp");
	strcpy(c->trace_libraries, "auto");
	strcpy(c->library_attach, "auto");
	strcpy(c->user_libraries, "never");
	c->library_cache = true;
	c->stdio_wrap = true;
	c->mpiio_wrap = true;
	c->uid = (uint32_t)getuid();
	c->gid = (uint32_t)getgid();
	if (scribe_exclusions_default(&c->paths) < 0)
		return scribe_err_set(err, -ENOMEM, "out of memory");
	if (access("/var/opt/cray/dws/mounts", F_OK) == 0)
		scribe_exclusions_include(&c->paths, "/var/opt/cray/dws/mounts/");
	return 0;
}

static int set_number(const struct key *k, void *field, const char *value, struct scribe_err *err)
{
	char *end;
	unsigned long n;

	errno = 0;
	/* strtoul() alone would accept blanks and signs, and wrap "-1". */
	n = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end || errno || n < k->least || n > k->most)
		return scribe_err_set(err, -EINVAL, "%s: '%s' is not a number from %lu to %lu", k->name, value,
				      k->least, k->most);
	*(uint32_t *)field = (uint32_t)n;
	return 0;
}

static int set_switch(const struct key *k, void *field, const char *value, struct scribe_err *err)
{
	static const char *const yes[] = {"1", "yes", "true", "on"}, *const no[] = {"0", "no", "false", "off"};

	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (!strcmp(value, yes[i]) || !strcmp(value, no[i])) {
			*(bool *)field = !strcmp(value, yes[i]);
			return 0;
		}
	}
	return scribe_err_set(err, -EINVAL, "%s: '%s' is neither yes nor no", k->name, value);
}

static int set_text(const struct key *k, void *field, const char *value, struct scribe_err *err)
{
	char name[64];

	if (strlen(value) >= k->bytes)
		return scribe_err_set(err, -EINVAL, "%s: longer than %zu bytes", k->name, k->bytes - 1);
	if (k->kind == PATH && value[0] && value[0] != '/')
		return scribe_err_set(err, -EINVAL, "%s: '%s' is not an absolute path", k->name, value);
	if (k->kind == MODULES && scribe_module_unknown(value, name, sizeof(name)))
		return scribe_err_set(err, -EINVAL, "%s: no module '%s' is fed by plain code", k->name, name);
	strcpy(field, value);
	return 0;
}

static int set_layout(const struct key *k, void *field, const char *value, struct scribe_err *err)
{
	if (strcmp(value, "dated") && strcmp(value, "flat"))
		return scribe_err_set(err, -EINVAL, "%s: '%s' is neither dated nor flat", k->name, value);
	*(bool *)field = !strcmp(value, "dated");
	return 0;
}

static int set_choice(const struct key *k, void *field, const char *value, struct scribe_err *err)
{
	const char *words = words_of(k);
	size_t bytes = strlen(value);

	for (const char *word = words; *word; word += strspn(word, ", ")) {
		size_t n = strcspn(word, ",");

		/* A whole word only; fields have the size of the longest one. */
		if (n == bytes && !memcmp(word, value, n)) {
			strcpy(field, value);
			return 0;
		}
		word += n;
	}
	return scribe_err_set(err, -EINVAL, "%s: '%s' is none of %s", k->name, value, words);
}

static int set_prefixes(const struct key *k, struct scribe_exclusions *paths, const char *value, struct scribe_err *err)
{
	int rc = k->kind == EXCLUDE ? scribe_exclusions_exclude(paths, value) : scribe_exclusions_include(paths, value);

	if (rc == -EINVAL)
		return scribe_err_set(err, rc, "%s: '%s' is not a list of at most %d absolute paths", k->name, value,
				      SCRIBE_PREFIXES_MAX);
	return rc < 0 ? scribe_err_set(err, rc, "out of memory") : 0;
}

/* NULL: unknown. Accepts former names. */
static const struct key *key_by_name(const char *name)
{
	int old = scribe_old_key(name);

	if (old >= 0)
		name = scribe_old_key_now(old);
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

/* NULL: not a key, or one of IDENTITY. Upper case only. */
static const struct key *key_of_variable(const char *name)
{
	const struct key *k;
	char small[64];
	size_t n = 0;

	if (strncmp(name, OURS, strlen(OURS)))
		return NULL;
	for (name += strlen(OURS); *name && n < sizeof(small) - 1 && !islower((unsigned char)*name); name++)
		small[n++] = (char)tolower((unsigned char)*name);
	small[n] = 0;
	k = *name ? NULL : key_by_name(small);
	return k && k->scope != IDENTITY ? k : NULL;
}

/* 1: ignore the value. */
static int may_set(struct scribe_config *c, const struct key *k, const char *value, struct scribe_err *err)
{
	void *field = (char *)c + k->at;

	if (c->locked && k->scope == IDENTITY) {
		if (field == c->user)
			snprintf(c->user_said, sizeof(c->user_said), "%s", value);
		return 1; /* the peer's credentials decide */
	}
	if (c->locked && k->scope == SITE)
		return scribe_err_set(err, -EPERM, "%s: only the site's configuration sets this", k->name);
	if (c->late && k->scope == BEGINNING)
		return scribe_err_set(err, -EPERM, "%s: counts at the job's beginning alone", k->name);
	return 0;
}

static int set_key(struct scribe_config *c, const struct key *k, const char *value, struct scribe_err *err)
{
	void *field = (char *)c + k->at;
	int rc = may_set(c, k, value, err);

	if (rc)
		return rc < 0 ? rc : 0;
	/* Logs in a user's own directory are not made with root's helper. */
	if (c->locked && (field == c->log_dir || field == c->log_file))
		c->own_place = true;
	switch (k->kind) {
	case NUMBER:
		return set_number(k, field, value, err);
	case SWITCH:
		return set_switch(k, field, value, err);
	case TEXT:
	case MODULES:
	case PATH:
		return set_text(k, field, value, err);
	case CHOICE:
		return set_choice(k, field, value, err);
	case LAYOUT:
		return set_layout(k, field, value, err);
	default:
		return set_prefixes(k, field, value, err);
	}
}

bool scribe_config_is_key_variable(const char *name)
{
	return key_of_variable(name) != NULL;
}

int scribe_config_set_key(struct scribe_config *c, const char *name, const char *value, struct scribe_err *err)
{
	const struct key *k = !strncmp(name, OURS, strlen(OURS)) ? key_of_variable(name) : key_by_name(name);
	int old = scribe_old_key(name), rc;

	if (!k)
		return -ENOENT;
	rc = set_key(c, k, value, err);
	/* Former names are collected for one warning at the end. */
	if (old >= 0 && rc == 0)
		c->old_keys |= 1u << old;
	return rc;
}

/* Lists of paths are left out. */
static void print_default(const struct key *k, const void *field)
{
	switch (k->kind) {
	case NUMBER:
		printf("%u\t%lu to %lu", *(const uint32_t *)field, k->least, k->most);
		return;
	case SWITCH:
		printf("%s\tyes or no", *(const bool *)field ? "yes" : "no");
		return;
	case LAYOUT:
		printf("%s\tflat or dated", *(const bool *)field ? "dated" : "flat");
		return;
	case CHOICE:
		printf("%s\t%s", (const char *)field, words_of(k));
		return;
	case EXCLUDE:
	case INCLUDE:
		printf("\t");
		return;
	default:
		printf("%s\t", (const char *)field);
	}
}

void scribe_config_print_keys(void)
{
	struct scribe_config c;
	struct scribe_err err;

	if (scribe_config_default(&c, &err) < 0)
		return;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (keys[i].scope == IDENTITY)
			continue;
		printf("%s\t", keys[i].name);
		print_default(&keys[i], (const char *)&c + keys[i].at);
		printf("\t%s\n", keys[i].scope == SITE ? "site" : "");
	}
	scribe_exclusions_clear(&c.paths);
}
