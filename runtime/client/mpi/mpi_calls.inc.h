/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI calls for one ABI. Only for mpi_mpich.c and mpi_openmpi.c, with HANDLE (type), MEMBER (of union
 * scribe_mpi_handle), OWN_COMM (use a duplicate of the world) and VERBS set.
 */
#include <limits.h>

#define OBJ(m, name)     ((m)->object[SCRIBE_MPI_OBJ_##name].MEMBER)
#define FN(m, name, ...) ((int (*)(__VA_ARGS__))(m)->call[SCRIBE_MPI_##name])

enum {
	TOO_BIG = 2, /* in both ABIs */
	TAG = 32749, /* any valid one */
};

static int rank_size(struct scribe_mpi *m, int *ret_rank, int *ret_size)
{
	int rc = FN(m, Comm_rank, HANDLE, int *)(OBJ(m, world), ret_rank);

	return rc ? rc : FN(m, Comm_size, HANDLE, int *)(OBJ(m, world), ret_size);
}

static void (*end_hook)(void);

static int self_deleted(HANDLE comm, int keyval, void *value, void *extra)
{
	(void)comm;
	(void)keyval;
	(void)value;
	(void)extra;
	end_hook();
	return 0;
}

static int self_not_copied(HANDLE comm, int keyval, void *extra, void *in, void *out, int *ret_flag)
{
	(void)comm;
	(void)keyval;
	(void)extra;
	(void)in;
	(void)out;
	*ret_flag = 0;
	return 0;
}

static int at_finalize(struct scribe_mpi *m, void (*on_end)(void))
{
	int keyval, rc;

	end_hook = on_end;
	rc = FN(m, Comm_create_keyval, int (*)(HANDLE, int, void *, void *, void *, int *),
		int (*)(HANDLE, int, void *, void *), int *, void *)(self_not_copied, self_deleted, &keyval, NULL);
	if (rc)
		return rc;
	rc = FN(m, Comm_set_attr, HANDLE, int, void *)(OBJ(m, self), keyval, NULL);
	/* freed with the last communicator that has it */
	FN(m, Comm_free_keyval, int *)(&keyval);
	return rc;
}

static int begin(struct scribe_mpi *m, union scribe_mpi_handle *ret_req)
{
	int rc = FN(m, Comm_get_errhandler, HANDLE, HANDLE *)(OBJ(m, world), &m->handler.MEMBER);

	m->has_handler = rc == 0;
	if (rc == 0)
		rc = FN(m, Comm_set_errhandler, HANDLE, HANDLE)(OBJ(m, world), OBJ(m, errors_return));
	if (rc)
		return rc;
	if (OWN_COMM)
		return FN(m, Comm_idup, HANDLE, HANDLE *, HANDLE *)(OBJ(m, world), &m->comm.MEMBER, &ret_req->MEMBER);
	m->comm = m->object[SCRIBE_MPI_OBJ_world];
	return FN(m, Iallreduce, const void *, void *, int, HANDLE, HANDLE, HANDLE,
		  HANDLE *)(m->in_place, &m->met, 1, OBJ(m, int64), OBJ(m, max), m->comm.MEMBER, &ret_req->MEMBER);
}

static void end(struct scribe_mpi *m, bool all_done)
{
	if (OWN_COMM && all_done)
		FN(m, Comm_free, HANDLE *)(&m->comm.MEMBER);
	if (!m->has_handler)
		return;
	FN(m, Comm_set_errhandler, HANDLE, HANDLE)(OBJ(m, world), m->handler.MEMBER);
	FN(m, Errhandler_free, HANDLE *)(&m->handler.MEMBER);
}

static int bcast(struct scribe_mpi *m, void *buf, size_t bytes, int root, union scribe_mpi_handle *ret_req)
{
	if (bytes > INT_MAX)
		return TOO_BIG;
	return FN(m, Ibcast, void *, int, HANDLE, int, HANDLE, HANDLE *)(buf, (int)bytes, OBJ(m, byte), root,
									 m->comm.MEMBER, &ret_req->MEMBER);
}

static int send_to(struct scribe_mpi *m, int to, const void *buf, size_t bytes, union scribe_mpi_handle *ret_req)
{
	if (bytes > INT_MAX)
		return TOO_BIG;
	return FN(m, Isend, const void *, int, HANDLE, int, int, HANDLE,
		  HANDLE *)(buf, (int)bytes, OBJ(m, byte), to, TAG, m->comm.MEMBER, &ret_req->MEMBER);
}

