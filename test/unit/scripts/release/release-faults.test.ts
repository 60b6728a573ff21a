import { describe, expect, it } from 'vitest';
import {
  findNotes,
  findReleaseFaults,
  type Release,
} from '../../../../scripts/release/release-faults.ts';

const changelog = '# Changelog\n\n## Unreleased\n\n## 1.2.3 - 2026-12-01\n\n- A fix.\n\n## 1.2.2\n';
const right: Release = {
  manifest: { version: '1.2.3', repository: { url: 'git+https://forge.example/perch/perch.git' } },
  changelog,
  openApi: '{}',
  releasedOpenApi: '{}',
  env: {
    GITHUB_REF: 'refs/tags/v1.2.3',
    GITHUB_SERVER_URL: 'https://forge.example',
    GITHUB_REPOSITORY: 'perch/perch',
  },
};

describe('the check before a release', () => {
  it('accepts a version whose tag, repository, changelog and description agree', () => {
    expect(findReleaseFaults(right)).toEqual([]);
  });

  it.each<readonly [string, Partial<Release>, RegExp]>([
    [
      'another tag',
      { env: { ...right.env, GITHUB_REF: 'refs/tags/v1.2.4' } },
      /Push the tag v1\.2\.3/,
    ],
    ['a branch', { env: { ...right.env, GITHUB_REF: 'refs/heads/main' } }, /Push the tag/],
    ['a machine outside the workflow', { env: {} }, /only by the workflow/],
    ['no repository', { manifest: { version: '1.2.3' } }, /Set `repository` in package\.json/],
    [
      'another repository',
      { manifest: { version: '1.2.3', repository: 'https://forge.example/fork/perch' } },
      /to https:\/\/forge\.example\/perch\/perch/,
    ],
    ['no section in the changelog', { changelog: '## Unreleased\n\n- A fix.\n' }, /no section/],
    ['an empty section', { changelog: '## 1.2.3\n\n## 1.2.2\n\n- A fix.\n' }, /no section/],
    ['no released description', { releasedOpenApi: null }, /openapi\/released\.json/],
    ['an old released description', { releasedOpenApi: '{"a":1}' }, /openapi\/released\.json/],
  ])('refuses %s', (_, change, message) => {
    expect(findReleaseFaults({ ...right, ...change })).toEqual([expect.stringMatching(message)]);
  });

  it('finds the notes of a version, and no other section', () => {
    expect(findNotes(changelog, '1.2.3')).toBe('- A fix.\n');
    expect(findNotes(changelog, '1.2')).toBeNull();
  });
});
