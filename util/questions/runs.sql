-- SPDX-License-Identifier: BSD-3-Clause
-- the jobs that ran one program, compared: operations, bytes, time in reads and writes
-- parameter exe text: the program, as the store has it (jobs names it)
SELECT j.job_id AS job, j.use, j.uid, j.first_us, j.last_us - j.first_us AS span_us, whole(sum(t.n)) AS operations,
       whole(COALESCE(sum(CASE WHEN o.op = 'read' THEN t.bytes END), 0)) AS bytes_read,
       whole(COALESCE(sum(CASE WHEN o.op = 'write' THEN t.bytes END), 0)) AS bytes_written,
       whole((COALESCE(sum(CASE WHEN o.op = 'read' THEN t.dur_ns END), 0) + 500) / 1000) AS read_us,
       whole((COALESCE(sum(CASE WHEN o.op = 'write' THEN t.dur_ns END), 0) + 500) / 1000) AS write_us
FROM job j JOIN total t ON t.job = j.id JOIN operation o ON o.id = t.operation
WHERE j.id IN (SELECT job FROM job_exe WHERE exe = :exe)
GROUP BY j.id, j.job_id, j.use, j.uid, j.first_us, j.last_us
ORDER BY j.first_us, j.job_id, j.use
