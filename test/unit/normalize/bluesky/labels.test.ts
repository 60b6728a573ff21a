import { describe, expect, it } from 'vitest';
import {
  assessPost,
  describeLabels,
  restrictionOf,
} from '../../../../src/normalize/bluesky/account.ts';
import { parseActor, parsePost } from '../../../../src/normalize/bluesky/wire.ts';
import {
  bskyActor,
  bskyDid,
  bskyLabel,
  bskyPost,
  bskyPrivateActor,
  bskyUri,
} from '../../../support/bluesky-payloads.ts';
import type { Fields } from '../../../support/x-payloads.ts';

const nowMs = Date.UTC(2026, 10, 21);
const handle = 'mira.test';
const did = bskyDid(handle);
const uri = bskyUri(handle, '3k');

function restrictionOfActor(fields: Fields) {
  const actor = parseActor(bskyActor(handle, fields));
  if (actor === null) throw new Error('The account is readable.');
  return restrictionOf(actor, nowMs);
}

function assess(fields: Fields, record: Fields = {}) {
  const post = parsePost(bskyPost({ rkey: '3k', record }, fields));
  if (post === null) throw new Error('The post is readable.');
  return assessPost(post, nowMs);
}

const labelled = (val: string, fields: Fields = {}) => ({ labels: [bskyLabel(val, uri, fields)] });
const selfLabelled = (val: string) => ({ labels: { values: [{ val }] } });
const authored = (val: string, about: string) => ({
  author: bskyActor(handle, { labels: [bskyLabel(val, about)] }),
});

const shown = { restriction: null, isSensitive: false, warning: null };
const profileUri = `at://${did}/app.bsky.actor.profile/self`;

describe('the labels of an account', () => {
  it.each([
    ['!no-unauthenticated', 'signed-in'],
    ['!takedown', 'suspended'],
    ['!hide', 'hidden'],
    ['!warn', null],
    ['porn', null],
    ['spam', null],
  ])('%s leads to %s', (val, restriction) => {
    expect(restrictionOfActor({ labels: [bskyLabel(val, did)] })).toBe(restriction);
  });

  it('have no effect if they are negated or expired', () => {
    const back = bskyLabel('!hide', did, { neg: true });
    const past = bskyLabel('!hide', did, { exp: '2026-11-20T23:59:59Z' });
    const ahead = bskyLabel('!hide', did, { exp: '2026-11-21T00:00:01Z' });
    const odd = bskyLabel('!hide', did, { exp: 'soon' });

    expect(restrictionOfActor({ labels: [back, past] })).toBeNull();
    expect(restrictionOfActor({ labels: [ahead] })).toBe('hidden');
    expect(restrictionOfActor({ labels: [odd] })).toBe('hidden');
  });

  it('are parsed one by one, also among malformed values', () => {
    const labels = [null, 'odd', { val: 7 }, { val: '!no-unauthenticated' }];

    expect(restrictionOfActor({ labels })).toBe('signed-in');
    expect(restrictionOfActor({ labels: 'none' })).toBeNull();
  });

  it.each([
    ['too many', (label: unknown) => Array(1000).fill(label)],
    ['too many unreadable ones', () => Array(100).fill(null)],
  ])('hide a row that has %s, because any of them could hide it', (_, listLabels) => {
    const labels = [...listLabels(bskyLabel('spam', did)), bskyLabel('!hide', did)];

    expect(parseActor(bskyActor(handle, { labels }))).toBeNull();
    expect(parsePost(bskyPost({ rkey: '3k' }, { labels }))).toBeNull();
    expect(parsePost(bskyPost({ rkey: '3k', record: { labels: { values: labels } } }))).toBeNull();
  });
});

describe('describeLabels', () => {
  const warningsFor = (...labels: readonly Fields[]) => {
    const actor = parseActor(bskyActor(handle, { labels }));
    return actor === null ? null : describeLabels(actor, nowMs);
  };

  it('lists each descriptive label once, and a warning', () => {
    const warnings = warningsFor(
      bskyLabel('spam', did),
      bskyLabel('impersonation', did),
      bskyLabel('spam', profileUri),
      bskyLabel('!warn', did),
    );

    expect(warnings).toEqual([
      'Bluesky’s moderation requires a warning for this account.',
      'This account is labelled on Bluesky: impersonation, spam.',
    ]);
  });

  it('ignores negated labels and other texts', () => {
    expect(warningsFor(bskyLabel('spam', did, { neg: true }), bskyLabel('<b>', did))).toEqual([]);
  });
});

describe('the labels of a post', () => {
  it.each(['porn', 'sexual', 'nudity', 'graphic-media', 'gore'])('%s makes it sensitive', (val) => {
    expect(assess(labelled(val))).toEqual({ ...shown, isSensitive: true });
    expect(assess({}, selfLabelled(val))).toEqual({ ...shown, isSensitive: true });
  });

  it('apply from the author’s account, but not from the profile record', () => {
    expect(assess(authored('porn', did))).toEqual({ ...shown, isSensitive: true });
    expect(assess(authored('porn', profileUri))).toEqual(shown);
  });

  it('add a warning', () => {
    expect(assess(labelled('!warn')).warning).toMatch(/^Bluesky’s moderation .*\.$/);
    expect(assess(labelled('!warn', { neg: true }))).toEqual(shown);
  });

  it.each([
    ['!hide', 'hidden'],
    ['!takedown', 'taken-down'],
    ['!no-unauthenticated', 'signed-in'],
  ])('hide the post: %s', (val, restriction) => {
    expect(assess(labelled(val)).restriction).toBe(restriction);
    expect(assess({}, selfLabelled(val)).restriction).toBe(restriction);
  });

  it('have lower priority than those of its author', () => {
    const author = bskyPrivateActor(handle);

    expect(assess({ author, ...labelled('!hide') }).restriction).toBe('signed-in');
  });

  it.each(['spam', 'impersonation', 'bridged-from-bridgy-fed-activitypub'])(
    'have no effect if they are informational: %s',
    (val) => {
      expect(assess(labelled(val))).toEqual(shown);
    },
  );
});
