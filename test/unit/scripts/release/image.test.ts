import { execFileSync, spawnSync } from 'node:child_process';
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { temporaryFolder } from '../../../support/spawn-perch.ts';

function release(digest: string) {
  const folder = temporaryFolder();
  const built = `${folder}/built`;
  const docker = `#!/bin/sh
case "$2" in
  imagetools) echo "${digest}" ;;
  build) printf '%s\\n' "$@" > "${built}" ;;
esac
`;
  writeFileSync(`${folder}/docker`, docker);
  chmodSync(`${folder}/docker`, 0o755);
  const ended = spawnSync('bash', ['scripts/release/image.sh'], {
    env: { PATH: `${folder}:${process.env.PATH}`, IMAGE: 'registry.example/perch' },
    encoding: 'utf8',
  });
  const args = existsSync(built) ? readFileSync(built, 'utf8').split('\n') : [];
  return { code: ended.status, output: ended.stdout + ended.stderr, args };
}

/** Base images of the Dockerfile. */
const bases = [
  ...new Set(
    execFileSync('grep', ['^FROM', 'Dockerfile'], { encoding: 'utf8' })
      .trim()
      .split('\n')
      .map((line) => line.split(' ').find((word) => word.startsWith('node:')) ?? line),
  ),
];

it('builds the image from base images that are pinned by digest', () => {
  const digest = `sha256:${'a1'.repeat(32)}`;

  const { code, output, args } = release(digest);

  expect(code).toBe(0);
  const contexts = args.filter((_, index) => args[index - 1] === '--build-context');
  expect(contexts.sort()).toEqual(
    bases.map((base) => `${base}=docker-image://${base}@${digest}`).sort(),
  );
  for (const base of bases) expect(output).toContain(`${base} is ${digest}`);
});

it('builds nothing if a base image has no digest', () => {
  const { code, output, args } = release('');

  expect(code).toBe(1);
  expect(output).toContain('has no digest');
  expect(args).toEqual([]);
});
