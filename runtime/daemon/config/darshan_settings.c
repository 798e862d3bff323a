/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Darshan's settings, from its configuration file and environment (docs/config.md). Some are accepted without
 * effect, so that an existing darshan.conf can be used. Runs in the daemon.
 */
#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/counters/records.h"
#include "runtime/daemon/config/config.h"

enum kind {
	NOTHING, /* ignored */
	SIZE,    /* a number, checked and ignored */
	PREFIXES,
	NAMES,
	MODULES_ON,
	MODULES_OFF,
	LIST,
	ALIGNMENT,
	LOG_PATH,
	LOG_FILE,
	HINTS,
	UNSHARED,
	SMALL,
	UNALIGNED,
};

static const struct key {
	const char *name;
	enum kind kind;
	int rule; /* of NAMES and LIST */
} keys[] = {
	{"MODMEM", SIZE, 0},
	{"MOD_MEM_OVERRIDE", SIZE, 0},
	{"NAMEMEM", SIZE, 0},
	{"NAME_MEM_OVERRIDE", SIZE, 0},
	{"MAX_RECORDS", SIZE, 0},
	{"NAME_EXCLUDE", NAMES, SCRIBE_RULE_NAME_EXCLUDE},
	{"NAME_INCLUDE", NAMES, SCRIBE_RULE_NAME_INCLUDE},
	{"MOD_ENABLE", MODULES_ON, 0},
	{"MOD_DISABLE", MODULES_OFF, 0},
	{"APP_EXCLUDE", LIST, SCRIBE_RULE_APP_EXCLUDE},
	{"APP_INCLUDE", LIST, SCRIBE_RULE_APP_INCLUDE},
	{"RANK_EXCLUDE", LIST, SCRIBE_RULE_RANK_EXCLUDE},
	{"RANK_INCLUDE", LIST, SCRIBE_RULE_RANK_INCLUDE},
	{"JOBID", NOTHING, 0}, /* `ioscribe run` evaluates it */
	{"JOBID_OVERRIDE", NOTHING, 0},
	{"LOGPATH", LOG_PATH, 0},
	{"LOGFILE", LOG_FILE, 0},
	{"LOGHINTS", HINTS, 0},
	{"EXCLUDE_DIRS", PREFIXES, 0},
	{"MEM_ALIGNMENT", ALIGNMENT, 0},
	{"MEMALIGN", ALIGNMENT, 0},
	{"MEM_ALIGNMENT_OVERRIDE", ALIGNMENT, 0},
	{"DISABLE_SHARED_REDUCTION", UNSHARED, 0},
	{"MMAP_LOGPATH", NOTHING, 0},
	{"DUMP_CONFIG", NOTHING, 0},
	{"INTERNAL_TIMING", NOTHING, 0},
	{"DXT_SMALL_IO_TRIGGER", SMALL, 0},
	{"DXT_UNALIGNED_IO_TRIGGER", UNALIGNED, 0},
};

static const struct key *key_by_name(const char *name)
{
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!strcmp(keys[i].name, name))
			return &keys[i];
	return NULL;
}

bool scribe_config_is_darshan(const char *name)
{
	return key_by_name(name) != NULL;
}

/* The first word of `value`, a number above 0. */
static int number(const char *name, const char *value, double *ret, struct scribe_err *err)
{
	char *end;

	*ret = strtod(value, &end);
	if (end == value || (*end && !isspace((unsigned char)*end)) || !(*ret > 0))
		return scribe_err_set(err, -EINVAL, "%s: '%.60s' is not a number above 0", name, value);
	return 0;
}

/* The first word of `value` as a share, for example 0.2. */
static int share(const char *name, const char *value, double *ret, struct scribe_err *err)
{
	char *end;
	/* strtof(): Darshan compares with a float, and 0.2 as a double is a different number. */
	float n = strtof(value, &end);

	if (end == value || (*end && !isspace((unsigned char)*end)) || !(n >= 0))
		return scribe_err_set(err, -EINVAL, "%s: '%.60s' is not a share, 0 or more", name, value);
	*ret = (double)n;
	return 0;
}

/* "<regular expressions> <modules>"; without modules: all. */
static int add_names(struct scribe_config *c, const struct key *k, const char *value, struct scribe_err *err)
{
	size_t n = strcspn(value, " \t");
	const char *modules = value + n + strspn(value + n, " \t");
	uint64_t bits = ~0ull;
	char *list;
	int rc = 0;

	if (*modules)
		rc = scribe_exclusion_rules_modules(modules, &bits, err);
	list = strndup(value, n);
	if (rc == 0)
		rc = list ? scribe_exclusion_rules_add(&c->exclusion_rules, (enum scribe_rule_kind)k->rule, list, bits,
						       err)
			  : scribe_err_set(err, -ENOMEM, "out of memory");
	free(list);
	return rc;
}

