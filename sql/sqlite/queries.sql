-- Every statement of the SQLite backend, by name; storage/sqlite_*.c knows them as SQL_<NAME>.
-- Parameters are numbered in the order in which the code gives them.

-- === connections =================================================================================

-- name: connection
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA wal_autocheckpoint = 0;
PRAGMA journal_size_limit = 67108864;
PRAGMA trusted_schema = OFF;

-- name: journal_wal
PRAGMA journal_mode = WAL;

-- name: synchronous_full
PRAGMA synchronous = FULL;

-- name: synchronous_normal
PRAGMA synchronous = NORMAL;

-- name: writer_cache
PRAGMA cache_size = -65536;

-- name: query_only
PRAGMA query_only = ON;

-- name: foreign_keys_on
PRAGMA foreign_keys = ON;

-- name: foreign_keys_off
PRAGMA foreign_keys = OFF;

-- name: foreign_key_check
SELECT count(*) FROM pragma_foreign_key_check;

-- name: schema_tables
SELECT count(*) FROM sqlite_schema;

-- name: application_id
PRAGMA application_id;

-- name: user_version
PRAGMA user_version;

-- name: page_size
PRAGMA page_size;

-- name: copy_to
VACUUM INTO ?1;

-- name: begin
BEGIN IMMEDIATE;

-- name: begin_read
BEGIN;

-- name: commit
COMMIT;

-- name: rollback
ROLLBACK;

-- name: savepoint
SAVEPOINT op;

-- name: release
RELEASE op;

-- name: rollback_to
ROLLBACK TO op;

-- === writing: dictionaries =======================================================================

-- name: sequence_get
SELECT next FROM sequences WHERE name = ?1;

-- name: sequence_set
UPDATE sequences SET next = ?2 WHERE name = ?1;

-- name: app_get
SELECT id, total_id FROM apps WHERE bundle_id = ?1;

-- name: app_insert
INSERT INTO apps (bundle_id, total_id) VALUES (?1, ?2);

-- name: dict_get
SELECT id FROM dict WHERE app_id = ?1 AND kind = ?2 AND value = ?3 AND value2 = ?4;

-- name: dict_insert
INSERT INTO dict (app_id, kind, value, value2) VALUES (?1, ?2, ?3, ?4);

-- name: dict_day_get
SELECT added FROM dict_days WHERE app_id = ?1 AND kind = ?2 AND day = ?3;

-- name: dict_day_add
INSERT INTO dict_days (app_id, kind, day, added) VALUES (?1, ?2, ?3, 1)
ON CONFLICT (app_id, kind, day) DO UPDATE SET added = added + 1;

-- name: name_get
SELECT id FROM names WHERE hash = ?1 AND value = ?2;

-- name: name_insert
INSERT INTO names (hash, value) VALUES (?1, ?2);

-- === writing: images =============================================================================

-- name: image_known
SELECT 1 FROM images WHERE app_id = ?1 AND uuid = ?2;

-- name: image_insert
INSERT INTO images (app_id, uuid, kind, class, name, arch) VALUES (?1, ?2, ?3, ?4, ?5, ?6);

-- name: layout_known
SELECT 1 FROM layouts WHERE uuid = ?1;

-- name: layout_get
SELECT id, vmaddr, size, trusted FROM layouts WHERE uuid = ?1;

-- name: layout_set
INSERT INTO layouts (uuid, vmaddr, size, trusted) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (uuid) DO UPDATE
SET vmaddr = excluded.vmaddr, size = excluded.size, trusted = excluded.trusted;

-- name: member_insert
INSERT INTO group_members (group_uuid, uuid) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- name: groups_of
SELECT group_uuid FROM group_members WHERE uuid = ?1;

-- name: image_set_find
SELECT id FROM image_sets WHERE app_id = ?1 AND client_id = ?2;

-- name: image_set_touch
UPDATE image_sets SET used_ms = ?2 WHERE id = ?1 AND used_ms < ?3;

