// SPDX-License-Identifier: BSD-3-Clause
/*
 * MPI-IO that moves more, or elsewhere, than it is asked for: mpiio_buffers FILE
 * buffered|sieved. Each rank has 64 blocks of 16 bytes, one in turn with the other
 * ranks'. "buffered": all write, and read, together; rank 0 does it for all.
 * "sieved": the first rank writes and reads its own alone, with all that is between.
 */
#include <string.h>

#include "mpi_check.h"

#define BLOCKS 64
#define BYTES  16

static char data[BLOCKS * BYTES];

int main(int argc, char **argv)
{
	int rank, size, buffered = argc > 2 && !strcmp(argv[2], "buffered");
	MPI_Datatype blocks;
	MPI_Info hints;
	MPI_File fh;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Info_create(&hints);
	MPI_Info_set(hints, "cb_nodes", "1");
	MPI_Info_set(hints, "romio_cb_write", buffered ? "enable" : "disable");
	MPI_Info_set(hints, "romio_cb_read", buffered ? "enable" : "disable");
	MPI_Info_set(hints, "romio_ds_write", buffered ? "disable" : "enable");
	MPI_Info_set(hints, "romio_ds_read", buffered ? "disable" : "enable");
	MPI_Type_vector(BLOCKS, BYTES, size * BYTES, MPI_BYTE, &blocks);
	MPI_Type_commit(&blocks);
	CHECK(!MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_RDWR, hints, &fh));
	CHECK(!MPI_File_set_view(fh, rank * BYTES, MPI_BYTE, blocks, "native", MPI_INFO_NULL));
	if (buffered) {
		CHECK(!MPI_File_write_at_all(fh, 0, data, sizeof(data), MPI_BYTE, MPI_STATUS_IGNORE));
		CHECK(!MPI_File_read_at_all(fh, 0, data, sizeof(data), MPI_BYTE, MPI_STATUS_IGNORE));
	} else if (rank == 0) {
		CHECK(!MPI_File_write_at(fh, 0, data, sizeof(data), MPI_BYTE, MPI_STATUS_IGNORE));
		CHECK(!MPI_File_read_at(fh, 0, data, sizeof(data), MPI_BYTE, MPI_STATUS_IGNORE));
	}
	CHECK(!MPI_File_close(&fh));
	MPI_Type_free(&blocks);
	MPI_Info_free(&hints);
	MPI_Finalize();
	return 0;
}
