/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the library programs and the attacher: structures, enumerations and constants only. */
#ifndef UPROBES_WIRE_H
#define UPROBES_WIRE_H

#include "bpf/wire.h"

#define SCRIBE_POINTS_MAX              8192u
#define SCRIBE_LIBRARY_OFFSETS_MAX     256u
#define SCRIBE_LIBRARY_OFFSETS_OPENMPI (SCRIBE_LIBRARY_OFFSETS_MAX - 1) /* Open MPI's, for libraries that call it */
#define SCRIBE_POINT_ARGS              6
#define SCRIBE_HANDLES_MAX             65536u
#define SCRIBE_ACCESS_PATTERNS_MAX     65536u

enum scribe_layer {
	SCRIBE_LAYER_STDIO,
	SCRIBE_LAYER_MPIIO,
	SCRIBE_LAYER_HDF5,
	SCRIBE_LAYER_PNETCDF,
	SCRIBE_LAYER_CUFILE,
	SCRIBE_LAYERS,
};

/*
 * Cookies of probes. Entry: index of its point; return: this and the layer. Entries at many addresses of one
 * trace event: this and the event's number; number and end of address give the point, in every process.
 */
#define SCRIBE_COOKIE_RETURN    (1ull << 32)
#define SCRIBE_COOKIE_ADDRESSES (1ull << 33)
#define SCRIBE_ADDRESS_STEP     4096u

/* Arguments of each function in parentheses. */
enum scribe_fn {
	SCRIBE_FN_NONE = 0,
	/* see the table */
	SCRIBE_FN_STREAM_OPEN,     /* returns FILE *, opens a file inside */
	SCRIBE_FN_STREAM_FDOPEN,   /* fd: returns FILE * */
	SCRIBE_FN_STREAM_FLUSH,    /* FILE * */
	SCRIBE_FN_STREAM_MESSAGE,  /* writes to standard error unseen by the preloaded library */
	SCRIBE_FN_MPI_OPEN,        /* comm, name, amode, info, MPI_File *; own: int * (processes), .., hints, .. */
	SCRIBE_FN_MPI_CLOSE,       /* *MPI_File */
	SCRIBE_FN_MPI_DATA,        /* MPI_File, count, datatype; offset, where it has one;
				      inside: MPI_File, s64 * (bytes, or -1), direction | counter << 8, offset or -1 */
	SCRIBE_FN_MPI_SYNC,        /* MPI_File */
	SCRIBE_FN_MPI_VIEW,        /* MPI_File, info, displacement, etype, file type, representation; own: .., hints */
	SCRIBE_FN_MPI_TYPE_SIZE,   /* nested: datatype, size * */
	SCRIBE_FN_MPI_COMM_SIZE,   /* nested: comm, int * */
	SCRIBE_FN_MPI_INSIDE,      /* own library: MPI_File, memory, index, use, a word of the thread */
	SCRIBE_FN_H5_FILE_OPEN,    /* name; returns hid */
	SCRIBE_FN_H5_FILE_CLOSE,   /* hid of any object; returns 0, or references left */
	SCRIBE_FN_H5_FILE_FLUSH,   /* hid */
	SCRIBE_FN_H5_SET_OPEN,     /* H5D_open, H5D__create: returns H5D_t * */
	SCRIBE_FN_H5_SET_CLOSE,    /* H5D_t * */
	SCRIBE_FN_H5_SET_DATA,     /* H5D_t *, file space; 1.14: number of datasets, -, their descriptions */
	SCRIBE_FN_H5_SET_FLUSH,    /* hid */
	SCRIBE_FN_H5_SET_CHUNK,    /* H5D_t *, bytes of a stored chunk (read: from a nested call) */
	SCRIBE_FN_H5_DEPRECATED,   /* around an open */
	SCRIBE_FN_H5_BLOCK_READ,   /* nested: kind of memory, bytes */
	SCRIBE_FN_H5_FILE_MADE,    /* nested in an open: returns H5F_t * */
	SCRIBE_FN_H5_FILE_MEANT,   /* nested in a flush: H5F_t * */
	SCRIBE_FN_NC_OPEN,         /* path, int *ncid */
	SCRIBE_FN_NC_CLOSE,        /* ncid */
	SCRIBE_FN_NC_META,         /* ncid */
	SCRIBE_FN_NC_WAIT,         /* ncid */
	SCRIBE_FN_NC_VAR_OPEN,     /* ncid, name, int *varid */
	SCRIBE_FN_NC_DATA,         /* ncid, varid, number or file type, count or counts, stride */
	SCRIBE_FN_NC_MANY,         /* ncid; each variable in a nested call */
	SCRIBE_FN_NC_POST,         /* nested: variable (starts with its number), count, stride */
	SCRIBE_FN_CUFILE_REGISTER, /* CUfileHandle_t *, CUfileDescr_t * */
	SCRIBE_FN_CUFILE_DROP,     /* CUfileHandle_t */
	SCRIBE_FN_CUFILE_DATA,     /* CUfileHandle_t: returns bytes */
	SCRIBE_FN_CUFILE_ASYNC,    /* CUfileHandle_t */
	SCRIBE_FN_CUFILE_BATCH,    /* number, CUfileIOParams_t * */
};

