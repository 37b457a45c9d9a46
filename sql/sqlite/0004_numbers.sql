-- Numbers: CPU and memory at the stall, page paths, usage, counters by the hour.

PRAGMA user_version = 4;
