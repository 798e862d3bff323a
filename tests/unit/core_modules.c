/* SPDX-License-Identifier: BSD-3-Clause */
/* The module interface, as a module sees it, and the NULL module as its example. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#include "logfmt/base/hash.h"
#include "logfmt/counters/records.h"
#include "logfmt/file/names.h"
#include "logfmt/file/writer.h"
#include "runtime/core/core.h"
#include "runtime/core/module_table.h"

#define NREC sizeof(struct scribe_null_record)

struct seen {
	size_t records, bytes, names;
	char name[64];
	struct scribe_null_record last;
};

static int see_name(void *ctx, uint64_t id, const char *name, size_t len)
{
	struct seen *s = ctx;

	assert_int_equal(id, scribe_core_gen_record_id(name));
	assert_int_equal(len, strlen(name));
	strcpy(s->name, name);
	s->names++;
	return 0;
}

static int see_record(void *ctx, int module, const void *rec, size_t bytes)
{
	struct seen *s = ctx;

	assert_int_equal(module, SCRIBE_MOD_NULL);
	assert_int_equal(bytes, NREC);
	memcpy(&s->last, rec, NREC);
	s->records++;
	s->bytes += bytes;
	return 0;
}

static struct scribe_core *core_of(int64_t rank, size_t memory)
{
	struct scribe_core_options o = {.rank = rank, .memory = memory, .mem_alignment = 16};
	struct scribe_core *core = scribe_core_new(&o);

	assert_non_null(core);
	return core;
}

static void registration(void **state)
{
	struct scribe_core *core = core_of(7, 10 * NREC);
	size_t bytes = 4 * NREC;
	int rank = -1, align = -1;

	(void)state;
	assert_int_equal(scribe_core_register_module(core, -1, NULL, &bytes, NULL, NULL), -EINVAL);
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MAX_MODULES, NULL, &bytes, NULL, NULL), -EINVAL);
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_NULL, NULL, &bytes, &rank, &align), 0);
	assert_int_equal(rank, 7);
	assert_int_equal(align, 16);
	assert_int_equal(bytes, 4 * NREC);
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_NULL, NULL, &bytes, NULL, NULL), -EEXIST);
	bytes = 100 * NREC; /* wanted too much: granted what is left */
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_BGQ, NULL, &bytes, NULL, NULL), 0);
	assert_int_equal(bytes, 6 * NREC);
	bytes = NREC;
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_MDHIM, NULL, &bytes, NULL, NULL), -ENOMEM);
	scribe_core_unregister_module(core, SCRIBE_MOD_BGQ); /* gives its memory back */
	bytes = NREC;
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_MDHIM, NULL, &bytes, NULL, NULL), 0);
	scribe_core_unregister_module(core, 63); /* not registered: nothing */
	scribe_core_free(core);
	assert_null(scribe_core_free(NULL));
}

static void memory_runs_out(void **state)
{
	struct scribe_core *core = core_of(0, 0);
	size_t bytes = 2 * NREC;
	struct seen s = {0};
	const struct scribe_core_sink sink = {see_name, see_record, &s};

	(void)state;
	assert_null(scribe_core_register_record(core, 1, NULL, SCRIBE_MOD_NULL, NREC, NULL)); /* no module */
	assert_int_equal(scribe_core_partial(core), 0);
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_NULL, NULL, &bytes, NULL, NULL), 0);
	for (uint64_t id = 1; id <= 2; id++) {
		struct scribe_null_record *r = scribe_core_register_record(core, id, NULL, SCRIBE_MOD_NULL, NREC, NULL);

		assert_non_null(r);
		assert_int_equal((uintptr_t)r % 8, 0);
		assert_int_equal(r->counters[0], 0);
		r->base.id = id;
		assert_ptr_equal(scribe_core_find_record(core, id, SCRIBE_MOD_NULL), r);
	}
	assert_int_equal(scribe_core_partial(core), 0);
	assert_null(scribe_core_register_record(core, 3, "x", SCRIBE_MOD_NULL, NREC, NULL));
	assert_int_equal(scribe_core_partial(core), 1u << SCRIBE_MOD_NULL);
	assert_null(scribe_core_find_record(core, 3, SCRIBE_MOD_NULL));
	assert_int_equal(scribe_core_finish(core, &sink), 0);
	assert_int_equal(s.records, 2);
	assert_int_equal(s.names, 0); /* the name of a refused record is not kept */
	scribe_core_free(core);
}

static void drop_the_second(struct scribe_core *core, void **buf, size_t *buf_bytes)
{
	assert_int_equal(scribe_core_rank(core), 3);
	assert_int_equal(*buf_bytes, 2 * NREC);
	assert_non_null(*buf);
	*buf_bytes = NREC;
}