-- name: image_set_insert
INSERT INTO image_sets (app_id, client_id, used_ms) VALUES (?1, ?2, ?3);

-- name: image_set_data_insert
INSERT INTO image_set_data (image_set_id, data) VALUES (?1, ?2);

-- name: image_set_replace
UPDATE image_set_data SET data = ?2 WHERE image_set_id = ?1 AND data <> ?2;

-- === writing: reports ============================================================================

-- name: report_id_seen
SELECT 1 FROM report_ids WHERE day = ?1 AND hash = ?2;

-- name: report_id_insert
INSERT INTO report_ids (day, hash, report_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING;

-- name: report_day
INSERT INTO report_days (day, first_id) VALUES (?1, ?2) ON CONFLICT DO NOTHING;

-- name: report_insert
INSERT INTO reports (id, stack_id, flags, time_ms, delay_ms, duration_ms, weight_above, build_id,
    device_id, os_id, page_id, path_id, threshold_id, cpu, memory, client_id, addresses)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: report_extra_insert
INSERT INTO report_extra (report_id, device_time_ms, stack_skipped, tags, frame_gaps)
VALUES (?1, ?2, ?3, ?4, ?5);

-- name: sample_insert
INSERT INTO samples (report_id, seq, offset_ms, repeat_count, cpu, thread_state, stack_id,
    addresses)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8);

-- name: thread_insert
INSERT INTO threads (report_id, seq, tid, name, state, stalled, stack_id, waits_kind,
    waits_address, owner_tid, addresses)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11);

-- === writing: stacks and sums ====================================================================

-- name: stack_find
SELECT id, coalesce(cluster_id, 0) FROM stacks WHERE app_id = ?1 AND hash = ?2;

-- name: stack_insert
INSERT INTO stacks (id, app_id, hash, state, generation, count, weighted, stall_ms, first_seen_ms,
    last_seen_ms, created_ms, provisional, give_up, approximate, app_frames, app_named)
VALUES (?1, ?2, ?3, ?4, 1, 0, 0, 0, 9223372036854775807, -9223372036854775808, ?5, 0, 0, 0, 0, 0);

-- name: stack_data_insert
INSERT INTO stack_data (stack_id, frame_count, raw) VALUES (?1, ?2, ?3);

-- name: counter_add
INSERT INTO counters (stack_id, day, build_id, kind, count, weighted, stall_ms, hist)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (stack_id, day, build_id, kind) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, hist = histogram_merge(hist, excluded.hist);

-- name: week_device_add
INSERT INTO week_devices (stack_id, week, device_id, os_id, count, weighted, stall_ms, hist)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (stack_id, week, device_id, os_id) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, hist = histogram_merge(hist, excluded.hist);

-- name: week_page_add
INSERT INTO week_pages (stack_id, week, page_id, build_id, count, weighted, stall_ms, hist)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)
ON CONFLICT (stack_id, week, page_id, build_id) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, hist = histogram_merge(hist, excluded.hist);

-- name: stack_add
UPDATE stacks
SET count = count + ?2, weighted = weighted + ?3, stall_ms = stall_ms + ?4,
    first_seen_ms = min(first_seen_ms, ?5), last_seen_ms = max(last_seen_ms, ?6)
WHERE id = ?1;

-- name: cluster_add
UPDATE cluster_totals
SET count = count + ?2, weighted = weighted + ?3, stall_ms = stall_ms + ?4,
    first_seen_ms = min(first_seen_ms, ?5), last_seen_ms = max(last_seen_ms, ?6),
    hist = histogram_merge(hist, ?7)
WHERE cluster_id = ?1;

-- name: stack_counters
SELECT count, weighted, stall_ms, hist FROM counters WHERE stack_id = ?1;

-- === writing: resolutions and clusters ===========================================================

-- name: stack_facts
SELECT app_id, state, generation, coalesce(cluster_id, 0), first_seen_ms, last_seen_ms
FROM stacks WHERE id = ?1;

