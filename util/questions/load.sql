-- SPDX-License-Identifier: BSD-3-Clause
-- which jobs loaded the file systems at a time: operations and bytes that ended then
-- parameter from_us integer: microseconds since 1970
-- parameter to_us integer: microseconds since 1970, not included
SELECT j.job_id AS job, j.use, j.uid, count(*) AS operations,
       whole(COALESCE(sum(e.len), 0)) AS bytes,
       whole((COALESCE(sum(COALESCE(e.dur_ns, CAST(e.dur_us AS NUMERIC) * 1000)), 0) + 500) / 1000) AS dur_us
FROM event e JOIN job j ON j.id = e.job
WHERE e.time_us >= :from_us AND e.time_us < :to_us
GROUP BY j.job_id, j.use, j.uid
ORDER BY bytes DESC, operations DESC, j.job_id, j.use
