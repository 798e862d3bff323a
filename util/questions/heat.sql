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
WITH one (id) AS (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1),
span (us) AS (SELECT COALESCE(NULLIF(:us, 0), :seconds * 1000000)),
-- from the sums of seconds, unless a span begins within one
io (time_us, rank, operation, n, bytes) AS (
  SELECT t.second * 1000000, t.rank, t.operation, t.n, t.bytes
  FROM total t
  WHERE :us % 1000000 = 0 AND :origin_us % 1000000 = 0
    AND t.job = (SELECT id FROM one)
  UNION ALL
  SELECT e.time_us, e.rank, e.operation, 1, COALESCE(e.len, 0)
  FROM event e
  WHERE (:us % 1000000 <> 0 OR :origin_us % 1000000 <> 0)
    AND e.job = (SELECT id FROM one))
SELECT (i.time_us - :origin_us) / NULLIF((SELECT us FROM span), 0) * (SELECT us FROM span) + :origin_us AS time_us,
       i.rank / NULLIF(:ranks, 0) * :ranks AS rank, whole(sum(i.n)) AS operations, whole(sum(i.bytes)) AS bytes,
       whole(COALESCE(sum(CASE WHEN o.op = 'read' THEN i.bytes END), 0)) AS bytes_read,
       whole(COALESCE(sum(CASE WHEN o.op = 'write' THEN i.bytes END), 0)) AS bytes_written
FROM io i JOIN operation o ON o.id = i.operation
WHERE :module = '' OR o.module = :module
GROUP BY 1, 2
ORDER BY 1, 2
