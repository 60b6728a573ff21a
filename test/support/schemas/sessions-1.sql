-- Schema 1 of sessions.db with test data, written in November 2026 for test/suites/schema-upgrades.test.ts.
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
CREATE TABLE messages (
        session INTEGER NOT NULL, sequence INTEGER NOT NULL,
        delivery_id TEXT NOT NULL, text TEXT NOT NULL,
        state TEXT NOT NULL
          CHECK (state IN ('queued', 'running', 'completed', 'failed', 'cancelled')),
        completed_event INTEGER,
        PRIMARY KEY (session, sequence)
      ) STRICT, WITHOUT ROWID;
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

INSERT INTO sessions (number, id, state, owner, created_ms, active_ms, ended_ms, accepted, events, bytes) VALUES (1, 'ses_01M8GWNF1JMV23B6FKE67MQH0J', 'waiting', NULL, 1795863264306, 1795863265165, NULL, 2, 25, 9544);
INSERT INTO messages (session, sequence, delivery_id, text, state, completed_event) VALUES (1, 0, 'dlv_01M8GWNF1JFK0RASPFY0000000', 'What is a heron?', 'completed', 9);
INSERT INTO messages (session, sequence, delivery_id, text, state, completed_event) VALUES (1, 1, 'dlv_01M8GWNFVFAAQDFG4750000000', 'And a wren?', 'completed', 21);
INSERT INTO events (session, position, line, ends) VALUES (1, 0, '{"type":"session.started","data":{"runtime":{"agentId":"perch","agentName":"Perch","eveVersion":"none"}},"meta":{"id":"evt_01M8GWNF1KWTPZW61PW0000000","at":"2026-11-28T10:54:24.307Z","index":0}}', 194);
INSERT INTO events (session, position, line, ends) VALUES (1, 1, '{"type":"turn.started","data":{"sequence":0,"turnId":"turn_0"},"meta":{"id":"evt_01M8GWNF1VDVJFQGNA50000000","at":"2026-11-28T10:54:24.316Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":1}}', 395);
INSERT INTO events (session, position, line, ends) VALUES (1, 2, '{"type":"message.received","data":{"message":"What is a heron?","parts":[{"type":"text","text":"What is a heron?"}],"sequence":0,"turnId":"turn_0"},"meta":{"id":"evt_01M8GWNF1WXRGNMHDV30000000","at":"2026-11-28T10:54:24.316Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":2}}', 681);
INSERT INTO events (session, position, line, ends) VALUES (1, 3, '{"type":"step.started","data":{"modelId":"perch/scripted","sequence":0,"turnId":"turn_0","stepIndex":0},"meta":{"id":"evt_01M8GWNF1WXRGNMHDV30000001","at":"2026-11-28T10:54:24.316Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":3}}', 923);
INSERT INTO events (session, position, line, ends) VALUES (1, 4, '{"type":"message.appended","data":{"messageDelta":"word word word word word word word word word word word word word word ","messageSoFar":"word word word word word word word word word word word word word word ","sequence":0,"turnId":"turn_0","stepIndex":0},"meta":{"id":"evt_01M8GWNF2RJ894ZTGZJ0000000","at":"2026-11-28T10:54:24.344Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":4}}', 1318);
INSERT INTO events (session, position, line, ends) VALUES (1, 5, '{"type":"message.appended","data":{"messageDelta":"word word word word word word word word word word word word word word ","messageSoFar":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word ","sequence":0,"turnId":"turn_0","stepIndex":0},"meta":{"id":"evt_01M8GWNF2SVHFZNJ45K0000000","at":"2026-11-28T10:54:24.345Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":5}}', 1783);
INSERT INTO events (session, position, line, ends) VALUES (1, 6, '{"type":"message.appended","data":{"messageDelta":"word word word word word word word word word word word word word word ","messageSoFar":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word ","sequence":0,"turnId":"turn_0","stepIndex":0},"meta":{"id":"evt_01M8GWNF2W0C8WTNCXF0000000","at":"2026-11-28T10:54:24.349Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":6}}', 2318);
INSERT INTO events (session, position, line, ends) VALUES (1, 7, '{"type":"message.appended","data":{"messageDelta":"word word word word word word word word word word word word word word ","messageSoFar":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word ","sequence":0,"turnId":"turn_0","stepIndex":0},"meta":{"id":"evt_01M8GWNF30WPE82KXBA0000000","at":"2026-11-28T10:54:24.353Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":7}}', 2923);
INSERT INTO events (session, position, line, ends) VALUES (1, 8, '{"type":"message.appended","data":{"messageDelta":"word word word word What is a heron?","messageSoFar":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word What is a heron?","sequence":0,"turnId":"turn_0","stepIndex":0},"meta":{"id":"evt_01M8GWNF32CXBAJY9H60000000","at":"2026-11-28T10:54:24.354Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":8}}', 3530);
INSERT INTO events (session, position, line, ends) VALUES (1, 9, '{"type":"message.completed","data":{"message":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word What is a heron?","finishReason":"stop","citations":[{"path":"docs/start.md","heading":"Start","line":1,"endLine":3,"score":0.9}],"abstained":false,"sequence":0,"turnId":"turn_0","stepIndex":0},"meta":{"id":"evt_01M8GWNF32CXBAJY9H60000001","at":"2026-11-28T10:54:24.354Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":9}}', 4209);
INSERT INTO events (session, position, line, ends) VALUES (1, 10, '{"type":"step.completed","data":{"finishReason":"stop","sequence":0,"turnId":"turn_0","stepIndex":0},"meta":{"id":"evt_01M8GWNF32CXBAJY9H60000002","at":"2026-11-28T10:54:24.354Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":10}}', 4449);
INSERT INTO events (session, position, line, ends) VALUES (1, 11, '{"type":"turn.completed","data":{"sequence":0,"turnId":"turn_0"},"meta":{"id":"evt_01M8GWNF32CXBAJY9H60000003","at":"2026-11-28T10:54:24.354Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":11}}', 4653);
INSERT INTO events (session, position, line, ends) VALUES (1, 12, '{"type":"session.waiting","data":{"wait":"next-user-message","continuationToken":""},"meta":{"id":"evt_01M8GWNF32CXBAJY9H60000004","at":"2026-11-28T10:54:24.354Z","deliveryIds":["dlv_01M8GWNF1JFK0RASPFY0000000"],"index":12}}', 4877);
INSERT INTO events (session, position, line, ends) VALUES (1, 13, '{"type":"turn.started","data":{"sequence":1,"turnId":"turn_1"},"meta":{"id":"evt_01M8GWNFVMWGE6DTP0V0000000","at":"2026-11-28T10:54:25.140Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":13}}', 5079);
INSERT INTO events (session, position, line, ends) VALUES (1, 14, '{"type":"message.received","data":{"message":"And a wren?","parts":[{"type":"text","text":"And a wren?"}],"sequence":1,"turnId":"turn_1"},"meta":{"id":"evt_01M8GWNFVMWGE6DTP0V0000001","at":"2026-11-28T10:54:25.140Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":14}}', 5356);
INSERT INTO events (session, position, line, ends) VALUES (1, 15, '{"type":"step.started","data":{"modelId":"perch/scripted","sequence":1,"turnId":"turn_1","stepIndex":0},"meta":{"id":"evt_01M8GWNFVMWGE6DTP0V0000002","at":"2026-11-28T10:54:25.140Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":15}}', 5599);
INSERT INTO events (session, position, line, ends) VALUES (1, 16, '{"type":"message.appended","data":{"messageDelta":"word word word word word word word word word word word word word word ","messageSoFar":"word word word word word word word word word word word word word word ","sequence":1,"turnId":"turn_1","stepIndex":0},"meta":{"id":"evt_01M8GWNFW3H7AD1WCAF0000000","at":"2026-11-28T10:54:25.155Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":16}}', 5995);
INSERT INTO events (session, position, line, ends) VALUES (1, 17, '{"type":"message.appended","data":{"messageDelta":"word word word word word word word word word word word word word word ","messageSoFar":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word ","sequence":1,"turnId":"turn_1","stepIndex":0},"meta":{"id":"evt_01M8GWNFW5E0SSQ9DY60000000","at":"2026-11-28T10:54:25.157Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":17}}', 6461);
INSERT INTO events (session, position, line, ends) VALUES (1, 18, '{"type":"message.appended","data":{"messageDelta":"word word word word word word word word word word word word word word ","messageSoFar":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word ","sequence":1,"turnId":"turn_1","stepIndex":0},"meta":{"id":"evt_01M8GWNFW7FTKRMZH7Y0000000","at":"2026-11-28T10:54:25.159Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":18}}', 6997);
INSERT INTO events (session, position, line, ends) VALUES (1, 19, '{"type":"message.appended","data":{"messageDelta":"word word word word word word word word word word word word word word ","messageSoFar":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word ","sequence":1,"turnId":"turn_1","stepIndex":0},"meta":{"id":"evt_01M8GWNFWBARDQ77VJH0000000","at":"2026-11-28T10:54:25.163Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":19}}', 7603);
INSERT INTO events (session, position, line, ends) VALUES (1, 20, '{"type":"message.appended","data":{"messageDelta":"word word word word And a wren?","messageSoFar":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word And a wren?","sequence":1,"turnId":"turn_1","stepIndex":0},"meta":{"id":"evt_01M8GWNFWDTS7KJ40PX0000000","at":"2026-11-28T10:54:25.165Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":20}}', 8201);
INSERT INTO events (session, position, line, ends) VALUES (1, 21, '{"type":"message.completed","data":{"message":"word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word word And a wren?","finishReason":"stop","citations":[{"path":"docs/start.md","heading":"Start","line":1,"endLine":3,"score":0.9}],"abstained":false,"sequence":1,"turnId":"turn_1","stepIndex":0},"meta":{"id":"evt_01M8GWNFWDTS7KJ40PX0000001","at":"2026-11-28T10:54:25.165Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":21}}', 8876);
INSERT INTO events (session, position, line, ends) VALUES (1, 22, '{"type":"step.completed","data":{"finishReason":"stop","sequence":1,"turnId":"turn_1","stepIndex":0},"meta":{"id":"evt_01M8GWNFWDTS7KJ40PX0000002","at":"2026-11-28T10:54:25.165Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":22}}', 9116);
INSERT INTO events (session, position, line, ends) VALUES (1, 23, '{"type":"turn.completed","data":{"sequence":1,"turnId":"turn_1"},"meta":{"id":"evt_01M8GWNFWDTS7KJ40PX0000003","at":"2026-11-28T10:54:25.165Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":23}}', 9320);
INSERT INTO events (session, position, line, ends) VALUES (1, 24, '{"type":"session.waiting","data":{"wait":"next-user-message","continuationToken":""},"meta":{"id":"evt_01M8GWNFWDTS7KJ40PX0000004","at":"2026-11-28T10:54:25.165Z","deliveryIds":["dlv_01M8GWNFVFAAQDFG4750000000"],"index":24}}', 9544);
INSERT INTO purged (id, purged_ms) VALUES ('ses_gone', 1767225600000);
PRAGMA user_version = 1;