enum scribe_reg {
	SCRIBE_REG_AX,
	SCRIBE_REG_CX,
	SCRIBE_REG_DX,
	SCRIBE_REG_BX,
	SCRIBE_REG_SP,
	SCRIBE_REG_BP,
	SCRIBE_REG_SI,
	SCRIBE_REG_DI,
	SCRIBE_REG_R8,
	SCRIBE_REG_R9,
	SCRIBE_REG_R10,
	SCRIBE_REG_R11,
	SCRIBE_REG_R12,
	SCRIBE_REG_R13,
	SCRIBE_REG_R14,
	SCRIBE_REG_R15,
	SCRIBE_REG_NONE = 0xff, /* argument not used */
};

#define SCRIBE_COUNT_NONE 0xffu

enum scribe_nc_form {
	SCRIBE_NC_VAR,
	SCRIBE_NC_VAR1,
	SCRIBE_NC_VARA,
	SCRIBE_NC_VARS,
	SCRIBE_NC_VARM,
	SCRIBE_NC_VARN,
	SCRIBE_NC_VARD,
};

enum scribe_point_flags {
	SCRIBE_POINT_RETURNS = 1u << 0,
	SCRIBE_POINT_WIDE = 1u << 2,   /* 64-bit count */
	SCRIBE_POINT_INNER = 1u << 4,  /* only informs the enclosing call */
	SCRIBE_POINT_AROUND = 1u << 7, /* only informs the nested call */
	SCRIBE_POINT_INDEP = 1u << 8,  /* PnetCDF */
};

/* Its index is the cookie of the entry probe. */
struct scribe_point {
	scribe_u8 fn;                     /* enum scribe_fn */
	scribe_u8 layer;                  /* enum scribe_layer */
	scribe_u16 flags;                 /* enum scribe_point_flags */
	scribe_u8 op;                     /* data */
	scribe_u8 count_at;               /* counter to increase */
	scribe_u8 deref;                  /* bit i: argument i is a pointer to the value, read at entry */
	scribe_u8 implied;                /* PnetCDF: enum scribe_nc_form */
	scribe_u8 reg[SCRIBE_POINT_ARGS]; /* per argument */
	scribe_u16 image;                 /* library */
	scribe_u64 vaddr;                 /* instruction pointer - vaddr is the load address */
};

/* Bit of scribe_call.lower_layers: a collective MPI-IO call. */
#define SCRIBE_BENEATH_COLLECTIVE 8

enum scribe_flavour {
	SCRIBE_FLAVOUR_NONE,
	SCRIBE_FLAVOUR_MPICH,
	SCRIBE_FLAVOUR_OPENMPI,
	SCRIBE_FLAVOUR_INSIDE, /* functions of our own library, called by its MPI wrappers */
};

struct scribe_handle {
	scribe_u32 slot;
	scribe_u32 generation;
	scribe_u64 opened_ns; /* if slot is none: start of its open; `generation` is the open's duration */
	scribe_u64 note;      /* per layer */
	scribe_u64 moved[2];  /* PnetCDF: bytes written and read at the last query; MPI-IO: enum scribe_view */
};

/* Unit and origin of offsets, in scribe_handle.moved; 0 bytes: not known. */
enum scribe_view { SCRIBE_VIEW_BEGIN, SCRIBE_VIEW_ELEMENT };

/* Read from a library's file; 0: not known. */
struct scribe_library_offsets {
	scribe_u32 flavour;   /* enum scribe_flavour */
	scribe_u32 fileno_at; /* FILE */
	scribe_u32 group_at;  /* Open MPI communicator */
	scribe_u32 group_size_at;
	scribe_u32 type_size_at;                                           /* Open MPI datatype */
	scribe_u32 h5d_path_at;                                            /* H5D_t: reference to a string */
	scribe_u32 h5d_shared_at;                                          /* H5D_t */
	scribe_u32 h5d_space_at, h5d_type_at, h5d_layout_at, h5d_chunk_at; /* in the shared part */
	scribe_u32 h5s_rank_at, h5s_nelem_at, h5s_select_at, h5s_npoints_at, h5s_hslab_at; /* H5S_t */
	scribe_u32 h5t_shared_at, h5t_size_at;
	scribe_u32 h5d_many_bytes;               /* 1.14: size of one dataset's description; 0: one dataset per call */
	scribe_u32 h5d_many_space_at;            /* in it */
	scribe_u32 h5_mpi_unseen;                /* MPI-IO is linked but not probed; to be read as: possible */
	scribe_u64 nc_files_at, nc_driver_at;    /* vaddr: files by ncid, driver */
	scribe_u32 nc_vars_at, nc_type_at;       /* file: variables; variable: type */
	scribe_u32 nc_own_at, nc_own_driver_at;  /* file: the driver's own structure, its driver */
	scribe_u32 nc_names_at, nc_name_at;      /* driver's: its variables; a variable's name */
	scribe_u32 nc_records_at, nc_written_at; /* driver's: records; bytes written, then read */
	scribe_u64 stderr_at;                    /* vaddr */
	scribe_u64 info_null_at;                 /* vaddr of a pointer to MPI_INFO_NULL */
};

#endif
