import { expect, it, vi } from 'vitest';
import { type CheckGroup, ok } from '../../../../src/cli/doctor/finding.ts';
import { checkMs, runChecks } from '../../../../src/cli/doctor.ts';

const check = (
  name: CheckGroup['names'][number],
  run: CheckGroup['run'],
  needs: CheckGroup['needs'] = [],
): CheckGroup => ({ names: [name], needs, run });

it('runs each check, whatever happens to the others', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const checks = [
    check('port', () => Promise.reject(new Error('boom'))),
    check('engine', () => new Promise(() => {})),
    check('model', () => Promise.resolve([[ok('It answers.')]]), ['PERCH_MODEL']),
    check('corpus', () => Promise.resolve([[ok('There are documents.')]])),
  ];

  const running = runChecks(checks, { invalid: new Set(['PERCH_MODEL']) });
  await vi.advanceTimersByTimeAsync(checkMs);
  const findings = await running;
  vi.useRealTimers();

  expect(findings).toMatchObject([
    { check: 'port', status: 'fault', message: 'The check failed: boom' },
    { check: 'engine', status: 'warning', message: 'The check did not finish within 9 seconds.' },
    {
      check: 'model',
      status: 'warning',
      message: 'Not checked, because PERCH_MODEL is not valid.',
    },
    { check: 'corpus', status: 'ok', message: 'There are documents.', advice: null },
  ]);
});
