// SPDX-License-Identifier: BSD-3-Clause
/*
 * PnetCDF: every function that moves data, once, on variables of their own, with
 * totals that are known: pnetcdf_calls FILE. Prints the bytes that the library
 * itself says it has moved. Expected counters: tests/uprobes/pnetcdf.bats.
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROWS    4
#define COLUMNS 6

static void ok(int rc, const char *what)
{
	if (rc == NC_NOERR)
		return;
	fprintf(stderr, "%s: %s\n", what, ncmpi_strerror(rc));
	MPI_Abort(MPI_COMM_WORLD, 1);
}
#define OK(call) ok(call, #call)

static char buffer[4][1024];
static void *buffers[2] = {buffer[1], buffer[2]};
static MPI_Offset start[2] = {1, 2}, count[2] = {2, 3}, few[2] = {2, 2}, stride[2] = {1, 2}, imap[2] = {1, 2};
static MPI_Offset row_start[2][2] = {{0, 0}, {2, 2}}, row_count[2][2] = {{1, 2}, {1, 3}};
static MPI_Offset *row_starts[2] = {row_start[0], row_start[1]}, *row_counts[2] = {row_count[0], row_count[1]};
static MPI_Offset *starts[2] = {start, start}, *counts[2] = {count, count}, *fews[2] = {few, few},
		  *strides[2] = {stride, stride}, *imaps[2] = {imap, imap};
static const MPI_Offset all_of = ROWS * COLUMNS;

/* What each form takes between the variable and the buffer, and elements of it. */
#define IN_var
#define IN_var1 start,
#define IN_vara start, count,
#define IN_vars start, few, stride,
#define IN_varm start, few, stride, imap,
#define IN_varn 2, row_starts, row_counts,
#define INS_var
#define INS_var1 starts,
#define INS_vara starts, counts,
#define INS_vars starts, fews, strides,
#define INS_varm starts, fews, strides, imaps,
#define N_var    all_of
#define N_var1   1
#define N_vara   6
#define N_vars   4
#define N_varm   4
#define N_varn   5

#define NUMBERS(X, ...) \
	X(schar, signed char, __VA_ARGS__) \
	X(uchar, unsigned char, __VA_ARGS__) \
	X(short, short, __VA_ARGS__) \
	X(ushort, unsigned short, __VA_ARGS__) \
	X(int, int, __VA_ARGS__) \
	X(uint, unsigned int, __VA_ARGS__) \
	X(long, long, __VA_ARGS__) \
	X(float, float, __VA_ARGS__) \
	X(double, double, __VA_ARGS__) \
	X(longlong, long long, __VA_ARGS__) \
	X(ulonglong, unsigned long long, __VA_ARGS__)