static void shutdown_is_asked(void **state)
{
	struct scribe_core *core = core_of(3, 0);
	struct seen s = {0};
	const struct scribe_core_sink sink = {see_name, see_record, &s};
	size_t bytes = 4 * NREC;

	(void)state;
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_NULL, drop_the_second, &bytes, NULL, NULL), 0);
	assert_non_null(scribe_core_register_record(core, 11, NULL, SCRIBE_MOD_NULL, NREC, NULL));
	assert_non_null(scribe_core_register_record(core, 22, NULL, SCRIBE_MOD_NULL, NREC, NULL));
	assert_int_equal(scribe_core_finish(core, &sink), 0);
	assert_int_equal(s.records, 1);
	scribe_core_free(core);
}

static void paths_and_file_systems(void **state)
{
	static const struct scribe_mount mounts[] = {{"ext4", "/proc"}, {"xfs", "/"}};
	struct scribe_exclusions e = {0};
	struct scribe_core_options o = {.paths = &e, .mounts = mounts, .nmounts = 2};
	struct scribe_fs_info fs = {0};
	struct scribe_core *core;
	size_t bytes = 10 * NREC;
	char *clean;

	(void)state;
	assert_int_equal(scribe_exclusions_default(&e), 0);
	core = scribe_core_new(&o);
	assert_true(scribe_core_excluded_path(core, "/etc/passwd"));
	assert_false(scribe_core_excluded_path(core, "/home/x"));
	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_NULL, NULL, &bytes, NULL, NULL), 0);
	assert_non_null(scribe_core_register_record(core, 1, "/proc/x", SCRIBE_MOD_NULL, NREC, &fs));
	assert_string_equal(fs.type, "ext4");
	assert_string_equal(fs.mount, "/proc");
	assert_true(fs.block_bytes > 0);
	assert_non_null(scribe_core_register_record(core, 2, "/process", SCRIBE_MOD_NULL, NREC, &fs));
	assert_string_equal(fs.type, "xfs");
	assert_non_null(scribe_core_register_record(core, 3, NULL, SCRIBE_MOD_NULL, NREC, &fs));
	assert_null(fs.type);
	clean = scribe_clean_path("/a//b/./c/../d");
	assert_string_equal(clean, "/a/b/d");
	free(clean);
	clean = scribe_clean_path("x");
	assert_int_equal(clean[0], '/');
	free(clean);
	assert_true(scribe_core_wtime(core) > 0);
	scribe_core_free(core);
	scribe_exclusions_clear(&e);
}

static void null_module(void **state)
{
	struct scribe_module_process p = {.pid = 5, .status = 3 << 8, .start = 1.5, .end = 2.0};
	struct scribe_core *core = core_of(2, 1 << 20);
	struct seen s = {0};
	const struct scribe_core_sink sink = {see_name, see_record, &s};

	(void)state;
	assert_false(scribe_module_is_on(&scribe_module_null, ""));
	assert_true(scribe_module_is_on(&scribe_module_null, "NULL"));
	assert_false(scribe_module_is_on(&scribe_module_null, "NULL,-NULL"));
	assert_false(scribe_module_is_on(&scribe_module_null, "NULLX,XNULL"));
	scribe_module_null.rank_begin(core);
	scribe_module_null.process_end(core, &p);
	p = (struct scribe_module_process){.status = 1 << 8, .start = 3, .end = 7};
	scribe_module_null.process_end(core, &p);
	assert_int_equal(scribe_core_finish(core, &sink), 0);
	assert_int_equal(s.records, 1);
	assert_string_equal(s.name, "<null-module>");
	assert_int_equal(s.last.base.rank, 2);
	assert_int_equal(s.last.counters[SCRIBE_NULL_FOOS], 2);
	assert_int_equal(s.last.counters[SCRIBE_NULL_FOO_MAX_DAT], 3);
	assert_true(s.last.fcounters[SCRIBE_NULL_F_FOO_TIMESTAMP] == 1.5);
	assert_true(s.last.fcounters[SCRIBE_NULL_F_FOO_MAX_DURATION] == 4.0);
	scribe_core_free(core);
	/* a rank in which nothing ended; and one without memory: no record, no harm */
	core = core_of(0, 1 << 20);
	s = (struct seen){0};
	scribe_module_null.rank_begin(core);
	assert_int_equal(scribe_core_finish(core, &sink), 0);
	assert_int_equal(s.records, 0);
	scribe_core_free(core);
	core = core_of(0, 8);
	scribe_module_null.rank_begin(core);
	scribe_module_null.process_end(core, &p);
	assert_int_equal(scribe_core_partial(core), 1u << SCRIBE_MOD_NULL);
	assert_int_equal(scribe_core_finish(core, &sink), 0);
	scribe_core_free(core);
}