#define DXT_BITS (1ull << SCRIBE_MOD_DXT_POSIX | 1ull << SCRIBE_MOD_DXT_MPIIO)

static int switch_traces(struct scribe_config *c, bool on, uint64_t bits, struct scribe_err *err)
{
	uint64_t *off = &c->exclusion_rules.modules_off;

	/* Both bits in `modules_off` mean "off"; one alone: only the other module was enabled. */
	if (on && !c->dxt)
		*off = (*off | DXT_BITS) & ~bits;
	if (on || (*off & DXT_BITS) != DXT_BITS)
		return on ? scribe_config_set_key(c, "dxt", "yes", err) : 0;
	*off &= ~DXT_BITS; /* enabling it again enables both */
	return scribe_config_set_key(c, "dxt", "no", err);
}

static int switch_modules(struct scribe_config *c, const struct key *k, const char *value, struct scribe_err *err)
{
	uint64_t bits = 0;
	int rc = scribe_exclusion_rules_modules(value, &bits, err);

	if (rc == 0 && k->kind == MODULES_ON)
		c->exclusion_rules.modules_off &= ~bits;
	else if (rc == 0)
		c->exclusion_rules.modules_off |= bits;
	/* Trace modules are off by default, which their bits cannot express: the key `dxt` decides. */
	return rc == 0 && bits & DXT_BITS ? switch_traces(c, k->kind == MODULES_ON, bits & DXT_BITS, err) : rc;
}

static int set_place(struct scribe_config *c, const struct key *k, const char *value, struct scribe_err *err)
{
	int rc = scribe_config_set_key(c, k->kind == LOG_PATH ? "log_dir" : "log_file", value, err);

	/* Darshan's LOGPATH contains date directories. */
	return rc < 0 || k->kind == LOG_FILE ? rc : scribe_config_set_key(c, "log_layout", "dated", err);
}

/* Replaces the excluded directories. */
static int set_prefixes(struct scribe_config *c, const char *value, struct scribe_err *err)
{
	int rc = scribe_config_set_key(c, "exclude", "none", err);

	while (*value && rc == 0) {
		size_t n = strcspn(value, ",");
		char prefix[SCRIBE_PATH_MAX];

		/* With a slash, because the comparison is textual: "/usr" would match "/usrlocal". */
		snprintf(prefix, sizeof(prefix), "%.*s%s", (int)n, value, n && value[n - 1] == '/' ? "" : "/");
		if (n && strncmp(value, "none", 4))
			rc = scribe_config_set_key(c, "exclude", prefix, err);
		value += n + (value[n] == ',');
	}
	return rc;
}

static int set_text(char *field, size_t capacity, const char *name, const char *value, struct scribe_err *err)
{
	if (strlen(value) >= capacity)
		return scribe_err_set(err, -EINVAL, "%s: longer than %zu bytes", name, capacity - 1);
	strcpy(field, value);
	return 0;
}

int scribe_config_darshan(struct scribe_config *c, const char *name, const char *value, struct scribe_err *err)
{
	const struct key *k = key_by_name(name);
	char text[32];
	double n = 0;
	int rc;

	if (!k)
		return scribe_err_set(err, -EINVAL, "unknown key '%.60s'", name);
	switch (k->kind) {
	case SIZE:
		return number(name, value, &n, err);
	case NAMES:
		return add_names(c, k, value, err);
	case LIST:
		return scribe_exclusion_rules_add(&c->exclusion_rules, (enum scribe_rule_kind)k->rule, value, ~0ull,
						  err);
	case MODULES_ON:
	case MODULES_OFF:
		return switch_modules(c, k, value, err);
	case PREFIXES:
		return set_prefixes(c, value, err);
	case ALIGNMENT:
		rc = number(name, value, &n, err);
		snprintf(text, sizeof(text), "%.0f", n);
		return rc < 0 ? rc : scribe_config_set_key(c, "mem_alignment", text, err);
	case LOG_PATH:
	case LOG_FILE:
		return set_place(c, k, value, err);
	case HINTS:
		return set_text(c->log_hints, sizeof(c->log_hints), name, value, err);
	case SMALL:
		return share(name, value, &c->dxt_small, err);
	case UNALIGNED:
		return share(name, value, &c->dxt_unaligned, err);
	case UNSHARED:
		c->unshared = true;
		return 0;
	default:
		return 0;
	}
}
