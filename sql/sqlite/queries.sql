-- Every statement of the SQLite backend, by name; storage/sqlite_*.c knows them as SQL_<NAME>.
-- Parameters are numbered in the order in which the code gives them.

-- === connections =================================================================================

-- The log stays as long as it gets while commits follow each other (server/jobs/writer.c): to write
-- over it costs less than to make it longer, and to cut 50 MB of it off takes 100 ms of a commit.
-- name: connection
PRAGMA foreign_keys = ON;
PRAGMA temp_store = MEMORY;
PRAGMA wal_autocheckpoint = 0;
PRAGMA journal_size_limit = 536870912;
PRAGMA trusted_schema = OFF;

-- Of a file that is made now. A report changes some bytes on each of half a dozen pages, which go to
-- the log and to the file whole: of 4096 bytes they are twice as many, and of 1024 it is the deeper
-- trees that cost.
-- name: journal_wal
PRAGMA page_size = 2048;
PRAGMA journal_mode = WAL;

-- name: synchronous_full
PRAGMA synchronous = FULL;

-- name: synchronous_normal
PRAGMA synchronous = NORMAL;

-- name: writer_cache
PRAGMA cache_size = -65536;
-- What a statement may take back lies in one piece of memory (sqlite_stmt.c). With MEMORY it is a list
-- of kilobytes, through which the end of every statement walks to the end.
PRAGMA temp_store = FILE;

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

-- name: log_kept
PRAGMA journal_size_limit;

-- name: page_size
PRAGMA page_size;

-- name: page_count
PRAGMA page_count;

-- A copy that is not finished is thrown away, and a finished one is synced by who made it.
-- name: copy_settings
PRAGMA journal_mode = OFF;
PRAGMA synchronous = OFF;

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

-- === fragments: shelves (storage/shelf.h) ========================================================

-- The image whose indexes are on the shelf ?1.
-- fragment: of_shelf_image
        coalesce((SELECT image FROM own_shelves WHERE shelf = ?1), ?1)

-- fragment: of_shelf_owner
            SELECT a.id FROM own_shelves o JOIN apps a ON a.bundle_id = o.bundle_id
            WHERE o.shelf = ?1

-- Stacks of those whom it serves.
-- fragment: of_shelf_app
    (NOT EXISTS (SELECT 1 FROM own_shelves WHERE shelf = ?1)
        OR (SELECT app_id FROM stacks WHERE id = d.stack_id) = (
            -- include: of_shelf_owner
        ))

-- Where the app of the id ?2 has the image ?1 for itself.
-- fragment: shelf_of_app_id
        SELECT o.shelf FROM own_shelves o JOIN apps a ON a.bundle_id = o.bundle_id
        WHERE o.image = ?1 AND a.id = ?2

-- Slices of an image ?1 that serve an app ?2, and their order.
-- fragment: serving
    x.uuid IN (?1, (SELECT shelf FROM own_shelves WHERE image = ?1 AND bundle_id = ?2))

-- fragment: richest
    x.has_dwarf DESC, x.lines DESC, x.functions DESC, x.inlines DESC, x.uuid = ?1, x.id DESC

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
INSERT INTO dict_days (app_id, kind, day, added) VALUES (?1, ?2, ?3, ?4)
ON CONFLICT (app_id, kind, day) DO UPDATE SET added = added + excluded.added;

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
SELECT 1 FROM layouts WHERE uuid IN (?1, (
    -- include: shelf_of_app_id
    ))
LIMIT 1;

-- No row changes when it says the same.
-- name: layout_set
INSERT INTO layouts (uuid, vmaddr, size) VALUES (?1, ?2, ?3)
ON CONFLICT (uuid) DO UPDATE SET vmaddr = excluded.vmaddr, size = excluded.size
WHERE vmaddr <> excluded.vmaddr OR size <> excluded.size;

-- name: layout_claimed
SELECT 1 FROM layout_claims WHERE app_id = ?1 AND uuid = ?2;

-- name: layout_claim
INSERT INTO layout_claims (app_id, uuid, vmaddr) VALUES (?1, ?2, ?3);

-- name: member_known
SELECT 1 FROM group_members WHERE group_uuid = ?1 AND app_id = ?2 AND uuid = ?3;

-- name: member_insert
INSERT INTO group_members (group_uuid, app_id, uuid) VALUES (?1, ?2, ?3);

-- name: groups_of
SELECT DISTINCT group_uuid FROM group_members
WHERE uuid =
    -- include: of_shelf_image;

-- name: image_set_find
SELECT id FROM image_sets WHERE app_id = ?1 AND client_id = ?2;

-- name: image_set_touch
UPDATE image_sets SET used_ms = ?2 WHERE id = ?1 AND used_ms < ?3;

-- name: image_set_insert
INSERT INTO image_sets (app_id, client_id, used_ms) VALUES (?1, ?2, ?3);

-- name: image_set_data_insert
INSERT INTO image_set_data (image_set_id, data) VALUES (?1, ?2);

-- name: image_set_replace
UPDATE image_set_data SET data = ?2 WHERE image_set_id = ?1;

-- name: image_set_data
SELECT data FROM image_set_data WHERE image_set_id = ?1;

-- === writing: reports ============================================================================

-- name: report_id_seen
SELECT 1 FROM report_ids WHERE day = ?1 AND hash = ?2;

-- One look a day that has ids, and those of ids that wait.
-- name: report_id_days
WITH RECURSIVE days (day) AS (
    SELECT max(day) FROM report_ids
    UNION ALL
    SELECT (SELECT max(i.day) FROM report_ids i WHERE i.day < days.day) FROM days
    WHERE days.day IS NOT NULL)
SELECT day FROM days WHERE day IS NOT NULL
UNION SELECT day FROM new_ids ORDER BY day DESC LIMIT ?1;

