/* SPDX-License-Identifier: BSD-3-Clause */
/* PnetCDF modules (file version 3, variable version 1), in record order. X(name, rule, text): logfmt/rules/rule.h */
#ifndef LOGFMT_COUNTERS_COUNTERS_PNETCDF_H
#define LOGFMT_COUNTERS_COUNTERS_PNETCDF_H

#include "logfmt/counters/counters_sizes.h"

#define SCRIBE_PNETCDF_FILE_COUNTERS(X) \
	X(CREATES, SUM, "creates") \
	X(OPENS, SUM, "opens") \
	X(REDEFS, SUM, "changes to define mode") \
	X(INDEP_WAITS, SUM, "independent waits") \
	X(COLL_WAITS, SUM, "collective waits") \
	X(SYNCS, SUM, "syncs") \
	X(BYTES_READ, SUM, "bytes read") \
	X(BYTES_WRITTEN, SUM, "bytes written") \
	X(WAIT_FAILURES, SUM, "failed waits")

#define SCRIBE_PNETCDF_FILE_F_COUNTERS(X) \
	X(OPEN_START_TIMESTAMP, FIRST, "start of the first open") \
	X(CLOSE_START_TIMESTAMP, FIRST, "start of the first close") \
	X(WAIT_START_TIMESTAMP, FIRST, "start of the first wait") \
	X(OPEN_END_TIMESTAMP, MAX, "end of the last open") \
	X(CLOSE_END_TIMESTAMP, MAX, "end of the last close") \
	X(WAIT_END_TIMESTAMP, MAX, "end of the last wait") \
	X(META_TIME, SUM, "time in metadata operations, overlap counted once") \
	X(WAIT_TIME, SUM, "time in waits, overlap counted once")

enum scribe_pnetcdf_file_id {
#define SCRIBE_X(name, rule, text) SCRIBE_PNETCDF_FILE_##name,
	SCRIBE_PNETCDF_FILE_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_PNETCDF_FILE_COUNT
};

enum scribe_pnetcdf_file_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_PNETCDF_FILE_F_##name,
	SCRIBE_PNETCDF_FILE_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_PNETCDF_FILE_F_COUNT
};

