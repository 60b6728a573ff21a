import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Fastify from 'fastify';
import { pino } from 'pino';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createOrigins } from '../../../../../src/lib/http/origins.ts';
import { silentAccessLog } from '../../../../../src/routes/monitoring/access-log.ts';
import { docsPlugin } from '../../../../../src/routes/pages/docs/docs-plugin.ts';
import { createLibrary } from '../../../../../src/routes/pages/docs/library.ts';
import { setErrorHandler } from '../../../../../src/routes/problems.ts';
import { temporaryFolder } from '../../../../support/spawn-perch.ts';

const baseUrl = 'http://perch.test';

const navigation = [
  {
    title: 'One',
    pages: [
      { name: 'a', summary: 'About a' },
      { name: 'b', summary: 'About b' },
    ],
  },
  { title: 'Two', pages: [{ name: 'c', summary: 'About c' }] },
];

function recordingLogger() {
  const lines: string[] = [];
  return { lines, logger: pino({}, { write: (line: string) => lines.push(line) }) };
}

describe('a library', () => {
  it('omits pages without a file, and logs them in one line', () => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, 'b.md'), '# The `b`\n\nText.\n');
    const { lines, logger } = recordingLogger();
    const open = createLibrary({ folder, baseUrl, navigation, logger });

    const library = open();

    expect(
      library.groups.map(({ title, pages }) => [title, pages.map(({ name }) => name)]),
    ).toEqual([['One', ['b']]]);
    expect(library.find('b')).toMatchObject({ title: 'The b', group: 'One', summary: 'About b' });
    expect(open()).toBe(library);
    expect(lines.map((line) => JSON.parse(line).missing)).toEqual([['a', 'c']]);
  });
});

describe('the examples on a page', () => {
  const source =
    'See <http://localhost:8080/a>, `url=http%3A%2F%2Flocalhost%3A8080%2Fa` and 127.0.0.1:8080.\n';
  const moved =
    'See <https://perch.example/$&/a>, `url=https%3A%2F%2Fperch.example%2F%24%26%2Fa` and 127.0.0.1:8080.\n';

  it.each([
    ['keys', moved],
    ['start', source],
    ['development', source],
  ])('%s have the base URL that they should', (name, expected) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, `${name}.md`), source);
    const open = createLibrary({
      folder,
      baseUrl: 'https://perch.example/$&',
      navigation: [{ title: 'One', pages: [{ name, summary: 'About it' }] }],
      logger: recordingLogger().logger,
    });

    expect(open().find(name)?.read()).toBe(expected);
  });
});

describe('a server without a folder of documentation', () => {
  it('answers 404 for its pages and keeps running', async () => {
    const lines: string[] = [];
    const stream = { write: (line: string) => lines.push(line) };
    const app = Fastify({ logger: { level: 'error', stream } });
    onTestFinished(() => app.close());
    setErrorHandler(app, { baseUrl, accessLog: silentAccessLog, writePage: () => null });
    const assets = { pathOf: (name: string) => `/docs/assets/${name}`, find: () => undefined };
    await app.register(docsPlugin, {
      site: { baseUrl, assets },
      ask: null,
      origins: createOrigins(baseUrl, []),
      library: createLibrary({
        folder: join(temporaryFolder(), 'none'),
        baseUrl,
        navigation,
        logger: app.log,
      }),
    });

    for (const url of ['/docs', '/docs/keys', '/docs/find?q=x']) {
      const reply = await app.inject(url);
      expect([reply.statusCode, reply.json().detail]).toEqual([
        404,
        'The documentation is not installed on this server.',
      ]);
    }
    expect(
      lines.filter((line) => line.includes('Pages of the documentation are missing')),
    ).toHaveLength(1);
  });
});
