// SPDX-License-Identifier: BSD-3-Clause
/*
 * Dictionaries: operations, nodes, metrics, files, jobs and programs have numbers, cached in hash tables. They
 * never change, so the cache stays valid while other stores write; only deletion requires clear.
 */
#include "util/store/names.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "logfmt/base/hash.h"
#include "logfmt/base/keyed.h"

/* Senders choose the keys, and uthash's default function is not keyed. */
#define HASH_FUNCTION(key, len, hashv) ((hashv) = (unsigned)scribe_keyed((key), (len)))
#include <uthash.h>

struct named {
	UT_hash_handle hh;
	int64_t id;
	char key[];
};

struct file_key {
	uint64_t record_id;
	int64_t job;
};

struct file {
	UT_hash_handle hh;
	struct file_key key;
	int64_t id;
	bool has_path;
};

struct job_id {
	UT_hash_handle hh;
	int64_t job_id;
	struct scribe_store_job *jobs;
	int n;
};

struct scribe_store_names {
	const struct scribe_sql_kind_ops *ops;
	void *db;
	struct named *named;
	struct file *files;
	struct job_id *jobs;
	size_t n;
	int64_t id; /* result of the last query */
	bool flag;
	struct job_id *loading;
};

int scribe_store_names_new(const struct scribe_sql_kind_ops *ops, void *db, struct scribe_store_names **ret_names,
			   struct scribe_err *err)
{
	struct scribe_store_names *names = calloc(1, sizeof(*names));

	if (!names)
		return scribe_err_set(err, -ENOMEM, "store: out of memory");
	names->ops = ops;
	names->db = db;
	*ret_names = names;
	return 0;
}

void scribe_store_names_clear(struct scribe_store_names *names)
{
	struct named *named, *next_named;
	struct file *file, *next_file;
	struct job_id *job, *next_job;

	HASH_ITER(hh, names->named, named, next_named)
	{
		HASH_DEL(names->named, named);
		free(named);
	}
	HASH_ITER(hh, names->files, file, next_file)
	{
		HASH_DEL(names->files, file);
		free(file);
	}
	HASH_ITER(hh, names->jobs, job, next_job)
	{
		HASH_DEL(names->jobs, job);
		free(job->jobs);
		free(job);
	}
	names->n = 0;
}

struct scribe_store_names *scribe_store_names_free(struct scribe_store_names *names)
{
	if (names)
		scribe_store_names_clear(names);
	free(names);
	return NULL;
}

bool scribe_store_names_full(const struct scribe_store_names *names)
{
	return names->n >= SCRIBE_NAMES_MAX;
}

/* The caller rolls back, which clears the tables. */
static int no_memory(struct scribe_err *err)
{
	return scribe_err_set(err, -ENOMEM, "store: names: out of memory");
}

const char *scribe_store_key(const char *text, char *capacity)
{
	const size_t len = strlen(text);
	size_t begin = SCRIBE_STORE_KEY - 17;

	if (len <= SCRIBE_STORE_KEY)
		return text;
	while (begin && (text[begin] & 0xc0) == 0x80)
		begin--;
	memcpy(capacity, text, begin);
	snprintf(capacity + begin, 18, "#%016" PRIx64, scribe_hash64(text, len, 0));
	return capacity;
}

static int on_id(void *ctx, int n, const char *const *columns, const struct scribe_sql_value *values,
		 struct scribe_err *err)
{
	struct scribe_store_names *names = ctx;

	if (values) {
		names->id = values[0].i;
		names->flag = n > 1 && values[1].i;
	}
	return 0;
}

static int ask_id(struct scribe_store_names *names, const char *sql, const struct scribe_sql_value *values, int n,
		  struct scribe_err *err)
{
	names->id = 0;
	return names->ops->ask(names->db, sql, true, values, n, on_id, names, err);
}

static int remember(struct scribe_store_names *names, const char *key, size_t len, int64_t id, struct scribe_err *err)
{
	struct named *new = malloc(sizeof(*new) + len);

	if (!new)
		return no_memory(err);
	memcpy(new->key, key, len);
	new->id = id;
	HASH_ADD_KEYPTR(hh, names->named, new->key, len, new);
	names->n++;
	return 0;
}

static int named_id(struct scribe_store_names *names, const char *key, size_t len, const char *sql,
		    const struct scribe_sql_value *values, int n, int64_t *ret_id, struct scribe_err *err)
{
	struct named *found;
	int rc;

	/* The statement must return the row also after a conflict: DO NOTHING would not. */
	HASH_FIND(hh, names->named, key, len, found);
	if (found) {
		*ret_id = found->id;
		return 0;
	}
	rc = ask_id(names, sql, values, n, err);
	if (rc < 0)
		return rc;
	*ret_id = names->id;
	return remember(names, key, len, names->id, err);
}

