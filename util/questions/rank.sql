-- SPDX-License-Identifier: BSD-3-Clause
-- the operations of a rank of a job, in the order of time
-- parameter job integer: the job's id
-- parameter rank integer: the rank
-- parameter from_us integer = 0: microseconds since 1970
-- parameter limit integer = 1000: rows at most
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT e.time_us, o.module, o.op, e.dur_us, e.off, e.len, e.cnt, f.record_id, f.path, e.dur_ns
FROM event e JOIN operation o ON o.id = e.operation JOIN file f ON f.id = e.file
WHERE e.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1) AND e.rank = :rank
  AND e.time_us >= :from_us
ORDER BY e.time_us, e.key
LIMIT :limit
