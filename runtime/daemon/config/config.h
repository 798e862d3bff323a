/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What a job is traced with: defaults, a configuration file, and the key=value
 * lines of `ioscribe run`, all through one table of keys. docs/config.md
 * describes every key.
 */
#ifndef RUNTIME_DAEMON_CONFIG_CONFIG_H
#define RUNTIME_DAEMON_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "logfmt/base/err.h"
#include "logfmt/base/proto.h"
#include "runtime/core/path_exclusions.h"
#include "runtime/daemon/config/exclusion_rules.h"

struct scribe_config {
	bool locked;       /* what comes now is a user's: keys of the site are refused */
	bool late;         /* the job goes on already: keys that count at its beginning alone are refused */
	uint32_t old_keys; /* those that were set by a name of before; old_names.h */
	/* how */
	uint32_t records;              /* most records at once */
	uint32_t processes;            /* most processes at once */
	uint32_t job_records;          /* of these for one job of a service; 0: half of the pool */
	uint32_t job_processes;        /* most processes at once of one job; 0: half of `processes` */
	uint32_t max_listed_processes; /* most processes in a log's table */
	uint32_t mem_alignment;        /* bytes; 0: MEM_NOT_ALIGNED is not counted */
	bool opt_out;                 /* every process of a scheduler's job, not only those that ask for it */
	bool show_privileged;         /* programs that gain privileges at exec, too */
	bool all_types;               /* other than regular files too */
	uint32_t exit_grace_ms;       /* for descendants that outlive CMD */
	uint32_t finalize_timeout_ms; /* for the runtime in MPI_Finalize */
	char collective[5];           /* do ranks reduce and write their log: "auto" (of several nodes), "yes", "no" */
	bool runtime;                 /* open a socket for the runtime at all */
	uint32_t user_jobs;           /* of a service: most jobs that one user begins at once */
	uint32_t user_connections;    /* of a service: most of one user at once; the same of: */
	uint32_t user_spool_mib, user_files;
	uint32_t user_records, user_processes; /* of all of a user's jobs; 0: half of what there are */
	uint32_t user_helper_share;            /* per cent of a processor, for a user's helpers */
	uint32_t client_idle_timeout_ms;       /* of a service: a connection that says nothing is closed */
	bool load_at_start;                    /* of a service: the programs are there before the first job */
	bool attach_at_begin;      /* of a service: for jobs that no process has joined yet, too */
	uint32_t attach_linger_ms; /* of a service: programs stay for so long when nobody is there any more */
	char bpf_attach_mode[16];  /* auto, or a name of SCRIBE_BPF_LEVELS */
	bool attach_inexact;       /* for developers: one that loses calls on this kernel, too */
	char modules[256];         /* modules fed by plain code to switch on, with commas */
	char trace_libraries[64];  /* library modules to trace: stdio, mpiio, hdf5, pnetcdf; none; auto */
	char library_attach[8];    /* auto, multi, events */
	bool library_cache;        /* attach to what the linker's cache knows before CMD starts */
	bool stdio_wrap;           /* preloaded: programs count their streams themselves */
	bool mpiio_wrap;           /* and the data calls of their MPI-IO files */
	bool dxt;                            /* keep each read and write with its times */
	bool dxt_threads;                    /* and with its thread, in Darshan's coming versions of the records */
	double dxt_small, dxt_unaligned;     /* least shares of small and unaligned operations; 0: all */
	uint32_t dxt_memory;                 /* MiB for that, of all jobs */
	uint32_t dxt_spool;                  /* MiB in files for what is beyond */
	char dxt_dir[SCRIBE_PATH_MAX];       /* directory of these */
	char user_libraries[8]; /* of a service, libraries that are not the site's: never, always */
	char library_paths[SCRIBE_PATH_MAX]; /* directories and files to look at, with colons */
	struct scribe_exclusions paths;
	struct scribe_exclusion_rules exclusion_rules; /* by Darshan's names */
	bool unshared;                                 /* records of all ranks stay one a rank */
	char log_hints[256];                           /* kept in the log's metadata */
	char job_number[32];                           /* that the log shall have; empty: the scheduler's */
	/* where */
	char log_file[SCRIBE_PATH_MAX];     /* absolute; empty: by directory */
	char log_dir[SCRIBE_PATH_MAX];      /* absolute; %u in it: the user's name */
	char spool_dir[SCRIBE_PATH_MAX];    /* of a service: for logs that have no place; none: /tmp */
	char metrics_file[SCRIBE_PATH_MAX]; /* of a service: for a collector of text files; empty: none */
	uint32_t metrics_interval_s;
	uint32_t write_deadline_ms;  /* for a log to be put to its place */
	uint32_t layout_deadline_ms; /* for files to say how they are laid out */
	char layout_source[128];     /* "TYPE,ATTRIBUTE" in place of Lustre's; empty: Lustre's */
	char stream[1024];           /* of a service: sinks of every job's operations, with blanks; docs/streams.md */
	uint32_t stream_uid;         /* whose publishers these are; 0: there are none */
	char stream_hosts[1024];     /* that users may name, with commas; empty: any */
	bool dated;                  /* LOGDIR/YYYY/M/D instead of LOGDIR */
	bool own_place;              /* log_dir or log_file is the user's word, not the site's */
	/* who */
	uint32_t uid, gid;
	char user[64];
	char user_said[64];            /* by a user who begins a job; not believed as it is */
	char library[SCRIBE_PATH_MAX]; /* the runtime library: its own loading is not counted */
};