static int recv_from(struct scribe_mpi *m, int from, void *buf, size_t bytes, union scribe_mpi_handle *ret_req)
{
	if (bytes > INT_MAX)
		return TOO_BIG;
	return FN(m, Irecv, void *, int, HANDLE, int, int, HANDLE, HANDLE *)(buf, (int)bytes, OBJ(m, byte), from, TAG,
									     m->comm.MEMBER, &ret_req->MEMBER);
}

static int allreduce(struct scribe_mpi *m, void *inout, size_t n, HANDLE type, HANDLE op,
		     union scribe_mpi_handle *ret_req)
{
	if (n > INT_MAX)
		return TOO_BIG;
	return FN(m, Iallreduce, const void *, void *, int, HANDLE, HANDLE, HANDLE,
		  HANDLE *)(m->in_place, inout, (int)n, type, op, m->comm.MEMBER, &ret_req->MEMBER);
}

static int max(struct scribe_mpi *m, int64_t *inout, size_t n, union scribe_mpi_handle *ret_req)
{
	return allreduce(m, inout, n, OBJ(m, int64), OBJ(m, max), ret_req);
}

static int sum(struct scribe_mpi *m, int64_t *inout, size_t n, union scribe_mpi_handle *ret_req)
{
	return allreduce(m, inout, n, OBJ(m, int64), OBJ(m, sum), ret_req);
}

static int band(struct scribe_mpi *m, void *inout, size_t bytes, union scribe_mpi_handle *ret_req)
{
	return allreduce(m, inout, bytes, OBJ(m, byte), OBJ(m, band), ret_req);
}

static int exscan(struct scribe_mpi *m, const int64_t *in, int64_t *out, size_t n, union scribe_mpi_handle *ret_req)
{
	return FN(m, Iexscan, const void *, void *, int, HANDLE, HANDLE, HANDLE,
		  HANDLE *)(in, out, (int)n, OBJ(m, int64), OBJ(m, sum), m->comm.MEMBER, &ret_req->MEMBER);
}

/* MPI gives operations no context. */
static scribe_mpi_combine combine_now;
static size_t combine_bytes;

static void user_op(void *in, void *inout, int *len, HANDLE *type)
{
	(void)type;
	for (int i = 0; i < *len; i++)
		combine_now((char *)in + (size_t)i * combine_bytes, (char *)inout + (size_t)i * combine_bytes,
			    combine_bytes);
}

static int reduce(struct scribe_mpi *m, const void *in, void *out, size_t bytes, scribe_mpi_combine combine,
		  union scribe_mpi_handle *ret_req)
{
	int rc;

	if (bytes > INT_MAX)
		return TOO_BIG;
	combine_now = combine;
	combine_bytes = bytes;
	rc = FN(m, Type_contiguous, int, HANDLE, HANDLE *)((int)bytes, OBJ(m, byte), &m->user_type.MEMBER);
	if (rc)
		return rc;
	rc = FN(m, Type_commit, HANDLE *)(&m->user_type.MEMBER);
	/* not commutative: joined in rank order, so that equal runs give equal logs */
	if (!rc)
		rc = FN(m, Op_create, void (*)(void *, void *, int *, HANDLE *), int, HANDLE *)(user_op, 0,
												&m->user_op.MEMBER);
	if (rc)
		return rc;
	return FN(m, Ireduce, const void *, void *, int, HANDLE, HANDLE, int, HANDLE,
		  HANDLE *)(in, out, 1, m->user_type.MEMBER, m->user_op.MEMBER, 0, m->comm.MEMBER, &ret_req->MEMBER);
}

static void reduce_end(struct scribe_mpi *m)
{
	FN(m, Op_free, HANDLE *)(&m->user_op.MEMBER);
	FN(m, Type_free, HANDLE *)(&m->user_type.MEMBER);
}

static int test(struct scribe_mpi *m, union scribe_mpi_handle *req, int *ret_flag)
{
	return FN(m, Test, HANDLE *, int *, void *)(&req->MEMBER, ret_flag, m->status_ignore);
}

static void progress(struct scribe_mpi *m)
{
	int flag;

	FN(m, Iprobe, int, int, HANDLE, int *, void *)(0, 0, OBJ(m, world), &flag, m->status_ignore);
}

const struct scribe_mpi_verbs VERBS = {
	.rank_size = rank_size,
	.at_finalize = at_finalize,
	.begin = begin,
	.end = end,
	.bcast = bcast,
	.send = send_to,
	.recv = recv_from,
	.max = max,
	.sum = sum,
	.exscan = exscan,
	.band = band,
	.reduce = reduce,
	.reduce_end = reduce_end,
	.test = test,
	.progress = progress,
};
