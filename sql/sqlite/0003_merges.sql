-- The second stage and what people decide: parts, merges and splits of clusters, epochs.

PRAGMA user_version = 3;