/* 0: longer than cap. The separator is not in any text. */
static size_t join_key(char *key, size_t cap, char table, const char *const *texts, int n)
{
	size_t len = 0;

	/* Not snprintf, which is too slow for every message. */
	for (int i = 0; i < n; i++) {
		size_t add = strlen(texts[i]);

		if (add + 1 >= cap - len)
			return 0;
		key[len++] = i ? '\x1f' : table;
		memcpy(key + len, texts[i], add);
		len += add;
	}
	return len;
}

int scribe_store_operation(struct scribe_store_names *names, const char *module, const char *op, const char *type,
			   int64_t *ret_id, struct scribe_err *err)
{
	struct scribe_sql_value values[] = {scribe_sql_text(module), scribe_sql_text(op), scribe_sql_text(type)};
	char key[256];
	size_t len = join_key(key, sizeof(key), 'o', (const char *const[]){module, op, type}, 3);

	if (!len)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "module, op and type of more than 250 bytes");
	return named_id(names, key, len,
			"INSERT INTO operation (module, op, type) VALUES ($1, $2, $3) ON CONFLICT (module, op, type)"
			" DO UPDATE SET op = excluded.op RETURNING id",
			values, 3, ret_id, err);
}

static int named(struct scribe_store_names *names, char table, const char *what, const char *name, const char *sql,
		 int64_t *ret_id, struct scribe_err *err)
{
	struct scribe_sql_value values[] = {scribe_sql_text(name)};
	char key[512];
	size_t len = join_key(key, sizeof(key), table, &name, 1);

	if (!len)
		return scribe_err_set(err, -SCRIBE_E_FORMAT, "%s of more than 510 bytes", what);
	return named_id(names, key, len, sql, values, 1, ret_id, err);
}

#define NAMED(table) \
	"INSERT INTO " table " (name) VALUES ($1) ON CONFLICT (name) DO UPDATE SET name = excluded.name" \
	" RETURNING id"

int scribe_store_node(struct scribe_store_names *names, const char *name, int64_t *ret_id, struct scribe_err *err)
{
	return named(names, 'n', "ProducerName", name, NAMED("node"), ret_id, err);
}

int scribe_store_metric(struct scribe_store_names *names, const char *name, int64_t *ret_id, struct scribe_err *err)
{
	return named(names, 'm', "a metric's name", name, NAMED("metric"), ret_id, err);
}

int scribe_store_file(struct scribe_store_names *names, int64_t job, uint64_t record_id, const char *path,
		      int64_t *ret_id, struct scribe_err *err)
{
	const struct file_key key = {record_id, job};
	struct scribe_sql_value values[3];
	struct file *file;
	/* Keyed by job: another job's path for the same record id is not trusted. */
	char id[24];
	int rc;

	HASH_FIND(hh, names->files, &key, sizeof(key), file);
	if (file && (file->has_path || !path)) {
		*ret_id = file->id;
		return 0;
	}
	/* Text: databases lack unsigned 64-bit integers. */
	snprintf(id, sizeof(id), "%" PRIu64, record_id);
	values[0] = scribe_sql_text(id);
	values[1] = scribe_sql_text(path);
	values[2] = scribe_sql_int(job);
	rc = ask_id(names,
		    "INSERT INTO file (record_id, path, job) VALUES ($1, $2, $3) ON CONFLICT (job, "
		    "record_id) DO UPDATE"
		    " SET path = COALESCE(file.path, excluded.path)"
		    " RETURNING id, CASE WHEN path IS NULL THEN 0 ELSE 1 END",
		    values, 3, err);
	if (rc < 0)
		return rc;
	if (!file) {
		file = calloc(1, sizeof(*file));
		if (!file)
			return no_memory(err);
		file->key = key;
		HASH_ADD(hh, names->files, key, sizeof(key), file);
		names->n++;
	}
	file->id = names->id;
	file->has_path = names->flag;
	*ret_id = file->id;
	return 0;
}

static int on_job(void *ctx, int n, const char *const *columns, const struct scribe_sql_value *v,
		  struct scribe_err *err)
{
	struct job_id *j = ((struct scribe_store_names *)ctx)->loading;
	struct scribe_store_job *more;

	if (!v)
		return 0;
	more = realloc(j->jobs, ((size_t)j->n + 1) * sizeof(*more));
	if (!more)
		return no_memory(err);
	j->jobs = more;
	more[j->n++] = (struct scribe_store_job){.id = v[0].i,
						 .use = v[1].i,
						 .uid = v[2].i,
						 .first_us = v[3].i,
						 .last_us = v[4].i,
						 .origin = v[5].i ? SCRIBE_FROM_LOG : SCRIBE_FROM_STREAM};
	return 0;
}

/* Writes pending times first. */
static int load_jobs(struct scribe_store_names *names, struct job_id *j, struct scribe_err *err)
{
	struct scribe_sql_value value = scribe_sql_int(j->job_id);
	int rc = scribe_store_job_times(names, err);

	if (rc < 0)
		return rc;
	free(j->jobs);
	j->jobs = NULL;
	j->n = 0;
	names->loading = j;
	return names->ops->ask(names->db,
			       "SELECT id, use, uid, first_us, last_us, from_log FROM job WHERE job_id = $1"
			       " ORDER BY last_us, use",
			       true, &value, 1, on_job, names, err);
}

