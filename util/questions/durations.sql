-- SPDX-License-Identifier: BSD-3-Clause
-- mean and spread (standard deviation) of durations a rank and operation of a job
-- parameter job integer: the job's id
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT t.rank, o.module, o.op, whole(sum(t.timed)) AS operations,
       whole(sum(t.dur_ns) / sum(t.timed) / 1000) AS mean_us,
       spread_of(sum(t.timed), sum(t.dur_us), sum(t.long_long), sum(t.long_short), sum(t.short_short)) AS spread_us,
       min(t.least_us) AS least_us, max(t.most_us) AS most_us
FROM total t JOIN operation o ON o.id = t.operation
WHERE t.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1) AND t.timed > 0
GROUP BY t.rank, o.module, o.op
ORDER BY t.rank, o.module, o.op
