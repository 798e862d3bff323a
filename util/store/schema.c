// SPDX-License-Identifier: BSD-3-Clause
/* The tables (docs/store.md). A new version appends a step; released steps must never change. */
#include "util/store/schema.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/store/sums.h"

#define SELECT_IO \
	"SELECT j.job_id, j.use, j.uid, e.rank, n.name AS node, o.module, o.op, o.type," \
	" f.record_id, f.path, e.time_us, e.start_us, e.dur_us, e.total_us, e.off, e.len, e.max_byte, " \
	"e.switches," \
	" e.flushes, e.cnt, e.pt_sel, e.irreg_hslab, e.reg_hslab, e.ndims, e.npoints, e.dur_ns" \
	" FROM event e JOIN job j ON j.id = e.job JOIN operation o ON o.id = e.operation" \
	" JOIN file f ON f.id = e.file LEFT JOIN node n ON n.id = e.node;"

#define VIEW_IO "@NEW_IO@ AS " SELECT_IO

#define SELECT_JOBS \
	"SELECT j.job_id, j.use, j.uid, (SELECT min(x.exe) FROM job_exe x WHERE x.job = j.id) AS exe, j.first_us," \
	" j.last_us, j.from_log FROM job j;"

#define SUM(x)      "COALESCE(sum(" x "), 0), "
#define QUOTE(x)    #x
#define VALUE_OF(x) QUOTE(x)
#define LONG_PART   "(dur_us / " VALUE_OF(SCRIBE_TOTAL_SHORT) ")"
#define SHORT_PART  "(dur_us % " VALUE_OF(SCRIBE_TOTAL_SHORT) ")"

/* clang-format off: one call of SUM a line */
#define TABLE_TOTAL \
	"CREATE TABLE total (job BIGINT NOT NULL, second BIGINT NOT NULL, rank BIGINT NOT NULL," \
	" operation BIGINT NOT NULL, node BIGINT NOT NULL, n BIGINT NOT NULL, bytes @WIDE@ NOT NULL," \
	" dur_ns @WIDE@ NOT NULL, timed BIGINT NOT NULL, dur_us @WIDE@ NOT NULL, long_long @WIDE@ NOT NULL," \
	" long_short @WIDE@ NOT NULL, short_short @WIDE@ NOT NULL, least_us BIGINT, most_us BIGINT," \
	" PRIMARY KEY (job, second, rank, operation, node)) @KEYED_END@;" \
	"INSERT INTO total SELECT job, time_us / 1000000, rank, operation, COALESCE(node, 0), count(*), " SUM("len") \
		SUM("COALESCE(dur_ns, dur_us * 1000)") "count(dur_us), " SUM("dur_us") SUM( \
			LONG_PART " * " LONG_PART) SUM(LONG_PART " * " SHORT_PART) \
			SUM(SHORT_PART " * " SHORT_PART) "min(dur_us), max(dur_us) FROM event GROUP BY 1, 2, 3, 4, 5;"
/* clang-format on */

#define TABLE_COUNTER \
	"CREATE TABLE counter (job BIGINT NOT NULL, file BIGINT NOT NULL, rank BIGINT NOT NULL," \
	" metric BIGINT NOT NULL, value BIGINT NOT NULL, PRIMARY KEY (job, file, rank, metric)) @KEYED_END@;"

