/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of keys and the reader of configuration text. */
#include "runtime/daemon/config.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bpf/load.h"
#include "runtime/core/sources.h"

#define CONFIG_BYTES_MAX (1u << 20)
#define OURS             "IOSCRIBE_" /* before a key in the environment */

enum kind { NUMBER, SWITCH, TEXT, MODULES, PATH, LEVEL, PROBES, LAYOUT, EXCLUDE, INCLUDE };

static const struct key {
	const char *name;
	enum kind kind;
	size_t at, bytes;          /* field; room of a text */
	unsigned long least, most; /* of a number */
	enum { ANYBODY, BEGINNING, SITE, IDENTITY } scope; /* BEGINNING: anybody's, before the job begins */
} keys[] = {
#define FIELD(f) offsetof(struct scribe_config, f), sizeof(((struct scribe_config *)0)->f)
	{"records", NUMBER, FIELD(records), 16, 16777216, BEGINNING},
	{"processes", NUMBER, FIELD(processes), 16, 4194304, SITE},
	{"job_records", NUMBER, FIELD(job_records), 0, 16777216, SITE},
	{"job_reserve", NUMBER, FIELD(job_reserve), 0, 1048576, SITE},
	{"job_processes", NUMBER, FIELD(job_processes), 0, 4194304, SITE},
	{"listed_processes", NUMBER, FIELD(listed), 1, 1000000, ANYBODY},
	{"mem_alignment", NUMBER, FIELD(mem_alignment), 0, 1u << 30, ANYBODY},
	{"job_number", TEXT, FIELD(job_number), 0, 0, ANYBODY},
	{"opt_out", SWITCH, FIELD(opt_out), 0, 0, SITE},
	{"show_privileged", SWITCH, FIELD(show_privileged), 0, 0, SITE},
	{"all_types", SWITCH, FIELD(all_types), 0, 0, BEGINNING},
	{"grace_ms", NUMBER, FIELD(grace_ms), 0, 3600000, BEGINNING},
	{"deadline_ms", NUMBER, FIELD(deadline_ms), 1, 3600000, ANYBODY},
	{"collective", SWITCH, FIELD(collective), 0, 0, ANYBODY},
	{"runtime", SWITCH, FIELD(runtime), 0, 0, BEGINNING},
	{"user_jobs", NUMBER, FIELD(user_jobs), 0, 255, SITE},
	{"user_connections", NUMBER, FIELD(user_connections), 1, 3840, SITE},
	{"silent_ms", NUMBER, FIELD(silent_ms), 100, 3600000, SITE},
	{"load_at_start", SWITCH, FIELD(load_at_start), 0, 0, SITE},
	{"attach", LEVEL, FIELD(level), 0, 0, SITE},
	{"modules", MODULES, FIELD(modules), 0, 0, BEGINNING},
	{"libraries", TEXT, FIELD(libraries), 0, 0, SITE},
	{"library_attach", PROBES, FIELD(library_attach), 0, 0, SITE},
	{"library_cache", SWITCH, FIELD(library_cache), 0, 0, SITE},
	{"mpiio_inside", SWITCH, FIELD(mpiio_inside), 0, 0, SITE},
	{"stdio_inside", SWITCH, FIELD(stdio_inside), 0, 0, SITE},
	{"stdio_calls", SWITCH, FIELD(stdio_calls), 0, 0, SITE},
	{"stdio_share", NUMBER, FIELD(stdio_share), 1, 100, SITE},
	{"library_paths", TEXT, FIELD(library_paths), 0, 0, SITE},
	{"exclude", EXCLUDE, FIELD(paths), 0, 0, ANYBODY},
	{"include", INCLUDE, FIELD(paths), 0, 0, ANYBODY},
	{"log_file", PATH, FIELD(log_file), 0, 0, ANYBODY},
	{"log_dir", PATH, FIELD(log_dir), 0, 0, ANYBODY},
	{"spool_dir", PATH, FIELD(spool_dir), 0, 0, SITE},
	{"write_deadline_ms", NUMBER, FIELD(write_deadline_ms), 100, 3600000, SITE},
	{"layout_deadline_ms", NUMBER, FIELD(layout_deadline_ms), 1, 3600000, SITE},
	{"layout_source", TEXT, FIELD(layout_source), 0, 0, SITE},
	{"log_layout", LAYOUT, FIELD(dated), 0, 0, ANYBODY},
	{"uid", NUMBER, FIELD(uid), 0, 4294967294ul, IDENTITY},
	{"gid", NUMBER, FIELD(gid), 0, 4294967294ul, IDENTITY},
	{"user", TEXT, FIELD(user), 0, 0, IDENTITY},
	{"library", PATH, FIELD(library), 0, 0, BEGINNING},
#undef FIELD
};

