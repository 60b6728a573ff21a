import { describe, expect, it, onTestFinished } from 'vitest';
import type { Engine, EngineState } from '../../../../src/lib/redis/engine.ts';
import { describeFault, EngineError } from '../../../../src/lib/redis/engine-error.ts';
import { findWarnings, openEngineReport } from '../../../../src/lib/redis/engine-report.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** Writes the answer to `INFO` of a primary: by default one that loses nothing and is half full. */
function toInfo(fields: Readonly<Record<string, string>> = {}) {
  const write = (section: string, own: Readonly<Record<string, string>>) =>
    [`# ${section}`, ...Object.entries(own).map((pair) => pair.join(':'))].join('\r\n');
  const { aof_enabled = '1', aof_last_write_status = 'ok', ...others } = fields;
  const memory = { used_memory: '50', maxmemory: '100', maxmemory_policy: 'noeviction', ...others };
  return {
    persistence: write('Persistence', { loading: '0', aof_enabled, aof_last_write_status }),
    memory: write('Memory', memory),
  };
}

describe('the warnings about a shared engine', () => {
  it.each([
    ['a durable engine', {}, []],
    [
      'an engine without a limit on memory',
      { maxmemory: '0', maxmemory_policy: 'allkeys-lru' },
      [],
    ],
    [
      'an engine without an append-only file',
      { aof_enabled: '0' },
      [/^Append-only persistence is/],
    ],
    ['a failed write', { aof_last_write_status: 'err' }, [/^The last write of the append-only/]],
    ['an eviction policy', { maxmemory_policy: 'volatile-lru' }, [/^The eviction policy is not/]],
    ['a nearly full engine', { used_memory: '91' }, [/more than 90% of its maxmemory\. /]],
    [
      'several faults',
      { aof_enabled: '0', maxmemory_policy: 'allkeys-random' },
      [/`appendonly yes`/, /`maxmemory-policy noeviction`/],
    ],
  ])('for %s', (_, fields, expected) => {
    const warnings = findWarnings([toInfo(fields)]);

    expect(warnings).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  });

  it('count the primaries of a cluster', () => {
    const volatile = toInfo({ aof_enabled: '0' });

    const warnings = findWarnings([volatile, toInfo(), volatile]);

    expect(warnings).toEqual([expect.stringContaining(' is off on 2 of 3 primaries, ')]);
  });

  it('are none for an engine that does not report its settings', () => {
    expect(findWarnings([{ persistence: '', memory: '' }])).toEqual([]);
  });
});

it.each([
  ['it did not answer within 50 ms', 'The engine did not answer within 50 ms.'],
  ['it has not answered yet', 'The engine has not answered yet.'],
  ['connect ECONNREFUSED', 'The engine cannot be reached.'],
  ['getaddrinfo ENOTFOUND', 'The engine cannot be reached.'],
  ['LOADING Redis is loading the dataset in memory', 'The engine is loading its data.'],
  [
    "READONLY You can't write against a read only replica.",
    'The engine is a replica, which refuses changes.',
  ],
  [
    'WRONGPASS invalid username-password pair or user is disabled.',
    'The engine refuses the user name or the password.',
  ],
])('the fault of a shared engine is described in words: %s', (fault, expected) => {
  expect(describeFault(fault)).toBe(expected);
});

/** Opens a report of an engine whose state and answers the test sets, and waits for its first check. */
async function openRig() {
  const clock = createManualClock();
  const reported: (readonly string[])[] = [];
  const rig = {
    state: { isUp: true, fault: null, instances: 2 } as EngineState,
    info: toInfo() as ReturnType<typeof toInfo> | Error,
    calls: 0,
  };
  const engine: Pick<Engine, 'state' | 'info'> = {
    get state() {
      return rig.state;
    },
    info: async (section) => {
      rig.calls += 1;
      if (rig.info instanceof Error) throw rig.info;
      return [section === 'memory' ? rig.info.memory : rig.info.persistence];
    },
  };
  const report = openEngineReport({ engine, clock, onWarnings: (found) => reported.push(found) });
  onTestFinished(report.close);
  await new Promise((resolve) => setImmediate(resolve));
  return { rig, clock, report, reported };
}

describe('the report of a shared engine', () => {
  it('checks the settings at once, and again after a minute', async () => {
    const { rig, clock, report, reported } = await openRig();
    expect(report.read()).toEqual({ isUp: true, fault: null, instances: 2, warnings: [] });
    rig.info = toInfo({ aof_enabled: '0' });

    for (let second = 0; second < 59; second += 1) await clock.advance(1000);
    const before = rig.calls;
    await clock.advance(1000);
    for (let second = 0; second < 120; second += 1) await clock.advance(1000);

    expect(before).toBe(2);
    expect(rig.calls).toBe(8);
    expect(reported).toEqual([[expect.stringMatching(/^Append-only persistence is off, /)]]);
    expect(report.read().warnings).toEqual(reported[0]);
  });

  it('checks the settings when the engine answers again', async () => {
    const { rig, clock, report } = await openRig();
    const fault = 'connect ECONNREFUSED';
    rig.state = { isUp: false, fault, instances: 2 };
    rig.info = toInfo({ maxmemory_policy: 'allkeys-lru' });
    await clock.advance(1000);
    const down = report.read();
    rig.state = { isUp: true, fault: null, instances: 3 };

    await clock.advance(1000);

    expect(down).toMatchObject({ isUp: false, fault: 'The engine cannot be reached.' });
    expect(down.warnings).toEqual([]);
    expect(report.read()).toMatchObject({ isUp: true, fault: null, instances: 3 });
    expect(report.read().warnings).toHaveLength(1);
  });

  it('keeps its warnings while a check fails, and says if INFO is not allowed', async () => {
    const { rig, clock, report } = await openRig();
    rig.info = toInfo({ aof_enabled: '0' });
    await clock.advance(60_000);
    const [warning] = report.read().warnings;
    rig.info = new EngineError('it did not answer within 2000 ms', true);
    await clock.advance(60_000);
    expect(report.read().warnings).toEqual([warning]);
    rig.info = new EngineError('NOPERM this user has no permissions', false);

    await clock.advance(60_000);

    expect(report.read().warnings).toEqual([
      expect.stringMatching(/^Perch may not run the command INFO, /),
    ]);
  });

  it('removes its warnings when the settings are right', async () => {
    const { rig, clock, report, reported } = await openRig();
    rig.info = toInfo({ aof_enabled: '0' });
    await clock.advance(60_000);
    rig.info = toInfo();

    await clock.advance(60_000);

    expect(report.read().warnings).toEqual([]);
    expect(reported.at(-1)).toEqual([]);
  });
});