-- name: report_ids_of_day
SELECT hash FROM report_ids WHERE day = ?1 AND hash > ?2 ORDER BY hash LIMIT ?3;

-- name: report_id_insert
INSERT INTO report_ids (day, hash, report_id) VALUES (?1, ?2, ?3) ON CONFLICT DO NOTHING;

-- name: new_ids
SELECT seq, day, hash, report_id FROM new_ids ORDER BY seq;

-- name: new_id_insert
INSERT INTO new_ids (seq, day, hash, report_id) VALUES (?1, ?2, ?3, ?4);

-- name: new_ids_drop
DELETE FROM new_ids WHERE seq < ?1;

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
    waits_address, owner_tid, addresses, queue, waits_queue)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13);

-- === writing: stacks and sums ====================================================================

-- name: stack_find
SELECT id, coalesce(cluster_id, 0) FROM stacks WHERE app_id = ?1 AND hash = ?2;

-- name: stack_insert
INSERT INTO stacks (id, app_id, hash, state, generation, count, weighted, stall_ms, first_seen_ms,
    last_seen_ms, created_ms, provisional, give_up, approximate, app_frames, app_named)
VALUES (?1, ?2, ?3, ?4, 1, 0, 0, 0, 9223372036854775807, -9223372036854775808, ?5, 0, 0, 0, 0, 0);

-- name: stack_data_insert
INSERT INTO stack_data (stack_id, frame_count, raw) VALUES (?1, ?2, ?3);

-- What a row that is there already becomes when figures of the same kind are added to it; `hours`
-- stand with counters.
-- fragment: add_figures
SET count = count + excluded.count, weighted = weighted + excluded.weighted,
    stall_ms = stall_ms + excluded.stall_ms, above_ms = above_ms + excluded.above_ms,
    hist = histogram_merge(hist, excluded.hist)

-- fragment: add_hours
-- include: add_figures
    , hours = hours_merge(hours, count, weighted, stall_ms, above_ms, excluded.hours,
        excluded.count, excluded.weighted, excluded.stall_ms, excluded.above_ms)

-- name: counter_add
INSERT INTO counters (stack_id, day, build_id, kind, count, weighted, stall_ms, hist, above_ms,
    hours)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)
ON CONFLICT (stack_id, day, build_id, kind) DO UPDATE
-- include: add_hours;

-- name: week_device_add
INSERT INTO week_devices (stack_id, week, device_id, os_id, count, weighted, stall_ms, hist,
    above_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (stack_id, week, device_id, os_id) DO UPDATE
-- include: add_figures;

-- name: week_page_add
INSERT INTO week_pages (stack_id, week, page_id, build_id, count, weighted, stall_ms, hist,
    above_ms)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
ON CONFLICT (stack_id, week, page_id, build_id) DO UPDATE
-- include: add_figures;

-- name: stack_add
UPDATE stacks
SET count = count + ?2, weighted = weighted + ?3, stall_ms = stall_ms + ?4,
    first_seen_ms = min(first_seen_ms, ?5), last_seen_ms = max(last_seen_ms, ?6)
WHERE id = ?1;

-- name: cluster_add
UPDATE cluster_totals
SET count = count + ?2, weighted = weighted + ?3, stall_ms = stall_ms + ?4,
    first_seen_ms = min(first_seen_ms, ?5), last_seen_ms = max(last_seen_ms, ?6),
    hist = histogram_merge(hist, ?7), above_ms = above_ms + ?8, tally = tally_merge(tally, ?9),
    stacks = stacks + ?10
WHERE cluster_id = ?1;

-- Of one stack: columns of sqlite_stack_rows().
-- name: stack_counters
SELECT stack_id, day, build_id, kind, count, weighted, stall_ms, above_ms, hist, hours
FROM counters WHERE stack_id BETWEEN ?1 AND ?2 ORDER BY stack_id;

-- name: stack_devices
SELECT stack_id, week, device_id, os_id, count, weighted, stall_ms, above_ms, hist
FROM week_devices WHERE stack_id BETWEEN ?1 AND ?2 ORDER BY stack_id;

-- name: stack_pages
SELECT stack_id, week, page_id, build_id, count, weighted, stall_ms, above_ms, hist
FROM week_pages WHERE stack_id BETWEEN ?1 AND ?2 ORDER BY stack_id;

-- === writing: resolutions and clusters ===========================================================

-- name: stacks_facts
SELECT s.id, s.app_id, s.state, s.generation, coalesce(s.cluster_id, 0), s.first_seen_ms,
    s.last_seen_ms, d.missing
FROM stacks s LEFT JOIN stack_data d ON d.stack_id = s.id
WHERE s.id BETWEEN ?1 AND ?2 ORDER BY s.id;

-- name: symbol_present
SELECT 1 FROM slices WHERE uuid = ?1 AND current = 1;

-- name: stack_missing_insert
INSERT INTO stack_missing (uuid, stack_id, frames) VALUES (?1, ?2, ?3)
ON CONFLICT (uuid, stack_id) DO UPDATE SET frames = excluded.frames;

-- given(): storage/sqlite_ranges.h.
-- name: stacks_missing_delete
DELETE FROM stack_missing
WHERE uuid = ?3 AND stack_id BETWEEN ?1 AND ?2 AND given(stack_id, 0);

-- name: stacks_data_resolve
UPDATE stack_data
SET resolved = given(stack_id, 1), missing = given(stack_id, 2), variant = given(stack_id, 3)
WHERE stack_id BETWEEN ?1 AND ?2 AND given(stack_id, 0);

-- name: stacks_resolve
UPDATE stacks
SET state = 1, cluster_id = given(id, 1), provisional = given(id, 2), approximate = given(id, 3),
    app_frames = given(id, 4), app_named = given(id, 5), part_key = given(id, 6)
WHERE id BETWEEN ?1 AND ?2 AND given(id, 0);

-- name: cluster_find
SELECT id FROM clusters WHERE app_id = ?1 AND key = ?2;

-- What it shows, see storage/cluster_face.h.
-- name: cluster_face
SELECT id, rules_version, borrowed, function, file, image, title, category, owner
FROM clusters WHERE app_id = ?1 AND key = ?2;

-- name: cluster_insert
INSERT INTO clusters (app_id, key, kind, provisional, hidden, title, key_text, function, file,
    image, category, owner, rules_version, borrowed, id, created_ms, origin_id)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17);

