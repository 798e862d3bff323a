-- SPDX-License-Identifier: BSD-3-Clause
-- the jobs that ran one program, compared: operations, bytes, time in reads and writes
-- parameter exe text: the program, as the store has it (jobs names it)
SELECT j.job_id AS job, j.use, j.uid, j.first_us, j.last_us - j.first_us AS span_us, count(*) AS operations,
       whole(COALESCE(sum(CASE WHEN o.op = 'read' THEN e.len END), 0)) AS bytes_read,
       whole(COALESCE(sum(CASE WHEN o.op = 'write' THEN e.len END), 0)) AS bytes_written,
       whole((COALESCE(sum(CASE WHEN o.op = 'read' THEN
         COALESCE(e.dur_ns, CAST(e.dur_us AS NUMERIC) * 1000) END), 0) + 500) / 1000) AS read_us,
       whole((COALESCE(sum(CASE WHEN o.op = 'write' THEN
         COALESCE(e.dur_ns, CAST(e.dur_us AS NUMERIC) * 1000) END), 0) + 500) / 1000) AS write_us
FROM job j JOIN event e ON e.job = j.id JOIN operation o ON o.id = e.operation
WHERE j.id IN (SELECT job FROM job_exe WHERE exe = :exe)
GROUP BY j.id, j.job_id, j.use, j.uid, j.first_us, j.last_us
ORDER BY j.first_us, j.job_id, j.use
