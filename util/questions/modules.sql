-- SPDX-License-Identifier: BSD-3-Clause
-- the modules that operations in the store are of
SELECT DISTINCT module FROM operation ORDER BY module
