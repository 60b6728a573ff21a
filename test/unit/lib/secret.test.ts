import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../src/lib/random.ts';
import { openSecret } from '../../../src/lib/secret.ts';
import { temporaryFolder } from '../../support/spawn-perch.ts';

describe('a secret in a file', () => {
  it('is created once, readable only by its owner, and then kept', () => {
    const folder = `${temporaryFolder()}/data`;
    const path = `${folder}/a.key`;

    const [made, kept] = [openSecret(path, systemRandom), openSecret(path, systemRandom)];

    expect(made).toHaveLength(32);
    expect(kept.equals(made)).toBe(true);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(folder)).toEqual(['a.key']);
  });

  it('is the same for processes that start at the same time', async () => {
    const path = `${temporaryFolder()}/a.key`;
    const script = `
      import { openSecret } from ${JSON.stringify(import.meta.resolve('../../../src/lib/secret.ts'))};
      import { systemRandom } from ${JSON.stringify(import.meta.resolve('../../../src/lib/random.ts'))};
      console.log(openSecret(${JSON.stringify(path)}, systemRandom).toString('hex'));
    `;
    const args = ['--import', import.meta.resolve('tsx'), '--input-type=module', '-e', script];

    const started = Array.from({ length: 4 }, () => promisify(execFile)(process.execPath, args));
    const secrets = (await Promise.all(started)).map(({ stdout }) => stdout.trim());

    expect(new Set(secrets)).toEqual(new Set([readFileSync(path, 'utf8').trim()]));
  });

  it('is refused if the file has other content', () => {
    const path = `${temporaryFolder()}/a.key`;
    writeFileSync(path, 'not a secret');

    expect(() => openSecret(path, systemRandom)).toThrow('does not contain a secret');
  });
});
