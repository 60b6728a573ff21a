import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';

/** Minimum value of the limits whose minimum is not 1. */
const smallest: Readonly<Record<string, string>> = {
  PERCH_SESSION_BODY_BYTES: '1024',
  PERCH_SESSION_BYTES: '1048576',
  PERCH_SESSION_BYTES_PER_ADDRESS: '1048576',
  PERCH_SESSION_BYTES_PER_SESSION: '65536',
};

const load = (name: string, value: string) => loadConfig({ [name]: value });

describe('the settings of sessions', () => {
  it('default to the limits of the session protocol', () => {
    const loaded = loadConfig({});

    expect(loaded.ok && loaded.config).toMatchObject({
      PERCH_SESSION_PREFIX: 'svc',
      PERCH_SESSION_REQUIRE_BEARER: false,
      PERCH_SESSION_BIND_BEARER: false,
      PERCH_SESSION_TOKEN: 'required',
      PERCH_SESSION_STREAM_TOKEN: 'proven',
      PERCH_SESSION_MESSAGE_BYTES: 65_536,
      PERCH_SESSION_BODY_BYTES: 524_288,
      PERCH_SESSION_TURN_SECONDS: 120,
      PERCH_SESSION_QUEUE: 8,
      PERCH_SESSION_TURNS: 500,
      PERCH_SESSION_BYTES_PER_SESSION: 33_554_432,
      PERCH_SESSION_TURNS_PER_ADDRESS: 512,
      PERCH_SESSION_WAITING_TURNS: 4096,
      PERCH_SESSION_LIVE: 10_000,
      PERCH_SESSION_LIVE_PER_ADDRESS: 1000,
      PERCH_SESSION_BYTES_PER_ADDRESS: 67_108_864,
      PERCH_SESSION_STARTS_PER_MINUTE: 600,
      PERCH_SESSION_START_BURST: 200,
      PERCH_SESSION_STREAMS_PER_SESSION: 64,
      PERCH_SESSION_STREAMS_PER_ADDRESS: 256,
      PERCH_SESSION_STREAMS: 4096,
      PERCH_SESSION_IDLE_SECONDS: 86_400,
      PERCH_SESSION_AGE_SECONDS: 2_592_000,
      PERCH_SESSION_RETENTION_SECONDS: 86_400,
      PERCH_SESSION_FORGET_SECONDS: 2_592_000,
      PERCH_SESSION_HEARTBEAT_SECONDS: 10,
      PERCH_SESSION_LEASE_SECONDS: 60,
      PERCH_SESSION_FOLLOW_SECONDS: 900,
      PERCH_SESSION_STALL_SECONDS: 30,
    });
  });

  it.each(['svc', 'eve', 'a', 'x-1', 'a'.repeat(32)])('accept the prefix %s', (prefix) => {
    expect(load('PERCH_SESSION_PREFIX', prefix).ok).toBe(true);
  });

  it.each(['api', 'mcp', 'docs', 'search', 'Svc', '1a', '-a', 'a/b', 'a b', 'a'.repeat(33)])(
    'reject the prefix %s',
    (prefix) => {
      const loaded = load('PERCH_SESSION_PREFIX', prefix);

      expect(loaded).toMatchObject({ ok: false });
      expect(!loaded.ok && loaded.faults[0]).toMatch(/^PERCH_SESSION_PREFIX is ".*", but must /);
    },
  );

  it.each([
    'PERCH_SESSION_MESSAGE_BYTES',
    'PERCH_SESSION_BODY_BYTES',
    'PERCH_SESSION_TURN_SECONDS',
    'PERCH_SESSION_TURNS_AT_ONCE',
    'PERCH_SESSION_TURNS',
    'PERCH_SESSION_BYTES_PER_SESSION',
    'PERCH_SESSION_TURNS_PER_ADDRESS',
    'PERCH_SESSION_WAITING_TURNS',
    'PERCH_SESSION_TURNS_PER_MINUTE',
    'PERCH_SESSION_LIVE',
    'PERCH_SESSION_LIVE_PER_ADDRESS',
    'PERCH_SESSION_BYTES',
    'PERCH_SESSION_BYTES_PER_ADDRESS',
    'PERCH_SESSION_STARTS_PER_MINUTE',
    'PERCH_SESSION_START_BURST',
    'PERCH_SESSION_STREAMS_PER_SESSION',
    'PERCH_SESSION_STREAMS_PER_ADDRESS',
    'PERCH_SESSION_STREAMS',
    'PERCH_SESSION_IDLE_SECONDS',
    'PERCH_SESSION_AGE_SECONDS',
    'PERCH_SESSION_HEARTBEAT_SECONDS',
    'PERCH_SESSION_LEASE_SECONDS',
    'PERCH_SESSION_FOLLOW_SECONDS',
    'PERCH_SESSION_STALL_SECONDS',
  ])('reject 0 for %s, which would turn the limit off', (name) => {
    expect(load(name, '0').ok).toBe(false);
    expect(load(name, smallest[name] ?? '1').ok).toBe(true);
  });

  it('reject a heartbeat interval longer than clients wait', () => {
    expect(load('PERCH_SESSION_HEARTBEAT_SECONDS', '13').ok).toBe(true);
    expect(load('PERCH_SESSION_HEARTBEAT_SECONDS', '14').ok).toBe(false);
  });

  it.each([
    ['*', true],
    ['https://page.example, http://localhost:5173', true],
    ['https://page.example/', false],
    ['page.example', false],
    ['https://page.example/path', false],
  ])('accept the origins %s: %s', (origins, isAccepted) => {
    expect(load('PERCH_SESSION_ORIGINS', origins).ok).toBe(isAccepted);
  });
});