/* Before a key's name, in upper case, in the environment. */
#define SCRIBE_CONFIG_VARIABLE "IOSCRIBE_"

/* ---- keys.c: our names ---- */
int scribe_config_default(struct scribe_config *c, struct scribe_err *err);
/* One of our keys, also as IOSCRIBE_KEY. -ENOENT without a message: there is no such key. Else as
 * scribe_config_set. */
int scribe_config_set_key(struct scribe_config *c, const char *name, const char *value,
			  struct scribe_err *err);
/* Does IOSCRIBE_KEY name one of our keys? */
bool scribe_config_is_key_variable(const char *name);
/* A line a key: its name, default and range, with tabs. What docs/config.md is held against. */
void scribe_config_print_keys(void);

/* ---- darshan_settings.c: Darshan's names ---- */
bool scribe_config_is_darshan(const char *name);
/* One of Darshan's keys, without the DARSHAN_ of its environment. -EINVAL, -ENOMEM. */
int scribe_config_darshan(struct scribe_config *c, const char *name, const char *value,
			  struct scribe_err *err);

/* ---- settings.c: both ---- */
/*
 * One key, also as IOSCRIBE_KEY or DARSHAN_KEY in the environment: of the former an
 * unknown one is passed over, of the latter a bad value too. -EINVAL with a line in
 * err for an unknown key or a bad value, -EPERM for one that is not the user's.
 */
int scribe_config_set(struct scribe_config *c, const char *name, const char *value, struct scribe_err *err);
/* Lines "key = value"; '#' begins a comment. `label` stands in messages. */
int scribe_config_text(struct scribe_config *c, const char *text, size_t bytes, const char *label,
		       struct scribe_err *err);
int scribe_config_file(struct scribe_config *c, const char *path, struct scribe_err *err);
/*
 * The keys in the process's own environment, as IOSCRIBE_KEY; other names that begin so
 * are not looked at. -EINVAL as above.
 */
int scribe_config_environment(struct scribe_config *c, struct scribe_err *err);
/* Does this variable set a key, ours or Darshan's? */
bool scribe_config_is_variable(const char *name);
/* Another with the same values. -ENOMEM leaves `to` empty. */
int scribe_config_copy(struct scribe_config *to, const struct scribe_config *from);
/* One line of the daemon's log, where a key was set by a name of before. */
void scribe_config_tell_old_keys(const struct scribe_config *c);
void scribe_config_clear(struct scribe_config *c);

#endif
