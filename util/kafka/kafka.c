// SPDX-License-Identifier: BSD-3-Clause
/*
 * librdkafka by dlopen; it stays loaded. For ioscribe-publish and ioscribe-store. Must not know what messages
 * contain.
 */
#include "util/kafka/kafka.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_FILE "IOSCRIBE_KAFKA_CONFIG" /* file with KEY=VALUE lines, such as logins */
#define TOPIC_MOST  249

static struct scribe_kafka kafka;

int scribe_kafka_load(const struct scribe_kafka **ret_kafka, struct scribe_err *err)
{
	static bool is_loaded;
	void *library;
	bool whole = true;

	*ret_kafka = &kafka;
	if (is_loaded)
		return 0;
	library = dlopen("librdkafka.so.1", RTLD_NOW);
	if (!library)
		return scribe_err_set(err, -ENOENT, "librdkafka cannot be loaded: %s", dlerror());
#define SCRIBE_X(name) \
	*(void **)&kafka.name = dlsym(library, "rd_kafka_" #name); \
	whole = whole && kafka.name;
	SCRIBE_KAFKA_FUNCTIONS(SCRIBE_X)
#undef SCRIBE_X
	if (!whole)
		return scribe_err_set(err, -ENOSYS, "librdkafka is older than 1.0");
	is_loaded = true;
	return 0;
}

const char *scribe_kafka_topic(const char *name)
{
	return strrchr(name, '/') + 1;
}

int scribe_kafka_check(const char *name, struct scribe_err *err)
{
	const char *slash = strrchr(name, '/');

	if (!slash || slash == name || !slash[1] || strlen(slash + 1) > TOPIC_MOST)
		return scribe_err_set(err, -EINVAL, "HOST:PORT[,HOST:PORT...]/TOPIC is expected");
	return 0;
}

static int set(rd_kafka_conf_t *conf, const char *key, const char *value, struct scribe_err *err)
{
	char why[256] = "";

	if (kafka.conf_set(conf, key, value, why, sizeof(why)) == RD_KAFKA_CONF_OK)
		return 0;
	return scribe_err_set(err, -EINVAL, "librdkafka: %s", why);
}

static int set_users(rd_kafka_conf_t *conf, struct scribe_err *err)
{
	const char *path = getenv(CONFIG_FILE);
	FILE *f = path && path[0] ? fopen(path, "re") : NULL;
	char line[4096];
	int rc = 0;

	if (path && path[0] && !f)
		return scribe_err_set(err, -errno, "%s: %s", path, strerror(errno));
	while (f && rc == 0 && fgets(line, sizeof(line), f)) {
		char *equals = strchr(line, '=');

		line[strcspn(line, "\r\n")] = 0;
		if (!line[0] || line[0] == '#')
			continue;
		if (!equals) {
			rc = scribe_err_set(err, -EINVAL, "%s: '%.60s' is not KEY=VALUE", path, line);
			break;
		}
		*equals = 0;
		rc = set(conf, line, equals + 1, err);
	}
	if (f)
		fclose(f);
	return rc;
}

static void on_log(const rd_kafka_t *rk, int level, const char *facility, const char *text)
{ /* libraries must not print; the error callback reports failures */
	(void)rk, (void)level, (void)facility, (void)text;
}

int scribe_kafka_conf(const char *name, const struct scribe_kafka_setting *ours, rd_kafka_conf_t **ret_conf,
		      struct scribe_err *err)
{
	char *brokers = strndup(name, (size_t)(strrchr(name, '/') - name));
	rd_kafka_conf_t *conf = kafka.conf_new();
	int rc = set_users(conf, err);

	if (!brokers)
		rc = scribe_err_set(err, -ENOMEM, "out of memory");
	if (rc == 0)
		rc = set(conf, "bootstrap.servers", brokers, err);
	/* Ours last, so that the user's file cannot override them. */
	for (; rc == 0 && ours->key; ours++)
		rc = set(conf, ours->key, ours->value, err);
	free(brokers);
	if (rc < 0) {
		kafka.conf_destroy(conf);
		return rc;
	}
	kafka.conf_set_log_cb(conf, on_log);
	*ret_conf = conf;
	return 0;
}

int scribe_kafka_new(rd_kafka_type_t type, rd_kafka_conf_t *conf, rd_kafka_t **ret_client, struct scribe_err *err)
{
	char why[256] = "";
	rd_kafka_t *rk = kafka.new(type, conf, why, sizeof(why));

	if (!rk) {
		/* librdkafka takes ownership only on success. */
		kafka.conf_destroy(conf);
		return scribe_err_set(err, -EIO, "librdkafka: %s", why);
	}
	*ret_client = rk;
	return 0;
}
