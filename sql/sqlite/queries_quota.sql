-- Quotas of apps.

-- name: quota_put
INSERT INTO quotas (bundle_id, per_minute, per_day, slight_rate) VALUES (?1, ?2, ?3, ?4 / 1e9)
ON CONFLICT (bundle_id) DO UPDATE SET per_minute = excluded.per_minute,
    per_day = excluded.per_day, slight_rate = excluded.slight_rate;

-- name: quota_delete
DELETE FROM quotas WHERE bundle_id = ?1;

-- name: quotas_all
SELECT bundle_id, per_minute, per_day, slight_rate FROM quotas ORDER BY bundle_id;

-- name: new_stacks
SELECT coalesce(sum(CASE WHEN kind = ?3 THEN added END), 0),
    coalesce(sum(CASE WHEN kind = ?4 THEN added END), 0),
    coalesce(sum(CASE WHEN kind = ?5 THEN added END), 0)
FROM dict_days WHERE day = ?2 AND kind IN (?3, ?4, ?5)
    AND (?1 IS NULL OR app_id = (SELECT id FROM apps WHERE bundle_id = ?1));