int scribe_config_default(struct scribe_config *c, struct scribe_err *err)
{
	memset(c, 0, sizeof(*c));
	c->records = 114688;
	c->processes = 16384;
	c->listed = 4096;
	c->mem_alignment = 8;
	c->grace_ms = 2000;
	c->deadline_ms = 10000;
	c->write_deadline_ms = 20000;
	c->layout_deadline_ms = 5000;
	c->load_at_start = true;
	c->user_jobs = 32;
	c->user_connections = 1024;
	c->silent_ms = 10000;
	c->collective = true;
	c->runtime = true;
	strcpy(c->libraries, "auto");
	strcpy(c->library_attach, "auto");
	c->stdio_share = 20;
	c->library_cache = true;
	c->stdio_inside = true;
	c->mpiio_inside = true;
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
	n = strtoul(value, &end, 10);
	if (!isdigit((unsigned char)value[0]) || *end || errno || n < k->least || n > k->most)
		return scribe_err_set(err, -EINVAL, "%s: '%s' is not a number from %lu to %lu", k->name,
				      value, k->least, k->most);
	*(uint32_t *)field = (uint32_t)n;
	return 0;
}

static int set_switch(const struct key *k, void *field, const char *value, struct scribe_err *err)
{
	static const char *const yes[] = {"1", "yes", "true", "on"}, *const no[] = {"0", "no", "false",
										    "off"};

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
	if (k->kind == MODULES && scribe_source_unknown(value, name, sizeof(name)))
		return scribe_err_set(err, -EINVAL, "%s: no module '%s' is fed by plain code", k->name, name);
	strcpy(field, value);
	return 0;
}

static const char *const level_names[] = {
	"auto",
#define SCRIBE_X(id, number, name) name,
	SCRIBE_BPF_LEVELS(SCRIBE_X)
#undef SCRIBE_X
};
#define SCRIBE_X(id, number, name) ", " name
#define LEVEL_NAMES "auto" SCRIBE_BPF_LEVELS(SCRIBE_X)

static int set_choice(const struct key *k, void *field, const char *value, struct scribe_err *err)
{
	if (k->kind == LAYOUT) {
		if (strcmp(value, "dated") && strcmp(value, "flat"))
			return scribe_err_set(err, -EINVAL, "%s: '%s' is neither dated nor flat", k->name,
					      value);
		*(bool *)field = !strcmp(value, "dated");
		return 0;
	}
	if (k->kind == PROBES) {
		if (strcmp(value, "auto") && strcmp(value, "multi") && strcmp(value, "events"))
			return scribe_err_set(err, -EINVAL, "%s: '%s' is none of auto, multi, events",
					      k->name, value);
		strcpy(field, value);
		return 0;
	}
	for (size_t i = 0; i < sizeof(level_names) / sizeof(level_names[0]); i++)
		if (!strcmp(value, level_names[i])) {
			strcpy(field, value);
			return 0;
		}
	return scribe_err_set(err, -EINVAL, "%s: '%s' is none of " LEVEL_NAMES, k->name, value);
}

static int set_prefixes(const struct key *k, struct scribe_exclusions *paths, const char *value,
			struct scribe_err *err)
{
	int rc = k->kind == EXCLUDE ? scribe_exclusions_exclude(paths, value)
				    : scribe_exclusions_include(paths, value);

	if (rc == -EINVAL)
		return scribe_err_set(err, rc, "%s: '%s' is not a list of at most %d absolute paths", k->name,
				      value, SCRIBE_PREFIXES_MAX);
	return rc < 0 ? scribe_err_set(err, rc, "out of memory") : 0;
}

/* The key that IOSCRIBE_KEY names; NULL: none, or nobody's to set so. */
static const struct key *key_of_variable(const char *name)
{
	if (strncmp(name, OURS, strlen(OURS)))
		return NULL;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *is = keys[i].name, *has = name + strlen(OURS);

		while (*is && toupper((unsigned char)*is) == *has)
			is++, has++;
		if (!*is && !*has)
			return keys[i].scope == IDENTITY ? NULL : &keys[i];
	}
	return NULL;
}

bool scribe_config_is_variable(const char *name)
{
	return key_of_variable(name) || (!strncmp(name, "DARSHAN_", 8) && scribe_config_is_darshan(name + 8));
}

int scribe_config_environment(struct scribe_config *c, struct scribe_err *err)
{
	int rc = 0;

	for (char **e = environ; *e && rc == 0; e++) {
		char name[64];
		size_t n = strcspn(*e, "=");
		struct scribe_err why = {0};

		if (strncmp(*e, OURS, strlen(OURS)) || !(*e)[n] || n >= sizeof(name))
			continue;
		memcpy(name, *e, n);
		name[n] = 0;
		rc = scribe_config_set(c, name, *e + n + 1, &why);
		if (rc < 0)
			scribe_err_set(err, rc, "environment, %s: %s", name, why.text);
	}
	return rc;
}