-- name: symbol_present
SELECT 1 FROM slices WHERE uuid = ?1 AND current = 1;

-- name: stack_missing_old
SELECT missing FROM stack_data WHERE stack_id = ?1;

-- name: stack_missing_insert
INSERT INTO stack_missing (uuid, stack_id, frames) VALUES (?1, ?2, ?3)
ON CONFLICT (uuid, stack_id) DO UPDATE SET frames = excluded.frames;

-- name: stack_missing_delete
DELETE FROM stack_missing WHERE uuid = ?1 AND stack_id = ?2;

-- name: stack_data_resolve
UPDATE stack_data SET resolved = ?2, missing = ?3, variant = ?4 WHERE stack_id = ?1;

-- name: stack_resolve
UPDATE stacks
SET state = 1, cluster_id = ?2, provisional = ?3, approximate = ?4, app_frames = ?5, app_named = ?6
WHERE id = ?1;

-- name: cluster_find
SELECT id FROM clusters WHERE app_id = ?1 AND key = ?2;

-- name: cluster_insert
INSERT INTO clusters (app_id, key, kind, provisional, hidden, title, key_text, function, file,
    image, category, owner, rules_version)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);

-- name: cluster_totals_insert
INSERT INTO cluster_totals (cluster_id, count, weighted, stall_ms, first_seen_ms, last_seen_ms,
    hist)
VALUES (?1, 0, 0, 0, 9223372036854775807, -9223372036854775808, x'');

-- name: cluster_renew
UPDATE clusters
SET rules_version = ?2, kind = ?3, provisional = ?4, hidden = ?5, title = ?6, key_text = ?7,
    function = ?8, file = ?9, image = ?10, category = ?11, owner = ?12
WHERE id = ?1 AND rules_version <> ?2;

-- name: cluster_hist
SELECT hist FROM cluster_totals WHERE cluster_id = ?1;

-- name: cluster_take
UPDATE cluster_totals
SET count = count - ?2, weighted = weighted - ?3, stall_ms = stall_ms - ?4, hist = ?5,
    first_seen_ms = CASE WHEN first_seen_ms < ?6 THEN first_seen_ms ELSE
        coalesce((SELECT min(first_seen_ms) FROM stacks WHERE cluster_id = ?1 AND count > 0),
                 9223372036854775807) END,
    last_seen_ms = CASE WHEN last_seen_ms > ?7 THEN last_seen_ms ELSE
        coalesce((SELECT max(last_seen_ms) FROM stacks WHERE cluster_id = ?1 AND count > 0),
                 -9223372036854775808) END
WHERE cluster_id = ?1;

-- name: cluster_move_add
INSERT INTO cluster_moves (from_id, to_id, weighted, count) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (from_id, to_id) DO UPDATE
SET weighted = weighted + excluded.weighted, count = count + excluded.count;

-- name: cluster_any_stack
SELECT id FROM stacks WHERE cluster_id = ?1 LIMIT 1;

-- name: cluster_heir
SELECT to_id FROM cluster_moves WHERE from_id = ?1
ORDER BY weighted DESC, count DESC, to_id LIMIT 1;

-- name: aliases_redirect
UPDATE cluster_aliases SET cluster_id = ?2 WHERE cluster_id = ?1;

-- name: aliases_drop
DELETE FROM cluster_aliases WHERE cluster_id = ?1;

-- name: cluster_moves_merge
INSERT INTO cluster_moves (from_id, to_id, weighted, count)
SELECT from_id, ?2, weighted, count FROM cluster_moves WHERE to_id = ?1 AND from_id <> ?2
ON CONFLICT (from_id, to_id) DO UPDATE
SET weighted = weighted + excluded.weighted, count = count + excluded.count;

-- name: cluster_moves_drop_to
DELETE FROM cluster_moves WHERE to_id = ?1 AND ?2 > 0;

-- name: alias_insert
INSERT INTO cluster_aliases (alias, cluster_id) VALUES (?1, ?2);

