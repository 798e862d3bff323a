# SPDX-License-Identifier: BSD-3-Clause
# phases of a job's I/O: spans without a quiet gap, with operations, bytes and ranks in each
# parameter job integer: the job's id
# parameter gap_ms integer = 1000: a phase ends where nothing is going on for longer
# parameter module text = POSIX: of which module; others' operations may be the same ones again
# parameter use integer = 0: which use of a job's id that was used again; 0: the latest
# parameter uid integer = -1: the user whose job it is; -1: any
import pandas as pd

OPERATIONS = """
SELECT e.time_us - COALESCE(e.dur_us, 0) AS begin_us, e.time_us AS end_us, e.rank,
       CASE WHEN o.op = 'read' THEN COALESCE(e.len, 0) ELSE 0 END AS bytes_read,
       CASE WHEN o.op = 'write' THEN COALESCE(e.len, 0) ELSE 0 END AS bytes_written
FROM event e JOIN operation o ON o.id = e.operation
WHERE e.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1) AND o.module = :module
ORDER BY 1
"""


class Analysis:
    def get_data(self, store, job, use, uid, gap_ms, module):
        operations = store.sql(OPERATIONS, job=job, use=use, uid=uid, module=module)
        operations = operations.astype({"bytes_read": object, "bytes_written": object})  # sums beyond 64 bits
        quiet_us = operations["begin_us"] - operations["end_us"].cummax().shift()
        phases = operations.groupby((quiet_us > gap_ms * 1000).cumsum())
        rows = phases.agg(time_us=("begin_us", "min"), last_us=("end_us", "max"), operations=("rank", "size"),
                          bytes_read=("bytes_read", "sum"), bytes_written=("bytes_written", "sum"),
                          ranks=("rank", "nunique"))
        rows.insert(3, "bytes", rows["bytes_read"] + rows["bytes_written"])
        return rows