#define SCRIBE_PNETCDF_VAR_COUNTERS(X) \
	X(OPENS, SUM, "definitions and inquiries") \
	X(INDEP_READS, SUM, "independent reads") \
	X(INDEP_WRITES, SUM, "independent writes") \
	X(COLL_READS, SUM, "collective reads") \
	X(COLL_WRITES, SUM, "collective writes") \
	X(NB_READS, SUM, "nonblocking reads") \
	X(NB_WRITES, SUM, "nonblocking writes") \
	X(BYTES_READ, SUM, "bytes read") \
	X(BYTES_WRITTEN, SUM, "bytes written") \
	X(RW_SWITCHES, SUM, "changes between read and write") \
	X(PUT_VAR, SUM, "ncmpi_put_var calls") \
	X(PUT_VAR1, SUM, "ncmpi_put_var1 calls") \
	X(PUT_VARA, SUM, "ncmpi_put_vara calls") \
	X(PUT_VARS, SUM, "ncmpi_put_vars calls") \
	X(PUT_VARM, SUM, "ncmpi_put_varm calls") \
	X(PUT_VARN, SUM, "ncmpi_put_varn calls") \
	X(PUT_VARD, SUM, "ncmpi_put_vard calls") \
	X(GET_VAR, SUM, "ncmpi_get_var calls") \
	X(GET_VAR1, SUM, "ncmpi_get_var1 calls") \
	X(GET_VARA, SUM, "ncmpi_get_vara calls") \
	X(GET_VARS, SUM, "ncmpi_get_vars calls") \
	X(GET_VARM, SUM, "ncmpi_get_varm calls") \
	X(GET_VARN, SUM, "ncmpi_get_varn calls") \
	X(GET_VARD, SUM, "ncmpi_get_vard calls") \
	X(IPUT_VAR, SUM, "ncmpi_iput_var calls") \
	X(IPUT_VAR1, SUM, "ncmpi_iput_var1 calls") \
	X(IPUT_VARA, SUM, "ncmpi_iput_vara calls") \
	X(IPUT_VARS, SUM, "ncmpi_iput_vars calls") \
	X(IPUT_VARM, SUM, "ncmpi_iput_varm calls") \
	X(IPUT_VARN, SUM, "ncmpi_iput_varn calls") \
	X(IGET_VAR, SUM, "ncmpi_iget_var calls") \
	X(IGET_VAR1, SUM, "ncmpi_iget_var1 calls") \
	X(IGET_VARA, SUM, "ncmpi_iget_vara calls") \
	X(IGET_VARS, SUM, "ncmpi_iget_vars calls") \
	X(IGET_VARM, SUM, "ncmpi_iget_varm calls") \
	X(IGET_VARN, SUM, "ncmpi_iget_varn calls") \
	X(BPUT_VAR, SUM, "ncmpi_bput_var calls") \
	X(BPUT_VAR1, SUM, "ncmpi_bput_var1 calls") \
	X(BPUT_VARA, SUM, "ncmpi_bput_vara calls") \
	X(BPUT_VARS, SUM, "ncmpi_bput_vars calls") \
	X(BPUT_VARM, SUM, "ncmpi_bput_varm calls") \
	X(BPUT_VARN, SUM, "ncmpi_bput_varn calls") \
	X(MAX_READ_TIME_SIZE, SLOWEST, "bytes of the longest read") \
	X(MAX_WRITE_TIME_SIZE, SLOWEST, "bytes of the longest write") \
	SCRIBE_SIZE_COUNTERS(X, AGG_) \
	X(ACCESS1_ACCESS, VALUE, "most frequent access size, bytes") \
	X(ACCESS1_LENGTH_D1, VALUE, "its length in dimension 1") \
	X(ACCESS1_LENGTH_D2, VALUE, "its length in dimension 2") \
	X(ACCESS1_LENGTH_D3, VALUE, "its length in dimension 3") \
	X(ACCESS1_LENGTH_D4, VALUE, "its length in dimension 4") \
	X(ACCESS1_LENGTH_D5, VALUE, "its length in dimension 5") \
	X(ACCESS1_STRIDE_D1, VALUE, "its stride in dimension 1") \
	X(ACCESS1_STRIDE_D2, VALUE, "its stride in dimension 2") \
	X(ACCESS1_STRIDE_D3, VALUE, "its stride in dimension 3") \
	X(ACCESS1_STRIDE_D4, VALUE, "its stride in dimension 4") \
	X(ACCESS1_STRIDE_D5, VALUE, "its stride in dimension 5") \
	X(ACCESS2_ACCESS, VALUE, "second access size, bytes") \
	X(ACCESS2_LENGTH_D1, VALUE, "its length in dimension 1") \
	X(ACCESS2_LENGTH_D2, VALUE, "its length in dimension 2") \
	X(ACCESS2_LENGTH_D3, VALUE, "its length in dimension 3") \
	X(ACCESS2_LENGTH_D4, VALUE, "its length in dimension 4") \
	X(ACCESS2_LENGTH_D5, VALUE, "its length in dimension 5") \
	X(ACCESS2_STRIDE_D1, VALUE, "its stride in dimension 1") \
	X(ACCESS2_STRIDE_D2, VALUE, "its stride in dimension 2") \
	X(ACCESS2_STRIDE_D3, VALUE, "its stride in dimension 3") \
	X(ACCESS2_STRIDE_D4, VALUE, "its stride in dimension 4") \
	X(ACCESS2_STRIDE_D5, VALUE, "its stride in dimension 5") \
	X(ACCESS3_ACCESS, VALUE, "third access size, bytes") \
	X(ACCESS3_LENGTH_D1, VALUE, "its length in dimension 1") \
	X(ACCESS3_LENGTH_D2, VALUE, "its length in dimension 2") \
	X(ACCESS3_LENGTH_D3, VALUE, "its length in dimension 3") \
	X(ACCESS3_LENGTH_D4, VALUE, "its length in dimension 4") \
	X(ACCESS3_LENGTH_D5, VALUE, "its length in dimension 5") \
	X(ACCESS3_STRIDE_D1, VALUE, "its stride in dimension 1") \
	X(ACCESS3_STRIDE_D2, VALUE, "its stride in dimension 2") \
	X(ACCESS3_STRIDE_D3, VALUE, "its stride in dimension 3") \
	X(ACCESS3_STRIDE_D4, VALUE, "its stride in dimension 4") \
	X(ACCESS3_STRIDE_D5, VALUE, "its stride in dimension 5") \
	X(ACCESS4_ACCESS, VALUE, "fourth access size, bytes") \
	X(ACCESS4_LENGTH_D1, VALUE, "its length in dimension 1") \
	X(ACCESS4_LENGTH_D2, VALUE, "its length in dimension 2") \
	X(ACCESS4_LENGTH_D3, VALUE, "its length in dimension 3") \
	X(ACCESS4_LENGTH_D4, VALUE, "its length in dimension 4") \
	X(ACCESS4_LENGTH_D5, VALUE, "its length in dimension 5") \
	X(ACCESS4_STRIDE_D1, VALUE, "its stride in dimension 1") \
	X(ACCESS4_STRIDE_D2, VALUE, "its stride in dimension 2") \
	X(ACCESS4_STRIDE_D3, VALUE, "its stride in dimension 3") \
	X(ACCESS4_STRIDE_D4, VALUE, "its stride in dimension 4") \
	X(ACCESS4_STRIDE_D5, VALUE, "its stride in dimension 5") \
	X(ACCESS1_COUNT, COUNT, "how often the most frequent access size came") \
	X(ACCESS2_COUNT, COUNT, "how often the second access size came") \
	X(ACCESS3_COUNT, COUNT, "how often the third access size came") \
	X(ACCESS4_COUNT, COUNT, "how often the fourth access size came") \
	X(NDIMS, KEEP, "dimensions of the variable") \
	X(NPOINTS, KEEP, "points of the variable") \
	X(DATATYPE_SIZE, KEEP, "bytes of one element") \
	X(IS_RECORD_VAR, KEEP, "1 when it has a record dimension") \
	X(FASTEST_RANK, RANK, "fastest rank of a shared record") \
	X(FASTEST_RANK_BYTES, RANK, "bytes that rank moved") \
	X(SLOWEST_RANK, RANK, "slowest rank of a shared record") \
	X(SLOWEST_RANK_BYTES, RANK, "bytes that rank moved")

