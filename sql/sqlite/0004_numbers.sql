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

-- Foreground time and launches, sampling undone (storage/op_usage.h), kept for ever. Launches are
-- millionths.
CREATE TABLE usage_devices (
    app_id INTEGER NOT NULL REFERENCES apps (id),
    day INTEGER NOT NULL,
    device_id INTEGER NOT NULL,
    os_id INTEGER NOT NULL,
    foreground_ms INTEGER NOT NULL,
    launches INTEGER NOT NULL,
    PRIMARY KEY (app_id, day, device_id, os_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE usage_pages (
    app_id INTEGER NOT NULL REFERENCES apps (id),
    day INTEGER NOT NULL,
    page_id INTEGER NOT NULL,
    build_id INTEGER NOT NULL,
    foreground_ms INTEGER NOT NULL,
    launches INTEGER NOT NULL,
    PRIMARY KEY (app_id, day, page_id, build_id)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 4;
