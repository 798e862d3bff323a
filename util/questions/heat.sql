-- SPDX-License-Identifier: BSD-3-Clause
-- operations and bytes of the ranks of a job in each span of time
-- parameter job integer: the job's id
-- parameter seconds integer = 1: length of a span
-- parameter us integer = 0: the same in microseconds; 0: as seconds has it
-- parameter origin_us integer = 0: a time at which a span begins
-- parameter ranks integer = 1: so many neighbouring ranks are one, named by the lowest
-- parameter module text = : of this module only
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT (e.time_us - :origin_us) / NULLIF(COALESCE(NULLIF(:us, 0), :seconds * 1000000), 0)
         * COALESCE(NULLIF(:us, 0), :seconds * 1000000) + :origin_us AS time_us,
       e.rank / NULLIF(:ranks, 0) * :ranks AS rank, count(*) AS operations, whole(COALESCE(sum(e.len), 0)) AS bytes,
       whole(COALESCE(sum(CASE WHEN o.op = 'read' THEN e.len END), 0)) AS bytes_read,
       whole(COALESCE(sum(CASE WHEN o.op = 'write' THEN e.len END), 0)) AS bytes_written
FROM event e JOIN operation o ON o.id = e.operation
WHERE e.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1)
  AND (:module = '' OR o.module = :module)
GROUP BY 1, 2
ORDER BY 1, 2
