import type { Migration } from '../core/sqlite.ts';

/**
 * The schema of `sessions.db`, as steps from the empty file. `sessions.number` stands for a session in
 * the other tables. `events.ends` is the sum of the lengths of the session's lines up to this one, so
 * that a piece of bounded size can be read. `tally` counts the live sessions by triggers, because to
 * count them at each start would take longer the more there are.
 */
export const sessionMigrations: readonly Migration[] = [
  (database) =>
    database.exec(`
      CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL CHECK (state IN ('running', 'waiting', 'ended', 'failed')),
        owner TEXT,
        created_ms INTEGER NOT NULL,
        active_ms INTEGER NOT NULL,
        ended_ms INTEGER,
        accepted INTEGER NOT NULL,
        events INTEGER NOT NULL,
        bytes INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX sessions_by_activity ON sessions (state, active_ms);
      CREATE INDEX sessions_by_creation ON sessions (state, created_ms);
      CREATE INDEX sessions_by_end ON sessions (ended_ms) WHERE ended_ms IS NOT NULL;

      CREATE TABLE messages (
        session INTEGER NOT NULL,
        sequence INTEGER NOT NULL,
        delivery_id TEXT NOT NULL,
        text TEXT NOT NULL,
        state TEXT NOT NULL
          CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
        completed_event INTEGER,
        PRIMARY KEY (session, sequence)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE events (
        session INTEGER NOT NULL,
        position INTEGER NOT NULL,
        line TEXT NOT NULL,
        ends INTEGER NOT NULL,
        PRIMARY KEY (session, position)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE purged (
        id TEXT PRIMARY KEY,
        purged_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX purged_by_time ON purged (purged_ms);

      CREATE TABLE once (
        key TEXT PRIMARY KEY,
        fingerprint TEXT NOT NULL,
        session INTEGER NOT NULL,
        delivery_id TEXT NOT NULL,
        queued INTEGER NOT NULL,
        at_ms INTEGER NOT NULL
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX once_by_session ON once (session);
      CREATE INDEX once_by_time ON once (at_ms);

      CREATE TABLE tally (live INTEGER NOT NULL) STRICT;
      INSERT INTO tally VALUES (0);
      CREATE TRIGGER session_inserted AFTER INSERT ON sessions
        WHEN new.state IN ('running', 'waiting') BEGIN
          UPDATE tally SET live = live + 1;
        END;
      CREATE TRIGGER session_ended AFTER UPDATE OF state ON sessions
        WHEN old.state IN ('running', 'waiting') AND new.state IN ('ended', 'failed') BEGIN
          UPDATE tally SET live = live - 1;
        END;
      CREATE TRIGGER session_deleted AFTER DELETE ON sessions
        WHEN old.state IN ('running', 'waiting') BEGIN
          UPDATE tally SET live = live - 1;
        END;
    `),
];
