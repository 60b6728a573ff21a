-- Schema 1 of perch.db with test data, written in November 2026 for test/suites/schema-upgrades.test.ts.
CREATE TABLE keys (
        hash TEXT PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        label TEXT NOT NULL,
        enabled INTEGER NOT NULL,
        allowance INTEGER,
        created INTEGER NOT NULL,
        last_used INTEGER,
        notes TEXT
      ) STRICT, WITHOUT ROWID
    ;

-- The key is perch_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA.
INSERT INTO keys VALUES ('008749dc382f4820dcd01889f13996c623085761c7c95646e9b1c6484866d010', '0123456789ab', 'Weather bot', 1, 1200, 1767225600000, 1767225601000, 'issue 7');
INSERT INTO keys VALUES ('ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff', 'ba9876543210', 'Old bot', 0, NULL, 1767225500000, NULL, NULL);
PRAGMA user_version = 1;