-- name: cluster_delete
DELETE FROM clusters WHERE id = ?1;

-- === writing: back to pending ====================================================================

-- name: missing_stacks
SELECT stack_id FROM stack_missing
WHERE uuid = ?1 AND stack_id > ?2 AND stack_id <= ?3 ORDER BY stack_id LIMIT ?4;

-- name: user_stacks
SELECT stack_id FROM stack_data
WHERE instr(raw, ?1) > 0 AND stack_id > ?2 AND stack_id <= ?3 ORDER BY stack_id LIMIT ?4;

-- name: stack_next
SELECT id FROM stacks WHERE id > ?1 ORDER BY id LIMIT 1;

-- name: stack_repend
UPDATE stacks SET state = 0, generation = generation + 1 WHERE id = ?1 AND state IN (0, 1);

-- name: pending_disturb
UPDATE stacks SET generation = generation + 1
WHERE state = 0 AND EXISTS (
    SELECT 1 FROM stack_data d WHERE d.stack_id = stacks.id AND instr(d.raw, ?1) > 0);

-- name: stacks_give_up
UPDATE stacks SET give_up = 1, state = 0, generation = generation + 1
WHERE provisional = 1 AND give_up = 0 AND created_ms < ?1;

-- === writing: symbols and tokens =================================================================

-- name: upload_insert
INSERT INTO uploads (sha256, size, spool_file, bundle_id, version, build, os_build, system, state,
    created_ms, slice_count)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0);

-- name: upload_state_set
UPDATE uploads SET state = ?2, reason = ?3, slice_count = ?4 WHERE id = ?1;

-- name: upload_slices_delete
DELETE FROM slices WHERE upload_id = ?1;

-- name: slice_insert
INSERT INTO slices (upload_id, uuid, name, member, arch, reason, indexed, current, has_dwarf,
    functions, lines, inlines, index_bytes, text_vmaddr, text_size, object_sha256, object_bytes,
    created_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18);

-- name: slices_not_current
UPDATE slices SET current = 0 WHERE uuid = ?1 AND current = 1;

-- name: symbol_delete
DELETE FROM slices WHERE uuid = ?1;

-- name: token_insert
INSERT INTO tokens (hash, scopes, name, bundle_id, created_ms) VALUES (?1, ?2, ?3, ?4, ?5)
ON CONFLICT (hash) DO NOTHING;

-- name: token_find
SELECT id FROM tokens WHERE hash = ?1;

-- name: token_delete
DELETE FROM tokens WHERE id = ?1;

-- === writing: retention ==========================================================================

-- name: reports_old
SELECT id FROM (SELECT id, time_ms + delay_ms AS received FROM reports ORDER BY id LIMIT ?2)
WHERE received < ?1;

-- name: report_stacks
SELECT stack_id FROM reports WHERE id = ?1
UNION SELECT stack_id FROM samples WHERE report_id = ?1
UNION SELECT stack_id FROM threads WHERE report_id = ?1 AND stack_id IS NOT NULL;

-- name: report_delete
DELETE FROM reports WHERE id = ?1;

-- name: stack_heir
SELECT h.id, h.cluster_id, h.count FROM stacks s JOIN stacks h ON h.cluster_id = s.cluster_id
WHERE s.id = ?1 AND s.state = 1
    AND NOT EXISTS (SELECT 1 FROM reports WHERE stack_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM samples WHERE stack_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM threads WHERE stack_id = ?1)
ORDER BY h.count DESC, h.hash LIMIT 1;

-- name: counters_fold
INSERT INTO counters (stack_id, day, build_id, kind, count, weighted, stall_ms, hist)
SELECT ?2, day, build_id, kind, count, weighted, stall_ms, hist FROM counters WHERE stack_id = ?1
ON CONFLICT (stack_id, day, build_id, kind) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, hist = histogram_merge(hist, excluded.hist);

