/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The module registry: constant data made from the counter lists by the preprocessor. Used in daemon, preloaded
 * runtime, command and programs with the log library. Must not know what counters mean.
 */
#include "logfmt/counters/module.h"

#include <string.h>

#define COUNT(a) ((int)(sizeof(a) / sizeof((a)[0])))

/*
 * Preloaded: arrays, because pointers are relocations at every start of a program. The odd term refuses longer
 * names at compile time.
 */
#ifdef SCRIBE_PRELOAD
#define COUNTER(name, text, rule) {name, rule + 0 * sizeof(char[sizeof(name) <= 48 ? 1 : -1])},
#else
#define COUNTER(name, text, rule) {name, text, rule},
#endif

#define LIST(var, NAME, PREFIX)                                                                           \
	static const struct scribe_counter var[] = {SCRIBE_##NAME##_COUNTERS(PREFIX)};
#define POSIX_(n, rule, text) COUNTER("POSIX_" #n, text, SCRIBE_RULE_##rule)
#define POSIX_F_(n, rule, text) COUNTER("POSIX_F_" #n, text, SCRIBE_RULE_##rule)
#define MPIIO_(n, rule, text) COUNTER("MPIIO_" #n, text, SCRIBE_RULE_##rule)
#define MPIIO_F_(n, rule, text) COUNTER("MPIIO_F_" #n, text, SCRIBE_RULE_##rule)
#define STDIO_(n, rule, text) COUNTER("STDIO_" #n, text, SCRIBE_RULE_##rule)
#define STDIO_F_(n, rule, text) COUNTER("STDIO_F_" #n, text, SCRIBE_RULE_##rule)
#define H5F_(n, rule, text) COUNTER("H5F_" #n, text, SCRIBE_RULE_##rule)
#define H5F_F_(n, rule, text) COUNTER("H5F_F_" #n, text, SCRIBE_RULE_##rule)
#define H5D_(n, rule, text) COUNTER("H5D_" #n, text, SCRIBE_RULE_##rule)
#define H5D_F_(n, rule, text) COUNTER("H5D_F_" #n, text, SCRIBE_RULE_##rule)
#define PNETCDF_FILE_(n, rule, text) COUNTER("PNETCDF_FILE_" #n, text, SCRIBE_RULE_##rule)
#define PNETCDF_FILE_F_(n, rule, text) COUNTER("PNETCDF_FILE_F_" #n, text, SCRIBE_RULE_##rule)
#define PNETCDF_VAR_(n, rule, text) COUNTER("PNETCDF_VAR_" #n, text, SCRIBE_RULE_##rule)
#define PNETCDF_VAR_F_(n, rule, text) COUNTER("PNETCDF_VAR_F_" #n, text, SCRIBE_RULE_##rule)
#define BGQ_(n, rule, text) COUNTER("BGQ_" #n, text, SCRIBE_RULE_##rule)
#define BGQ_F_(n, rule, text) COUNTER("BGQ_F_" #n, text, SCRIBE_RULE_##rule)
#define MDHIM_(n, rule, text) COUNTER("MDHIM_" #n, text, SCRIBE_RULE_##rule)
#define MDHIM_F_(n, rule, text) COUNTER("MDHIM_F_" #n, text, SCRIBE_RULE_##rule)
#define NULL_(n, rule, text) COUNTER("NULL_" #n, text, SCRIBE_RULE_##rule)
#define NULL_F_(n, rule, text) COUNTER("NULL_F_" #n, text, SCRIBE_RULE_##rule)
#define DFS_(n, rule, text) COUNTER("DFS_" #n, text, SCRIBE_RULE_##rule)
#define DFS_F_(n, rule, text) COUNTER("DFS_F_" #n, text, SCRIBE_RULE_##rule)
#define LAYERS_(n, rule, text) COUNTER("LAYERS_" #n, text, SCRIBE_RULE_##rule)
#define LAYERS_F_(n, rule, text) COUNTER("LAYERS_F_" #n, text, SCRIBE_RULE_##rule)
#define CACHE_(n, rule, text) COUNTER("CACHE_" #n, text, SCRIBE_RULE_##rule)
#define CACHE_F_(n, rule, text) COUNTER("CACHE_F_" #n, text, SCRIBE_RULE_##rule)
#define MOUNTS_(n, rule, text) COUNTER("MOUNTS_" #n, text, SCRIBE_RULE_##rule)
#define CUFILE_(n, rule, text) COUNTER("CUFILE_" #n, text, SCRIBE_RULE_##rule)
#define MOUNTS_F_(n, rule, text) COUNTER("MOUNTS_F_" #n, text, SCRIBE_RULE_##rule)
#define CUFILE_F_(n, rule, text) COUNTER("CUFILE_F_" #n, text, SCRIBE_RULE_##rule)
#define DAOS_(n, rule, text) COUNTER("DAOS_" #n, text, SCRIBE_RULE_##rule)
#define DAOS_F_(n, rule, text) COUNTER("DAOS_F_" #n, text, SCRIBE_RULE_##rule)

LIST(posix_counters, POSIX, POSIX_)
LIST(posix_fcounters, POSIX_F, POSIX_F_)
LIST(mpiio_counters, MPIIO, MPIIO_)
LIST(mpiio_fcounters, MPIIO_F, MPIIO_F_)
LIST(stdio_counters, STDIO, STDIO_)
LIST(stdio_fcounters, STDIO_F, STDIO_F_)
LIST(h5f_counters, H5F, H5F_)
LIST(h5f_fcounters, H5F_F, H5F_F_)
LIST(h5d_counters, H5D, H5D_)
LIST(h5d_fcounters, H5D_F, H5D_F_)
LIST(pnetcdf_file_counters, PNETCDF_FILE, PNETCDF_FILE_)
LIST(pnetcdf_file_fcounters, PNETCDF_FILE_F, PNETCDF_FILE_F_)
LIST(pnetcdf_var_counters, PNETCDF_VAR, PNETCDF_VAR_)
LIST(pnetcdf_var_fcounters, PNETCDF_VAR_F, PNETCDF_VAR_F_)
LIST(bgq_counters, BGQ, BGQ_)
LIST(bgq_fcounters, BGQ_F, BGQ_F_)
LIST(mdhim_counters, MDHIM, MDHIM_)
LIST(mdhim_fcounters, MDHIM_F, MDHIM_F_)
LIST(null_counters, NULL, NULL_)
LIST(null_fcounters, NULL_F, NULL_F_)
LIST(dfs_counters, DFS, DFS_)
LIST(dfs_fcounters, DFS_F, DFS_F_)
LIST(layers_counters, LAYERS, LAYERS_)
LIST(layers_fcounters, LAYERS_F, LAYERS_F_)
LIST(cache_counters, CACHE, CACHE_)
LIST(cache_fcounters, CACHE_F, CACHE_F_)
LIST(mounts_counters, MOUNTS, MOUNTS_)
LIST(mounts_fcounters, MOUNTS_F, MOUNTS_F_)
LIST(cufile_counters, CUFILE, CUFILE_)
LIST(cufile_fcounters, CUFILE_F, CUFILE_F_)
LIST(daos_counters, DAOS, DAOS_)
LIST(daos_fcounters, DAOS_F, DAOS_F_)

static const struct scribe_counter posix_ext_counters[] = {
#define SCRIBE_X(n, text) COUNTER("POSIX_EXT_" #n, text, SCRIBE_RULE_SUM)
	SCRIBE_EXT_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
#define SCRIBE_X(n, text) COUNTER("POSIX_EXT_" #n, text, SCRIBE_RULE_RANKS)
	SCRIBE_EXT_RANKS(SCRIBE_X)
#undef SCRIBE_X
};
static const struct scribe_counter posix_ext_fcounters[] = {
	COUNTER("POSIX_EXT_F_CLOSE_TIME", "time in close, seconds (also in POSIX_F_META_TIME)", SCRIBE_RULE_SUM)
	COUNTER("POSIX_EXT_F_META_TIME", "time in the calls counted only here, seconds", SCRIBE_RULE_SUM)
};
static const struct scribe_counter process_counters[] = {
#define SCRIBE_X(N, n, text) COUNTER("PROCESS_" #N, text, SCRIBE_RULE_KEEP)
	SCRIBE_PROCESS_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
};
static const struct scribe_counter process_fcounters[] = {
#define SCRIBE_X(N, n, text) COUNTER("PROCESS_F_" #N, text, SCRIBE_RULE_KEEP)
	SCRIBE_PROCESS_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
};
static const struct scribe_counter ledger_counters[] = {
#define SCRIBE_X(n, meaning, text) COUNTER("LEDGER_" #n, text, SCRIBE_RULE_SUM)
	SCRIBE_LEDGER(SCRIBE_X)
#undef SCRIBE_X
};
static const struct scribe_counter ledger_fcounters[] = {
#define SCRIBE_X(n, meaning, text) COUNTER("LEDGER_F_" #n, text, SCRIBE_RULE_SUM)
	SCRIBE_LEDGER_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
};
static const struct scribe_counter apmpi_counters[] = {
#define SCRIBE_Y(n) COUNTER(#n, "calls, bytes or messages of a size", SCRIBE_RULE_SUM)
#define SCRIBE_X(op, kind) SCRIBE_APMPI_##kind(SCRIBE_Y, op)
	SCRIBE_APMPI_OPS(SCRIBE_X)
#undef SCRIBE_X
#undef SCRIBE_Y
};
static const struct scribe_counter apmpi_fcounters[] = {
#define SCRIBE_X(op, kind)                                                                                \
	COUNTER(#op "_TOTAL_TIME", "time in all calls", SCRIBE_RULE_SUM)                                        \
	COUNTER(#op "_MIN_TIME", "shortest call", SCRIBE_RULE_FIRST)                                            \
	COUNTER(#op "_MAX_TIME", "longest call", SCRIBE_RULE_MAX)
	SCRIBE_APMPI_OPS(SCRIBE_X)
#undef SCRIBE_X
#define SCRIBE_X(op, kind) COUNTER(#op "_TOTAL_SYNC_TIME", "time waiting for other ranks", SCRIBE_RULE_SUM)
	SCRIBE_APMPI_SYNC_OPS(SCRIBE_X)
#undef SCRIBE_X
	COUNTER("MPI_TOTAL_COMM_TIME", "time in all MPI operations", SCRIBE_RULE_SUM)
	COUNTER("MPI_TOTAL_COMM_SYNC_TIME", "time waiting for other ranks in all MPI operations", SCRIBE_RULE_SUM)
};

static const unsigned char ledger_meanings[] = {
#define SCRIBE_X(n, meaning, text) SCRIBE_IS_##meaning,
	SCRIBE_LEDGER(SCRIBE_X) SCRIBE_LEDGER_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
};

enum scribe_ledger_meaning scribe_ledger_meaning(int i)
{
	/* A counter that is unknown here is not taken for a loss. */
	return i >= 0 && i < COUNT(ledger_meanings) ? ledger_meanings[i] : SCRIBE_IS_FACT;
}

/* LEDGER records always have 64 and 8 words: docs/format.md, "LEDGER". */
_Static_assert(COUNT(ledger_counters) <= SCRIBE_LEDGER_PLACES, "ledger is full");
_Static_assert(COUNT(ledger_fcounters) <= SCRIBE_LEDGER_F_PLACES, "ledger is full");

/* FIXED: all records have one length. BARE: without counters in the common form. */
#define COUNTERS(lower, type)                                                                             \
	.ncounters = COUNT(lower##_counters), .nfcounters = COUNT(lower##_fcounters),                     \
	.counters = lower##_counters, .fcounters = lower##_fcounters,                                     \
	.counters_at = offsetof(struct scribe_##type##_record, counters),                                 \
	.fcounters_at = offsetof(struct scribe_##type##_record, fcounters)
#define FIXED(id_, name_, prefix_, ver, lower, reduces_)                                                  \
	{                                                                                                 \
		.id = SCRIBE_MOD_##id_, .name = name_, .prefix = prefix_, .version = ver, .accepts = ver, \
		.record_bytes = sizeof(struct scribe_##lower##_record), COUNTERS(lower, lower),           \
		.reduces = reduces_,                                                                      \
	}
#define BARE(id_, name_, ver, accepts_)                                                                   \
	{                                                                                                 \
		.id = SCRIBE_MOD_##id_, .name = name_, .prefix = name_, .version = ver,                   \
		.accepts = accepts_                                                                       \
	}

/* By id without APXC, DAOS followed by POSIX_EXT; versions of Darshan 3.5.0. */
static const struct scribe_module modules[] = {
	FIXED(NULL, "NULL", "NULL", 1, null, true),
	FIXED(POSIX, "POSIX", "POSIX", 4, posix, true),
	FIXED(MPIIO, "MPI-IO", "MPIIO", 3, mpiio, true),
	FIXED(H5F, "H5F", "H5F", 3, h5f, true),
	FIXED(H5D, "H5D", "H5D", 2, h5d, true),
	FIXED(PNETCDF_FILE, "PNETCDF_FILE", "PNETCDF_FILE", 3, pnetcdf_file, true),
	FIXED(PNETCDF_VAR, "PNETCDF_VAR", "PNETCDF_VAR", 1, pnetcdf_var, true),
	FIXED(BGQ, "BG/Q", "BGQ", 2, bgq, true),
	BARE(LUSTRE, "LUSTRE", 2, 2),
	FIXED(STDIO, "STDIO", "STDIO", 2, stdio, true),
	BARE(DXT_POSIX, "DXT_POSIX", 1, 2),
	BARE(DXT_MPIIO, "DXT_MPIIO", 2, 3),
	{.id = SCRIBE_MOD_MDHIM, .name = "MDHIM", .prefix = "MDHIM", .version = 1, .accepts = 1,
	 COUNTERS(mdhim, mdhim), .reduces = true},
	{.id = SCRIBE_MOD_APMPI, .name = "APMPI", .prefix = "MPI", .version = 1, .accepts = 1,
	 COUNTERS(apmpi, apmpi), .reduces = true},
	BARE(HEATMAP, "HEATMAP", 1, 1),
	FIXED(DFS, "DFS", "DFS", 1, dfs, true),
	FIXED(DAOS, "DAOS", "DAOS", 1, daos, true),
	FIXED(POSIX_EXT, "POSIX_EXT", "POSIX_EXT", 3, posix_ext, true),
	{.id = SCRIBE_MOD_PROCESS, .name = "PROCESS", .prefix = "PROCESS", .version = 2, .accepts = 2,
	 .record_bytes = sizeof(struct scribe_process_record), .ncounters = COUNT(process_counters),
	 .nfcounters = COUNT(process_fcounters), .counters = process_counters, .fcounters = process_fcounters,
	 .counters_at = offsetof(struct scribe_process_record, proc_id),
	 .fcounters_at = offsetof(struct scribe_process_record, start)},
	FIXED(LEDGER, "LEDGER", "LEDGER", 1, ledger, false),
	FIXED(LAYERS, "LAYERS", "LAYERS", 1, layers, true),
	FIXED(CACHE, "CACHE", "CACHE", 1, cache, true),
	FIXED(MOUNTS, "MOUNTS", "MOUNTS", 1, mounts, false),
	FIXED(CUFILE, "CUFILE", "CUFILE", 1, cufile, true),
};

_Static_assert(SCRIBE_POSIX_EXT_F_COUNT == COUNT(posix_ext_fcounters), "POSIX_EXT times");

const struct scribe_module *scribe_module_by_id(int id)
{
	/* Called for each record, therefore an index and not a search. APXC is not in the table. */
	int at = id < SCRIBE_MOD_APXC ? id : id - 1;

	if (id < 0 || id == SCRIBE_MOD_APXC)
		return NULL;
	/* Ids 18 to 47 are not assigned; the table continues with ioscribe's own modules. */
	if (id >= SCRIBE_MOD_POSIX_EXT)
		at = id - SCRIBE_MOD_POSIX_EXT + SCRIBE_MOD_DAOS;
	else if (id > SCRIBE_MOD_DAOS)
		return NULL;
	return at < COUNT(modules) ? &modules[at] : NULL;
}

const struct scribe_module *scribe_module_by_name(const char *name)
{
	/* Options accept the printed name and the counters' prefix: "MPI-IO" and "MPIIO" are one module. */
	for (int i = 0; i < COUNT(modules); i++) {
		if (strcmp(modules[i].name, name) == 0 || strcmp(modules[i].prefix, name) == 0)
			return &modules[i];
	}
	return NULL;
}
