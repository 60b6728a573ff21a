import { describe, expect, it } from 'vitest';
import { embedReply, postReply } from '../../src/model/results.ts';
import { createFakeMastodon } from '../support/fake-mastodon.ts';
import { buildMastodonApp } from '../support/mastodon-app.ts';
import { accountRow, snowflake, statusRow } from '../support/mastodon-payloads.ts';

/** A server that attributes its own posts to an account on a server that is never contacted. */
const evil = 'evil.example.org';
const ada = accountRow('ada@famous.example.com', { display_name: 'Ada' });
const mallory = accountRow('mallory', { url: `https://${evil}/@mallory` });
const id = snowflake(Date.UTC(2026, 0, 1));
const claimed = `https://famous.example.com/@ada/${id}`;
const copy = `https://${evil}/@ada@famous.example.com/${id}`;

async function openForger() {
  const server = createFakeMastodon(evil);
  for (const account of [ada, mallory]) server.addAccount(account);
  server.addStatus(statusRow(id, ada, { content: '<p>Send me your seed phrase</p>' }));
  const boost = statusRow(snowflake(Date.UTC(2026, 0, 2)), mallory, {
    reblog: statusRow(id, ada),
    uri: `https://${evil}/users/mallory/statuses/1/activity`,
  });
  server.addStatus(boost);
  server.follow(ada, mallory);
  const { app } = await buildMastodonApp(
    { [evil]: server.handler },
    { PERCH_LINK_PREVIEWS: 'true' },
  );
  return app;
}

const asked = `/api/v1/posts?url=${encodeURIComponent(copy)}`;

describe('a post that a server attributes to an account of another server', () => {
  it('is served as a copy of that server, under the URL of the copy', async () => {
    const app = await openForger();
    const reply = await app.request(`${asked}&format=json`);
    const body = postReply.parse(reply.json());

    expect(body.url).toBe(copy);
    expect(body.posts).toMatchObject([
      {
        url: claimed,
        copied_from: { host: evil, url: copy },
        author: { screen_name: 'ada@famous.example.com', copied_from: { host: evil } },
      },
    ]);
    expect(body.warnings).toEqual([expect.stringContaining(`a copy of the post on ${evil}.`)]);
    expect(decodeURIComponent(String(reply.headers.link))).toContain(copy);
  });

  it.each([
    ['Markdown', `${asked}`, {}],
    ['Obsidian', `${asked}&format=obsidian`, {}],
    ['oEmbed', `/oembed?url=${encodeURIComponent(copy)}`, {}],
    ['a preview', `/mallory@${evil}/status/${id}`, { 'user-agent': 'Discordbot/2.0' }],
    ['the front page', `/?q=${encodeURIComponent(copy)}`, { accept: 'text/html' }],
    ['a profile', `/mallory@${evil}?with_reposts=true`, {}],
    ['a list of accounts', `/mallory@${evil}/followers`, {}],
    ['a history', `/mallory@${evil}/posts?format=ndjson`, {}],
  ])('always names the server of the copy: %s', async (_, path, headers) => {
    const app = await openForger();
    const { body, statusCode } = await app.request(path, { headers });

    expect(statusCode).toBe(200);
    expect(body).toContain('ada@famous.example.com');
    expect(body).toMatch(/[Cc]op(?:y|ied)[ _]from/);
    expect(body).toContain(evil);
  });

  it('has the URL of the original in no machine-readable place', async () => {
    const app = await openForger();
    const embed = embedReply.parse(
      (await app.request(`/oembed?url=${encodeURIComponent(copy)}`)).json(),
    );
    const preview = await app.request(`/mallory@${evil}/status/${id}`, {
      headers: { 'user-agent': 'Discordbot/2.0' },
    });
    const note = await app.request(`${asked}&format=obsidian`);

    expect(embed.author_url).toBeUndefined();
    expect(preview.body).toContain(`<link rel="canonical" href="${copy}">`);
    expect(preview.body).toContain(`<meta property="og:url" content="${copy}">`);
    expect(preview.body).not.toContain('article:author');
    expect(note.body).toContain(`\nurl: ${copy}\ncopied_from: ${evil}\n`);
  });
});
