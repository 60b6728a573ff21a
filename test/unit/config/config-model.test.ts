import { describe, expect, it } from 'vitest';
import { loadConfig } from '../../../src/config/config.ts';

const complete = { PERCH_MODEL_URL: 'http://localhost:11434/v1/', PERCH_MODEL: 'harbour:7b' };
const faultsOf = (env: Readonly<Record<string, string>>) => {
  const loaded = loadConfig(env);
  return loaded.ok ? [] : loaded.faults;
};

describe('the settings of the language model', () => {
  it('are not set by default', () => {
    const loaded = loadConfig({});

    expect(loaded.ok && loaded.config.PERCH_MODEL_URL).toBeUndefined();
    expect(loaded.ok && loaded.config).toMatchObject({
      PERCH_MODEL_STALL_SECONDS: 15,
      PERCH_MODEL_CONTEXT_CHARACTERS: 12_000,
      PERCH_MODEL_RERANK: false,
    });
  });

  it('do not require a key', () => {
    const loaded = loadConfig(complete);

    expect(loaded.ok && loaded.config).toMatchObject({
      PERCH_MODEL_URL: 'http://localhost:11434/v1',
      PERCH_MODEL: 'harbour:7b',
    });
  });

  it.each([
    [
      { PERCH_MODEL_URL: complete.PERCH_MODEL_URL },
      /^PERCH_MODEL must be set .* PERCH_MODEL_URL is/,
    ],
    [{ PERCH_MODEL: 'harbour' }, /^PERCH_MODEL_URL must be set .* because PERCH_MODEL is/],
    [{ PERCH_MODEL_KEY: 'sk-1' }, /^PERCH_MODEL_URL must be set .* because PERCH_MODEL_KEY is/],
  ])('reject the incomplete settings %j', (env, words) => {
    expect(faultsOf(env)).toEqual([expect.stringMatching(words)]);
  });

  it.each([
    'http://user:pass-word@localhost/v1',
    'http://:pass-word@localhost/v1',
    'http://localhost/v1?key=pass-word',
    'ftp://localhost/pass-word',
  ])('reject the URL %s without printing it', (address) => {
    const [fault, ...others] = faultsOf({ ...complete, PERCH_MODEL_URL: address });

    expect(others).toEqual([]);
    expect(fault).toMatch(/^PERCH_MODEL_URL must be an http/);
    expect(fault).not.toContain('pass-word');
  });

  it('reject a URL that ends in /chat/completions', () => {
    const PERCH_MODEL_URL = `${complete.PERCH_MODEL_URL}chat/completions`;

    expect(faultsOf({ ...complete, PERCH_MODEL_URL })).toEqual([
      'PERCH_MODEL_URL must be the base URL, because Perch appends /chat/completions to it.',
    ]);
  });

  it('never print the key', () => {
    const faults = faultsOf({ ...complete, PERCH_MODEL_KEY: 'sk with spaces' });

    expect(faults).toEqual([expect.stringMatching(/^PERCH_MODEL_KEY must have/)]);
  });

  it.each(['PERCH_MODEL_STALL_SECONDS', 'PERCH_MODEL_CONTEXT_CHARACTERS'])(
    'reject 0 for %s',
    (name) => {
      expect(faultsOf({ ...complete, [name]: '0' })).toEqual([expect.stringContaining(name)]);
    },
  );
});