-- name: cluster_totals_insert
INSERT INTO cluster_totals (cluster_id, count, weighted, stall_ms, first_seen_ms, last_seen_ms,
    hist)
VALUES (?1, 0, 0, 0, 9223372036854775807, -9223372036854775808, x'');

-- name: cluster_renew
UPDATE clusters
SET rules_version = ?2, kind = ?3, provisional = ?4, hidden = ?5, title = ?6, key_text = ?7,
    function = ?8, file = ?9, image = ?10, category = ?11, owner = ?12, borrowed = ?13
WHERE id = ?1;

-- name: cluster_left
SELECT hist, first_seen_ms, last_seen_ms FROM cluster_totals WHERE cluster_id = ?1;

-- name: cluster_take
UPDATE cluster_totals
SET count = count - ?2, weighted = weighted - ?3, stall_ms = stall_ms - ?4, hist = ?5,
    first_seen_ms = ?6, last_seen_ms = ?7, above_ms = above_ms - ?8, tally = tally_take(tally, ?9),
    stacks = stacks - ?10
WHERE cluster_id = ?1;

-- When the stacks of a cluster were seen (storage/sqlite_seen.h).
-- name: stacks_seen
SELECT id, first_seen_ms, last_seen_ms FROM stacks WHERE cluster_id = ?1 AND count > 0
ORDER BY id;

-- name: stack_seen
SELECT first_seen_ms, last_seen_ms FROM stacks
WHERE id = ?1 AND cluster_id = ?2 AND count > 0;

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
INSERT INTO cluster_aliases (alias, cluster_id, app_id, key)
SELECT id, ?2, app_id, key FROM clusters WHERE id = ?1;

-- name: cluster_delete
DELETE FROM clusters WHERE id = ?1;

-- === writing: back to pending ====================================================================

-- name: missing_stacks
SELECT d.stack_id FROM stack_missing d
WHERE d.uuid =
        -- include: of_shelf_image
    AND d.stack_id > ?2 AND d.stack_id <= ?3 AND
    -- include: of_shelf_app
ORDER BY d.stack_id LIMIT ?4;

-- name: user_stacks
SELECT d.stack_id FROM stack_data d
WHERE
    -- include: of_shelf_app
    AND instr(d.raw,
        -- include: of_shelf_image
    ) > 0 AND d.stack_id > ?2 AND d.stack_id <= ?3 ORDER BY d.stack_id LIMIT ?4;

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
    created_ms, slice_count, bound)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, 0, ?11);

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
SELECT h.id, h.cluster_id, h.count
FROM stacks s JOIN stacks h ON h.cluster_id = s.cluster_id AND h.part_key IS s.part_key
WHERE s.id = ?1 AND s.state = 1
    AND NOT EXISTS (SELECT 1 FROM reports WHERE stack_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM samples WHERE stack_id = ?1)
    AND NOT EXISTS (SELECT 1 FROM threads WHERE stack_id = ?1)
ORDER BY h.weighted DESC, h.hash LIMIT 1;

-- name: counters_fold
INSERT INTO counters (stack_id, day, build_id, kind, count, weighted, stall_ms, hist, above_ms,
    hours)
SELECT ?2, day, build_id, kind, count, weighted, stall_ms, hist, above_ms, hours FROM counters
WHERE stack_id = ?1
ON CONFLICT (stack_id, day, build_id, kind) DO UPDATE
-- include: add_hours;

-- Of an app's total: the pairs that the week has.
-- name: week_device_known
SELECT 1 FROM week_devices WHERE stack_id = ?1 AND week = ?2 AND device_id = ?3 AND os_id = ?4;

-- name: week_page_known
SELECT 1 FROM week_pages WHERE stack_id = ?1 AND week = ?2 AND page_id = ?3 AND build_id = ?4;

-- name: week_devices_fold
INSERT INTO week_devices (stack_id, week, device_id, os_id, count, weighted, stall_ms, hist,
    above_ms)
SELECT ?2, week, device_id, os_id, count, weighted, stall_ms, hist, above_ms FROM week_devices
WHERE stack_id = ?1
ON CONFLICT (stack_id, week, device_id, os_id) DO UPDATE
-- include: add_figures;

-- name: week_pages_fold
INSERT INTO week_pages (stack_id, week, page_id, build_id, count, weighted, stall_ms, hist,
    above_ms)
SELECT ?2, week, page_id, build_id, count, weighted, stall_ms, hist, above_ms FROM week_pages
WHERE stack_id = ?1
ON CONFLICT (stack_id, week, page_id, build_id) DO UPDATE
-- include: add_figures;

-- name: stack_fold
UPDATE stacks
SET count = stacks.count + s.count, weighted = stacks.weighted + s.weighted,
    stall_ms = stacks.stall_ms + s.stall_ms,
    first_seen_ms = min(stacks.first_seen_ms, s.first_seen_ms),
    last_seen_ms = max(stacks.last_seen_ms, s.last_seen_ms),
    gone_first_ms = min(coalesce(stacks.gone_first_ms, s.first_seen_ms), s.first_seen_ms),
    gone_last_ms = max(coalesce(stacks.gone_last_ms, s.last_seen_ms), s.last_seen_ms)
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

