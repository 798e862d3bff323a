-- SPDX-License-Identifier: BSD-3-Clause
-- what the page cache could not serve of a job's files, from its log: bytes and us, the most fetched first
-- parameter job integer: the job's id
-- parameter limit integer = 100: rows at most
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT f.path,
       whole(sum(CASE WHEN m.name = 'CACHE_BYTES_FETCHED' THEN c.value ELSE 0 END)) AS fetched,
       whole(sum(CASE WHEN m.name = 'CACHE_F_FETCH_TIME' THEN c.value ELSE 0 END)) AS fetch_us,
       whole(sum(CASE WHEN m.name = 'CACHE_BYTES_FAULTED' THEN c.value ELSE 0 END)) AS faulted,
       whole(sum(CASE WHEN m.name IN ('CACHE_MINOR_FAULTS', 'CACHE_MAJOR_FAULTS') THEN c.value ELSE 0 END)) AS faults,
       whole(sum(CASE WHEN m.name = 'CACHE_DIRECT_BYTES_READ' THEN c.value ELSE 0 END)) AS direct_read,
       whole(sum(CASE WHEN m.name = 'CACHE_DIRECT_BYTES_WRITTEN' THEN c.value ELSE 0 END)) AS direct_written,
       whole(sum(CASE WHEN m.name = 'CACHE_BYTES_DIRTIED' THEN c.value ELSE 0 END)) AS dirtied,
       whole(sum(CASE WHEN m.name = 'CACHE_F_THROTTLED_TIME' THEN c.value ELSE 0 END)) AS throttled_us
FROM counter c JOIN metric m ON m.id = c.metric JOIN file f ON f.id = c.file
WHERE c.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1) AND m.name LIKE 'CACHE%'
GROUP BY f.id, f.path
ORDER BY 2 DESC, 4 DESC, 1
LIMIT :limit
