-- Life of clusters: history of their states; alerts and what was sent.

PRAGMA user_version = 5;
