-- Numbers: CPU and memory at the stall, page paths, usage, counters by the hour.

-- How the row's sums spread over the hours of its day (storage/hours.h); empty: too old.
ALTER TABLE counters ADD COLUMN hours BLOB NOT NULL DEFAULT x'';

-- The first day whose hours are known. What was counted before them has none.
INSERT INTO sequences
SELECT 'hours', coalesce(max(day) + 1, -2147483648) FROM counters;

PRAGMA user_version = 4;
