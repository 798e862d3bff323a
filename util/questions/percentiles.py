# SPDX-License-Identifier: BSD-3-Clause
# how durations of a job's operations are spread: median, 90th and 99th percentile, the longest
# parameter job integer: the job's id
# parameter by_rank integer = 0: 1: each rank for itself
# parameter use integer = 0: which use of a job's id that was used again; 0: the latest
# parameter uid integer = -1: the user whose job it is; -1: any
import pandas as pd

# Each duration once, with how often it was: few rows also of many operations.
COUNTS = """
SELECT o.module, o.op, CASE WHEN :by_rank <> 0 THEN e.rank END AS rank, e.dur_us, count(*) AS operations
FROM event e JOIN operation o ON o.id = e.operation
WHERE e.job = (SELECT id FROM job WHERE job_id = :job AND (:use = 0 OR use = :use) AND (:uid = -1 OR uid = :uid) ORDER BY ahead(last_us), last_us DESC, use DESC LIMIT 1) AND e.dur_us IS NOT NULL
GROUP BY 1, 2, 3, 4
ORDER BY 1, 2, 3, 4
"""


class Analysis:
    def get_data(self, store, job, use, uid, by_rank):
        counts = store.sql(COUNTS, job=job, use=use, uid=uid, by_rank=by_rank)
        keys = ["module", "op", "rank"] if by_rank else ["module", "op"]
        rows = [(*key, *self.of(group)) for key, group in counts.groupby(keys)]
        return pd.DataFrame(rows, columns=[*keys, "operations", "p50_us", "p90_us", "p99_us", "most_us"])

    def of(self, group):
        """The P-th percentile is the least duration that P % of the operations do not exceed."""
        upto = group["operations"].cumsum()
        n = int(upto.iloc[-1])
        at = [int(upto.searchsorted((n * p + 99) // 100)) for p in (50, 90, 99, 100)]
        return [n, *group["dur_us"].iloc[at]]
