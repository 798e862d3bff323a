-- SPDX-License-Identifier: BSD-3-Clause
-- mean and spread (standard deviation) of durations a rank and operation of a job
-- parameter job integer: the job's id
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT e.rank, o.module, o.op, count(e.dur_us) AS operations,
       whole(sum(COALESCE(e.dur_ns, CAST(e.dur_us AS NUMERIC) * 1000)) / count(e.dur_us) / 1000) AS mean_us,
       spread(e.dur_us) AS spread_us, min(e.dur_us) AS least_us, max(e.dur_us) AS most_us
FROM event e JOIN operation o ON o.id = e.operation
WHERE e.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1) AND e.dur_us IS NOT NULL
GROUP BY e.rank, o.module, o.op
ORDER BY e.rank, o.module, o.op
