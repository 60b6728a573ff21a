import { describe, expect, it } from 'vitest';
import {
  fixturesFolder,
  fixturesPresent,
  listFixtures,
  readFixture,
  serveFixtures,
} from '../support/fixtures.ts';
import { listen, upstream } from '../support/listen.ts';
import { fxTwitterFolders, idOf } from './recordings.ts';

const names = fixturesPresent
  ? [...fxTwitterFolders, 'syndication', 'fxtwitter/errors'].flatMap(listFixtures).filter(isPost)
  : [];

function isPost(name: string): boolean {
  const { pathname } = new URL(readFixture(name).request.url);
  return (
    /^[1-9]\d{0,18}$/.test(idOf(name)) && /status|thread|conversation|tweet-result/.test(pathname)
  );
}

/** Which read makes the provider ask for the recording. */
function optionsOf(name: string): string {
  if (name.includes('/thread/')) return 'replies=off';
  return name.includes('/conversation/') ? 'thread=conversation' : 'thread=off';
}

describe.skipIf(!fixturesPresent)(`recorded answers over HTTP (${fixturesFolder})`, () => {
  it.each(names)('reads %s to a document or a problem, in every format', async (name) => {
    const isSyndication = name.startsWith('syndication/');
    const recorded = await upstream(
      serveFixtures(name.split('/').slice(0, -1).join('/'), ...fxTwitterFolders),
    );
    const silent = await upstream((_request, response) => response.writeHead(500).end());
    const { app } = await listen({
      PERCH_FXTWITTER_URL: isSyndication ? silent.url : recorded.url,
      PERCH_SYNDICATION_URL: isSyndication ? recorded.url : silent.url,
    });

    for (const format of ['markdown', 'json', 'obsidian']) {
      const reply = await app.request(
        `/api/v1/posts?url=https://x.com/i/status/${idOf(name)}&${optionsOf(name)}&format=${format}&full=true&userinfo=all`,
      );
      expect([200, 404, 502, 503]).toContain(reply.statusCode);
      if (reply.statusCode !== 200) continue;
      expect(reply.body).not.toMatch(/undefined|\[object|NaN|null\b.*\]\(/);
      expect(reply.body.length).toBeGreaterThan(60);
    }
  });

  it('is present where it must be', () => {
    expect(names.length).toBeGreaterThan(25);
  });
});

describe('the recorded suite', () => {
  it('finds the recordings where they are required', () => {
    const required = process.env.PERCH_FIXTURES_REQUIRED !== undefined;
    expect(fixturesPresent || !required, `no recordings in ${fixturesFolder}`).toBe(true);
  });
});
