-- SPDX-License-Identifier: BSD-3-Clause
-- the jobs in the store, the latest first
-- parameter limit integer = 100: rows at most
-- parameter job integer = -1: only this id; -1: any
SELECT j.job_id AS job, j.use, j.uid, min(x.exe) AS exe, j.first_us, j.last_us, j.from_log
FROM job j LEFT JOIN job_exe x ON x.job = j.id
WHERE :job = -1 OR j.job_id = :job
GROUP BY j.id, j.job_id, j.use, j.uid, j.first_us, j.last_us, j.from_log
ORDER BY ahead(j.last_us), j.last_us DESC, j.job_id, j.use
LIMIT :limit
