// SPDX-License-Identifier: BSD-3-Clause
/*
 * PnetCDF at its edges, with totals that are known: pnetcdf_edges FILE [killed].
 * Variables that grow, requests that wait and are cancelled, many variables, long
 * lists, a file that is open twice, calls that fail. Every rank does the same to
 * records of its own. With "killed" each rank is killed inside a write. Prints
 * what the library says it has moved. Expected: tests/uprobes/pnetcdf_edges.bats.
 */
#include <mpi.h>
#include <pnetcdf.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#define X     4
#define Y     5
#define MANY  80
#define PARTS 100

static int rank, size;
static float cells[64][X][Y];
static double plane[X][Y];
static int line[4096];
static long long moved[2];

#define OK(call) \
	do { \
		int err_ = (call); \
		if (err_) { \
			fprintf(stderr, "line %d: %s\n", __LINE__, ncmpi_strerror(err_)); \
			MPI_Abort(MPI_COMM_WORLD, 1); \
		} \
	} while (0)
#define NO(call) \
	do { \
		if ((call) == NC_NOERR) { \
			fprintf(stderr, "line %d did not fail\n", __LINE__); \
			MPI_Abort(MPI_COMM_WORLD, 2); \
		} \
	} while (0)

static void close_it(int nc)
{
	MPI_Offset n;

	/* what is written by the close itself is asked before by a sync */
	OK(ncmpi_sync(nc));
	OK(ncmpi_inq_put_size(nc, &n));
	moved[0] += n;
	OK(ncmpi_inq_get_size(nc, &n));
	moved[1] += n;
	OK(ncmpi_close(nc));
}

/* Each rank its own record of 80 bytes, three times; then all records by each. */
static void records(int nc, int temp)
{
	MPI_Offset at[3] = {0, 0, 0}, n[3] = {1, X, Y};

	for (int i = 0; i < 3; i++) {
		at[0] = i * size + rank;
		OK(ncmpi_put_vara_float_all(nc, temp, at, n, &cells[0][0][0]));
	}
	OK(ncmpi_get_var_float_all(nc, temp, &cells[0][0][0]));
	at[0] = rank;
	OK(ncmpi_begin_indep_data(nc));
	OK(ncmpi_get_vara_float(nc, temp, at, n, &cells[0][0][0]));
	at[1] = 3;
	OK(ncmpi_put_var1_float(nc, temp, at, &cells[0][0][0]));
	OK(ncmpi_end_indep_data(nc));
}

/* every second row and column of a plane: 2 x 3 of 8 bytes, out and, transposed, in */
static void strides(int nc, int fixed)
{
	MPI_Offset at[2] = {0, 0}, n[2] = {2, 3}, step[2] = {2, 2}, map[2] = {1, 2};

	OK(ncmpi_put_vars_double_all(nc, fixed, at, n, step, &plane[0][0]));
	OK(ncmpi_get_varm_double_all(nc, fixed, at, n, step, map, &plane[0][0]));
}

/* 3 records posted, one of them cancelled; a list of 2 parts, buffered; reads; waits of every kind */
static void requests(int nc, int temp, int step)
{
	MPI_Offset at[3] = {0, 0, 0}, n[3] = {1, X, Y}, at1[1] = {rank}, parts[2][1] = {{rank}, {size + rank}};
	MPI_Offset ones[2][1] = {{1}, {1}}, *starts[2] = {parts[0], parts[1]}, *counts[2] = {ones[0], ones[1]};
	int id[4], status[4];

	for (int i = 0; i < 3; i++) {
		at[0] = (3 + i) * size + rank;
		OK(ncmpi_iput_vara_float(nc, temp, at, n, &cells[i][0][0], &id[i]));
	}
	OK(ncmpi_cancel(nc, 1, &id[1], status));
	id[1] = id[2];
	OK(ncmpi_wait_all(nc, 2, id, status));
	OK(ncmpi_buffer_attach(nc, 1024));
	OK(ncmpi_bput_varn_int(nc, step, 2, starts, counts, line, &id[0]));
	OK(ncmpi_bput_var1_int(nc, step, at1, line, &id[1]));
	OK(ncmpi_wait_all(nc, NC_REQ_ALL, NULL, NULL));
	OK(ncmpi_buffer_detach(nc));
	OK(ncmpi_begin_indep_data(nc));
	OK(ncmpi_iget_var1_int(nc, step, at1, line, &id[0]));
	OK(ncmpi_iget_vara_int(nc, step, at1, ones[0], line, &id[1]));
	OK(ncmpi_wait(nc, 2, id, status));
	OK(ncmpi_iput_var1_int(nc, step, at1, line, &id[0]));
	OK(ncmpi_cancel(nc, NC_REQ_ALL, NULL, NULL));
	OK(ncmpi_end_indep_data(nc));
}

/* One element of each of 80 variables; a list of 100 parts, and of single elements. */
static void many(int nc, const int *id, int wide)
{
	static MPI_Offset at[PARTS][1], n[PARTS][1], *starts[PARTS], *counts[PARTS];
	MPI_Offset zero[1] = {0};

	for (int i = 0; i < MANY; i++)
		OK(ncmpi_put_var1_int_all(nc, id[i], zero, &i));
	for (int i = 0; i < PARTS; i++) {
		at[i][0] = i * 3;
		n[i][0] = 1 + (i & 1);
		starts[i] = at[i];
		counts[i] = n[i];
	}
	OK(ncmpi_put_varn_int_all(nc, wide, PARTS, starts, counts, line)); /* 150 */
	OK(ncmpi_get_varn_int_all(nc, wide, PARTS, starts, NULL, line));   /* 100 */
}

