import { expectTypeOf, it } from 'vitest';
import type {
  AnyPerchError,
  BrowseReply,
  HistoryIndexEntry,
  List,
  Perch,
  Post,
  PostReply,
  ProblemCode,
  SessionEvent,
} from '../../../clients/typescript/src/index.ts';

/** Calls that must not compile. `tsc` fails if a line after `@ts-expect-error` compiles. */
function writeMistakes(perch: Perch): readonly unknown[] {
  return [
    // @ts-expect-error: an id without a handle
    perch.posts.get({ id: '20' }),
    // @ts-expect-error: no such mode
    perch.posts.get('https://x.com/jack/status/20', { thread: 'everything' }),
    // @ts-expect-error: a handle is a string
    perch.profiles.get(7),
    // @ts-expect-error: no such parameter
    perch.profiles.followers('jack', { since: '2026-01-01' }),
    // @ts-expect-error: accounts have their own method
    perch.search.posts('heron', { feed: 'users' }),
    // @ts-expect-error: the text is missing
    perch.search.posts(),
    // @ts-expect-error: a session needs its token
    perch.sessions.ask('And then?', { session: { id: 'ses_1' } }),
    // @ts-expect-error: no such policy
    perch.sessions.ask('And then?', { turnPolicy: 'later' }),
  ];
}

it('refuses incorrect calls', () => {
  expectTypeOf(writeMistakes).returns.items.toBeUnknown();
});

it('types replies', () => {
  expectTypeOf<Perch['posts']['get']>().returns.toEqualTypeOf<Promise<PostReply>>();
  expectTypeOf<Perch['profiles']['get']>().returns.toEqualTypeOf<Promise<BrowseReply>>();
  expectTypeOf<Perch['search']['posts']>().returns.toEqualTypeOf<List<Post>>();
  expectTypeOf<PostReply['posts'][number]>().toEqualTypeOf<Post>();
});

it('types a history by its parameter index', () => {
  const read = async (perch: Perch) => {
    for await (const post of perch.profiles.history('jack')) {
      expectTypeOf(post).toEqualTypeOf<Post>();
    }
    for await (const entry of perch.profiles.history('jack', { index: true })) {
      expectTypeOf(entry).toEqualTypeOf<HistoryIndexEntry>();
    }
  };
  expectTypeOf(read).parameter(0).toEqualTypeOf<Perch>();
});

it('narrows posts and events by their type', () => {
  const describePost = (post: Post): string => {
    switch (post.type) {
      case 'status':
        expectTypeOf(post.likes).toEqualTypeOf<number | null>();
        return post.text;
      case 'tombstone':
        return post.reason;
    }
  };
  const describeEvent = (event: SessionEvent): string =>
    event.type === 'message.appended' ? event.data.messageDelta : event.type;

  expectTypeOf(describePost).returns.toBeString();
  expectTypeOf(describeEvent).returns.toBeString();
});

it('narrows errors by their code', () => {
  const describeError = (error: AnyPerchError): string | number | undefined => {
    switch (error.code) {
      case 'rate_limited':
        return error.retryAfterMs;
      case 'turn_failed':
        return error.answer?.message;
      case 'repeated_cursor':
        return error.status;
      default:
        return error.resolution;
    }
  };
  expectTypeOf(describeError).returns.toEqualTypeOf<string | number | undefined>();
  expectTypeOf<'upstream_unavailable'>().toExtend<ProblemCode>();
});
