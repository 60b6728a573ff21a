import { describe, expect, it } from 'vitest';
import { answerJson, type FakeHandler } from '../support/fake-upstream.ts';
import { fillArchive } from '../support/imported-archive.ts';
import { upstream } from '../support/listen.ts';
import { linesOf, runHere } from '../support/run-here.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';
import type { Fields } from '../support/x-payloads.ts';
import { fxStatus, fxUser } from '../support/x-payloads.ts';

const run = (
  args: readonly string[],
  { env = {}, isTTY = false }: { env?: Record<string, string>; isTTY?: boolean } = {},
) =>
  runHere(
    args,
    { PERCH_DATA_DIR: ':memory:', PERCH_PROVIDERS: 'archive', ...env },
    { terminals: isTTY ? ['stderr'] : [] },
  );

/** Creates an upstream with 250 posts of `wren`. Requests from row `failsFrom` on fail. */
function serveTimeline(failsFrom = Number.POSITIVE_INFINITY): FakeHandler {
  return (request, response) => {
    const url = new URL(request.url ?? '/', 'http://x.example');
    if (!url.pathname.endsWith('/statuses')) {
      answerJson(response, { code: 200, message: 'OK', user: fxUser('wren') });
      return;
    }
    const from = Number(url.searchParams.get('cursor') ?? 0);
    if (from >= failsFrom) {
      answerJson(response, {}, { status: 500 });
      return;
    }
    const results: Fields[] = Array.from({ length: Math.min(40, 250 - from) }, (_, index) =>
      fxStatus(String(9000 - from - index), { author: fxUser('wren') }),
    );
    const bottom = from + 40 < 250 ? String(from + 40) : null;
    answerJson(response, { code: 200, results, cursor: { top: null, bottom } });
  };
}

async function onX(handler: FakeHandler) {
  const fake = await upstream(handler);
  return { PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: fake.url };
}