static struct scribe_store_job *job_that_fits(struct job_id *j, int64_t uid, int64_t from_us, int64_t to_us)
{
	for (int i = j->n; i-- > 0;)
		if (j->jobs[i].uid == uid && from_us <= j->jobs[i].last_us + SCRIBE_STORE_REUSE_US &&
		    to_us >= j->jobs[i].first_us - SCRIBE_STORE_REUSE_US)
			return &j->jobs[i];
	return NULL;
}

static int add_job(struct scribe_store_names *names, struct job_id *j, int64_t uid, int64_t from_us, int64_t to_us,
		   enum scribe_store_origin origin, struct scribe_err *err)
{
	struct scribe_sql_value values[] = {scribe_sql_int(j->job_id), scribe_sql_int(uid), scribe_sql_int(from_us),
					    scribe_sql_int(to_us), scribe_sql_int(origin == SCRIBE_FROM_LOG)};
	int rc = ask_id(names,
			"INSERT INTO job (job_id, use, uid, first_us, last_us, from_log)"
			" SELECT $1, COALESCE(max(use), 0) + 1, $2, $3, $4, $5 FROM job WHERE job_id = $1"
			" RETURNING id",
			values, 5, err);

	return rc < 0 ? rc : load_jobs(names, j, err);
}

int scribe_store_job(struct scribe_store_names *names, int64_t job_id, int64_t uid, int64_t from_us, int64_t to_us,
		     enum scribe_store_origin origin, const struct scribe_store_job **ret_job, struct scribe_err *err)
{
	struct scribe_store_job *fits;
	struct job_id *j;
	bool is_new = false;
	int rc = 0;

	HASH_FIND(hh, names->jobs, &job_id, sizeof(job_id), j);
	if (!j) {
		j = calloc(1, sizeof(*j));
		if (!j)
			return no_memory(err);
		j->job_id = job_id;
		HASH_ADD(hh, names->jobs, job_id, sizeof(job_id), j);
		names->n++;
	}
	fits = job_that_fits(j, uid, from_us, to_us);
	if (!fits) {
		rc = load_jobs(names, j, err); /* another store may have added it */
		fits = rc < 0 ? NULL : job_that_fits(j, uid, from_us, to_us);
	}
	if (!fits && rc >= 0) {
		rc = add_job(names, j, uid, from_us, to_us, origin, err);
		is_new = true;
		fits = rc < 0 ? NULL : job_that_fits(j, uid, from_us, to_us);
	}
	if (rc < 0)
		return rc;
	if (!fits)
		return scribe_err_set(err, -EIO, "store: job %" PRId64 " is gone from its table", job_id);
	if (fits->first_us > from_us) {
		fits->first_us = from_us;
		fits->changed = true;
	}
	if (fits->last_us < to_us) {
		fits->last_us = to_us;
		fits->changed = true;
	}
	fits->is_new = is_new;
	fits->is_other = fits->origin != origin && !fits->other_reported;
	fits->other_reported |= fits->is_other;
	*ret_job = fits;
	return 0;
}

int scribe_store_job_times(struct scribe_store_names *names, struct scribe_err *err)
{
	struct job_id *j, *next;

	HASH_ITER(hh, names->jobs, j, next)
	{
		for (int i = 0; i < j->n; i++) {
			struct scribe_store_job *job = &j->jobs[i];
			struct scribe_sql_value values[] = {scribe_sql_int(job->id), scribe_sql_int(job->first_us),
							    scribe_sql_int(job->last_us)};
			int rc;

			if (!job->changed)
				continue;
			rc = names->ops->ask(
				names->db,
				/* only widens, because two stores may update one job */
				"UPDATE job SET first_us = CASE WHEN first_us < $2 THEN first_us ELSE $2 END,"
				" last_us = CASE WHEN last_us > $3 THEN last_us ELSE $3 END WHERE id = $1",
				true, values, 3, NULL, NULL, err);
			if (rc < 0)
				return rc;
			job->changed = false;
		}
	}
	return 0;
}

int scribe_store_exe(struct scribe_store_names *names, int64_t job, const char *exe, struct scribe_err *err)
{
	char capacity[SCRIBE_STORE_KEY + 1], key[SCRIBE_STORE_KEY + 32];
	struct scribe_sql_value values[] = {scribe_sql_int(job), scribe_sql_text(scribe_store_key(exe, capacity))};
	int len = snprintf(key, sizeof(key), "x%" PRId64 " %s", job, values[1].text);
	int64_t id;

	return named_id(names, key, (size_t)len,
			"INSERT INTO job_exe (job, exe) VALUES ($1, $2) ON CONFLICT (job, exe)"
			" DO UPDATE SET exe = excluded.exe RETURNING job",
			values, 2, &id, err);
}
