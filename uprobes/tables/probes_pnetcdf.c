// SPDX-License-Identifier: BSD-3-Clause
/*
 * PnetCDF's probe table: every form of access times every buffer type, by macros. Rows as in probes.c. Must not
 * know: ELF, BPF.
 */
#include "logfmt/counters/records.h"
#include "uprobes/tables/probe.h"

#define X     SCRIBE_ARG_NONE
#define READ  SCRIBE_OP_READ
#define WRITE SCRIBE_OP_WRITE
#define ARGS(...)                                                                                            \
	{                                                                                                    \
		__VA_ARGS__                                                                                  \
	}
#define VAR(counter)   SCRIBE_PNETCDF_VAR_##counter
#define FILE_(counter) SCRIBE_PNETCDF_FILE_##counter

/* Roles: file, variable, number or file type, counts, strides. */
#define ARGS_VAR  ARGS(0, 1, X, X, X, X)
#define ARGS_VAR1 ARGS(0, 1, X, X, X, X)
#define ARGS_VARA ARGS(0, 1, X, 3, X, X)
#define ARGS_VARS ARGS(0, 1, X, 3, 4, X)
#define ARGS_VARM ARGS(0, 1, X, 3, 4, X)
#define ARGS_VARN ARGS(0, 1, 2, 4, X, X)
#define ARGS_VARD ARGS(0, 1, 2, X, X, X)
#define ARGS_MANY ARGS(0, X, X, X, X, X)

#define ROW(name, fn, op, verb, form, flags, args)                                                           \
	{                                                                                                    \
		name, "PNETCDF_VAR_" #verb "_" #form, SCRIBE_FN_NC_##fn, op, VAR(verb##_##form),             \
			SCRIBE_POINT_RETURNS | (flags), SCRIBE_NC_##form, 0, ARGS_##args \
	}
/* Flexible form, and one per type. */
#define TYPES(stem, tail, ...)                                                                               \
	ROW(stem tail, __VA_ARGS__), ROW(stem "_text" tail, __VA_ARGS__),                                    \
		ROW(stem "_schar" tail, __VA_ARGS__), ROW(stem "_uchar" tail, __VA_ARGS__),                  \
		ROW(stem "_short" tail, __VA_ARGS__), ROW(stem "_ushort" tail, __VA_ARGS__),                 \
		ROW(stem "_int" tail, __VA_ARGS__), ROW(stem "_uint" tail, __VA_ARGS__),                     \
		ROW(stem "_long" tail, __VA_ARGS__), ROW(stem "_float" tail, __VA_ARGS__),                   \
		ROW(stem "_double" tail, __VA_ARGS__), ROW(stem "_longlong" tail, __VA_ARGS__),              \
		ROW(stem "_ulonglong" tail, __VA_ARGS__)
#define BOTH(stem, ...) TYPES(stem, "", __VA_ARGS__), TYPES_COLL(stem, __VA_ARGS__)
#define TYPES_COLL(stem, fn, op, verb, form, flags, args)                                                    \
	TYPES(stem, "_all", fn, op, verb, form, (flags) & ~SCRIBE_POINT_INDEP, args)
#define BLOCKING(name, form)                                                                                 \
	BOTH("ncmpi_put_" name, DATA, WRITE, PUT, form, SCRIBE_POINT_INDEP, form),                     \
		BOTH("ncmpi_get_" name, DATA, READ, GET, form, SCRIBE_POINT_INDEP, form)
#define POSTED(name, form)                                                                                   \
	TYPES("ncmpi_iput_" name, "", DATA, WRITE, IPUT, form, 0, form),                              \
		TYPES("ncmpi_iget_" name, "", DATA, READ, IGET, form, 0, form),                       \
		TYPES("ncmpi_bput_" name, "", DATA, WRITE, BPUT, form, 0, form)
#define MANY(name, form)                                                                                     \
	BOTH("ncmpi_mput_" name, MANY, WRITE, PUT, form, SCRIBE_POINT_INDEP, MANY),                      \
		BOTH("ncmpi_mget_" name, MANY, READ, GET, form, SCRIBE_POINT_INDEP, MANY)