#define BLOCK(t, c, verb, form, tail) OK(ncmpi_##verb##_##form##_##t##tail(nc, v, IN_##form(c *) buffer[0]));
#define POST(t, c, verb, form, tail) \
	OK(ncmpi_##verb##_##form##_##t(nc, v, IN_##form(c *) buffer[0], &request)); \
	OK(ncmpi_wait_all(nc, 1, &request, NULL));
#define MANY(t, c, verb, form, tail) OK(ncmpi_##verb##_##form##_##t##tail(nc, 2, pair, INS_##form(c **) buffers));

/* All functions of a form and verb: those of numbers and the flexible one on `number`, that of text on `text`. */
#define ALL(one, flexible, verb, form, tail) \
	do { \
		memset(buffer, 0, sizeof(buffer)); \
		v = number; \
		pair[0] = v; \
		pair[1] = beside; \
		NUMBERS(one, verb, form, tail) \
		flexible(verb, form, tail); \
		v = pair[0] = pair[1] = text; \
		one(text, char, verb, form, tail) \
	} while (0)
#define BLOCK_FLEXIBLE(verb, form, tail) OK(ncmpi_##verb##_##form##tail(nc, v, IN_##form buffer[0], N_##form, MPI_INT))
#define POST_FLEXIBLE(verb, form, tail) \
	OK(ncmpi_##verb##_##form(nc, v, IN_##form buffer[0], N_##form, MPI_INT, &request)); \
	OK(ncmpi_wait_all(nc, 1, &request, NULL))
#define MANY_FLEXIBLE(verb, form, tail) \
	do { \
		MPI_Offset n[2] = {N_##form, N_##form}; \
		MPI_Datatype of[2] = {MPI_INT, MPI_INT}; \
\
		OK(ncmpi_##verb##_##form##tail(nc, 2, pair, INS_##form buffers, n, of)); \
	} while (0)

#define SINGLE(form) \
	static void of_##form(int nc, int number, int text, int beside) \
	{ \
		int v, request, pair[2]; \
\
		OK(ncmpi_begin_indep_data(nc)); \
		ALL(BLOCK, BLOCK_FLEXIBLE, put, form, ); \
		ALL(BLOCK, BLOCK_FLEXIBLE, get, form, ); \
		OK(ncmpi_end_indep_data(nc)); \
		ALL(BLOCK, BLOCK_FLEXIBLE, put, form, _all); \
		ALL(BLOCK, BLOCK_FLEXIBLE, get, form, _all); \
		ALL(POST, POST_FLEXIBLE, iput, form, ); \
		ALL(POST, POST_FLEXIBLE, iget, form, ); \
		ALL(POST, POST_FLEXIBLE, bput, form, ); \
		(void)pair; \
	}
#define SEVERAL(form) \
	static void many_##form(int nc, int number, int text, int beside) \
	{ \
		int v, pair[2]; \
\
		OK(ncmpi_begin_indep_data(nc)); \
		ALL(MANY, MANY_FLEXIBLE, mput, form, ); \
		ALL(MANY, MANY_FLEXIBLE, mget, form, ); \
		OK(ncmpi_end_indep_data(nc)); \
		ALL(MANY, MANY_FLEXIBLE, mput, form, _all); \
		ALL(MANY, MANY_FLEXIBLE, mget, form, _all); \
	}
SINGLE(var)
SINGLE(var1)
SINGLE(vara)
SINGLE(vars)
SINGLE(varm)
SINGLE(varn)
SEVERAL(var)
SEVERAL(var1)
SEVERAL(vara)
SEVERAL(vars)
SEVERAL(varm)

static void describe(int nc, const char *form, const int *dims, int *number, int *text, int *beside)
{
	char name[64];

	OK(ncmpi_def_var(nc, form, NC_INT, 2, dims, number));
	snprintf(name, sizeof(name), "%s_text", form);
	OK(ncmpi_def_var(nc, name, NC_CHAR, 2, dims, text));
	snprintf(name, sizeof(name), "%s_beside", form);
	OK(ncmpi_def_var(nc, name, NC_INT, 2, dims, beside));
}

/* 2 records of 3 doubles one by one, both at once; a scalar; a list of 100 single elements */
static void records(int nc, int rec, int scalar)
{
	MPI_Offset at[2] = {0, 0}, n[2] = {1, 3};

	for (; at[0] < 2; at[0]++)
		OK(ncmpi_put_vara_double_all(nc, rec, at, n, (double *)buffer[0]));
	OK(ncmpi_get_var_double_all(nc, rec, (double *)buffer[0]));
	OK(ncmpi_put_var_int_all(nc, scalar, (int *)buffer[0]));
	OK(ncmpi_get_var1_int_all(nc, scalar, NULL, (int *)buffer[0]));
}

static void by_filetype(int nc, int var)
{
	MPI_Datatype rows;

	MPI_Type_contiguous(2 * COLUMNS, MPI_INT, &rows);
	MPI_Type_commit(&rows);
	OK(ncmpi_put_vard_all(nc, var, rows, buffer[0], 2 * COLUMNS, MPI_INT));
	OK(ncmpi_get_vard_all(nc, var, rows, buffer[0], 2 * COLUMNS, MPI_INT));
	OK(ncmpi_begin_indep_data(nc));
	OK(ncmpi_put_vard(nc, var, rows, buffer[0], 2 * COLUMNS, MPI_INT));
	OK(ncmpi_get_vard(nc, var, rows, buffer[0], 2 * COLUMNS, MPI_INT));
	OK(ncmpi_end_indep_data(nc));
	MPI_Type_free(&rows);
}

/* None of these counts but as a failed wait. */
static void mistakes(int nc, int var)
{
	MPI_Offset far[2] = {100, 0};
	int none = 0;

	if (ncmpi_put_vara_int_all(nc, var, far, count, (int *)buffer[0]) == NC_NOERR ||
	    ncmpi_put_vara_int_all(-1, var, start, count, (int *)buffer[0]) == NC_NOERR ||
	    ncmpi_inq_varid(nc, "nothing", &none) == NC_NOERR || ncmpi_wait(nc, 0, NULL, NULL) == NC_NOERR ||
	    ncmpi_open(MPI_COMM_SELF, "no/such/file.nc", NC_NOWRITE, MPI_INFO_NULL, &none) == NC_NOERR)
		MPI_Abort(MPI_COMM_WORLD, 2);
}

static void sizes(int nc, MPI_Offset *put, MPI_Offset *got)
{
	MPI_Offset n;

	OK(ncmpi_inq_put_size(nc, &n));
	*put += n;
	OK(ncmpi_inq_get_size(nc, &n));
	*got += n;
}

int main(int argc, char **argv)
{
	static const char *const forms[] = {"var", "var1", "vara", "vars", "varm", "varn"};
	static void (*const single[])(int, int, int, int) = {of_var, of_var1, of_vara, of_vars, of_varm, of_varn};
	static void (*const several[])(int, int, int, int) = {many_var,  many_var1, many_vara,
							      many_vars, many_varm, NULL};
	int nc, dims[2], rec_dims[2], id[6][3], rec, scalar, types, again, rank;
	MPI_Offset put = 0, got = 0;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	OK(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_DATA, MPI_INFO_NULL, &nc));
	OK(ncmpi_def_dim(nc, "rows", ROWS, &dims[0]));
	OK(ncmpi_def_dim(nc, "columns", COLUMNS, &dims[1]));
	OK(ncmpi_def_dim(nc, "time", NC_UNLIMITED, &rec_dims[0]));
	OK(ncmpi_def_dim(nc, "three", 3, &rec_dims[1]));
	for (int i = 0; i < 6; i++)
		describe(nc, forms[i], dims, &id[i][0], &id[i][1], &id[i][2]);
	OK(ncmpi_def_var(nc, "rec", NC_DOUBLE, 2, rec_dims, &rec));
	OK(ncmpi_def_var(nc, "scalar", NC_INT, 0, NULL, &scalar));
	OK(ncmpi_enddef(nc));
	OK(ncmpi_redef(nc));
	OK(ncmpi_def_var(nc, "types", NC_INT, 2, dims, &types));
	OK(ncmpi__enddef(nc, 0, 0, 0, 0));
	OK(ncmpi_buffer_attach(nc, 65536));
	for (int i = 0; i < 6; i++) {
		single[i](nc, id[i][0], id[i][1], id[i][2]);
		if (several[i])
			several[i](nc, id[i][0], id[i][1], id[i][2]);
	}
	OK(ncmpi_buffer_detach(nc));
	records(nc, rec, scalar);
	by_filetype(nc, types);
	mistakes(nc, types);
	OK(ncmpi_sync(nc));
	sizes(nc, &put, &got);
	OK(ncmpi_close(nc));
	OK(ncmpi_open(MPI_COMM_WORLD, argv[1], NC_NOWRITE, MPI_INFO_NULL, &nc));
	OK(ncmpi_inq_varid(nc, "scalar", &again));
	OK(ncmpi_begin_indep_data(nc));
	OK(ncmpi_get_var_int(nc, again, (int *)buffer[0]));
	OK(ncmpi_wait(nc, 0, NULL, NULL));
	sizes(nc, &put, &got);
	OK(ncmpi_close(nc));
	printf("rank %d put %lld got %lld\n", rank, (long long)put, (long long)got);
	MPI_Finalize();
	return 0;
}
