/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The few MPI calls the runtime makes, for both handle conventions: MPICH and
 * its ABI family (int handles, numbered constants) and Open MPI and its family
 * (pointers to exported objects). No <mpi.h>: one library serves both, chosen
 * when the program's own MPI library is found. Every call goes to the PMPI_ name,
 * so that other tools do not count what is not the application's.
 */
#ifndef RUNTIME_CLIENT_MPI_MPI_ABI_H
#define RUNTIME_CLIENT_MPI_MPI_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "logfmt/base/proto.h"

/* name in PMPI_<name>; needed for the collective path */
#define SCRIBE_MPI_CALLS(X)                                                                                  \
	X(Initialized)                                                                                       \
	X(Get_library_version)                                                                               \
	X(Comm_rank)                                                                                         \
	X(Comm_size)                                                                                         \
	X(Comm_create_keyval)                                                                                \
	X(Comm_free_keyval)                                                                                  \
	X(Comm_set_attr)                                                                                     \
	X(Comm_get_errhandler)                                                                               \
	X(Comm_set_errhandler)                                                                               \
	X(Errhandler_free)                                                                                   \
	X(Comm_idup)                                                                                         \
	X(Comm_free)                                                                                         \
	X(Ibcast)                                                                                            \
	X(Isend)                                                                                             \
	X(Irecv)                                                                                             \
	X(Iallreduce)                                                                                        \
	X(Iexscan)                                                                                           \
	X(Ireduce)                                                                                           \
	X(Test)                                                                                              \
	X(Iprobe)                                                                                            \
	X(Op_create)                                                                                         \
	X(Op_free)                                                                                           \
	X(Type_contiguous)                                                                                   \
	X(Type_commit)                                                                                       \
	X(Type_free)

enum scribe_mpi_call {
#define SCRIBE_X(name) SCRIBE_MPI_##name,
	SCRIBE_MPI_CALLS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_MPI_CALL_COUNT
};

/* Objects of Open MPI whose addresses are its handles; numbers in MPICH. */
#define SCRIBE_MPI_OBJECTS(X)                                                                                \
	X(world, "ompi_mpi_comm_world", 0x44000000)                                                          \
	X(self, "ompi_mpi_comm_self", 0x44000001)                                                            \
	X(comm_null, "ompi_mpi_comm_null", 0x04000000)                                                       \
	X(request_null, "ompi_request_null", 0x2c000000)                                                     \
	X(byte, "ompi_mpi_byte", 0x4c00010d)                                                                 \
	X(int64, "ompi_mpi_int64_t", 0x4c00083a)                                                             \
	X(op_null, "ompi_mpi_op_null", 0x18000000)                                                           \
	X(max, "ompi_mpi_op_max", 0x58000001)                                                                \
	X(sum, "ompi_mpi_op_sum", 0x58000003)                                                                \
	X(band, "ompi_mpi_op_band", 0x58000006)                                                              \
	X(errors_return, "ompi_mpi_errors_return", 0x54000001)

enum scribe_mpi_object {
#define SCRIBE_X(name, symbol, number) SCRIBE_MPI_OBJ_##name,
	SCRIBE_MPI_OBJECTS(SCRIBE_X)
#undef SCRIBE_X
		SCRIBE_MPI_OBJECT_COUNT
};

union scribe_mpi_handle {
	int i;   /* MPICH family */
	void *p; /* Open MPI family */
};

typedef void (*scribe_mpi_fn)(void);

/* Combine `bytes` bytes of `in` into `inout`; one element of a reduction. */
typedef void (*scribe_mpi_combine)(const void *in, void *inout, size_t bytes);

struct scribe_mpi {
	enum scribe_mpi_kind kind;
	const struct scribe_mpi_verbs *verbs;
	scribe_mpi_fn call[SCRIBE_MPI_CALL_COUNT];
	union scribe_mpi_handle object[SCRIBE_MPI_OBJECT_COUNT];
	union scribe_mpi_handle comm; /* our own duplicate of the world (MPICH), or the world */
	union scribe_mpi_handle user_op, user_type;
	union scribe_mpi_handle handler; /* the application's for errors on the world, from `begin` to `end` */
	bool has_handler;
	int64_t met; /* what is sent where ranks meet without a duplicate */
	void *status_ignore;
	void *in_place;
};

