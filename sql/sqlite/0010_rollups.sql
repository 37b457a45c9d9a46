-- Sums of clusters that need none of their stacks (storage/sqlite_rollup.h).

-- Reports up to this id, of stacks below that one, are in the roll-ups; later ones are added by reads.
INSERT INTO sequences
SELECT 'rolled_report', next - 1 FROM sequences WHERE name = 'report'
UNION ALL SELECT 'rolled_stack', next FROM sequences WHERE name = 'stack';

-- By build, day and kind (storage/cube.h); `rolled`: the three tables below have its sums.
CREATE TABLE cluster_cubes (
    cluster_id INTEGER PRIMARY KEY REFERENCES clusters (id) ON DELETE CASCADE,
    rolled INTEGER NOT NULL,
    cube BLOB NOT NULL
) STRICT;

-- As counters, week_devices and week_pages, of a cluster with many stacks.
CREATE TABLE cluster_counters (
    cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
    day INTEGER NOT NULL,
    build_id INTEGER NOT NULL,
    kind INTEGER NOT NULL,
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    hist BLOB NOT NULL,
    above_ms INTEGER NOT NULL,
    hours BLOB NOT NULL,
    PRIMARY KEY (cluster_id, day, build_id, kind)
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster_devices (
    cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
    week INTEGER NOT NULL,
    device_id INTEGER NOT NULL,
    os_id INTEGER NOT NULL,
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    hist BLOB NOT NULL,
    above_ms INTEGER NOT NULL,
    PRIMARY KEY (cluster_id, week, device_id, os_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE cluster_pages (
    cluster_id INTEGER NOT NULL REFERENCES clusters (id) ON DELETE CASCADE,
    week INTEGER NOT NULL,
    page_id INTEGER NOT NULL,
    build_id INTEGER NOT NULL,
    count INTEGER NOT NULL,
    weighted INTEGER NOT NULL,
    stall_ms INTEGER NOT NULL,
    hist BLOB NOT NULL,
    above_ms INTEGER NOT NULL,
    PRIMARY KEY (cluster_id, week, page_id, build_id)
) STRICT, WITHOUT ROWID;

INSERT INTO cluster_cubes
SELECT s.cluster_id, 0,
    cube_sum(c.build_id, c.day, c.kind, c.count, c.weighted, c.stall_ms, c.above_ms)
FROM stacks s JOIN counters c ON c.stack_id = s.id
WHERE s.cluster_id IS NOT NULL GROUP BY s.cluster_id;

-- 256: ROLLUP_STACKS.
UPDATE cluster_cubes SET rolled = 1
WHERE cluster_id IN (SELECT cluster_id FROM cluster_totals WHERE stacks > 256);

INSERT INTO cluster_counters (cluster_id, day, build_id, kind, count, weighted, stall_ms, hist,
    above_ms, hours)
SELECT k.cluster_id, c.day, c.build_id, c.kind, c.count, c.weighted, c.stall_ms, c.hist, c.above_ms, c.hours
FROM cluster_cubes k CROSS JOIN stacks s ON s.cluster_id = k.cluster_id
    CROSS JOIN counters c ON c.stack_id = s.id WHERE k.rolled = 1
ON CONFLICT (cluster_id, day, build_id, kind) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, above_ms = above_ms + excluded.above_ms,
    hist = histogram_merge(hist, excluded.hist),
    hours = hours_merge(hours, count, weighted, stall_ms, above_ms, excluded.hours, excluded.count,
                        excluded.weighted, excluded.stall_ms, excluded.above_ms);

INSERT INTO cluster_devices (cluster_id, week, device_id, os_id, count, weighted, stall_ms, hist,
    above_ms)
SELECT k.cluster_id, c.week, c.device_id, c.os_id, c.count, c.weighted, c.stall_ms, c.hist, c.above_ms
FROM cluster_cubes k CROSS JOIN stacks s ON s.cluster_id = k.cluster_id
    CROSS JOIN week_devices c ON c.stack_id = s.id WHERE k.rolled = 1
ON CONFLICT (cluster_id, week, device_id, os_id) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, above_ms = above_ms + excluded.above_ms,
    hist = histogram_merge(hist, excluded.hist);

INSERT INTO cluster_pages (cluster_id, week, page_id, build_id, count, weighted, stall_ms, hist,
    above_ms)
SELECT k.cluster_id, c.week, c.page_id, c.build_id, c.count, c.weighted, c.stall_ms, c.hist, c.above_ms
FROM cluster_cubes k CROSS JOIN stacks s ON s.cluster_id = k.cluster_id
    CROSS JOIN week_pages c ON c.stack_id = s.id WHERE k.rolled = 1
ON CONFLICT (cluster_id, week, page_id, build_id) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, above_ms = above_ms + excluded.above_ms,
    hist = histogram_merge(hist, excluded.hist);

PRAGMA user_version = 10;
