-- SPDX-License-Identifier: BSD-3-Clause
-- what each stream of a job sent, beside the operations of that job and node in the store
-- parameter job integer: the job's id
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT n.name AS node, s.since_us, max(s.time_us) AS told_us,
       max(CASE s.total WHEN 'end' THEN 1 ELSE 0 END) AS has_ended,
       max(CASE WHEN s.total IN ('sent', 'end') THEN s.value ELSE 0 END) AS sent,
       max(CASE s.total WHEN 'skipped' THEN s.value ELSE 0 END) AS skipped,
       max(CASE s.total WHEN 'lost' THEN s.value ELSE 0 END) AS lost,
       (SELECT whole(COALESCE(sum(t.n), 0)) FROM total t WHERE t.job = s.job AND t.node = s.node) AS stored
FROM stream s JOIN node n ON n.id = s.node
WHERE s.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1)
GROUP BY s.job, s.node, n.name, s.since_us
ORDER BY n.name, s.since_us