/* None of these counts. */
static void mistakes(int nc, int bytes, int temp, const char *path)
{
	MPI_Offset far[3] = {0, 100, 0}, n[3] = {1, 1, 1};
	int none, big[X] = {300, 1, 2, 3}, id = 12345, status = 0;
	FILE *f;

	NO(ncmpi_put_var_int_all(nc, bytes, big)); /* 300 is no byte */
	NO(ncmpi_put_vara_float_all(nc, temp, far, n, &cells[0][0][0]));
	NO(ncmpi_get_vara_float_all(nc, temp, far, n, &cells[0][0][0]));
	NO(ncmpi_put_var_int_all(nc, 1000, line));
	NO(ncmpi_put_var_int(nc, bytes, line)); /* in collective mode */
	NO(ncmpi_inq_varid(nc, "no such variable", &none));
	NO(ncmpi_def_var(nc, "late", NC_INT, 0, NULL, &none)); /* not in define mode */
	NO(ncmpi_enddef(nc));
	NO(ncmpi_sync(-1));
	NO(ncmpi_close(5000));
	NO(ncmpi_put_var_int_all(-1, bytes, line));
	ncmpi_wait_all(nc, 1, &id, &status); /* the request is not there, which its status says */
	NO(ncmpi_open(MPI_COMM_WORLD, "no/such.nc", NC_NOWRITE, MPI_INFO_NULL, &none));
	NO(ncmpi_create(MPI_COMM_WORLD, path, NC_NOCLOBBER, MPI_INFO_NULL, &none));
	if (rank == 0) {
		f = fopen("other.nc", "w");
		fputs("this is no file of NetCDF, though it is long enough to be one", f);
		fclose(f);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	NO(ncmpi_open(MPI_COMM_WORLD, "other.nc", NC_NOWRITE, MPI_INFO_NULL, &none));
}

/* Open twice at a time, then its number used again. */
static void twice(const char *path)
{
	int a, b, va, vb;

	OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &a));
	OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &b));
	OK(ncmpi_inq_varid(a, "fixed", &va));
	OK(ncmpi_inq_varid(b, "fixed", &vb));
	OK(ncmpi_get_var_double_all(a, va, &plane[0][0]));
	OK(ncmpi_get_var_double_all(b, vb, &plane[0][0]));
	NO(ncmpi_put_var_double_all(a, va, &plane[0][0])); /* opened for reading */
	close_it(a);
	OK(ncmpi_open(MPI_COMM_WORLD, path, NC_NOWRITE, MPI_INFO_NULL, &a));
	OK(ncmpi_get_var_double_all(a, va, &plane[0][0]));
	close_it(a);
	close_it(b);
}

/* A second write goes beyond the limit of a file's size, and ends the process in the call. */
static void killed(int nc, int fixed)
{
	struct rlimit none = {512, 512}, no_core = {0, 0};

	OK(ncmpi_put_var_double_all(nc, fixed, &plane[0][0]));
	setrlimit(RLIMIT_CORE, &no_core);
	signal(SIGXFSZ, SIG_DFL);
	setrlimit(RLIMIT_FSIZE, &none);
	ncmpi_put_var_double_all(nc, fixed, &plane[0][0]);
}

int main(int argc, char **argv)
{
	int nc, dim[3], temp, step, fixed, bytes, wide, few[MANY];
	char name[16];

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	OK(ncmpi_create(MPI_COMM_WORLD, argv[1], NC_CLOBBER | NC_64BIT_OFFSET, MPI_INFO_NULL, &nc));
	OK(ncmpi_def_dim(nc, "time", NC_UNLIMITED, &dim[0]));
	OK(ncmpi_def_dim(nc, "x", X, &dim[1]));
	OK(ncmpi_def_dim(nc, "y", Y, &dim[2]));
	OK(ncmpi_def_var(nc, "temp", NC_FLOAT, 3, dim, &temp));
	OK(ncmpi_def_var(nc, "step", NC_INT, 1, dim, &step));
	OK(ncmpi_def_var(nc, "fixed", NC_DOUBLE, 2, dim + 1, &fixed));
	OK(ncmpi_def_var(nc, "bytes", NC_BYTE, 1, dim + 1, &bytes));
	OK(ncmpi_enddef(nc));
	if (argc == 3 && !strcmp(argv[2], "killed")) {
		killed(nc, fixed);
		return 4;
	}
	records(nc, temp);
	strides(nc, fixed);
	requests(nc, temp, step);
	OK(ncmpi_redef(nc));
	OK(ncmpi_def_dim(nc, "wide", 4096, &dim[0]));
	OK(ncmpi_def_var(nc, "wide", NC_SHORT, 1, dim, &wide));
	for (int i = 0; i < MANY; i++) {
		snprintf(name, sizeof(name), "few%d", i);
		OK(ncmpi_def_var(nc, name, NC_INT, 1, dim + 1, &few[i]));
	}
	OK(ncmpi_enddef(nc));
	many(nc, few, wide);
	mistakes(nc, bytes, temp, argv[1]);
	close_it(nc);
	twice(argv[1]);
	printf("rank %d put %lld got %lld\n", rank, moved[0], moved[1]);
	MPI_Finalize();
	return 0;
}