-- They are in order of receipt: when the first one is not old none is, or the clock was set back.
-- name: new_ids_expire
DELETE FROM new_ids WHERE seq IN (
    SELECT seq FROM new_ids
    WHERE day < ?1 AND ?1 > (SELECT day FROM new_ids ORDER BY seq LIMIT 1) LIMIT ?2);

-- name: report_days_expire
DELETE FROM report_days WHERE day < ?1;

-- name: image_sets_expire
DELETE FROM image_sets WHERE id IN (SELECT id FROM image_sets WHERE used_ms < ?1 LIMIT ?2);

-- name: dict_days_expire
DELETE FROM dict_days WHERE (app_id, kind, day) IN (
    SELECT app_id, kind, day FROM dict_days WHERE day < ?1 LIMIT ?2);

-- === reading: for the resolver and the door ======================================================

-- name: pending_page
SELECT s.id, s.generation, s.app_id, a.bundle_id, s.give_up, d.raw
FROM stacks s JOIN apps a ON a.id = s.app_id JOIN stack_data d ON d.stack_id = s.id
WHERE s.state = 0 AND s.id > ?1 ORDER BY s.id LIMIT ?2;

-- fragment: slice_of_image
    FROM slices x JOIN uploads u ON u.id = x.upload_id WHERE x.current = 1 AND
    -- include: serving
    ORDER BY
    -- include: richest
    LIMIT 1

-- The image ?1 as reports of the app ?2 named it; else as a symbol file does. A symbol file decides
-- what kind of image it is where nothing else does (class 0).
-- name: image_get
SELECT kind, CASE WHEN class <> 0 THEN class ELSE coalesce(
        (SELECT 1 + u.system
            -- include: slice_of_image
        ), 0) END,
    name, arch
FROM images WHERE app_id = (SELECT id FROM apps WHERE bundle_id = ?2) AND uuid = ?1
UNION ALL
SELECT * FROM (
    SELECT 1, 1 + u.system, x.name, nullif(x.arch, '')
    -- include: slice_of_image
)
LIMIT 1;

-- What the app owns comes before what serves all.
-- name: group_layouts
SELECT DISTINCT l.uuid, l.vmaddr, l.size FROM group_members m JOIN layouts l ON l.uuid = m.uuid
WHERE m.group_uuid = ?1
    AND (?2 IS NULL OR m.app_id = (SELECT id FROM apps WHERE bundle_id = ?2))
    AND NOT EXISTS (SELECT 1 FROM own_shelves o JOIN layouts k ON k.uuid = o.shelf
        WHERE o.image = m.uuid AND o.bundle_id = ?2)
UNION ALL
SELECT m.uuid, l.vmaddr, l.size FROM group_members m
    JOIN own_shelves o ON o.image = m.uuid AND o.bundle_id = ?2 JOIN layouts l ON l.uuid = o.shelf
WHERE m.group_uuid = ?1 AND m.app_id = (SELECT id FROM apps WHERE bundle_id = ?2);

-- name: layouts_newest
SELECT coalesce(o.image, l.uuid), l.vmaddr, l.size, coalesce(o.bundle_id, '')
FROM layouts l LEFT JOIN own_shelves o ON o.shelf = l.uuid ORDER BY l.id DESC LIMIT ?1;

-- name: layout_claims_newest
SELECT c.uuid, c.vmaddr, a.bundle_id FROM layout_claims c JOIN apps a ON a.id = c.app_id
ORDER BY c.id DESC LIMIT ?1;

-- name: image_set_get
SELECT d.data FROM image_sets i JOIN image_set_data d ON d.image_set_id = i.id
WHERE i.app_id = (SELECT id FROM apps WHERE bundle_id = ?1) AND i.client_id = ?2;

-- name: tokens_all
SELECT id, hash, scopes, name, bundle_id, created_ms FROM tokens ORDER BY id;

-- === reading: symbol files =======================================================================

-- name: upload_get
SELECT state, reason, spool_file, sha256, size, created_ms, system, bundle_id, bound FROM uploads
WHERE id = ?1;

-- name: upload_by_sha256
SELECT u.id FROM uploads u
WHERE u.sha256 = ?1 AND u.state = 2 AND u.slice_count > 0
    AND coalesce(?2, '') IN ('', u.bundle_id) AND coalesce(?3, '') IN ('', u.version)
    AND coalesce(?4, '') IN ('', u.build) AND coalesce(?5, '') IN ('', u.os_build) AND u.system = ?6
    AND u.bound <= ?7
    AND u.slice_count = (SELECT count(*) FROM slices x WHERE x.upload_id = u.id AND x.lost = 0)
ORDER BY u.id DESC LIMIT 1;

-- name: uploads_waiting
SELECT id, bundle_id FROM uploads WHERE state < 2 ORDER BY id;

-- fragment: slice_rows
SELECT x.id, x.upload_id, x.uuid, x.name, x.member, x.arch, x.reason, x.indexed, x.current,
    x.has_dwarf, x.functions, x.lines, x.inlines, x.index_bytes, x.text_vmaddr, x.text_size,
    x.object_sha256, x.object_bytes, x.created_ms, u.system, u.bundle_id, u.version, u.build,
    u.os_build, x.lost, EXISTS (SELECT 1 FROM objects o WHERE o.sha256 = x.object_sha256),
    u.bound, coalesce((SELECT image FROM own_shelves WHERE shelf = x.uuid), x.uuid)
FROM slices x JOIN uploads u ON u.id = x.upload_id

-- name: upload_slices
-- include: slice_rows
WHERE x.upload_id = ?1 ORDER BY x.id;