#define SCRIBE_PNETCDF_VAR_F_COUNTERS(X) \
	X(OPEN_START_TIMESTAMP, FIRST, "start of the first open") \
	X(READ_START_TIMESTAMP, FIRST, "start of the first read") \
	X(WRITE_START_TIMESTAMP, FIRST, "start of the first write") \
	X(CLOSE_START_TIMESTAMP, FIRST, "start of the first close") \
	X(OPEN_END_TIMESTAMP, MAX, "end of the last open") \
	X(READ_END_TIMESTAMP, MAX, "end of the last read") \
	X(WRITE_END_TIMESTAMP, MAX, "end of the last write") \
	X(CLOSE_END_TIMESTAMP, MAX, "end of the last close") \
	X(READ_TIME, SUM, "time in reads, overlap counted once") \
	X(WRITE_TIME, SUM, "time in writes, overlap counted once") \
	X(META_TIME, SUM, "time in metadata operations, overlap counted once") \
	X(MAX_READ_TIME, SLOWEST, "duration of the longest read") \
	X(MAX_WRITE_TIME, SLOWEST, "duration of the longest write") \
	X(FASTEST_RANK_TIME, RANK, "I/O time of the fastest rank of a shared record") \
	X(SLOWEST_RANK_TIME, RANK, "I/O time of the slowest rank of a shared record") \
	X(VARIANCE_RANK_TIME, VARIANCE, "population variance of I/O time over ranks") \
	X(VARIANCE_RANK_BYTES, VARIANCE, "population variance of bytes moved over ranks")

enum scribe_pnetcdf_var_id {
#define SCRIBE_X(name, rule, text) SCRIBE_PNETCDF_VAR_##name,
	SCRIBE_PNETCDF_VAR_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_PNETCDF_VAR_COUNT
};

enum scribe_pnetcdf_var_f_id {
#define SCRIBE_X(name, rule, text) SCRIBE_PNETCDF_VAR_F_##name,
	SCRIBE_PNETCDF_VAR_F_COUNTERS(SCRIBE_X)
#undef SCRIBE_X
	SCRIBE_PNETCDF_VAR_F_COUNT
};

#define SCRIBE_PNETCDF_VAR_DIMS 5 /* dimensions kept per access */

#endif
