import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { postReply } from '../../../src/model/results.ts';
import { renderPostJson } from '../../../src/render/json.ts';
import { renderPostPage } from '../../../src/render/markdown/post-page.ts';
import { renderPostNote } from '../../../src/render/obsidian.ts';
import { ada, bo, facet, result, status, tombstone } from '../../support/render-posts.ts';

const text = '#Fog and #fog at #Sea_side in #2026';
const post = status(1, ada, text, {
  lang: 'en',
  likes: 3,
  context: 'post',
  facets: [
    facet(text, '#Fog', 'hashtag'),
    facet(text, '#fog', 'hashtag'),
    facet(text, '#Sea_side', 'hashtag'),
    facet(text, '#2026', 'hashtag'),
  ],
  quote: tombstone(),
});
const reply = status(2, bo, 'Nice "quotes"\u2028\ud83d', { context: 'reply' });

describe('the JSON representation', () => {
  it.each([false, true])('is a post reply that contains the Markdown (full: %s)', (full) => {
    const read = result([post, reply], { full, warnings: ['One.'] });

    const body: unknown = JSON.parse(renderPostJson(read));

    expect(postReply.parse(body)).toEqual(body);
    expect(body).toMatchObject({
      format: 'json',
      url: post.url,
      markdown: renderPostPage(read),
      compact: !full,
      warnings: ['One.'],
      postCount: 2,
      fetched_at: read.fetchedAt,
      source: 'archive',
    });
    expect(Object.keys(postReply.parse(body))).toEqual(Object.keys(postReply.unwrap().shape));
  });
});

describe('the Obsidian representation', () => {
  it('has front matter about the post, then the Markdown page', () => {
    const read = result([post, reply]);

    const [, front = '', page] = renderPostNote(read).split(/^---\n/m, 3);

    expect(parse(front)).toEqual({
      title: 'Post by Ada Keeper (@ada.example): #Fog and #fog at #Sea_side in #2026',
      author: 'Ada Keeper',
      handle: 'ada.example',
      url: post.url,
      created: post.created_at,
      platform: 'sample',
      lang: 'en',
      tags: ['Fog', 'Sea_side'],
      post_count: 2,
      fetched_at: read.fetchedAt,
      source: 'archive',
    });
    expect(page).toBe(`\n${renderPostPage(read)}`);
  });

  it('includes the known metrics with full=true', () => {
    const note = renderPostNote(result([post], { full: true }));

    expect(parse(note.split(/^---\n/m)[1] ?? '')).toMatchObject({ likes: 3 });
    expect(note).not.toContain('reposts');
  });

  it('omits unknown properties of an unavailable post', () => {
    const note = renderPostNote(result([tombstone()]));

    expect(parse(note.split(/^---\n/m)[1] ?? '')).toEqual({
      title: 'Unavailable post',
      url: 'https://perch.example/nobody/status/1',
      platform: 'sample',
      post_count: 1,
      fetched_at: '2026-03-05T10:00:00.000Z',
      source: 'archive',
    });
  });
});