-- name: objects_known
SELECT uuid, object_sha256 FROM slices
WHERE current = 1 AND lost = 0 AND uuid NOT IN (SELECT shelf FROM own_shelves)
ORDER BY id DESC LIMIT ?1;

-- name: symbol_get
-- include: slice_rows
WHERE x.uuid = ?1 AND x.uuid <> zeroblob(16) ORDER BY x.current DESC, x.id DESC;

-- name: symbol_files
-- include: slice_rows
WHERE x.uuid IN (
        SELECT ?1 UNION ALL
        SELECT shelf FROM own_shelves WHERE image = ?1 AND (?2 IS NULL OR bundle_id = ?2))
    AND x.uuid <> zeroblob(16)
ORDER BY x.current DESC, x.id DESC;

-- An app's symbol files: uploaded for it, or of an image that its reports named.
-- name: symbols_page
-- include: slice_rows
WHERE x.current = 1 AND x.id < ?2
    AND (?1 IS NULL OR u.bundle_id = ?1 OR EXISTS (
        SELECT 1 FROM images i
        WHERE i.app_id = (SELECT id FROM apps WHERE bundle_id = ?1) AND i.uuid = x.uuid))
ORDER BY x.id DESC LIMIT ?3;

-- name: symbols_more
SELECT x.id
FROM slices x JOIN uploads u ON u.id = x.upload_id
WHERE x.current = 1 AND x.id < ?2
    AND (?1 IS NULL OR u.bundle_id = ?1 OR EXISTS (
        SELECT 1 FROM images i
        WHERE i.app_id = (SELECT id FROM apps WHERE bundle_id = ?1) AND i.uuid = x.uuid))
LIMIT 1;

-- Images without a UUID and slide groups (kinds 2 and 3) have no file anybody could send.
-- name: missing_all
SELECT m.uuid, coalesce(i.name, ''), i.arch, coalesce(i.class, 0), a.bundle_id, sum(s.count),
    sum(m.frames), min(CASE WHEN s.count > 0 THEN s.first_seen_ms ELSE s.created_ms END),
    max(CASE WHEN s.count > 0 THEN s.last_seen_ms ELSE s.created_ms END)
FROM stack_missing m JOIN stacks s ON s.id = m.stack_id JOIN apps a ON a.id = s.app_id
    LEFT JOIN images i ON i.app_id = s.app_id AND i.uuid = m.uuid
WHERE (?1 IS NULL OR a.bundle_id = ?1) AND coalesce(i.kind, 1) = 1
    AND NOT EXISTS (SELECT 1 FROM slices x WHERE x.current = 1 AND x.uuid IN (m.uuid, (
        SELECT o.shelf FROM own_shelves o WHERE o.image = m.uuid AND o.bundle_id = a.bundle_id)))
GROUP BY m.uuid, s.app_id;

-- name: missing_versions
SELECT d.value, d.value2
FROM stack_missing m JOIN stacks s ON s.id = m.stack_id JOIN counters c ON c.stack_id = s.id
    JOIN dict d ON d.id = c.build_id
WHERE m.uuid = ?1 AND s.app_id = (SELECT id FROM apps WHERE bundle_id = ?2)
GROUP BY d.id ORDER BY max(c.day) DESC, d.value DESC, d.value2 DESC LIMIT ?3;

-- === reading: figures ============================================================================

-- ?1 to ?11 are those of sqlite_filter_values(); all rows have one shape (struct figure_row).

-- Values of the filter's app alone: those of the others would all be looked through.
-- fragment: dict_of_apps
        SELECT id FROM dict
        WHERE app_id IN (SELECT id FROM apps WHERE ?1 IS NULL OR bundle_id = ?1)

-- Filters by the rows of `reports r`, `counters c`, `week_devices c` and `week_pages c`; by the cluster of
-- `stacks s` (?13 category, ?14 state).
-- fragment: filter_values
    AND r.time_ms >= ?8 AND r.time_ms < ?9 AND (?7 IS NULL OR r.flags & 7 = ?7)
    AND (?10 IS NULL OR r.duration_ms >= ?10)
    AND ((?2 IS NULL AND ?3 IS NULL) OR r.build_id IN (
        -- include: dict_of_apps
        AND kind = 1 AND (?2 IS NULL OR value = ?2) AND (?3 IS NULL OR value2 = ?3)))
    AND (?4 IS NULL OR r.device_id IN (
        -- include: dict_of_apps
        AND kind = 2 AND value = ?4))
    AND (?5 IS NULL OR r.os_id IN (
        -- include: dict_of_apps
        AND kind = 3 AND value = ?5))
    AND (?6 IS NULL OR r.page_id IN (
        -- include: dict_of_apps
        AND kind = 4 AND value = ?6))

-- The filter's app is looked for at the cluster, not at each of its stacks.
-- fragment: cluster_is_of_app
    AND (?1 IS NULL OR
        (SELECT app_id FROM clusters WHERE id = ?12) = (SELECT id FROM apps WHERE bundle_id = ?1))

-- fragment: filter_reports
    AND r.id >= ?11
    -- include: filter_values

-- fragment: filter_counters
    AND c.day >= ?8 AND c.day < ?9 AND (?7 IS NULL OR c.kind = ?7)
    AND ((?2 IS NULL AND ?3 IS NULL) OR c.build_id IN (
        -- include: dict_of_apps
        AND kind = 1 AND (?2 IS NULL OR value = ?2) AND (?3 IS NULL OR value2 = ?3)))

-- fragment: filter_devices
    AND c.week >= ?8 AND c.week < ?9
    AND (?4 IS NULL OR c.device_id IN (
        -- include: dict_of_apps
        AND kind = 2 AND value = ?4))
    AND (?5 IS NULL OR c.os_id IN (
        -- include: dict_of_apps
        AND kind = 3 AND value = ?5))

