import type { Migration } from '../../lib/files/sqlite.ts';

/** Migrations of the SQLite database `sessions.db`. The comments in the SQL explain the columns. */
export const sessionMigrations: readonly Migration[] = [
  (database) =>
    database.exec(`
      CREATE TABLE sessions (
        number INTEGER PRIMARY KEY,
        id TEXT NOT NULL UNIQUE,
        state TEXT NOT NULL CHECK (state IN ('running', 'waiting', 'ended', 'failed')),
        owner TEXT,
        created_ms INTEGER NOT NULL, active_ms INTEGER NOT NULL, ended_ms INTEGER,
        accepted INTEGER NOT NULL, events INTEGER NOT NULL, bytes INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX sessions_by_activity ON sessions (state, active_ms);
      CREATE INDEX sessions_by_creation ON sessions (state, created_ms);
      CREATE INDEX sessions_by_end ON sessions (ended_ms) WHERE ended_ms IS NOT NULL;

      -- In this and the following tables, the column session contains a value of sessions.number.
      CREATE TABLE messages (
        session INTEGER NOT NULL, sequence INTEGER NOT NULL,
        delivery_id TEXT NOT NULL, text TEXT NOT NULL,
        state TEXT NOT NULL
          CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
        completed_event INTEGER,
        PRIMARY KEY (session, sequence)
      ) STRICT, WITHOUT ROWID;

      -- Column ends: length in characters of the session's events up to and including this one.
      CREATE TABLE events (
        session INTEGER NOT NULL, position INTEGER NOT NULL,
        line TEXT NOT NULL, ends INTEGER NOT NULL,
        PRIMARY KEY (session, position)
      ) STRICT, WITHOUT ROWID;

      CREATE TABLE purged (id TEXT PRIMARY KEY, purged_ms INTEGER NOT NULL) STRICT, WITHOUT ROWID;
      CREATE INDEX purged_by_time ON purged (purged_ms);

      CREATE TABLE once (
        key TEXT PRIMARY KEY, fingerprint TEXT NOT NULL,
        session INTEGER NOT NULL, delivery_id TEXT NOT NULL,
        queued INTEGER NOT NULL, at_ms INTEGER NOT NULL
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
  (database) =>
    database.exec(`
      -- Column client: keyed hash of the client's address, or '-' if the client is unknown.
      -- Column network: keyed hash of the client's IPv6 /48 network; the same as client for IPv4.
      ALTER TABLE sessions ADD COLUMN client TEXT NOT NULL DEFAULT '-';
      ALTER TABLE sessions ADD COLUMN network TEXT NOT NULL DEFAULT '-';
      ALTER TABLE sessions ADD COLUMN stored INTEGER NOT NULL DEFAULT 0;
      ALTER TABLE sessions ADD COLUMN pending INTEGER NOT NULL DEFAULT 0;
      CREATE INDEX sessions_by_client ON sessions (client, state, active_ms);
      CREATE INDEX sessions_by_network ON sessions (network, state, active_ms);

      DROP TRIGGER session_inserted;
      DROP TRIGGER session_ended;
      DROP TRIGGER session_deleted;
      DROP TABLE tally;

      -- The text of a message is stored in its row, and twice in its event.
      UPDATE sessions SET stored = 512 + bytes + bytes / 2;
      UPDATE sessions SET pending = (
        SELECT count(*) FROM messages WHERE session = number AND state IN ('queued', 'running')
      ) WHERE state = 'running';

      -- Usage of each client, each network and all clients together, for checking limits:
      -- active sessions (live), stored bytes (stored) and unanswered messages (pending).
      -- Column name: client or network as in the table sessions, or '*' for all clients.
      -- Column parent: the network of an IPv6 client; NULL for '*'; otherwise '*'.
      CREATE TABLE holders (
        name TEXT PRIMARY KEY, parent TEXT,
        live INTEGER NOT NULL DEFAULT 0,
        stored INTEGER NOT NULL DEFAULT 0,
        pending INTEGER NOT NULL DEFAULT 0
      ) STRICT, WITHOUT ROWID;
      CREATE INDEX holders_by_live ON holders (parent, live);
      CREATE INDEX holders_by_stored ON holders (parent, stored);
      INSERT INTO holders (name, parent, live, stored, pending)
        SELECT name, parent,
          coalesce(sum(state IN ('running', 'waiting')), 0),
          coalesce(sum(stored), 0),
          coalesce(sum(pending), 0)
        FROM (SELECT '*' AS name, NULL AS parent UNION ALL SELECT '-', '*')
        LEFT JOIN sessions
        GROUP BY name;

      -- The triggers update the table holders after each change of the table sessions.
      CREATE TRIGGER holding_begun AFTER INSERT ON sessions BEGIN
        INSERT INTO holders (name, parent)
          VALUES (new.network, '*'),
            (new.client, iif(new.client = new.network, '*', new.network))
          ON CONFLICT DO NOTHING;
        UPDATE holders SET
          live = live + (new.state IN ('running', 'waiting')),
          stored = stored + new.stored,
          pending = pending + new.pending
        WHERE name IN ('*', new.client, new.network);
      END;
      CREATE TRIGGER holding_changed AFTER UPDATE OF state, stored, pending ON sessions BEGIN
        UPDATE holders SET
          live = live + (new.state IN ('running', 'waiting')) - (old.state IN ('running', 'waiting')),
          stored = stored + new.stored - old.stored,
          pending = pending + new.pending - old.pending
        WHERE name IN ('*', new.client, new.network);
      END;
      CREATE TRIGGER holding_ended AFTER DELETE ON sessions BEGIN
        UPDATE holders SET
          live = live - (old.state IN ('running', 'waiting')),
          stored = stored - old.stored,
          pending = pending - old.pending
        WHERE name IN ('*', old.client, old.network);
        DELETE FROM holders
          WHERE name IN (old.client, old.network) AND live = 0 AND stored = 0 AND pending = 0;
      END;
    `),
];