#define FORM(name, form) BLOCKING(name, form), POSTED(name, form)

#define ON_FILE(name, what, fn, count, ...)                                                                  \
	{                                                                                                    \
		name, what, SCRIBE_FN_NC_##fn, 0, count, SCRIBE_POINT_RETURNS, 0, 0, ARGS(__VA_ARGS__)        \
	}
#define META(name) ON_FILE(name, "PNETCDF_FILE_F_META_TIME", META, SCRIBE_COUNT_NONE, 0, X, X, X, X, X)
#define POST(name)                                                                                           \
	{                                                                                                    \
		name, "one variable (inside mput, mget)", SCRIBE_FN_NC_POST, 0, SCRIBE_COUNT_NONE,           \
			SCRIBE_POINT_RETURNS | SCRIBE_POINT_INNER, 0, 0, ARGS(1, 3, 4, X, X, X)                \
	}

const struct scribe_probe scribe_probes_pnetcdf[] = {
	/* var: all, var1: one value, varn: several, vard: by file type. */
	ON_FILE("ncmpi_create", "PNETCDF_FILE_CREATES", OPEN, FILE_(CREATES), 1, 4, X, X, X, X),
	ON_FILE("ncmpi_open", "PNETCDF_FILE_OPENS", OPEN, FILE_(OPENS), 1, 4, X, X, X, X),
	ON_FILE("ncmpi_close", "PNETCDF_FILE_F_CLOSE_*_TIMESTAMP", CLOSE, SCRIBE_COUNT_NONE, 0, X, X, X, X,
		X),
	ON_FILE("ncmpi_abort", "PNETCDF_FILE_F_CLOSE_*_TIMESTAMP", CLOSE, SCRIBE_COUNT_NONE, 0, X, X, X, X,
		X),
	ON_FILE("ncmpi_redef", "PNETCDF_FILE_REDEFS", META, FILE_(REDEFS), 0, X, X, X, X, X),
	ON_FILE("ncmpi_sync", "PNETCDF_FILE_SYNCS", META, FILE_(SYNCS), 0, X, X, X, X, X),
	META("ncmpi_enddef"),
	META("ncmpi__enddef"),
	META("ncmpi_begin_indep_data"),
	META("ncmpi_end_indep_data"),
	ON_FILE("ncmpi_wait", "PNETCDF_FILE_INDEP_WAITS, _WAIT_FAILURES", WAIT, FILE_(INDEP_WAITS), 0, X, X,
		X, X, X),
	ON_FILE("ncmpi_wait_all", "PNETCDF_FILE_COLL_WAITS, _WAIT_FAILURES", WAIT, FILE_(COLL_WAITS), 0, X, X,
		X, X, X),
	ON_FILE("ncmpi_def_var", "PNETCDF_VAR_OPENS", VAR_OPEN, SCRIBE_COUNT_NONE, 0, 5, X, X, X, X),
	ON_FILE("ncmpi_inq_varid", "PNETCDF_VAR_OPENS", VAR_OPEN, SCRIBE_COUNT_NONE, 0, 2, X, X, X, X),
	FORM("var", VAR),
	FORM("var1", VAR1),
	FORM("vara", VARA),
	FORM("vars", VARS),
	FORM("varm", VARM),
	FORM("varn", VARN),
	ROW("ncmpi_put_vard", DATA, WRITE, PUT, VARD, SCRIBE_POINT_INDEP, VARD),
	ROW("ncmpi_put_vard_all", DATA, WRITE, PUT, VARD, 0, VARD),
	ROW("ncmpi_get_vard", DATA, READ, GET, VARD, SCRIBE_POINT_INDEP, VARD),
	ROW("ncmpi_get_vard_all", DATA, READ, GET, VARD, 0, VARD),
	MANY("var", VAR),
	MANY("var1", VAR1),
	MANY("vara", VARA),
	MANY("vars", VARS),
	MANY("varm", VARM),
	POST("ncmpio_igetput_varm"),
};
const size_t scribe_nprobes_pnetcdf = sizeof(scribe_probes_pnetcdf) / sizeof(scribe_probes_pnetcdf[0]);
