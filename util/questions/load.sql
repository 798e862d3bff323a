-- SPDX-License-Identifier: BSD-3-Clause
-- which jobs loaded the file systems at a time: operations and bytes that ended then
-- parameter from_us integer: microseconds since 1970
-- parameter to_us integer: microseconds since 1970, not included
WITH whole_seconds (first, last) AS (SELECT (:from_us + 999999) / 1000000, :to_us / 1000000),
-- these from their sums, the rest from the operations
io (job, n, bytes, dur_ns) AS (
  SELECT t.job, t.n, t.bytes, t.dur_ns
  FROM job j JOIN total t ON t.job = j.id
  WHERE j.first_us < :to_us AND j.last_us >= :from_us
    AND t.second >= (SELECT first FROM whole_seconds) AND t.second < (SELECT last FROM whole_seconds)
  UNION ALL
  SELECT e.job, 1, e.len, COALESCE(e.dur_ns, CAST(e.dur_us AS NUMERIC) * 1000)
  FROM event e
  WHERE e.time_us >= :from_us AND e.time_us < (SELECT CASE WHEN first * 1000000 < :to_us THEN first * 1000000 ELSE :to_us END FROM whole_seconds)
  UNION ALL
  SELECT e.job, 1, e.len, COALESCE(e.dur_ns, CAST(e.dur_us AS NUMERIC) * 1000)
  FROM event e
  WHERE e.time_us >= (SELECT CASE WHEN last < first THEN first ELSE last END * 1000000 FROM whole_seconds) AND e.time_us < :to_us)
SELECT j.job_id AS job, j.use, j.uid, whole(sum(i.n)) AS operations, whole(COALESCE(sum(i.bytes), 0)) AS bytes,
       whole((COALESCE(sum(i.dur_ns), 0) + 500) / 1000) AS dur_us
FROM io i JOIN job j ON j.id = i.job
GROUP BY j.job_id, j.use, j.uid
ORDER BY bytes DESC, operations DESC, j.job_id, j.use