/* @NAME@: text of the dialect. Rows are copied by position, so keep the order of SCRIBE_STORE_COLUMNS. */
static const char *const steps[] = {
	/* 1 */
	"@SETUP@CREATE TABLE job (id @ID@, job_id BIGINT NOT NULL, use BIGINT NOT NULL, uid BIGINT NOT NULL,"
	" first_us BIGINT NOT NULL, last_us BIGINT NOT NULL, from_log BIGINT NOT NULL, UNIQUE (job_id, use));"
	"CREATE TABLE job_exe (job BIGINT NOT NULL, exe @TEXT@ NOT NULL, PRIMARY KEY (job, exe));"
	"CREATE INDEX job_exe_exe ON job_exe (exe, job);"
	"CREATE TABLE node (id @ID@, name @TEXT@ NOT NULL UNIQUE);"
	"CREATE TABLE file (id @ID@, record_id @TEXT@ NOT NULL UNIQUE, path @TEXT@);"
	"CREATE TABLE operation (id @ID@, module @TEXT@ NOT NULL, op @TEXT@ NOT NULL, type @TEXT@ NOT NULL,"
	" UNIQUE (module, op, type));"
	"CREATE TABLE input (name @TEXT@ PRIMARY KEY, bytes BIGINT NOT NULL, lines BIGINT NOT NULL,"
	" bad_lines BIGINT NOT NULL);"
	"CREATE TABLE event (job BIGINT NOT NULL, rank BIGINT NOT NULL, time_us BIGINT NOT NULL,"
	" key BIGINT NOT NULL, operation BIGINT NOT NULL, node BIGINT, file BIGINT NOT NULL, off BIGINT, len "
	"BIGINT,"
	" max_byte BIGINT, switches BIGINT, flushes BIGINT, cnt BIGINT, start_us BIGINT, dur_us BIGINT,"
	" total_us BIGINT, pt_sel BIGINT, irreg_hslab BIGINT, reg_hslab BIGINT, ndims BIGINT, npoints BIGINT,"
	" PRIMARY KEY (job, rank, time_us, key)) @EVENT_END@;"
	"CREATE INDEX event_job_time_rank ON event (job, time_us, rank);"
	"CREATE INDEX event_time_job_rank ON event (time_us, job, rank);"
	"CREATE VIEW io AS SELECT j.job_id, j.use, j.uid, e.rank, n.name AS node, o.module, o.op, o.type,"
	" f.record_id, f.path, e.time_us, e.start_us, e.dur_us, e.total_us, e.off, e.len, e.max_byte, "
	"e.switches,"
	" e.flushes, e.cnt, e.pt_sel, e.irreg_hslab, e.reg_hslab, e.ndims, e.npoints"
	" FROM event e JOIN job j ON j.id = e.job JOIN operation o ON o.id = e.operation"
	" JOIN file f ON f.id = e.file LEFT JOIN node n ON n.id = e.node;",
	/* 2: samples of nodes */
	"CREATE TABLE metric (id @ID@, name @TEXT@ NOT NULL UNIQUE);"
	"CREATE TABLE sample (node BIGINT NOT NULL, time_us BIGINT NOT NULL, metric BIGINT NOT NULL,"
	" value BIGINT NOT NULL, PRIMARY KEY (node, time_us, metric)) @KEYED_END@;"
	"CREATE VIEW node_load AS SELECT n.name AS node, s.time_us, m.name AS metric, s.value"
	" FROM sample s JOIN node n ON n.id = s.node JOIN metric m ON m.id = s.metric;",
	/* 3: totals of streams */
	"CREATE TABLE stream (job BIGINT NOT NULL, node BIGINT NOT NULL, since_us BIGINT NOT NULL,"
	" total @TEXT@ NOT NULL, value BIGINT NOT NULL, time_us BIGINT NOT NULL,"
	" PRIMARY KEY (job, node, since_us, total)) @KEYED_END@;",
	/* 4: functions of questions */
	"@FUNCTIONS@",
	/* 5: durations in nanoseconds; those stored before have none */
	"ALTER TABLE event ADD COLUMN dur_ns BIGINT;" VIEW_IO,
	/* 6: a record's path is a job's own; job 0: of any, as stored before */
	"@FILES_BY_JOB@" VIEW_IO,
	/* 7: counters of logs; seconds as us */
	TABLE_COUNTER,
	/* 8: for dashboards, which need no right to the tables */
	"CREATE VIEW jobs AS " SELECT_JOBS "CREATE VIEW modules AS SELECT DISTINCT module FROM operation;",
	/* 9: sums, so that a question does not read each operation */
	"@SPREAD_OF@" TABLE_TOTAL,
};
/* Temporary views in the place of the tables with other users' jobs; nodes, operations and samples are shared. */
#define JOB_IDS      "(SELECT id FROM @MAIN@job WHERE uid = @UID@)"
#define FILTERED(of) "CREATE TEMPORARY VIEW " of " AS SELECT * FROM @MAIN@" of " WHERE job IN " JOB_IDS ";"
static const char of_user[] =
	"CREATE TEMPORARY VIEW job AS SELECT * FROM @MAIN@job WHERE uid = @UID@;" FILTERED("event") FILTERED("job_exe")
		FILTERED("stream") FILTERED("counter") FILTERED("total")
	/* The user of a path of job 0 is not known. */
	"CREATE TEMPORARY VIEW file AS SELECT id, record_id, CASE WHEN job = 0 THEN NULL ELSE path END AS path, job"
	" FROM @MAIN@file WHERE job = 0 OR job IN " JOB_IDS ";"
	"CREATE TEMPORARY VIEW input AS SELECT * FROM @MAIN@input WHERE 1 = 0;"
	"CREATE TEMPORARY VIEW io AS " SELECT_IO "CREATE TEMPORARY VIEW jobs AS " SELECT_JOBS;

#define VERSION ((int64_t)(sizeof(steps) / sizeof(steps[0])))

static int on_version(void *ctx, int n, const char *const *names, const struct scribe_sql_value *v,
		      struct scribe_err *err)
{
	if (v)
		*(int64_t *)ctx = v[0].i;
	return 0;
}