/*
 * A module of an object store: its records are named by object ids, 16 bytes of
 * any values. One is unnamed, one has a path.
 */
static const unsigned char objects[3][16] = {
	{0, 0, 0, 0, 0, 0, 0x10, 0, 42, 0, 0, 0, 0xff, 0xfe, 0, 0},
	{0},
	{'/', 't', 'm', 'p', '\n', '\t', 0x80, '\\', 1, 2, 3, 4, 5, 6, 7, 8},
};

static void object_store_record(struct scribe_core *core, uint64_t id, void *at)
{
	struct scribe_daos_record *r = at;

	assert_non_null(r);
	r->base = (struct scribe_base_record){id, scribe_core_rank(core)};
	r->counters[SCRIBE_DAOS_OBJ_OPENS] = 1;
}

static void object_store(struct scribe_core *core)
{
	size_t bytes = 5 * sizeof(struct scribe_daos_record), n = sizeof(struct scribe_daos_record);
	uint64_t id;

	assert_int_equal(scribe_core_register_module(core, SCRIBE_MOD_DAOS, NULL, &bytes, NULL, NULL), 0);
	for (int i = 0; i < 3; i++) {
		id = scribe_core_gen_object_id(objects[i], sizeof(objects[i]));
		object_store_record(
			core, id,
			scribe_core_register_object(core, id, objects[i], sizeof(objects[i]), SCRIBE_MOD_DAOS, n));
	}
	object_store_record(core, 4, scribe_core_register_object(core, 4, NULL, 0, SCRIBE_MOD_DAOS, n));
	id = scribe_core_gen_record_id("/pool/container");
	object_store_record(core, id,
			    scribe_core_register_record(core, id, "/pool/container", SCRIBE_MOD_DAOS, n, NULL));
	assert_null(scribe_core_register_object(core, 5, "x", SCRIBE_MAX_NAME_BYTES + 1, SCRIBE_MOD_DAOS, n));
}

static int log_name(void *ctx, uint64_t id, const char *name, size_t len)
{
	return scribe_writer_name(ctx, id, name, len);
}

static int log_record(void *ctx, int module, const void *rec, size_t bytes)
{
	return scribe_writer_record(ctx, module, rec, bytes);
}

/* What the module registered, in a log and read again. */
static void object_ids(void **state)
{
	struct scribe_core *core = core_of(1, 0);
	int fd = memfd_create("objects", MFD_CLOEXEC);
	struct scribe_log_job job = {.nprocs = 2};
	struct scribe_names *names = scribe_names_new();
	struct scribe_core_sink sink = {log_name, log_record, NULL};
	struct scribe_reader *r;
	struct scribe_writer *w;
	const void *rec;
	size_t len, records = 0;

	(void)state;
	assert_int_equal(scribe_writer_create_fd(fd, NULL, &w, NULL), 0);
	assert_int_equal(scribe_writer_job(w, &job, "store", NULL, 0), 0);
	object_store(core);
	sink.ctx = w;
	assert_int_equal(scribe_core_finish(core, &sink), 0);
	assert_int_equal(scribe_writer_finish(w), 0);
	scribe_writer_free(w);
	scribe_core_free(core);
	assert_int_equal(scribe_reader_open_fd(fd, "objects", &r, NULL), 0);
	assert_int_equal(scribe_names_load(names, r, NULL), 0);
	assert_int_equal(scribe_names_count(names), 4);
	while (scribe_reader_borrow_record(r, SCRIBE_MOD_DAOS, &rec, &len) == 1) {
		const struct scribe_base_record *base = rec;
		const char *name = scribe_names_find(names, base->id, &len);

		assert_int_equal(base->rank, 1);
		if (records < 3) {
			assert_int_equal(len, sizeof(objects[0]));
			assert_memory_equal(name, objects[records], len);
			assert_int_equal(scribe_name_printable(name, len), 0);
			assert_int_equal(base->id, scribe_record_id(name, len));
		} else if (records == 3) {
			assert_null(name);
		} else {
			assert_string_equal(name, "/pool/container");
			assert_int_equal(scribe_name_printable(name, len), 1);
		}
		records++;
	}
	assert_int_equal(records, 5);
	scribe_names_free(names);
	scribe_reader_free(r);
	close(fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(registration),      cmocka_unit_test(memory_runs_out),
		cmocka_unit_test(shutdown_is_asked), cmocka_unit_test(paths_and_file_systems),
		cmocka_unit_test(null_module),       cmocka_unit_test(object_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
