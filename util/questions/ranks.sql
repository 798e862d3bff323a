-- SPDX-License-Identifier: BSD-3-Clause
-- the ranks of a job that have operations; each is found by one step in the order of (job, rank, time)
-- parameter job integer: the job's id
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
WITH RECURSIVE one (id) AS (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1),
r (rank) AS (
  SELECT min(e.rank) FROM event e WHERE e.job = (SELECT id FROM one)
  UNION ALL
  SELECT (SELECT min(e.rank) FROM event e WHERE e.job = (SELECT id FROM one) AND e.rank > r.rank)
  FROM r WHERE r.rank IS NOT NULL)
SELECT rank FROM r WHERE rank IS NOT NULL ORDER BY rank
