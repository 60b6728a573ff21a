import { describe, expect, it } from 'vitest';
import { xOnly } from '../../support/build-app.ts';
import { runHere } from '../../support/run-here.ts';

const post = 'http://localhost:8080/ada.example/status/1900000000000000001';

describe('perch', () => {
  it.each([
    [['read'], 2, 'Give a URL'],
    [['read', 'nonsense'], 2, 'is not a URL'],
    [['read', post, '--limit', '3'], 2, '--limit can be used only with the lists'],
    [['read', '@ada.example', '--limit', '0'], 2, '--limit must be a number'],
    [['read', '@ada.example', '--limit', '3', '--all'], 2, '--limit and --all cannot be used'],
    [['read', '@ada.example/likes'], 2, 'The lists are /followers, /following'],
    [['read', '@ada.example/followers', '--with-replies'], 2, 'used only with a profile'],
    [['read', '@no-handle'], 2, 'not a valid handle'],
    [['read', '@ada.example', '--until', 'soon'], 2, '`until`'],
    [['read', '@nobody.example'], 1, 'no such account'],
    [['search'], 2, 'Give the text to search for'],
    [['search', 'two', 'words'], 2, 'quotation marks'],
    [['search', 'fog', '--feed', 'people'], 2, 'Did you mean users?'],
    [['search', 'fog', '--platform', 'bluesky'], 2, 'names Bluesky'],
    [['read', '--nope', post], 2, '--nope'],
    [['read', post, '--format', 'pdf'], 2, '`format`'],
    [['read', post, '--json', '--format', 'markdown'], 2, '--json cannot be used'],
    [['read', 'https://bsky.app/profile/a.bsky.social/post/3k'], 2, 'no provider'],
    [['read', 'http://localhost:8080/ada.example/status/1'], 1, 'no such post'],
    [['fly'], 2, 'There is no command "fly"'],
    [['serve', 'now'], 2, 'takes no arguments'],
    [['serve', '--port'], 2, 'perch: --port needs a value.'],
  ] as const)('refuses %j with exit code %i', async (args, code, words) => {
    const ended = await runHere(args, { PERCH_DATA_DIR: ':memory:', ...xOnly });

    expect(ended.code).toBe(code);
    expect(ended.stderr).toContain(words);
    expect(ended.stdout).toBe('');
  });
});

it.each([[['tcsh']], [[]]])('perch completion refuses %j', async (args) => {
  const ended = await runHere(['completion', ...args], {});

  expect(ended).toMatchObject({ code: 2, stdout: '' });
  expect(ended.stderr).toContain('The subcommands of perch completion are bash, zsh, fish.');
});

it.each([
  ['a wrong argument', ['serve', 'now'], {}],
  ['a wrong setting', ['serve'], { PORT: 'abc' }],
])('the exit code of a server that cannot start is 2 for %s', async (_, args, env) => {
  expect((await runHere(args, { PORT: '0', ...env })).code).toBe(2);
});
