-- Numbers: CPU and memory at the stall, page paths, usage, counters by the hour.

-- How the row's sums spread over the hours of its day (storage/hours.h); empty: too old.
ALTER TABLE counters ADD COLUMN hours BLOB NOT NULL DEFAULT x'';

-- The first day whose hours are known. What was counted before them has none.
INSERT INTO sequences
SELECT 'hours', coalesce(max(day) + 1, -2147483648) FROM counters;

-- What weights above 1 add to stall_ms (storage/figures.h): nearly always nothing.
ALTER TABLE counters ADD COLUMN above_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE week_devices ADD COLUMN above_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE week_pages ADD COLUMN above_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE cluster_totals ADD COLUMN above_ms INTEGER NOT NULL DEFAULT 0;

PRAGMA user_version = 4;
