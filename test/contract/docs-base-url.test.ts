import { describe, expect, it, onTestFinished } from 'vitest';
import { openAnswers } from '../../src/answers/open-answers.ts';
import { askPath } from '../../src/routes/pages/layout.ts';
import { openConfiguredAnswers } from '../../src/server/wiring/answers.ts';
import { buildTestApp, shareTestApp, type TestClient, testConfig } from '../support/build-app.ts';
import { createManualClock } from '../support/manual-clock.ts';

const env = { PERCH_BASE_URL: 'https://perch.example/read', PERCH_SESSIONS: 'on' };
const app = shareTestApp({ env });
/** Pages about a copy of Perch on the machine of the reader. */
const ownMachinePages = ['/docs/start', '/docs/development'];
const browser = { accept: 'text/html' };

async function listPages(app: TestClient): Promise<readonly string[]> {
  const { body } = await app.request('/llms.txt');
  const links = [...body.matchAll(/\]\(https:\/\/perch\.example\/read(\/docs\/[^)]+)\)/g)];
  return links.map(([, path]) => path ?? '').filter((path) => path !== askPath);
}

const lineWith = (body: string, text: string) =>
  body.split('\n').filter((line) => line.includes(text));

describe('on a server with another base URL', () => {
  it('no page of the documentation names localhost:8080, except the two about own copies', async () => {
    const paths = await listPages(app);

    expect(paths.length).toBeGreaterThan(40);
    for (const path of paths) {
      const html = (await app.request(path, { headers: browser })).body;
      const markdown = (await app.request(`${path}.md`)).body;
      const named = [html, markdown].flatMap((body) => lineWith(body, 'localhost:8080'));
      const encoded = [html, markdown].flatMap((body) => lineWith(body, 'localhost%3A8080'));
      if (path === '/docs/start') expect(named).not.toEqual([]);
      if (ownMachinePages.includes(path)) continue;
      expect([path, named, encoded]).toEqual([path, [], []]);
    }
  });

  it('examples have the base URL of the server, also in the search', async () => {
    const { body } = await app.request('/docs/keys.md');
    const found = await app.request('/docs/find?q=ada.example', {
      headers: { accept: 'application/json' },
    });

    expect(body).toContain('\ncurl -sI https://perch.example/read/ada.example | grep');
    expect(found.body).toContain('curl https://perch.example/read/ada.example');
    expect(found.body).not.toContain('localhost:8080');
  });

  it('descriptions for programs name localhost:8080 only in the text of Quick start', async () => {
    const paths = ['/llms.txt', '/openapi.json', '/api', '/.well-known/ard.json'];

    for (const path of paths)
      expect((await app.request(path)).body).not.toContain('localhost:8080');
    const full = (await app.request('/llms-full.txt')).body;
    const [start = '', ...others] = full.split(
      /^<https:\/\/perch\.example\/read\/docs\/(?!start>)/m,
    );
    expect(start).toContain('http://localhost:8080');
    expect(others.filter((text) => text.includes('localhost:8080'))).toEqual([]);
  });

  it('answers quote examples with the base URL of the server', { timeout: 60_000 }, async () => {
    const answers = openConfiguredAnswers({
      config: testConfig(env),
      open: openAnswers,
      clock: createManualClock(),
    });
    onTestFinished(() => answers.close());
    await answers.refresh();
    const app = await buildTestApp({ env, engine: answers.engine });
    const question = 'How do I get the followers of an account?';

    const { body } = await app.request(`${askPath}?q=${encodeURIComponent(question)}`, {
      headers: { accept: 'text/markdown' },
    });
    const passages = await answers.passages.find({ text: question, earlier: [] });

    expect(body).toContain('https://perch.example/read/');
    expect(body).not.toContain('localhost:8080');
    const texts = passages.map(({ text }) => text).join('\n');
    expect(texts).toContain('https://perch.example/read/');
    expect(texts).not.toContain('localhost:8080');
    for (const passage of passages) expect(await answers.passages.isCurrent(passage)).toBe(true);
  });
});