-- fragment: filter_pages
    AND c.week >= ?8 AND c.week < ?9
    AND (?6 IS NULL OR c.page_id IN (
        -- include: dict_of_apps
        AND kind = 4 AND value = ?6))
    AND ((?2 IS NULL AND ?3 IS NULL) OR c.build_id IN (
        -- include: dict_of_apps
        AND kind = 1 AND (?2 IS NULL OR value = ?2) AND (?3 IS NULL OR value2 = ?3)))

-- fragment: filter_clusters
    AND ((?13 IS NULL AND ?14 IS NULL) OR s.cluster_id IN (
        SELECT id FROM clusters WHERE (?13 IS NULL OR category = ?13)
            AND (?14 IS NULL OR state = ?14)))

-- name: report_first_id
SELECT min(first_id) FROM report_days WHERE day >= ?1;

-- name: figures_counters_cluster
SELECT c.build_id, 0, 0, 0, c.day, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, c.hours, c.kind, (SELECT category FROM clusters WHERE id = ?12)
FROM stacks s JOIN counters c ON c.stack_id = s.id
WHERE s.cluster_id = ?12
    -- include: cluster_is_of_app
    -- include: filter_counters;

-- name: figures_counters_app
SELECT c.build_id, 0, 0, 0, c.day, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, c.hours, c.kind, NULL
FROM apps a JOIN counters c ON c.stack_id = a.total_id
WHERE (?1 IS NULL OR a.bundle_id = ?1)
    -- include: filter_counters;

-- name: figures_devices_cluster
SELECT 0, c.device_id, c.os_id, 0, c.week, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, NULL, -1, (SELECT category FROM clusters WHERE id = ?12)
FROM stacks s JOIN week_devices c ON c.stack_id = s.id
WHERE s.cluster_id = ?12
    -- include: cluster_is_of_app
    -- include: filter_devices;

-- name: figures_devices_app
SELECT 0, c.device_id, c.os_id, 0, c.week, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, NULL, -1, NULL
FROM apps a JOIN week_devices c ON c.stack_id = a.total_id
WHERE (?1 IS NULL OR a.bundle_id = ?1)
    -- include: filter_devices;

-- name: figures_pages_cluster
SELECT c.build_id, 0, 0, c.page_id, c.week, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, NULL, -1, (SELECT category FROM clusters WHERE id = ?12)
FROM stacks s JOIN week_pages c ON c.stack_id = s.id
WHERE s.cluster_id = ?12
    -- include: cluster_is_of_app
    -- include: filter_pages;

-- name: figures_pages_app
SELECT c.build_id, 0, 0, c.page_id, c.week, c.count, c.weighted, c.stall_ms, c.hist,
    c.above_ms, NULL, -1, NULL
FROM apps a JOIN week_pages c ON c.stack_id = a.total_id
WHERE (?1 IS NULL OR a.bundle_id = ?1)
    -- include: filter_pages;

-- name: figures_reports_cluster
SELECT r.build_id, r.device_id, r.os_id, r.page_id, r.time_ms, 1, 1000000 + r.weight_above,
    r.duration_ms, r.cpu, r.memory, r.path_id, r.flags & 7, (SELECT category FROM clusters WHERE id = ?12)
FROM stacks s JOIN reports r ON r.stack_id = s.id
WHERE s.cluster_id = ?12
    -- include: cluster_is_of_app
    -- include: filter_reports;

-- name: figures_reports_app
SELECT r.build_id, r.device_id, r.os_id, r.page_id, r.time_ms, 1, 1000000 + r.weight_above,
    r.duration_ms, r.cpu, r.memory, r.path_id, r.flags & 7, NULL
