-- SPDX-License-Identifier: BSD-3-Clause
-- what clients of network file systems did on a job's nodes while it ran, from its log: bytes, requests, us
-- parameter job integer: the job's id
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT f.path AS mount,
       whole(sum(CASE WHEN m.name = 'MOUNTS_SHARED' THEN c.value ELSE 0 END)) AS with_other_jobs,
       whole(sum(CASE WHEN m.name = 'MOUNTS_CLIENT_BYTES_READ' THEN c.value ELSE 0 END)) AS bytes_read,
       whole(sum(CASE WHEN m.name = 'MOUNTS_CLIENT_BYTES_WRITTEN' THEN c.value ELSE 0 END)) AS bytes_written,
       whole(sum(CASE WHEN m.name = 'MOUNTS_CLIENT_REQUESTS' THEN c.value ELSE 0 END)) AS requests,
       whole(sum(CASE WHEN m.name = 'MOUNTS_CLIENT_ERRORS' THEN c.value ELSE 0 END)) AS errors,
       whole(sum(CASE WHEN m.name = 'MOUNTS_F_CLIENT_RTT_TIME' THEN c.value ELSE 0 END)) AS rtt_us,
       whole(sum(CASE WHEN m.name = 'MOUNTS_F_CLIENT_QUEUE_TIME' THEN c.value ELSE 0 END)) AS queue_us
FROM counter c JOIN metric m ON m.id = c.metric JOIN file f ON f.id = c.file
WHERE c.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1) AND m.name LIKE 'MOUNTS%'
GROUP BY f.id, f.path
ORDER BY 5 DESC, 1