static int read_version(const struct scribe_sql_kind_ops *ops, void *db, int64_t *ret_version, struct scribe_err *err)
{
	return ops->ask(db, "SELECT value FROM ioscribe_store WHERE name = 'schema'", false, NULL, 0, on_version,
			ret_version, err);
}

/* The caller frees. NULL: out of memory. */
static char *in_dialect(const struct scribe_sql_kind_ops *ops, const char *step, const char *uid)
{
	const struct {
		const char *mark, *word;
	} words[] = {{"@MAIN@", ops->main_prefix},    {"@UID@", uid},
		     {"@SETUP@", ops->setup},         {"@ID@", ops->id_type},
		     {"@TEXT@", ops->text_type},      {"@EVENT_END@", ops->event_end},
		     {"@KEYED_END@", ops->keyed_end}, {"@FUNCTIONS@", ops->setup_functions},
		     {"@NEW_IO@", ops->new_io},       {"@FILES_BY_JOB@", ops->files_by_job},
		     {"@WIDE@", ops->wide_type},      {"@SPREAD_OF@", ops->spread_of}};
	const size_t nwords = sizeof(words) / sizeof(words[0]);
	char *text = NULL;
	size_t size = 0;
	FILE *to = open_memstream(&text, &size);

	if (!to)
		return NULL;
	while (*step) {
		size_t i = 0;

		while (i < nwords && strncmp(step, words[i].mark, strlen(words[i].mark)))
			i++;
		fputs(i < nwords ? words[i].word : "", to);
		if (i == nwords)
			fputc(*step, to);
		step += i < nwords ? strlen(words[i].mark) : 1;
	}
	if (fclose(to)) {
		free(text);
		return NULL;
	}
	return text;
}

static int run_step(const struct scribe_sql_kind_ops *ops, void *db, int64_t version, struct scribe_err *err)
{
	struct scribe_sql_value value = scribe_sql_int(version + 1);
	char *sql = in_dialect(ops, steps[version], "");
	int rc = sql ? ops->run(db, sql, err) : scribe_err_set(err, -12, "store: out of memory");

	free(sql);
	/* In the step's transaction, so that version and tables agree. */
	return rc < 0 ? rc
		      : ops->ask(db, "UPDATE ioscribe_store SET value = $1 WHERE name = 'schema'", false, &value, 1,
				 NULL, NULL, err);
}

char *scribe_store_schema_of_user(const struct scribe_sql_kind_ops *ops, int64_t uid)
{
	char number[24];

	snprintf(number, sizeof(number), "%lld", (long long)uid);
	return in_dialect(ops, of_user, number);
}

static int check_newer(const char *place, int64_t version, struct scribe_err *err)
{
	return version <= VERSION ? 0
				  : scribe_err_set(err, -SCRIBE_E_VERSION,
						   "%s: made by a newer ioscribe (schema %lld, this is %lld)", place,
						   (long long)version, (long long)VERSION);
}

static int upgrade(const struct scribe_sql_kind_ops *ops, void *db, const char *place, struct scribe_err *err)
{
	int64_t version = 0;
	/* The writers' lock is held: when two stores open a new database, the second finds the tables. */
	int rc = ops->run(db,
			  "CREATE TABLE IF NOT EXISTS ioscribe_store (name TEXT PRIMARY KEY, value BIGINT NOT NULL);"
			  "INSERT INTO ioscribe_store VALUES ('schema', 0), ('deletions', 0) ON CONFLICT DO NOTHING;",
			  err);

	if (rc >= 0)
		rc = read_version(ops, db, &version, err);
	if (rc >= 0)
		rc = check_newer(place, version, err);
	for (; rc >= 0 && version < VERSION; version++)
		rc = run_step(ops, db, version, err);
	return rc;
}

int scribe_store_schema(const struct scribe_sql_kind_ops *ops, void *db, const char *place, bool read_only,
			struct scribe_err *err)
{
	struct scribe_err ignored;
	int64_t version = 0;
	int rc;

	/* A question must not change anything, so it only suggests the upgrade. */
	if (read_only) {
		if (read_version(ops, db, &version, &ignored) < 0)
			return scribe_err_set(err, -SCRIBE_E_STATE, "%s: no store of ioscribe: it lacks its tables",
					      place);
		if (version < VERSION)
			return scribe_err_set(err, -SCRIBE_E_VERSION,
					      "%s: made by an older ioscribe (schema %lld, this is %lld):"
					      " `ioscribe store` upgrades it",
					      place, (long long)version, (long long)VERSION);
		return check_newer(place, version, err);
	}
	rc = ops->begin(db, err);
	if (rc >= 0)
		rc = upgrade(ops, db, place, err);
	if (rc >= 0)
		rc = ops->commit(db, err);
	if (rc < 0)
		ops->roll_back(db);
	return rc;
}