int scribe_config_set(struct scribe_config *c, const char *key, const char *value, struct scribe_err *err)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const struct key *k = &keys[i];
		void *field = (char *)c + k->at;

		if (strcmp(k->name, key))
			continue;
		if (c->locked && k->scope == IDENTITY) {
			if (field == c->user)
				snprintf(c->user_said, sizeof(c->user_said), "%s", value);
			return 0; /* the peer's credentials tell */
		}
		if (c->locked && k->scope == SITE)
			return scribe_err_set(err, -EPERM, "%s: only the site's configuration sets this",
					      key);
		if (c->late && k->scope == BEGINNING)
			return scribe_err_set(err, -EPERM, "%s: counts at the job's beginning alone", key);
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
		case LEVEL:
		case PROBES:
		case LAYOUT:
			return set_choice(k, field, value, err);
		default:
			return set_prefixes(k, field, value, err);
		}
	}
	if (!strncmp(key, "DARSHAN_", 8)) {
		/* as Darshan does with its environment: what is malformed is as not said */
		(void)scribe_config_darshan(c, key + 8, value, err);
		return 0;
	}
	if (!strncmp(key, OURS, strlen(OURS))) {
		const struct key *k = key_of_variable(key);

		return k ? scribe_config_set(c, k->name, value, err) : 0;
	}
	if (scribe_config_is_darshan(key))
		return scribe_config_darshan(c, key, value, err);
	return scribe_err_set(err, -EINVAL, "unknown key '%s'", key);
}

/* What a key is when nobody sets it. */
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
	case LEVEL:
		printf("auto\t" LEVEL_NAMES);
		return;
	case PROBES:
		printf("auto\tauto, multi, events");
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
	scribe_config_clear(&c);
}

static char *trim(char *s)
{
	char *end;

	while (isspace((unsigned char)*s))
		s++;
	end = s + strlen(s);
	while (end > s && isspace((unsigned char)end[-1]))
		end--;
	*end = 0;
	return s;
}

static int set_line(struct scribe_config *c, char *line, struct scribe_err *err)
{
	char *equals, *key;
	size_t word;

	line = trim(line);
	if (!*line || *line == '#')
		return 0;
	/* "KEY value", as in Darshan's file */
	word = strcspn(line, " \t=");
	if (line[word] != '=') {
		char *key_end = line + word, was = *key_end;

		*key_end = 0;
		if (scribe_config_is_darshan(line) && (!was || *trim(key_end + 1) != '='))
			return scribe_config_darshan(c, line, was ? trim(key_end + 1) : key_end, err);
		*key_end = was;
	}
	equals = strchr(line, '=');
	if (!equals)
		return scribe_err_set(err, -EINVAL, "'%.60s' is not key = value", line);
	*equals = 0;
	key = trim(line);
	return scribe_config_set(c, key, trim(equals + 1), err);
}

int scribe_config_text(struct scribe_config *c, const char *text, size_t bytes, const char *label,
		       struct scribe_err *err)
{
	size_t at = 0;

	for (unsigned number = 1; at < bytes; number++) {
		const char *newline = memchr(text + at, '\n', bytes - at);
		size_t n = newline ? (size_t)(newline - text) - at : bytes - at;
		char *line = strndup(text + at, n);
		struct scribe_err why = {0};
		int rc = line ? set_line(c, line, &why) : scribe_err_set(&why, -ENOMEM, "out of memory");

		free(line);
		if (rc < 0)
			return scribe_err_set(err, rc, "%s, line %u: %s", label, number, why.text);
		at += n + 1;
	}
	return 0;
}

int scribe_config_file(struct scribe_config *c, const char *path, struct scribe_err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	struct stat st;
	char *text;
	ssize_t n;
	int rc;

	if (fd < 0)
		return scribe_err_set(err, -errno, "cannot open %s: %s", path, strerror(errno));
	if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > CONFIG_BYTES_MAX) {
		close(fd);
		return scribe_err_set(err, -EINVAL, "%s is not a regular file of at most 1 MiB", path);
	}
	text = malloc((size_t)st.st_size + 1);
	n = text ? pread(fd, text, (size_t)st.st_size, 0) : -1;
	rc = n < 0 ? scribe_err_set(err, text ? -errno : -ENOMEM, "cannot read %s", path)
		   : scribe_config_text(c, text, (size_t)n, path, err);
	close(fd);
	free(text);
	return rc;
}

int scribe_config_copy(struct scribe_config *to, const struct scribe_config *from)
{
	int rc;

	*to = *from;
	to->rules = (struct scribe_rules){0};
	rc = scribe_exclusions_copy(&to->paths, &from->paths);
	if (rc == 0)
		rc = scribe_rules_copy(&to->rules, &from->rules);
	if (rc < 0)
		scribe_config_clear(to);
	return rc;
}

void scribe_config_clear(struct scribe_config *c)
{
	scribe_exclusions_clear(&c->paths);
	scribe_rules_clear(&c->rules);
}
