import type { Post } from '../../model/post.ts';
import type { PostResult } from '../../model/results.ts';
import { toThread } from '../markdown/thread.ts';
import { cutPost } from './cut-texts.ts';
import type { Shortener } from './fit.ts';

/** Leaves out replies from the end, then the posts farthest from the requested one. */
export function shortenThread(result: PostResult): Shortener<PostResult> {
  const ranked = rankPosts(result);
  const keep = (count: number, cut: string | null): PostResult => {
    const kept = new Set(ranked.slice(0, count));
    const left = count < ranked.length ? describeLeft(result, kept) : null;
    return {
      ...result,
      posts: result.posts.filter((post) => kept.has(post)),
      warnings: [...result.warnings, [cut, left].filter(Boolean).join(' ')],
    };
  };
  return {
    count: ranked.length,
    keep: (count) => keep(count, null),
    cut: (max) => {
      const about = `The post is longer than \`max_chars=${result.bound?.maxChars}\`, and its texts were cut.`;
      const kept = keep(1, about);
      return { ...kept, posts: kept.posts.map((post) => cutPost(post, max)) };
    },
  };
}

function rankPosts({ posts }: PostResult): readonly Post[] {
  const { main, chain, replies } = toThread(posts);
  const at = main === undefined ? 0 : chain.indexOf(main);
  // Of two posts with the same distance, the later one is more important, as with the parameter
  // `thread`.
  const distances = new Map(
    chain.map((post, index) => [post, Math.abs(index - at) + (index < at ? 0.5 : 0)]),
  );
  const distanceOf = (post: Post) => distances.get(post) ?? 0;
  return [...chain.toSorted((one, other) => distanceOf(one) - distanceOf(other)), ...replies];
}

function describeLeft({ posts, bound }: PostResult, kept: ReadonlySet<Post>): string {
  const left = posts.filter((post) => !kept.has(post));
  const replies = left.filter(({ context }) => context === 'reply').length;
  const ofThread = left.length - replies;
  const parts = [
    replies === 0 ? null : replies === 1 ? '1 reply' : `${replies} replies`,
    ofThread === 0 ? null : `${ofThread} ${ofThread === 1 ? 'post' : 'posts'} of the thread`,
  ];
  const were = left.length === 1 ? 'was' : 'were';
  return `\`max_chars=${bound?.maxChars}\` leaves room for ${kept.size} of the ${posts.length} posts; ${parts.filter(Boolean).join(' and ')} ${were} left out. The tool \`list_replies\` and ${bound?.repliesUrl} list all replies page by page.`;
}
