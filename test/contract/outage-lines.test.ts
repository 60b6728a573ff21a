import { describe, expect, it } from 'vitest';
import { ProviderError } from '../../src/normalize/provider-error.ts';
import { buildTestApp } from '../support/build-app.ts';
import { createStubProvider, stubFound, stubPost } from '../support/stub-provider.ts';

const changed = 'circuit breaker changed state';

describe('the outage of a provider', () => {
  it('is logged at the start and at the end of the outage, with reasons and counts', async () => {
    const lines: Record<string, unknown>[] = [];
    let cause: Error | null = new Error('HTTP status 502');
    const provider = createStubProvider('stub', async () => {
      if (cause === null) return stubFound(stubPost('40'));
      throw new ProviderError('unavailable', 'It is down.', { cause });
    });
    const onLog = (line: string) => void lines.push(JSON.parse(line));
    const app = await buildTestApp({ providers: [provider], onLog });

    for (let id = 20; id < 25; id += 1) await app.request(`/jack/status/${id}`);
    for (let id = 25; id < 28; id += 1) {
      cause = Object.assign(new Error('No.'), { code: 'ECONNREFUSED' });
      await app.advance(30_000);
      await app.request(`/jack/status/${id}`);
    }
    cause = null;
    await app.advance(30_000);
    await app.request('/jack/status/40');

    const outage = lines.filter(({ provider: name, level }) => name === 'stub' && level === 40);
    const named = { provider: 'stub', kind: 'post', reason: 'It is down.' };
    expect(outage).toMatchObject([
      { ...named, cause: 'HTTP status 502', msg: 'a provider has started to fail' },
      { ...named, cause: 'HTTP status 502', breaker: 'open', msg: changed },
      { ...named, cause: 'ECONNREFUSED', breaker: 'closed', openings: 4, msg: changed },
    ]);
  });

  it('is logged once a minute, with the number of omitted lines, if it fails and answers in turn', async () => {
    const lines: Record<string, unknown>[] = [];
    let count = 0;
    const provider = createStubProvider('stub', async () => {
      count += 1;
      if (count % 2 === 0) return stubFound(stubPost('40'));
      throw new ProviderError('throttled', 'Wait.', { isProviderWide: true, retryAfterSeconds: 1 });
    });
    const onLog = (line: string) => void lines.push(JSON.parse(line));
    const app = await buildTestApp({ providers: [provider], onLog });

    for (let id = 20; id < 30; id += 1) {
      await app.request(`/jack/status/${id}?nocache=true`);
      await app.advance(10_000);
    }

    const starts = lines.filter(({ msg }) => msg === 'a provider has started to fail');
    expect(starts.map(({ repeated }) => repeated)).toEqual([undefined, 2]);
  });
});
