-- SPDX-License-Identifier: BSD-3-Clause
-- operations and bytes of a job on each node
-- parameter job integer: the job's id
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
SELECT n.name AS node, o.module, o.op, whole(sum(t.n)) AS operations, whole(sum(t.bytes)) AS bytes
FROM total t JOIN operation o ON o.id = t.operation JOIN node n ON n.id = t.node
WHERE t.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1)
GROUP BY n.name, o.module, o.op
ORDER BY n.name, o.module, o.op
