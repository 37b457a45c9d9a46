-- The second stage and what people decide: parts, merges and splits of clusters, epochs.
--
-- A stack has a key of its own (its part's); its cluster is where the rules of kind 0 lead from
-- there. cluster_rules.kind: storage/op_merges.h, enum cluster_rule_kind; score: millionths.

-- The place that 0001 kept for merges; nothing ever wrote to it.
DROP TABLE cluster_merges;

ALTER TABLE stacks ADD COLUMN part_key BLOB;
UPDATE stacks SET part_key = (SELECT key FROM clusters c WHERE c.id = stacks.cluster_id)
WHERE cluster_id IS NOT NULL;
CREATE INDEX stacks_part ON stacks (app_id, part_key) WHERE part_key IS NOT NULL;

-- 1: what it shows is that of a part that was merged into it; no stack of its own key has come yet.
ALTER TABLE clusters ADD COLUMN borrowed INTEGER NOT NULL DEFAULT 0;

-- The key that the id stood for: should it come back it gets its id again.
ALTER TABLE cluster_aliases ADD COLUMN app_id INTEGER;
ALTER TABLE cluster_aliases ADD COLUMN key BLOB;
CREATE INDEX cluster_aliases_key ON cluster_aliases (app_id, key) WHERE key IS NOT NULL;

CREATE TABLE cluster_rules (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    kind INTEGER NOT NULL,
    from_key BLOB NOT NULL,
    into_key BLOB,
    depth INTEGER NOT NULL,
    by_hand INTEGER NOT NULL,
    score INTEGER NOT NULL,
    epoch INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    -- Taken back then.
    undone_ms INTEGER,
    from_title TEXT NOT NULL,
    into_title TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX cluster_rules_merge ON cluster_rules (app_id, from_key)
    WHERE kind = 0 AND undone_ms IS NULL;
CREATE INDEX cluster_rules_active ON cluster_rules (app_id, kind, from_key) WHERE undone_ms IS NULL;
CREATE INDEX cluster_rules_undone ON cluster_rules (undone_ms) WHERE undone_ms IS NOT NULL;

-- Pairs that are alike, but not enough to be one.
CREATE TABLE cluster_related (
    app_id INTEGER NOT NULL REFERENCES apps (id),
    key BLOB NOT NULL,
    other_key BLOB NOT NULL,
    score INTEGER NOT NULL,
    PRIMARY KEY (app_id, key, other_key)
) STRICT, WITHOUT ROWID;

-- What an epoch learnt of an app: server/analysis/overlay.h reads the bytes. `version`: never twice.
CREATE TABLE cluster_overlays (
    app_id INTEGER PRIMARY KEY REFERENCES apps (id),
    version INTEGER NOT NULL UNIQUE,
    epoch INTEGER NOT NULL,
    data BLOB NOT NULL
) STRICT;

-- What is to be done to an app's clusters, and how far it is. kind, phase: storage/op_merges.h.
CREATE TABLE cluster_work (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    app_id INTEGER NOT NULL REFERENCES apps (id),
    kind INTEGER NOT NULL,
    -- 0: all of the app.
    cluster_id INTEGER NOT NULL,
    -- Asked for again meanwhile: what was begun before says nothing about it.
    attempt INTEGER NOT NULL,
    phase INTEGER NOT NULL,
    after_id INTEGER NOT NULL,
    seen INTEGER NOT NULL,
    changed INTEGER NOT NULL,
    total INTEGER NOT NULL,
    rules_version TEXT NOT NULL,
    requested_ms INTEGER NOT NULL,
    started_ms INTEGER,
    finished_ms INTEGER
) STRICT;
CREATE INDEX cluster_work_open ON cluster_work (id) WHERE finished_ms IS NULL;
CREATE INDEX cluster_work_app ON cluster_work (app_id, kind, id);

PRAGMA user_version = 3;
