-- SPDX-License-Identifier: BSD-3-Clause
-- a job's operations and bytes on each node in each span of time, beside the increase of each metric of that node
-- parameter job integer: the job's id
-- parameter seconds integer = 10: length of a span, not less than between samples
-- parameter use integer = 0: which use of a job's id that was used again; 0: the latest
-- parameter uid integer = -1: the user whose job it is; -1: any
WITH one (id) AS (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1),
io (span, node, operations, bytes) AS (
  SELECT t.second / NULLIF(:seconds, 0), t.node, whole(sum(t.n)), whole(sum(t.bytes))
  FROM total t WHERE t.job = (SELECT id FROM one) AND t.node <> 0
  GROUP BY 1, 2),
-- one span more: samples tell of what was before them; and an hour before, for the sample that the first is compared with
ends (first_span, last_span) AS (SELECT min(span), max(span) + 1 FROM io),
steps (span, node, metric, increase) AS (
  SELECT s.time_us / NULLIF(:seconds * 1000000, 0), s.node, s.metric,
         s.value - lag(s.value) OVER (PARTITION BY s.node, s.metric ORDER BY s.time_us)
  FROM sample s
  WHERE s.node IN (SELECT node FROM io)
    AND s.time_us >= (SELECT first_span FROM ends) * (:seconds * 1000000) - 3600000000
    AND s.time_us < (SELECT last_span + 1 FROM ends) * (:seconds * 1000000)),
-- a total that falls began anew: the node was booted, a file system unmounted
rise (span, node, metric, increase) AS (
  SELECT span, node, metric, whole(sum(CASE WHEN increase >= 0 THEN increase END))
  FROM steps WHERE span >= (SELECT first_span FROM ends)
  GROUP BY span, node, metric),
both_of (span, node) AS (SELECT span, node FROM io UNION SELECT span, node FROM rise)
SELECT b.span * (:seconds * 1000000) AS time_us, n.name AS node, COALESCE(i.operations, 0) AS operations,
       COALESCE(i.bytes, 0) AS bytes, m.name AS metric, r.increase
FROM both_of b JOIN node n ON n.id = b.node
LEFT JOIN io i ON i.span = b.span AND i.node = b.node
LEFT JOIN rise r ON r.span = b.span AND r.node = b.node
LEFT JOIN metric m ON m.id = r.metric
ORDER BY 1, 2, 5