-- name: week_devices_fold
INSERT INTO week_devices (stack_id, week, device_id, os_id, count, weighted, stall_ms, hist)
SELECT ?2, week, device_id, os_id, count, weighted, stall_ms, hist FROM week_devices
WHERE stack_id = ?1
ON CONFLICT (stack_id, week, device_id, os_id) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, hist = histogram_merge(hist, excluded.hist);

-- name: week_pages_fold
INSERT INTO week_pages (stack_id, week, page_id, build_id, count, weighted, stall_ms, hist)
SELECT ?2, week, page_id, build_id, count, weighted, stall_ms, hist FROM week_pages
WHERE stack_id = ?1
ON CONFLICT (stack_id, week, page_id, build_id) DO UPDATE
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, hist = histogram_merge(hist, excluded.hist);

-- name: stack_fold
UPDATE stacks
SET count = stacks.count + s.count, weighted = stacks.weighted + s.weighted,
    stall_ms = stacks.stall_ms + s.stall_ms,
    first_seen_ms = min(stacks.first_seen_ms, s.first_seen_ms),
    last_seen_ms = max(stacks.last_seen_ms, s.last_seen_ms)
FROM stacks s WHERE s.id = ?1 AND stacks.id = ?2;

-- name: stack_missing_forget
DELETE FROM stack_missing WHERE stack_id = ?1
    AND uuid IN (SELECT substr(d.missing, n.i * 16 + 1, 16) FROM stack_data d,
        (WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 255)
         SELECT i FROM n) n
        WHERE d.stack_id = ?1 AND n.i * 16 < length(d.missing));

-- name: stack_delete
DELETE FROM stacks WHERE id = ?1;

-- name: report_ids_expire
DELETE FROM report_ids WHERE (day, hash) IN (
    SELECT day, hash FROM report_ids WHERE day < ?1 LIMIT ?2);

-- name: report_days_expire
DELETE FROM report_days WHERE day < ?1 AND ?2 > 0;

-- name: image_sets_expire
DELETE FROM image_sets WHERE id IN (SELECT id FROM image_sets WHERE used_ms < ?1 LIMIT ?2);

-- name: dict_days_expire
DELETE FROM dict_days WHERE day < ?1 AND ?2 > 0;

-- === reading: for the resolver and the door ======================================================

-- name: pending_page
SELECT s.id, s.generation, s.app_id, a.bundle_id, s.give_up, d.raw
FROM stacks s JOIN apps a ON a.id = s.app_id JOIN stack_data d ON d.stack_id = s.id
WHERE s.state = 0 AND s.id > ?1 ORDER BY s.id LIMIT ?2;

-- The image as the app's reports named it; else as a symbol file does. A symbol file decides what
-- kind of image it is where nothing else does (class 0).
-- name: image_get
SELECT kind, CASE WHEN class <> 0 THEN class ELSE coalesce(
        (SELECT 1 + u.system FROM slices x JOIN uploads u ON u.id = x.upload_id
         WHERE x.uuid = ?2 AND x.current = 1), 0) END,
    name, arch
FROM images WHERE app_id = (SELECT id FROM apps WHERE bundle_id = ?1) AND uuid = ?2
UNION ALL
SELECT 1, 1 + u.system, x.name, nullif(x.arch, '')
FROM slices x JOIN uploads u ON u.id = x.upload_id WHERE x.uuid = ?2 AND x.current = 1
LIMIT 1;

-- name: group_layouts
SELECT l.uuid, l.vmaddr, l.size FROM group_members m JOIN layouts l ON l.uuid = m.uuid
WHERE m.group_uuid = ?1;

-- name: layouts_newest
SELECT uuid, vmaddr, size FROM layouts ORDER BY id DESC LIMIT ?1;

-- name: image_set_get
SELECT d.data FROM image_sets i JOIN image_set_data d ON d.image_set_id = i.id
WHERE i.app_id = (SELECT id FROM apps WHERE bundle_id = ?1) AND i.client_id = ?2;

-- name: tokens_all
SELECT id, hash, scopes, name, bundle_id, created_ms FROM tokens ORDER BY id;
