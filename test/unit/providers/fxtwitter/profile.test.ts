import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../../../src/platforms/provider-error.ts';
import { createControl } from '../../../../src/providers/fxtwitter/profile.ts';
import { createManualClock } from '../../../support/manual-clock.ts';

/** A control whose reads end on demand. */
function openControl() {
  const requests: string[] = [];
  const ends: ((answered: boolean | ProviderError) => void)[] = [];
  const control = createControl({
    clock: createManualClock(),
    answers: (handle) => {
      requests.push(handle);
      return new Promise((resolve, reject) => {
        ends.push((answered) =>
          answered instanceof ProviderError ? reject(answered) : resolve(answered),
        );
      });
    },
  });
  const explainMiss = async (handle: string, controller = new AbortController()) =>
    (await control.explainMiss(handle, { signal: controller.signal })).kind;
  const end = (answered: boolean | ProviderError) => ends.shift()?.(answered);
  return { requests, explainMiss, end };
}

describe('a control read', () => {
  it('is shared by concurrent callers', async () => {
    const { requests, explainMiss, end } = openControl();

    const kinds = Promise.all([explainMiss('ann'), explainMiss('bob'), explainMiss('cid')]);
    end(true);

    expect(await kinds).toEqual(['missing', 'missing', 'missing']);
    expect(requests).toEqual(['x']);
  });

  it('is repeated after a failure', async () => {
    const { requests, explainMiss, end } = openControl();

    const first = explainMiss('ann');
    end(false);
    expect(await first).toBe('ambiguous');
    const second = explainMiss('ann');
    end(true);

    expect(await second).toBe('missing');
    expect(requests).toEqual(['x', 'x']);
  });

  it('is throttled for all its callers', async () => {
    const { explainMiss, end } = openControl();

    const kinds = Promise.all([explainMiss('ann'), explainMiss('bob')]);
    end(new ProviderError('throttled', 'The source asks for fewer requests.'));

    expect(await kinds).toEqual(['throttled', 'throttled']);
  });

  it('continues for the other callers if one disconnects', async () => {
    const { requests, explainMiss, end } = openControl();
    const leaving = new AbortController();

    const left = explainMiss('ann', leaving);
    const stayed = explainMiss('bob');
    leaving.abort();

    await expect(left).rejects.toMatchObject({ kind: 'unavailable' });
    end(true);
    expect(await stayed).toBe('missing');
    expect(requests).toEqual(['x']);
  });

  it('is not awaited by a caller that has already disconnected', async () => {
    const { explainMiss } = openControl();
    const leaving = new AbortController();
    leaving.abort();

    await expect(explainMiss('ann', leaving)).rejects.toMatchObject({ kind: 'unavailable' });
  });

  it('uses the other account if the first one is missing', async () => {
    const { requests, explainMiss, end } = openControl();

    const kinds = Promise.all([explainMiss('X'), explainMiss('ann')]);
    end(true);
    end(true);

    expect(await kinds).toEqual(['missing', 'missing']);
    expect(requests).toEqual(['xdevelopers', 'x']);
  });
});
