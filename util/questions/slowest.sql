-- SPDX-License-Identifier: BSD-3-Clause
-- the operations of a job that took longest
-- parameter job integer: the job's id
-- parameter limit integer = 20: rows at most
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT e.dur_us, e.time_us, e.rank, n.name AS node, o.module, o.op, e.off, e.len, f.path
FROM event e JOIN operation o ON o.id = e.operation JOIN file f ON f.id = e.file LEFT JOIN node n ON n.id = e.node
WHERE e.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1) AND e.dur_us IS NOT NULL
ORDER BY e.dur_us DESC, e.time_us, e.rank, e.key
LIMIT :limit