FROM reports r CROSS JOIN stacks s ON s.id = r.stack_id
WHERE (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_reports;

-- === reading: clusters ===========================================================================

-- Ascending ids; what the filter says about clusters themselves (?1 bundle id, ?2 category,
-- ?3 state, ?4 text, ?5 idle ones too), with the sums of their stacks.
-- name: clusters_matching
SELECT c.id, t.count, t.weighted, t.stall_ms + t.above_ms, t.first_seen_ms, t.last_seen_ms, t.hist
FROM clusters c JOIN cluster_totals t ON t.cluster_id = c.id
WHERE t.count > 0 AND (?1 IS NULL OR c.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    AND (?2 IS NULL OR c.category = ?2) AND (?3 IS NULL OR c.state = ?3)
    AND (?5 <> 0 OR c.hidden = 0)
    AND (?4 IS NULL OR instr(lower(c.title), lower(?4)) > 0
        OR instr(lower(coalesce(c.function, '')), lower(?4)) > 0
        OR instr(lower(coalesce(c.file, '')), lower(?4)) > 0)
ORDER BY c.id;

-- name: clusters_by_counters
SELECT s.cluster_id, sum(c.count), sum(c.weighted), sum(c.stall_ms + c.above_ms)
FROM stacks s JOIN counters c ON c.stack_id = s.id
WHERE s.cluster_id IS NOT NULL
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_counters
GROUP BY s.cluster_id ORDER BY s.cluster_id;

-- name: clusters_by_reports
SELECT s.cluster_id, count(*), sum(1000000 + r.weight_above),
    coalesce(sum(min(r.duration_ms, 1000000000)
        + min(r.weight_above * min(r.duration_ms, 1000000000) / 1000000, 1000000000)), 0)
FROM reports r CROSS JOIN stacks s ON s.id = r.stack_id
WHERE s.cluster_id IS NOT NULL
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_reports
GROUP BY s.cluster_id ORDER BY s.cluster_id;

-- name: cluster_living
SELECT id FROM clusters WHERE id = ?1
UNION ALL SELECT cluster_id FROM cluster_aliases WHERE alias = ?1 LIMIT 1;

-- name: cluster_get
SELECT a.bundle_id, c.title, c.function, c.file, c.image, c.category, c.owner, c.state,
    c.resolved_in, c.note, c.key_text, c.rules_version, c.kind, c.provisional, c.hidden,
    t.count, t.weighted, t.stall_ms, t.hist, t.first_seen_ms, t.last_seen_ms,
    (SELECT last_seen_ms FROM stacks WHERE id = a.total_id), t.above_ms,
    c.resolved_build, c.regressed_ms, c.regressed_in, c.regressed_build,
    EXISTS (SELECT 1 FROM stacks s WHERE s.cluster_id = c.id AND s.approximate = 1)
        AND NOT EXISTS (SELECT 1 FROM stacks s WHERE s.cluster_id = c.id AND s.approximate = 0),
    t.tally, t.stacks
FROM clusters c JOIN cluster_totals t ON t.cluster_id = c.id JOIN apps a ON a.id = c.app_id
WHERE c.id = ?1;

-- name: cluster_devices
SELECT count(DISTINCT d.value)
FROM stacks s JOIN week_devices w ON w.stack_id = s.id JOIN dict d ON d.id = w.device_id
WHERE s.cluster_id = ?1 AND d.value <> '';

-- name: cluster_releases
SELECT d.value, d.value2
FROM (SELECT DISTINCT w.build_id FROM stacks s JOIN counters w ON w.stack_id = s.id
      WHERE s.cluster_id = ?1) b JOIN dict d ON d.id = b.build_id
WHERE d.value <> '' ORDER BY d.value, d.value2;

-- name: cluster_aliases_of
SELECT alias FROM cluster_aliases WHERE cluster_id = ?1 ORDER BY alias;

-- name: cluster_stacks
SELECT s.id, s.count, s.weighted, s.stall_ms, s.state, s.provisional, s.first_seen_ms,
    s.last_seen_ms, a.bundle_id, d.raw, d.resolved, coalesce(s.part_key, c.key),
    coalesce(c.kind, 0), s.approximate,
    s.stall_ms + CASE WHEN s.weighted = s.count * 1000000 THEN 0
    ELSE (SELECT coalesce(sum(above_ms), 0) FROM counters WHERE stack_id = s.id) END
FROM (SELECT id FROM stacks WHERE cluster_id = ?1 AND count > 0
      ORDER BY weighted DESC, id LIMIT ?2) heaviest
    CROSS JOIN stacks s ON s.id = heaviest.id JOIN apps a ON a.id = s.app_id
    JOIN stack_data d ON d.stack_id = s.id LEFT JOIN clusters c ON c.id = s.cluster_id
ORDER BY s.weighted DESC, s.id;

-- name: stack_get
SELECT s.id, s.count, s.weighted, s.stall_ms, s.state, s.provisional, s.first_seen_ms,
    s.last_seen_ms, a.bundle_id, d.raw, d.resolved, coalesce(s.part_key, c.key),
    coalesce(c.kind, 0), s.approximate,
    s.stall_ms + CASE WHEN s.weighted = s.count * 1000000 THEN 0
    ELSE (SELECT coalesce(sum(above_ms), 0) FROM counters WHERE stack_id = s.id) END
FROM stacks s JOIN apps a ON a.id = s.app_id JOIN stack_data d ON d.stack_id = s.id
    LEFT JOIN clusters c ON c.id = s.cluster_id
WHERE s.id = ?1;

-- name: name_text
SELECT value FROM names WHERE id = ?1;

-- name: dict_text
SELECT value, value2 FROM dict WHERE id = ?1;

-- === reading: reports ============================================================================

-- Two ways to the newest reports of a cluster (?12; NULL: of the app) below an id (?13): from its
-- stacks, good for small clusters, and down from the newest report, good for large ones.
-- name: reports_of_stacks
SELECT r.id FROM stacks s CROSS JOIN reports r ON r.stack_id = s.id
WHERE s.cluster_id = ?12 AND r.id < ?13
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_reports
ORDER BY r.id DESC LIMIT ?14;

-- name: reports_newest
SELECT r.id FROM reports r CROSS JOIN stacks s ON s.id = r.stack_id
WHERE (?12 IS NULL OR s.cluster_id = ?12) AND r.id < ?13
    AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    -- include: filter_reports
ORDER BY r.id DESC LIMIT ?14;

-- name: report_span
SELECT (SELECT max(id) FROM reports) - (SELECT min(id) FROM reports) + 1;

-- name: report_oldest
SELECT time_ms + delay_ms FROM reports ORDER BY id LIMIT 1;

-- When the oldest one came, once others have gone; NULL before.
-- name: reports_kept_since
SELECT CASE WHEN id > 1 THEN time_ms + delay_ms END FROM reports ORDER BY id LIMIT 1;

-- name: cluster_count
SELECT count FROM cluster_totals WHERE cluster_id = ?1;

-- name: report_get
SELECT r.flags, r.time_ms, r.delay_ms, r.duration_ms, r.weight_above, r.cpu, r.memory, r.client_id,
    r.addresses, r.stack_id, a.bundle_id, coalesce(s.cluster_id, 0), s.state,
    b.value, b.value2, d.value, d.value2, o.value, o.value2, p.value, w.value, t.value, c.category
FROM reports r JOIN stacks s ON s.id = r.stack_id JOIN apps a ON a.id = s.app_id
    JOIN dict b ON b.id = r.build_id JOIN dict d ON d.id = r.device_id
    JOIN dict o ON o.id = r.os_id JOIN dict p ON p.id = r.page_id JOIN dict w ON w.id = r.path_id
    LEFT JOIN clusters c ON c.id = s.cluster_id LEFT JOIN dict t ON t.id = r.threshold_id
WHERE r.id = ?1;

-- name: report_extra_get
SELECT device_time_ms, stack_skipped, tags, frame_gaps FROM report_extra WHERE report_id = ?1;

-- name: samples_of
SELECT offset_ms, repeat_count, coalesce(cpu, -1), thread_state, stack_id, addresses
FROM samples WHERE report_id = ?1 ORDER BY seq;

-- name: threads_of
SELECT tid, name, state, stalled, coalesce(stack_id, 0), waits_kind, waits_address, owner_tid,
    addresses, queue, waits_queue
FROM threads WHERE report_id = ?1 ORDER BY seq;

-- One look a day that has ids, newest first.
-- name: report_by_hash
WITH RECURSIVE days (day) AS (
    SELECT max(day) FROM report_ids
    UNION ALL
    SELECT (SELECT max(i.day) FROM report_ids i WHERE i.day < days.day) FROM days
    WHERE days.day IS NOT NULL)
SELECT x.report_id FROM (
    SELECT i.report_id FROM days JOIN report_ids i ON i.day = days.day AND i.hash = ?1
    UNION ALL SELECT report_id FROM new_ids WHERE hash = ?1) x
WHERE EXISTS (SELECT 1 FROM reports r WHERE r.id = x.report_id)
ORDER BY x.report_id DESC LIMIT 1;

-- name: app_names
SELECT bundle_id FROM apps WHERE ?1 IS NULL OR bundle_id = ?1 ORDER BY bundle_id;

-- What an app sent stands in its total, a stack that is none.
-- name: apps_page
SELECT s.id, a.bundle_id, s.count, s.first_seen_ms, s.last_seen_ms,
    (SELECT coalesce(sum(count), 0) FROM counters WHERE stack_id = s.id AND day >= ?3)
FROM apps a JOIN stacks s ON s.id = a.total_id
WHERE (?1 IS NULL OR a.bundle_id = ?1) AND a.total_id > ?2
ORDER BY a.total_id LIMIT ?4;

-- === reading: statistics =========================================================================

-- name: stats_apps
SELECT count(*), coalesce(sum(s.count), 0)
FROM apps a JOIN stacks s ON s.id = a.total_id WHERE ?1 IS NULL OR a.bundle_id = ?1;

-- Of many rows: the table from one end to the other, which the index by app would cross at random.
-- name: stats_stacks
SELECT count(*), coalesce(sum(provisional), 0),
    coalesce(sum(count * app_frames), 0), coalesce(sum(count * app_named), 0)
FROM stacks NOT INDEXED
WHERE state < 2 AND (?1 IS NULL OR app_id = (SELECT id FROM apps WHERE bundle_id = ?1));

-- name: stats_pending
SELECT (SELECT count(*) FROM stacks INDEXED BY stacks_pending WHERE state = 0)
WHERE ?1 IS NULL
UNION ALL
SELECT (SELECT count(*) FROM stacks INDEXED BY stacks_pending
        WHERE state = 0 AND app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
WHERE ?1 IS NOT NULL;

-- name: stats_clusters
SELECT (SELECT count(*) FROM cluster_totals WHERE count > 0)
WHERE ?1 IS NULL
UNION ALL
SELECT (SELECT count(*) FROM cluster_totals t CROSS JOIN clusters c ON c.id = t.cluster_id
        WHERE t.count > 0 AND c.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
WHERE ?1 IS NOT NULL;

-- name: stats_symbols
SELECT count(*)
FROM slices x JOIN uploads u ON u.id = x.upload_id
WHERE x.current = 1
    AND (?1 IS NULL OR u.bundle_id = ?1 OR EXISTS (
        SELECT 1 FROM images i
        WHERE i.app_id = (SELECT id FROM apps WHERE bundle_id = ?1) AND i.uuid = x.uuid));

-- name: stats_uploads
SELECT count(*) FROM uploads WHERE state < 2 AND (?1 IS NULL OR bundle_id = ?1);

-- name: stats_bytes
SELECT c.page_count * s.page_size FROM pragma_page_count c, pragma_page_size s;

-- name: symbolication_by_app
SELECT a.bundle_id, x.frames, x.named
FROM (
    SELECT app_id, sum(count * app_frames) AS frames, sum(count * app_named) AS named
    FROM stacks NOT INDEXED
    WHERE state < 2 AND (?1 IS NULL OR app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    GROUP BY app_id HAVING sum(count * app_frames) > 0
) x JOIN apps a ON a.id = x.app_id
ORDER BY x.frames DESC, a.bundle_id LIMIT ?2;

-- name: symbolication_by_version
SELECT a.bundle_id, sum(x.frames) AS total, sum(x.named), d.value
FROM (
    SELECT s.app_id, c.build_id, sum(c.count * s.app_frames) AS frames,
        sum(c.count * s.app_named) AS named
    FROM stacks s NOT INDEXED CROSS JOIN counters c ON c.stack_id = s.id
    WHERE s.state < 2
        AND (?1 IS NULL OR s.app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    GROUP BY s.app_id, c.build_id
) x JOIN apps a ON a.id = x.app_id JOIN dict d ON d.id = x.build_id
GROUP BY x.app_id, d.value HAVING total > 0 ORDER BY total DESC, 1, 4 LIMIT ?2;

-- name: symbolication_stacks
SELECT s.count, d.raw, d.resolved
FROM (
    SELECT id, count FROM stacks NOT INDEXED
    WHERE state < 2 AND count > 0
        AND (?1 IS NULL OR app_id = (SELECT id FROM apps WHERE bundle_id = ?1))
    ORDER BY count DESC, id DESC LIMIT ?2
) s JOIN stack_data d ON d.stack_id = s.id
WHERE d.resolved IS NOT NULL;
