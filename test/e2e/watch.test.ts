import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answerJson } from '../support/fake-upstream.ts';
import { type GrowingTimeline, startGrowingTimeline } from '../support/growing-timeline.ts';
import { runHere } from '../support/run-here.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';
import { startWebhookReceiver, webhookSecret } from '../support/webhook-receiver.ts';

/** Returns the ids of the posts in NDJSON. An incomplete last line is ignored. */
function idsIn(text: string): readonly string[] {
  const lines = text.split('\n').slice(0, -1);
  return lines.map((line) => String(JSON.parse(line).id));
}

/** Watches an account in the test's process, and returns the ids of the printed posts. */
async function watchOnce(
  timeline: GrowingTimeline,
  args: readonly string[],
  { env = {}, input = ['@wren'] }: { env?: Record<string, string>; input?: string[] } = {},
) {
  const all = ['watch', ...input, '--once', '--format', 'ndjson', ...args];
  const { code, stdout, stderr } = await runHere(all, {
    PERCH_DATA_DIR: ':memory:',
    ...timeline.env,
    ...env,
  });
  return { code, stderr, ids: idsIn(stdout) };
}

const stateFile = () => `${temporaryFolder()}/wren.json`;

describe('the first run', () => {
  it('prints no old posts', async () => {
    const timeline = await startGrowingTimeline(30);

    expect(await watchOnce(timeline, [])).toEqual({ code: 0, stderr: '', ids: [] });
  });

  it('prints the newest posts with --backlog, the oldest first', async () => {
    const timeline = await startGrowingTimeline(150);

    const { ids } = await watchOnce(timeline, ['--backlog', '130']);

    expect(ids).toEqual(timeline.ids.slice(-130));
  });

  it('prints the posts since a time with --since', async () => {
    const timeline = await startGrowingTimeline(150);

    const { ids } = await watchOnce(timeline, ['--since', '2026-01-01T00:30Z']);

    expect(ids).toEqual(timeline.ids.slice(29));
  });

  it('reports new posts that it skips', async () => {
    const timeline = await startGrowingTimeline(2100);

    const { ids, stderr } = await watchOnce(timeline, ['--since', '2025-01-01']);

    expect(ids).toEqual(timeline.ids.slice(-ids.length));
    expect(ids.length).toBeGreaterThanOrEqual(2000);
    expect(stderr).toBe(
      'perch: @wren has more than 2000 new posts. Perch skips the oldest of them.\n',
    );
  });

  it('prints Markdown by default', async () => {
    const env = { PERCH_DATA_DIR: ':memory:', PERCH_PROVIDERS: 'archive' };
    const { stdout } = await runHere(['watch', '@ada.example', '--once', '--backlog', '2'], env);

    expect(stdout.match(/^## Ada Fenwick /gm)).toHaveLength(2);
  });
});

describe('a later run with --state', () => {
  it('prints the posts since the previous run, and later nothing', async () => {
    const timeline = await startGrowingTimeline(30);
    const state = ['--state', stateFile()];
    await watchOnce(timeline, state);
    const added = timeline.publish(3);

    expect((await watchOnce(timeline, state)).ids).toEqual(added);
    expect((await watchOnce(timeline, state)).ids).toEqual([]);
  });

  it('reads all pages after a long break', async () => {
    const timeline = await startGrowingTimeline(30);
    const state = ['--state', stateFile()];
    await watchOnce(timeline, state);
    const added = timeline.publish(333);

    expect((await watchOnce(timeline, state)).ids).toEqual(added);
  });

  it('ignores --backlog', async () => {
    const timeline = await startGrowingTimeline(30);
    const state = ['--state', stateFile(), '--backlog', '5'];

    expect((await watchOnce(timeline, state)).ids).toHaveLength(5);
    expect((await watchOnce(timeline, state)).ids).toEqual([]);
  });

  it('prints reposts of old posts with --with-reposts', async () => {
    const timeline = await startGrowingTimeline(30);
    const args = ['--state', stateFile(), '--with-reposts'];
    await watchOnce(timeline, args);
    const repost = timeline.repost();

    expect((await watchOnce(timeline, args)).ids).toEqual([repost]);
    expect((await watchOnce(timeline, args)).ids).toEqual([]);
  });

  it('watches searches too', async () => {
    const timeline = await startGrowingTimeline(30);
    const input = ['search', 'heron', 'seal'];
    const state = ['--state', stateFile(), '--platform', 'x'];
    await watchOnce(timeline, state, { input });
    const added = timeline.publish(2);

    // Both searches find the same posts, and each post is printed once.
    expect((await watchOnce(timeline, state, { input })).ids).toEqual(added);
    expect((await watchOnce(timeline, state, { input })).ids).toEqual([]);
  });
});

describe('the state file', () => {
  it.each([
    ['{', 'is damaged'],
    ['{"perch_watch":1}', 'is damaged'],
    ['{"perch_watch":2,"lists":{}}', 'was written by a newer version of Perch'],
  ])('is refused with the content %s', async (text, message) => {
    const timeline = await startGrowingTimeline(1);
    const file = stateFile();
    writeFileSync(file, text);

    const { code, stderr } = await watchOnce(timeline, ['--state', file]);

    expect(code).toBe(2);
    expect(stderr).toContain(`The state file ${file} ${message}`);
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  it('is refused in a folder that does not exist', async () => {
    const timeline = await startGrowingTimeline(1);

    const file = `${temporaryFolder()}/missing/wren.json`;

    const { code, stderr } = await watchOnce(timeline, ['--state', file]);

    expect(code).toBe(2);
    expect(stderr).toContain(`The folder of the state file ${file} does not exist.`);
  });

  it('cannot be used by two commands', async () => {
    const timeline = await startGrowingTimeline(3);
    const file = stateFile();
    const args = ['watch', '@wren', '--state', file, '--backlog', '1'];
    const first = spawnPerch(args, timeline.env);
    await first.printed(/wren/);

    const { code, stderr } = await watchOnce(timeline, ['--state', file]);

    expect(code).toBe(2);
    expect(stderr).toContain('is used by another perch watch');
    first.kill('SIGTERM');
    expect(await first.ended).toMatchObject({ code: 0, stderr: '' });
  });
});

describe('a running watch', () => {
  it('prints each new post once until SIGINT', async () => {
    const timeline = await startGrowingTimeline(25);
    const args = ['watch', '@wren', '--every', '1s', '--format', 'ndjson', '--backlog', '1'];
    const perch = spawnPerch(args, timeline.env);
    await perch.printed(/\n/);
    const first = timeline.publish(1);
    await perch.printed(new RegExp(`"id":"${first[0]}"`));
    const more = timeline.publish(30);
    await perch.printed(new RegExp(`"id":"${more.at(-1)}"`));
    perch.kill('SIGINT');

    const { code, stdout, stderr } = await perch.ended;

    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(idsIn(stdout)).toEqual(timeline.ids.slice(24));
  });

  it('ends if the program that reads its output has ended', async () => {
    const timeline = await startGrowingTimeline(5);
    const perch = spawnPerch(['watch', '@wren', '--backlog', '5'], timeline.env, {
      stdout: 'closed',
    });

    expect(await perch.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('ends with exit code 1 for an account that does not exist', async () => {
    const timeline = await startGrowingTimeline(5);

    const { code, stderr } = await watchOnce(timeline, [], { input: ['@nobody'] });

    expect(code).toBe(1);
    expect(stderr).toMatch(/^perch: @nobody: /);
  });

  it('ends with exit code 3 and --once if the source is not available', async () => {
    const timeline = await startGrowingTimeline(5);
    timeline.interrupt((_, response) => answerJson(response, {}, { status: 500 }));

    const { code, stderr } = await watchOnce(timeline, []);

    expect(code).toBe(3);
    expect(stderr).toMatch(/^perch: @wren cannot be read\. .*\n$/);
  });
});

describe('--exec', () => {
  it('passes each post to a command on standard input only', async () => {
    const timeline = await startGrowingTimeline(25);
    const out = `${temporaryFolder()}/posts`;

    const { code } = await watchOnce(timeline, ['--backlog', '3', '--exec', `cat >> '${out}'`]);

    expect(code).toBe(0);
    expect(idsIn(readFileSync(out, 'utf8'))).toEqual(timeline.ids.slice(-3));
  });

  it('accepts a command that does not read its input', async () => {
    const timeline = await startGrowingTimeline(2);

    expect(await watchOnce(timeline, ['--backlog', '2', '--exec', 'true'])).toMatchObject({
      code: 0,
      stderr: '',
    });
  });

  it('tries again after a failure', async () => {
    const timeline = await startGrowingTimeline(2);
    const mark = `${temporaryFolder()}/mark`;
    const command = `test -e '${mark}' || { touch '${mark}'; exit 7; }`;

    const { code, stderr } = await watchOnce(timeline, ['--backlog', '1', '--exec', command]);

    expect(code).toBe(0);
    expect(stderr).toBe(
      'perch: The command of --exec ended with exit code 7. Perch tries again.\nperch: The command of --exec succeeded after 2 attempts.\n',
    );
  });

  it('completes the current delivery after SIGTERM', async () => {
    const timeline = await startGrowingTimeline(5);
    const [folder, state] = [temporaryFolder(), stateFile()];
    const command = `touch '${folder}/begun'; sleep 1; cat >> '${folder}/posts'`;
    const args = ['watch', '@wren', '--backlog', '3', '--state', state, '--exec', command];
    const perch = spawnPerch(args, timeline.env);
    await expect.poll(() => existsSync(`${folder}/begun`), { timeout: 20_000 }).toBe(true);
    perch.kill('SIGTERM');

    expect(await perch.ended).toMatchObject({ code: 0, stderr: '' });
    expect(idsIn(readFileSync(`${folder}/posts`, 'utf8'))).toEqual(timeline.ids.slice(2, 3));
    const { ids } = await watchOnce(timeline, ['--state', state]);
    expect(ids).toEqual(timeline.ids.slice(3));
  });

  it('ends a command that takes too long', async () => {
    const timeline = await startGrowingTimeline(2);
    const perch = spawnPerch(
      ['watch', '@wren', '--backlog', '1', '--exec', 'sleep 600', '--exec-timeout', '1s'],
      timeline.env,
    );

    await perch.told(/took longer than 1s/);
    perch.kill('SIGTERM');

    expect(await perch.ended).toMatchObject({ code: 0 });
  });
});

describe('--webhook', () => {
  it('sends messages that the reference library verifies, with one id for each post', async () => {
    const timeline = await startGrowingTimeline(25);
    const receiver = await startWebhookReceiver();
    const args = ['--backlog', '3', '--webhook', receiver.url];
    const env = { PERCH_WEBHOOK_SECRET: webhookSecret };

    const first = await watchOnce(timeline, args, { env });
    await watchOnce(timeline, args, { env });

    expect(first).toMatchObject({ code: 0, stderr: '' });
    expect(receiver.faults).toEqual([]);
    expect(receiver.received.map(({ postId }) => postId)).toEqual([
      ...timeline.ids.slice(-3),
      ...timeline.ids.slice(-3),
    ]);
    expect(new Set(receiver.received.map(({ webhookId }) => webhookId)).size).toBe(3);
  });

  it('tries again after an error, and does not follow redirects', async () => {
    const timeline = await startGrowingTimeline(2);
    const receiver = await startWebhookReceiver((response, count) => {
      if (count === 1) response.writeHead(302, { location: '/elsewhere' });
      response.end();
    });
    const args = ['--backlog', '1', '--webhook', receiver.url];

    const { code, stderr } = await watchOnce(timeline, args, {
      env: { PERCH_WEBHOOK_SECRET: webhookSecret },
    });

    expect(code).toBe(0);
    expect(receiver.received.map(({ postId }) => postId)).toEqual([
      timeline.ids[1],
      timeline.ids[1],
    ]);
    expect(stderr).toContain('The webhook answered with status 302. Perch tries again.');
  });

  it('ends after status 410, and delivers the post in the next run', async () => {
    const timeline = await startGrowingTimeline(2);
    const receiver = await startWebhookReceiver((response, count) => {
      response.writeHead(count === 1 ? 410 : 200).end();
    });
    const args = ['--backlog', '1', '--state', stateFile(), '--webhook', receiver.url];
    const env = { PERCH_WEBHOOK_SECRET: webhookSecret };

    const refused = await watchOnce(timeline, args, { env });
    const { code } = await watchOnce(timeline, args, { env });

    expect(refused.code).toBe(3);
    expect(refused.stderr).toContain('The webhook no longer exists (status 410).');
    expect(code).toBe(0);
    expect(receiver.received).toHaveLength(2);
  });
});

describe('bad usage', () => {
  it.each([
    [[], 'Give a handle such as @jack'],
    [['search'], 'Give the text to search for.'],
    [['https://x.com/jack/status/20'], 'is neither an account nor a search'],
    [['@wren', '--every', '500ms'], '--every must be a duration from 1s to 1d'],
    [['@wren', '--backlog', '1001'], '--backlog must be a number from 0 to 1000'],
    [['@wren', '--backlog', '1', '--since', '2026-01-01'], 'cannot be used together'],
    [['@wren', '--since', 'yesterday'], '--since has the value'],
    [['@wren', '--feed', 'photos'], '--feed can be used only with a search'],
    [['search', 'heron', '--feed', 'top'], '--feed must be one of latest, photos, videos'],
    [['search', 'heron', '--with-replies'], '--with-replies can be used only with accounts'],
    [['@wren', '--format', 'xml'], '--format must be one of text, ndjson'],
    [['@wren', '--format', 'jsonl'], 'Did you mean ndjson?'],
    [['search', 'heron', '--feed', 'images'], 'Did you mean photos?'],
    [['@wren', '--exec-timeout', '5s'], '--exec-timeout can be used only with --exec'],
    [['@wren', '--webhook', 'ftp://hooks.example'], 'must be an http:// or https:// URL'],
    [['@wren', '--webhook', 'https://me:pw@hooks.example'], 'must not contain a user name'],
    [['@wren', '--webhook', 'https://hooks.example'], '--webhook needs PERCH_WEBHOOK_SECRET'],
  ])('is refused: %j', async (args, message) => {
    const env = { PERCH_DATA_DIR: ':memory:' };
    const { code, stdout, stderr } = await runHere(['watch', ...args], env);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it('is refused for a secret in another format', async () => {
    const env = { PERCH_DATA_DIR: ':memory:', PERCH_WEBHOOK_SECRET: 'whsec_short' };
    const { code, stderr } = await runHere(['watch', '@wren'], env);

    expect(code).toBe(2);
    expect(stderr).toContain('PERCH_WEBHOOK_SECRET must be whsec_ followed by');
    expect(stderr).not.toContain('whsec_short');
  });
});