describe('perch read of a handle', () => {
  it('prints a profile with --limit posts, and reports that there is more', async () => {
    const ended = await run(['read', '@ada.example', '--limit', '3']);

    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^# Ada Fenwick \(@ada\.example\)\n/);
    expect(ended.stdout.match(/^### /gm)).toHaveLength(3);
    expect(ended.stdout).not.toContain('Next page');
    expect(ended.stderr).toBe('perch: There are more results. Use --limit N or --all.\n');
  });

  it.each(['followers', 'following'])('prints the %s as a list', async (list) => {
    const ended = await run(['read', `@ada.example/${list}`, '--all']);

    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^# .*@ada\.example/);
    expect(ended.stdout.match(/^- /gm)?.length).toBeGreaterThan(4);
  });

  it('prints a line of JSON for each item with --json', async () => {
    const ended = await run(['read', '@ada.example/followers', '--json', '--limit', '4']);

    expect(linesOf(ended.stdout).map(({ platform }) => platform)).toEqual(Array(4).fill('sample'));
  });

  it('prints up to --max-chars characters', async () => {
    const list = ['read', '@ada.example', '--all', '--max-chars', '12000'];

    const [document, lines] = [
      await run([...list, '--with-replies']),
      await run([...list, '--json']),
    ];

    expect(document.stdout.length).toBeLessThanOrEqual(12_000);
    expect(document.stdout).toMatch(/leaves room for \d+ of the \d+ posts .* The others are left/);
    expect(lines.stdout.length).toBeLessThanOrEqual(12_000);
    const [{ profile }, ...posts] = linesOf(lines.stdout);
    expect(profile.screen_name).toBe('ada.example');
    expect(lines.stderr).toMatch(`--max-chars 12000 leaves room for ${posts.length} items.`);
  });

  it('applies the options of a profile', async () => {
    const count = async (...options: string[]) =>
      linesOf((await run(['read', '@ada.example', '--all', '--json', ...options])).stdout).length;

    const plain = await count();
    expect(await count('--with-replies')).toBeGreaterThan(plain);
    expect(await count('--with-reposts')).toBeGreaterThan(plain);
    expect(await count('--until', '2026-05-01')).toBeLessThan(plain);
  });

  it('reads all pages with --all, and shows progress on a terminal only', async () => {
    const env = await onX(serveTimeline());
    const ids = Array.from({ length: 250 }, (_, index) => String(9000 - index));

    const [silent, terminal] = [
      await run(['read', '@wren', '--all', '--json'], { env }),
      await run(['read', '@wren', '--limit', '130', '--json'], { env, isTTY: true }),
    ];

    const [first, ...posts] = linesOf(silent.stdout);
    expect(first.profile).toMatchObject({ screen_name: 'wren' });
    expect(posts.map(({ id }) => id)).toEqual(ids);
    expect(silent.stderr).toBe('');
    expect(linesOf(terminal.stdout)).toHaveLength(1 + 130);
    expect(terminal.stderr).toContain('\rperch: 100 posts, 1 page, ');
    expect(terminal.stderr).toContain('\r\u001b[Kperch: There are more results.');
  });

  it.each([{ TERM: 'dumb' }, { NO_COLOR: '1' }])('shows no progress with %j', async (plain) => {
    const env = { ...(await onX(serveTimeline())), ...plain };

    const ended = await run(['read', '@wren', '--all', '--json'], { env, isTTY: true });

    expect(ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('prints the pages read so far if the source fails, and exits with 3', async () => {
    const env = await onX(serveTimeline(120));

    const ended = await run(['read', '@wren', '--all'], { env });

    expect(ended.code).toBe(3);
    expect(ended.stdout.match(/^### /gm)).toHaveLength(120);
    expect(ended.stderr).toContain('Retry in 30 seconds.');
  });

  it('exits with 0 when its reader closes the pipe, and sends no further requests', async () => {
    const endless: FakeHandler = (request, response) => {
      const from = Number(
        new URL(request.url ?? '/', 'http://x.example').searchParams.get('cursor') ?? 0,
      );
      const results = Array.from({ length: 50 }, (_, i) =>
        fxStatus(String(900_000 - from - i), { author: fxUser('wren') }),
      );
      const page = { code: 200, results, cursor: { top: null, bottom: String(from + 50) } };
      const isList = request.url?.includes('/statuses') === true;
      answerJson(response, isList ? page : { code: 200, message: 'OK', user: fxUser('wren') });
    };
    const fake = await upstream(endless);
    const env = { PERCH_PROVIDERS: 'fxtwitter', PERCH_FXTWITTER_URL: fake.url };

    const perch = spawnPerch(['read', '@wren', '--all', '--json'], env, { stdout: 'closed' });

    expect(await perch.ended).toMatchObject({ code: 0, stderr: '' });
    expect(fake.requests.length).toBeLessThan(30);
  });
});

describe('perch search', () => {
  it.each(['latest', 'top', 'photos', 'users'])('prints the feed %s', async (feed) => {
    const ended = await run(['search', 'heron', '--feed', feed, '--limit', '2']);

    expect(ended.code).toBe(0);
    expect(ended.stdout).toMatch(/^# Search: heron/);
  });

  it('exits with 0 if it finds nothing', async () => {
    const ended = await run(['search', 'nobodywrotethis', '--json']);

    expect(ended).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('prints warnings to standard error with --json', async () => {
    const folder = temporaryFolder();
    fillArchive(folder, ['x']);
    const env = {
      PERCH_DATA_DIR: folder,
      PERCH_PROVIDERS: 'archive,fxtwitter',
      PERCH_FXTWITTER_URL: 'http://127.0.0.1:9',
      PERCH_READ_TIMEOUT_MS: '120000', // a busy machine opens the archive slowly
    };

    const ended = await run(['search', 'heron lang:en', '--json', '--limit', '1'], { env });

    expect(linesOf(ended.stdout)).toHaveLength(1);
    expect(ended.stderr).toContain('`lang:en`');
    expect(ended.stderr).toContain('perch: These results are not live. Their source is archive.\n');
  });

  it('filters by time with --since and --until', async () => {
    const args = [
      'search',
      'the',
      '--json',
      '--all',
      '--since',
      '2026-05-01',
      '--until',
      '2026-06-01',
    ];

    const times = linesOf((await run(args)).stdout).map(({ created_at: at }) => String(at));

    expect(times.length).toBeGreaterThan(0);
    for (const time of times) expect(time.slice(0, 8)).toBe('2026-05-');
  });
});
