import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { answerHtml, hang } from '../support/fake-upstream.ts';
import { upstream } from '../support/listen.ts';
import { runHere } from '../support/run-here.ts';
import { spawnPerch, temporaryFolder } from '../support/spawn-perch.ts';

const post = 'http://localhost:8080/ada.example/status/1900000000000000001';

const inMemory = { PERCH_DATA_DIR: ':memory:' };

const run = (args: readonly string[], env: Record<string, string> = {}) =>
  spawnPerch(args, env).ended;

describe('the log of the build', () => {
  it('has stack traces that name source files', async () => {
    const ended = await run(['read', 'https://x.com/mira_holm/status/20'], {
      LOG_LEVEL: 'debug',
      PERCH_PROVIDERS: 'fxtwitter',
      PERCH_FXTWITTER_URL: 'http://127.0.0.1:9',
    });

    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(/src\/lib\/http\/http-client\.ts:\d+/);
  });
});

describe('perch read', () => {
  it('prints the Markdown of a post and nothing else', async () => {
    const ended = await run(['read', post]);

    expect(ended).toMatchObject({ code: 0, stderr: '' });
    expect(ended.stdout).toMatch(/^# Thread by Ada Fenwick /);
  });

  it('prints the JSON body with --json', async () => {
    const { stdout } = await runHere(['read', '--json', post], inMemory);

    expect(JSON.parse(stdout)).toMatchObject({ format: 'json', source: 'archive' });
  });

  it('prints more with --full, and front matter with --format obsidian', async () => {
    const [compact, full, obsidian] = [
      await runHere(['read', post], inMemory),
      await runHere(['read', post, '--full'], inMemory),
      await runHere(['read', post, '--format', 'obsidian'], inMemory),
    ];

    expect(full.stdout.length).toBeGreaterThan(compact.stdout.length);
    expect(obsidian.stdout).toMatch(/^---\n/);
  });

  it('exits with 3 if all upstreams fail', async () => {
    const down = await upstream((_request, response) => answerHtml(response, { status: 500 }));

    const ended = await runHere(['read', 'https://x.com/jack/status/20'], {
      ...inMemory,
      PERCH_FXTWITTER_URL: down.url,
      PERCH_SYNDICATION_URL: down.url,
    });

    expect(ended.code).toBe(3);
    expect(ended.stderr).toMatch(/^perch: X cannot be read .+\nRetry in 30 seconds\. .+\n$/);
  });
});

describe('perch without a valid command', () => {
  it('prints its help and its version', async () => {
    const [help, version] = [await runHere(['--help'], {}), await run(['--version'])];

    expect(help).toMatchObject({ code: 0, stderr: '' });
    expect(help.stdout).toContain('perch read INPUT');
    const { version: expected } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(version.stdout).toBe(`perch ${expected}\n`);
  });

  it('prints all configuration errors at once and exits with 2', async () => {
    const ended = await runHere(['serve'], {
      PORT: 'abc',
      PERCH_PROVIDERS: 'archive,fxtwitter,nope',
      LOG_LEVEL: 'loud',
      PERCH_USER_AGENT: 'a WhatsApp',
      PERCH_CURSOR_KEY: 'a short secret',
    });

    expect(ended.code).toBe(2);
    for (const name of [
      'PORT is "abc"',
      'unknown: “nope”',
      'PERCH_USER_AGENT',
      'LOG_LEVEL is "loud"',
    ]) {
      expect(ended.stderr).toContain(name);
    }
    expect(ended.stderr).toContain('PERCH_CURSOR_KEY must have 32 to 512 characters.');
    expect(ended.stderr).not.toContain('a short secret');
  });

  it('exits with 0 if the reader has closed the pipe', async () => {
    const perch = spawnPerch(['read', post, '--json'], {}, { stdout: 'closed' });

    expect(await perch.ended).toMatchObject({ code: 0, stderr: '' });
  });

  it('names the file that cannot be opened', async () => {
    const folder = temporaryFolder();
    writeFileSync(`${folder}/file`, '');

    for (const args of [['serve'], ['read', '@ada.example']]) {
      const ended = await run(args, { PORT: '0', PERCH_DATA_DIR: `${folder}/file` });

      expect(ended.code).toBe(2);
      expect(ended.stderr).toMatch(
        /^perch: .*PERCH_DATA_DIR is .+\/file, .+ is not a folder\..*\n$/,
      );
    }
  });
});

describe('perch', () => {
  it.each(['archive list', 'archive export', 'sessions list', 'backup x.zip'])(
    '%s reports a data folder that it cannot look into, instead of an empty one',
    async (command) => {
      const folder = temporaryFolder();
      writeFileSync(`${folder}/file`, '');

      const { code, stdout, stderr } = await runHere(
        command.replace('x.zip', `${folder}/x.zip`).split(' '),
        { PERCH_DATA_DIR: `${folder}/file` },
      );

      expect({ code, stdout }).toEqual({ code: 3, stdout: '' });
      expect(stderr).toMatch(/^perch: PERCH_DATA_DIR.+Set (?:it|PERCH_DATA_DIR) to a folder\./);
    },
  );
});

describe('perch serve', () => {
  it('runs until SIGTERM, finishes requests in progress, and exits with 0', async () => {
    let release = () => {};
    const slow = await upstream((_request, response) => {
      release = () => answerHtml(response, { status: 500 });
    });
    const perch = spawnPerch(['serve'], {
      PORT: '0',
      PERCH_PROVIDERS: 'fxtwitter',
      PERCH_FXTWITTER_URL: slow.url,
    });
    const url = (await perch.printed(/Server listening at (http:[^"]+)/))[1];
    const inFlight = fetch(`${url}/jack/status/20?thread=off`);
    await expect.poll(() => slow.requests.length).toBe(1);

    perch.kill('SIGTERM');
    await perch.printed(/is stopping/);
    const refused = await fetch(`${url}/health/ready`);
    const alive = await fetch(`${url}/health/live`);
    release();

    expect(refused.status).toBe(503);
    expect(await refused.json()).toMatchObject({ code: 'shutting_down', retry_after: 1 });
    expect(refused.headers.get('connection')).toBe('close');
    expect(alive.status).toBe(200);
    expect((await inFlight).status).toBe(503);
    expect((await perch.ended).code).toBe(0);
  });

  it.each([[['serve', '--port', '0', '--host', '127.0.0.1']], [['--port=0']]])(
    'listens on the address given by %j, which overrides the environment',
    async (args) => {
      const perch = spawnPerch(args, { PORT: '1', HOST: '127.0.0.1' });

      const [, url = ''] = await perch.printed(/Server listening at (http:[^"]+)/);
      perch.kill('SIGTERM');

      expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d{2,}$/);
      expect((await perch.ended).code).toBe(0);
    },
  );

  it('reports that it is not ready before it stops, also without requests in progress', async () => {
    const perch = spawnPerch(['serve'], { PORT: '0' });
    const url = (await perch.printed(/Server listening at (http:[^"]+)/))[1];

    perch.kill('SIGTERM');
    await perch.printed(/is stopping/);
    const ready = await fetch(`${url}/health/ready`);

    expect(ready.status).toBe(503);
    expect((await perch.ended).code).toBe(0);
  });

  it('answers shutting_down to requests that exceed the grace period', async () => {
    const stuck = await upstream(hang);
    const perch = spawnPerch(['serve'], {
      PORT: '0',
      PERCH_PROVIDERS: 'fxtwitter',
      PERCH_FXTWITTER_URL: stuck.url,
      PERCH_SHUTDOWN_GRACE_MS: '50',
    });
    const url = (await perch.printed(/Server listening at (http:[^"]+)/))[1];
    const inFlight = fetch(`${url}/jack/status/20`);
    await expect.poll(() => stuck.requests.length).toBeGreaterThan(0);

    perch.kill('SIGINT');

    expect(await (await inFlight).json()).toMatchObject({ code: 'shutting_down' });
    expect((await perch.ended).code).toBe(0);
  });

  it('logs one JSON line for each failed request, with its id and without secrets', async () => {
    const down = await upstream((_request, response) => answerHtml(response, { status: 500 }));
    const perch = spawnPerch(['serve'], {
      PORT: '0',
      PERCH_FXTWITTER_URL: down.url,
      PERCH_SYNDICATION_URL: down.url,
    });
    const url = (await perch.printed(/Server listening at (http:[^"]+)/))[1];

    const reply = await fetch(`${url}/jack/status/20?token=hush`, {
      headers: { authorization: 'Bearer perch_hushhush' },
    });
    await fetch(`${url}/health/live`);
    const [line] = await perch.printed(/\{[^\n]*request answered[^\n]*/);
    perch.kill('SIGTERM');
    const { stdout } = await perch.ended;

    expect(JSON.parse(line)).toMatchObject({
      level: 'warn',
      request_id: reply.headers.get('x-request-id'),
      method: 'GET',
      status: 503,
    });
    expect(stdout).not.toContain('hush');
    expect(stdout.match(/request answered/g)).toHaveLength(1);
  });
});
