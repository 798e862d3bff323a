# SPDX-License-Identifier: BSD-3-Clause
"""I/O logs in Darshan's format, ioscribe's own modules included, as pandas frames.

    import ioscribe
    with ioscribe.Log("job.darshan") as log:
        print(log.job["nprocs"], log.modules)
        posix = log.frame("POSIX")
        print(posix.nlargest(5, "POSIX_BYTES_WRITTEN")[["name", "rank", "POSIX_BYTES_WRITTEN"]])
"""
from ioscribe.log import Log, LogError

__all__ = ["Log", "LogError"]
