import { readFileSync } from 'node:fs';
import { ProxyTracerProvider } from '@opentelemetry/api';
import { BasicTracerProvider } from '@opentelemetry/sdk-trace-node';
import { describe, expect, it } from 'vitest';
import { packagePath } from '../../../../src/lib/files/package-path.ts';
import { HttpFailure } from '../../../../src/lib/http/http-client.ts';
import { Problem } from '../../../../src/lib/problem.ts';
import {
  endWith,
  openTracing,
  toErrorType,
  toLogFields,
} from '../../../../src/lib/tracing/tracing.ts';
import { ProviderError } from '../../../../src/normalize/provider-error.ts';
import { createTraceRig } from '../../../support/traces.ts';

describe('openTracing', () => {
  it('returns null without an SDK', () => {
    expect(openTracing()).toBeNull();
    expect(openTracing(new ProxyTracerProvider())).toBeNull();
  });

  it('finds an SDK that was registered before', () => {
    const provider = new ProxyTracerProvider();
    provider.setDelegate(new BasicTracerProvider());

    expect(openTracing(provider)).not.toBeNull();
  });
});

it('uses a version of the API that SDKs for Node 20 accept', () => {
  const path = packagePath('node_modules/@opentelemetry/api/package.json');

  // The API ignores SDKs that use an earlier minor version (docs/decisions/0078).
  expect(JSON.parse(readFileSync(path, 'utf8')).version).toMatch(/^1\.\d\./);
});

it.each([
  [new Problem('not_found', { detail: 'There is no such post.' }), 'not_found'],
  [new HttpFailure('timeout', 'The upstream did not respond in time.'), 'timeout'],
  [new ProviderError('throttled', 'Too many requests.'), 'throttled'],
  [new DOMException('The user left.', 'AbortError'), 'aborted'],
  [new Error('a text that may be private'), '_OTHER'],
  ['a text that may be private', '_OTHER'],
])('toErrorType of %s is %s', (error, type) => {
  expect(toErrorType(error)).toBe(type);
});

describe('a span', () => {
  it('ends with its work, and rejects as the work does', async () => {
    const { tracing, roots } = createTraceRig();
    const failure = new ProviderError('malformed', 'a text that may be private');
    const good = endWith(tracing.start('chain'), Promise.resolve(7));
    const bad = endWith(tracing.start('chain'), Promise.reject(failure));

    expect(await good).toBe(7);
    await expect(bad).rejects.toBe(failure);
    expect(roots().map(({ failed, attributes }) => [failed, attributes['error.type']])).toEqual([
      [false, undefined],
      [true, 'malformed'],
    ]);
  });

  it('costs no promise if tracing is off', () => {
    const work = Promise.resolve();

    expect(endWith(undefined, work)).toBe(work);
    expect(toLogFields(undefined)).toEqual({});
  });
});
