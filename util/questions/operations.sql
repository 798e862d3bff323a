-- SPDX-License-Identifier: BSD-3-Clause
-- count and bytes of a job, module and operation
-- parameter job integer = -1: the job's id; -1: of all jobs
-- parameter use integer = 0: which use of a job's id that was used again; 0: all
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT j.job_id AS job, j.use, o.module, o.op, whole(sum(t.n)) AS operations, whole(sum(t.bytes)) AS bytes,
       whole((sum(t.dur_ns) + 500) / 1000) AS dur_us
FROM total t JOIN job j ON j.id = t.job JOIN operation o ON o.id = t.operation
WHERE (:job = -1 OR j.job_id = :job) AND (:use = 0 OR j.use = :use) AND (:uid = -1 OR j.uid = :uid)
GROUP BY j.job_id, j.use, o.module, o.op
ORDER BY j.job_id, j.use, o.module, o.op
