/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The MPI calls of the runtime for both ABIs: MPICH's family (int handles, numbered constants) and Open MPI's
 * (pointers to exported objects). No <mpi.h>: the program's MPI decides. PMPI_ names, so that other tools do
 * not count these calls.
 */
#ifndef RUNTIME_CLIENT_MPI_MPI_ABI_H
#define RUNTIME_CLIENT_MPI_MPI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/proto.h"

/* All must exist for the collective path. */
#define SCRIBE_MPI_CALLS(X) \
	X(Initialized) \
	X(Get_library_version) \
	X(Comm_rank) \
	X(Comm_size) \
	X(Comm_create_keyval) \
	X(Comm_free_keyval) \
	X(Comm_set_attr) \
	X(Comm_get_errhandler) \
	X(Comm_set_errhandler) \
	X(Errhandler_free) \
	X(Comm_idup) \
	X(Comm_free) \
	X(Ibcast) \
	X(Isend) \
	X(Irecv) \
	X(Iallreduce) \
	X(Iexscan) \
	X(Ireduce) \
	X(Test) \
	X(Iprobe) \
	X(Op_create) \
	X(Op_free) \
	X(Type_contiguous) \
	X(Type_commit) \
	X(Type_free)

enum scribe_mpi_call {
#define SCRIBE_X(name) SCRIBE_MPI_##name,
	SCRIBE_MPI_CALLS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_MPI_CALL_COUNT
};

/* Open MPI: addresses of objects; MPICH: numbers. */
#define SCRIBE_MPI_OBJECTS(X) \
	X(world, "ompi_mpi_comm_world", 0x44000000) \
	X(self, "ompi_mpi_comm_self", 0x44000001) \
	X(comm_null, "ompi_mpi_comm_null", 0x04000000) \
	X(request_null, "ompi_request_null", 0x2c000000) \
	X(byte, "ompi_mpi_byte", 0x4c00010d) \
	X(int64, "ompi_mpi_int64_t", 0x4c00083a) \
	X(op_null, "ompi_mpi_op_null", 0x18000000) \
	X(max, "ompi_mpi_op_max", 0x58000001) \
	X(sum, "ompi_mpi_op_sum", 0x58000003) \
	X(band, "ompi_mpi_op_band", 0x58000006) \
	X(errors_return, "ompi_mpi_errors_return", 0x54000001)

enum scribe_mpi_object {
#define SCRIBE_X(name, symbol, number) SCRIBE_MPI_OBJ_##name,
	SCRIBE_MPI_OBJECTS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_MPI_OBJECT_COUNT
};

union scribe_mpi_handle {
	int i;   /* MPICH */
	void *p; /* Open MPI */
};

typedef void (*scribe_mpi_fn)(void);

/* One element of a reduction. */
typedef void (*scribe_mpi_combine)(const void *in, void *inout, size_t bytes);

struct scribe_mpi {
	enum scribe_mpi_kind kind;
	const struct scribe_mpi_verbs *verbs;
	scribe_mpi_fn call[SCRIBE_MPI_CALL_COUNT];
	union scribe_mpi_handle object[SCRIBE_MPI_OBJECT_COUNT];
	union scribe_mpi_handle comm; /* duplicate of the world (MPICH), or the world */
	union scribe_mpi_handle user_op, user_type;
	union scribe_mpi_handle handler; /* the application's, between `begin` and `end` */
	bool has_handler;
	int64_t met; /* value of the first collective without a duplicate */
	void *status_ignore;
	void *in_place;
};

/*
 * All return 0 or MPI's error code. Nonblocking ones give a request for `test`; buffers must live until it
 * completes.
 */
struct scribe_mpi_verbs {
	int (*rank_size)(struct scribe_mpi *m, int *ret_rank, int *ret_size);
	/* At the start of MPI_Finalize. */
	int (*at_finalize)(struct scribe_mpi *m, void (*on_end)(void));
	/* Collective; sets m->comm. Errors are returned instead of fatal until `end`; on a duplicate always. */
	int (*begin)(struct scribe_mpi *m, union scribe_mpi_handle *ret_req);
	/* all_done: everything started is complete on all ranks. */
	void (*end)(struct scribe_mpi *m, bool all_done);
	int (*bcast)(struct scribe_mpi *m, void *buf, size_t bytes, int root, union scribe_mpi_handle *ret_req);
	/* Messages between two ranks stay in order; `bytes` of recv is the capacity. */
	int (*send)(struct scribe_mpi *m, int to, const void *buf, size_t bytes, union scribe_mpi_handle *ret_req);
	int (*recv)(struct scribe_mpi *m, int from, void *buf, size_t bytes, union scribe_mpi_handle *ret_req);
	/* In place. */
	int (*max)(struct scribe_mpi *m, int64_t *inout, size_t n, union scribe_mpi_handle *ret_req);
	int (*sum)(struct scribe_mpi *m, int64_t *inout, size_t n, union scribe_mpi_handle *ret_req);
	/* Sum over lower ranks; rank 0's output is not written. */
	int (*exscan)(struct scribe_mpi *m, const int64_t *in, int64_t *out, size_t n,
		      union scribe_mpi_handle *ret_req);
	/* In place, bitwise. */
	int (*band)(struct scribe_mpi *m, void *inout, size_t bytes, union scribe_mpi_handle *ret_req);
	/* One element to rank 0. */
	int (*reduce)(struct scribe_mpi *m, const void *in, void *out, size_t bytes, scribe_mpi_combine combine,
		      union scribe_mpi_handle *ret_req);
	/* Frees type and operation of a completed reduce. */
	void (*reduce_end)(struct scribe_mpi *m);
	int (*test)(struct scribe_mpi *m, union scribe_mpi_handle *req, int *ret_flag);
	/* Lets MPI progress the application's communication. */
	void (*progress)(struct scribe_mpi *m);
	/* Before the next test; NULL: yield the processor. */
	void (*rest)(struct scribe_mpi *m, unsigned turn);
};

extern const struct scribe_mpi_verbs scribe_mpi_verbs_mpich;
extern const struct scribe_mpi_verbs scribe_mpi_verbs_openmpi;

/*
 * The next definition of an interposed name, for an object with address `caller`: after this library in the
 * global scope, in the caller's libraries, or in a mapped MPI library. NULL: none.
 */
scribe_mpi_fn scribe_mpi_next(const char *name, const void *caller);

/* After MPI_Init. False: no MPI, another ABI, or a missing call. */
bool scribe_mpi_find(struct scribe_mpi *ret_m);

/* Last step: calls are set; `objects` are Open MPI's, NULL if incomplete. */
bool scribe_mpi_detect_abi(struct scribe_mpi *m, void *const *objects);

#endif