/*
 * All return 0 (MPI_SUCCESS) or MPI's own error code. Those that start something
 * give a request to pass to `test`; buffers stay alive until it is complete.
 */
struct scribe_mpi_verbs {
	int (*rank_size)(struct scribe_mpi *m, int *ret_rank, int *ret_size);
	/* Call on_end at the start of MPI_Finalize. */
	int (*at_finalize)(struct scribe_mpi *m, void (*on_end)(void));
	/*
	 * All ranks of the world meet, and m->comm is what they speak by. Until `end` errors are returned, not
	 * fatal; on a comm of our own for ever.
	 */
	int (*begin)(struct scribe_mpi *m, union scribe_mpi_handle *ret_req);
	/* all_done: what was started is complete, in all ranks. */
	void (*end)(struct scribe_mpi *m, bool all_done);
	/* From rank `root`. */
	int (*bcast)(struct scribe_mpi *m, void *buf, size_t bytes, int root,
		     union scribe_mpi_handle *ret_req);
	/* Messages of one pair of ranks arrive in the order sent; `bytes` of a receiver is the room for one.
	 */
	int (*send)(struct scribe_mpi *m, int to, const void *buf, size_t bytes,
		    union scribe_mpi_handle *ret_req);
	int (*recv)(struct scribe_mpi *m, int from, void *buf, size_t bytes,
		    union scribe_mpi_handle *ret_req);
	/* In place over int64 values: largest, or sum. */
	int (*max)(struct scribe_mpi *m, int64_t *inout, size_t n, union scribe_mpi_handle *ret_req);
	int (*sum)(struct scribe_mpi *m, int64_t *inout, size_t n, union scribe_mpi_handle *ret_req);
	/* Sum over the ranks below; rank 0's output is left alone. */
	int (*exscan)(struct scribe_mpi *m, const int64_t *in, int64_t *out, size_t n,
		      union scribe_mpi_handle *ret_req);
	/* In place: bitwise AND of bytes. */
	int (*band)(struct scribe_mpi *m, void *inout, size_t bytes, union scribe_mpi_handle *ret_req);
	/* Reduce one element of `bytes` bytes to rank 0 by `combine`; out is rank 0's. */
	int (*reduce)(struct scribe_mpi *m, const void *in, void *out, size_t bytes,
		      scribe_mpi_combine combine, union scribe_mpi_handle *ret_req);
	/* After a reduce is complete: give its type and operation back. */
	void (*reduce_end)(struct scribe_mpi *m);
	int (*test)(struct scribe_mpi *m, union scribe_mpi_handle *req, int *ret_flag);
	/* Let MPI move what the application still has under way. */
	void (*progress)(struct scribe_mpi *m);
	/* Between two tests, the `turn`-th time; NULL: give the processor away. */
	void (*rest)(struct scribe_mpi *m, unsigned turn);
};

extern const struct scribe_mpi_verbs scribe_mpi_verbs_mpich;
extern const struct scribe_mpi_verbs scribe_mpi_verbs_openmpi;

/*
 * The next definition of an interposed name, as seen from an object that called
 * it (`caller`: an address inside): after us in the global scope, else in the
 * caller's own libraries, else in a mapped MPI library. NULL when there is none.
 */
scribe_mpi_fn scribe_mpi_next(const char *name, const void *caller);

/*
 * Fill `ret_m` from the MPI library found so far. false: none, an MPI of another
 * ABI, or one that lacks a call. To be called after MPI_Init.
 */
bool scribe_mpi_find(struct scribe_mpi *ret_m);

/*
 * The last step of finding: calls are filled in; `objects` has the addresses of
 * Open MPI's objects, or is NULL when they are not there.
 */
bool scribe_mpi_settle(struct scribe_mpi *m, void *const *objects);

#endif
