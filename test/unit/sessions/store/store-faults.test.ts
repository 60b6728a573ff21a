import { describe, expect, it } from 'vitest';
import { EngineError } from '../../../../src/lib/redis/engine-error.ts';
import { createStoreFaults } from '../../../../src/sessions/store/store-faults.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

function openRig() {
  const clock = createManualClock(0);
  const reported: string[] = [];
  const faults = createStoreFaults({
    clock,
    onFault: (reason) => reported.push(reason),
    onRecovered: () => reported.push('recovered'),
  });
  return { clock, faults, reported };
}

const toSqliteError = (code: string) => Object.assign(new Error(`${code} message`), { code });

describe('the faults of the session store', () => {
  it('are reported once a minute at most', async () => {
    const { clock, faults, reported } = openRig();

    for (let second = 0; second < 120; second += 1) {
      faults.failed(toSqliteError('SQLITE_FULL'));
      await clock.advance(1000);
    }

    expect(reported).toEqual(['SQLITE_FULL message', 'SQLITE_FULL message']);
  });

  it('end with the next success', () => {
    const { faults, reported } = openRig();
    faults.failed(toSqliteError('SQLITE_FULL'));

    faults.worked();
    faults.worked();

    expect(faults.fault).toBeNull();
    expect(reported).toEqual(['SQLITE_FULL message', 'recovered']);
  });

  it.each([
    [toSqliteError('SQLITE_FULL'), 'The disk is full.'],
    [toSqliteError('SQLITE_READONLY_DIRECTORY'), 'The database file or its disk is read-only.'],
    [toSqliteError('SQLITE_BUSY'), 'Another process has locked the database file.'],
    [toSqliteError('SQLITE_CORRUPT_VTAB'), 'The database file is damaged.'],
    [toSqliteError('SQLITE_IOERR_WRITE'), 'The database file cannot be read or written.'],
    [
      new EngineError('ERR user_script:9: secret 1a2b', false),
      'The engine refuses a command of Perch.',
    ],
    [new EngineError('connect ECONNREFUSED', true), 'The engine cannot be reached.'],
  ])('are described without the text of the error: %s', (cause, sentence) => {
    const { faults } = openRig();

    faults.failed(cause);

    expect(faults.fault).toBe(sentence);
  });
});
