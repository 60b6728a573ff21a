import type { Account } from '../../model/account.ts';
import type { Article, ArticleBlock, StyleRange } from '../../model/article.ts';
import type { Card, Poll, Post, Reaction, Status, Tombstone } from '../../model/post.ts';
import type { ListResult } from '../../model/results.ts';
import { hidesPictures } from '../html/pictures.ts';
import { toLine } from '../markdown/characters.ts';
import { formatCount, formatNumber } from '../markdown/layout.ts';
import type { Annotation } from '../markdown/spans.ts';
import {
  findPositions,
  isReplyTargetElsewhere,
  isSameAccount,
  type Thread,
  toThread,
} from '../markdown/thread.ts';
import { type NestHeading, nestHeadings } from '../markdown/verbatim.ts';
import {
  type Block,
  type Box,
  type BoxRole,
  describeCopy,
  type Figure,
  line,
  link,
  minute,
  plain,
  present,
  type StyledText,
  toMediaItems,
  toText,
  type Words,
} from './block.ts';

export interface PostView {
  /** Whether to add exact times, all counts, the language and the posting application. */
  readonly full: boolean;
  /** Time when the posts were fetched: ISO 8601, UTC. */
  readonly fetchedAt: string;
  /** Level of headings within the post. */
  readonly level: number;
  /** Whether the page's title is that of the article, which then has no title of its own. */
  readonly isTitledByArticle: boolean;
  readonly articles: ArticlePlace['extent'];
}

export interface PostPlace {
  readonly thread: Thread;
  /** Account whose profile page is rendered, which its posts do not name; `null` elsewhere. */
  readonly owner: Account | null;
  /** Position in a thread by one author, such as `2/5`; `null` for other posts. */
  readonly position: string | null;
  readonly isRequested: boolean;
  readonly level: number;
}

/** Returns the places of the posts of a page: the thread at a heading level, its replies below. */
export function placeThread(posts: readonly Post[], thread: Thread, level: number) {
  const positions = findPositions(thread);
  const toPlaced = (post: Post) => {
    const isRequested = post === thread.main && post !== posts[0];
    const position = positions.get(post) ?? null;
    const own = post.context === 'reply' ? level + 1 : level;
    return { post, place: { thread, owner: null, position, isRequested, level: own } };
  };
  return { chain: thread.chain.map(toPlaced), replies: thread.replies.map(toPlaced) };
}

/** Returns the place of each post of a list. */
export function placeInList({ subject, profile }: ListResult, level: number): PostPlace {
  const answered = subject.resource === 'replies' ? subject.answered : null;
  const thread = toThread(answered === null ? [] : [answered]);
  return { thread, owner: profile, position: null, isRequested: false, level };
}

interface PostHead {
  /** Author; `null` if unknown, or if the page is about the author. */
  readonly author: Account | null;
  /** Times and source server; `Unavailable post` or `unavailable` for a tombstone. */
  readonly origin: readonly Words[];
  readonly labels: readonly Words[];
}

export function toPostHead(post: Post, { owner, position, isRequested }: PostPlace): PostHead {
  const author = post.author !== null && isSameAccount(post.author, owner) ? null : post.author;
  const missing = author === null ? 'Unavailable post' : 'unavailable';
  return {
    author,
    origin: post.type === 'status' ? originOf(post) : [missing],
    labels: present([position, isRequested ? { type: 'italic', words: 'requested post' } : null]),
  };
}

export function toPostBlocks(post: Post, place: PostPlace, view: PostView): readonly Block[] {
  if (post.type === 'tombstone') return [toCitation(post)];
  return present([
    ...toContext(post, place),
    ...toContent(post, view),
    line('counts', describeCounts(post, view)),
  ]);
}

/** Returns a placeholder: the reason, and `author` where the page does not name the author. */
export const toCitation = ({ text, url }: Tombstone, author: Account | null = null): Box =>
  toBox('citation', [
    line('plain', [link(text, url), author && { type: 'account', account: author, isBold: false }]),
  ]);

const toBox = (
  role: BoxRole,
  blocks: readonly (Block | null)[],
  label: Words | null = null,
): Box => ({ type: 'box', role, label, blocks: present(blocks) });

/** Returns the lines on reposter, community and replied-to post; the latter unless in `thread`. */
export function toContext(
  post: Status,
  { thread, owner }: Pick<PostPlace, 'thread' | 'owner'>,
): readonly Block[] {
  const { reposted_by: reposter, community } = post;
  return present([
    reposter && line('context', describeReposter(reposter, owner)),
    community && line('context', [['In ', link(community.name, community.url)]]),
    isReplyTargetElsewhere(post, thread) ? line('context', [describeTarget(post)]) : null,
  ]);
}

function describeReposter(reposter: Account, owner: Account | null): readonly (Words | null)[] {
  const type = isSameAccount(reposter, owner) ? 'handle' : 'account';
  return [['Reposted by ', { type, account: reposter, isBold: false }], describeCopy(reposter)];
}

function describeTarget({ replying_to: target }: Status): Words {
  const handle = target?.screen_name ?? null;
  const text = handle === null ? 'another post' : `@${handle}`;
  return ['In reply to ', link(text, target?.url ?? null)];
}

const maxQuoteDepth = 3; // maximum depth of nested quotes; deeper quotes become links

/** Returns text, media, poll, article, link card, quoted post and community note. */
export function toContent(post: Status, view: PostView, depth = 0): readonly Block[] {
  const { content_warning: warning, tags, article, card, quote, poll } = post;
  const isHidden = hidesPictures(post);
  const items = toMediaItems(post.media.all, view.full);
  const { level, full, articles: extent } = view;
  const isTitled = depth === 0 && view.isTitledByArticle;
  return present([
    warning === null ? null : line('warning', [describeWarning(warning)]),
    toText(post.text, post.facets, post.lang),
    tags && line('plain', [['Tags: ', plain(tags.map((tag) => `#${tag}`).join(' '))]]),
    post.possibly_sensitive ? line('remark', ['Marked as sensitive content.']) : null,
    items.length === 0 ? null : ({ type: 'media', items, isHidden } as const),
    poll && toPoll(poll, view.fetchedAt),
    article && toArticle(article, { level, isTitled, full, extent, isHidden }),
    card && toCard(card, isHidden),
    quote && toQuote(quote, view, depth + 1),
    post.community_note === null ? null : toNote(post.community_note, post),
    ...toEarlier(post, full),
  ]);
}

const describeWarning = (warning: string): Words => [
  { type: 'bold', words: 'Content warning:' },
  ' ',
  { type: 'prose', text: warning },
];

const toNote = (note: string, { community_note_facets: facets = [] }: Status): Block =>
  toBox('note', [toText(note, facets)], 'Community note');

const toEarlier = ({ earlier_versions: versions = [] }: Status, full: boolean): readonly Block[] =>
  (full ? versions : []).map(({ text, created_at }) =>
    toBox('earlier', [toText(text)], ['Before an edit, ', minute(created_at)]),
  );

function toCard(card: Card, isHidden: boolean): Block {
  const { url, title, description, provider_name: site, author_name: author } = card;
  const name = toLine(title) || url;
  const picture = card.image_url;
  const figure = picture && {
    ...{ url: picture, target: url, label: card.image_alt ?? name },
    ...{ width: null, height: null },
  };
  return toBox('card', [
    figure ? { type: 'figure', role: 'card', figure, isHidden } : null,
    line('title', [link(name, url)]),
    description ? line('plain', [{ type: 'prose', text: description }]) : null,
    line('facts', [
      site === undefined ? null : plain(site),
      author === undefined ? null : ['by ', link(author, card.author_url ?? null)],
    ]),
  ]);
}

function toQuote(quote: Post, view: PostView, depth: number): Block {
  if (quote.type === 'tombstone') return toCitation(quote, quote.author);
  const head: readonly Words[] = [
    { type: 'account', account: quote.author, isBold: true },
    ...originOf(quote),
  ];
  if (depth > maxQuoteDepth) {
    const [author = '', ...origin] = head;
    return toBox('quote', [line('facts', [['Quotes ', author], ...origin])]);
  }
  return toBox('quote', [
    line('facts', head),
    ...toContent(quote, view, depth),
    view.full ? line('counts', describeCounts(quote, view)) : null,
  ]);
}

/** Returns the known times (posted, edited, first seen) and the source server of a post. */
export function originOf(post: Status): readonly Words[] {
  const { created_at, edited_at: edited, indexed_at: indexed, url } = post;
  return present<Words>([
    minute(created_at, url),
    edited === undefined ? null : ['edited ', minute(edited)],
    indexed === undefined ? null : ['first seen ', minute(indexed)],
    describeCopy(post),
  ]);
}

/** Returns counts except 0. `full` adds counts of 0, the time and details such as the language. */
export function describeCounts(
  post: Status,
  { full }: Pick<PostView, 'full'>,
): readonly (Words | null)[] {
  const known = (count: number | null) => (full ? count : count || null);
  const answers = [
    formatCount(known(post.replies), 'reply', 'replies'),
    formatCount(known(post.reposts), 'repost', 'reposts'),
    formatCount(known(post.likes), 'like', 'likes'),
  ];
  const views = formatCount(known(post.views), 'view', 'views');
  if (!full) return [...answers, views];
  return [
    plain(post.created_at),
    ...answers,
    formatCount(post.quotes, 'quote', 'quotes'),
    formatCount(post.bookmarks, 'bookmark', 'bookmarks'),
    views,
    post.reactions === undefined ? null : describeReactions(post.reactions),
    post.lang === null ? null : ['language ', plain(post.lang)],
    post.source === null ? null : ['via ', plain(post.source)],
  ];
}

function describeReactions(reactions: readonly Reaction[]): Words {
  const counts = reactions.map(({ name, count }) => `${name} ${formatNumber(count)}`);
  return ['reactions: ', plain(counts.join(', '))];
}

function toPoll({ choices, ...poll }: Poll, fetchedAt: string): Block {
  const isClosed = Date.parse(poll.ends_at ?? '') <= Date.parse(fetchedAt);
  const end = poll.ends_at && [isClosed ? 'closed ' : 'closes ', minute(poll.ends_at)];
  const facts = present<Words>([
    formatCount(poll.total_votes, 'vote', 'votes'),
    formatCount(poll.total_voters ?? null, 'voter', 'voters'),
    end,
  ]);
  return { type: 'poll', choices, facts };
}

interface ArticlePlace {
  /** Heading level of the article's title. Headings within it have deeper levels. */
  readonly level: number;
  /** Whether the page's title, one level higher, is already the title of the article. */
  readonly isTitled: boolean;
  /** Whether to include the times of publication and change. */
  readonly full: boolean;
  /** `whole` for all available blocks, `preview` for the preview text only. */
  readonly extent: 'whole' | 'preview';
  readonly isHidden: boolean;
}

function toArticle(article: Article, place: ArticlePlace): Block {
  const { title, cover_url: cover, blocks, preview_text: preview } = article;
  const { level, isTitled, extent, isHidden } = place;
  const nest = nestHeadings(isTitled ? level - 1 : level);
  const isPreview = blocks.length === 0 || extent === 'preview';
  const name = toLine(title) === '' ? 'Article' : title;
  const content: readonly (Block | null)[] = isPreview
    ? [toText(preview ?? ''), line('remark', [whereIsRest(article)])]
    : toArticleContent(blocks, { nest, isHidden });
  return {
    type: 'article',
    blocks: present([
      isTitled
        ? null
        : ({ type: 'heading', level, nest: null, text: name, annotations: [] } as const),
      place.full ? line('facts', describeDates(article)) : null,
      cover === null ? null : toFigure(cover, { alt: 'Cover of the article' }, isHidden),
      ...content,
    ]),
  };
}

const whereIsRest = ({ blocks }: Article): string =>
  blocks.length === 0
    ? 'Only the beginning of this article is known.'
    : 'The post itself has the whole article.';

function describeDates({ created_at: created, modified_at: modified }: Article) {
  return [
    created === null ? null : (['Published ', minute(created)] satisfies Words),
    modified === null || modified === created
      ? null
      : (['changed ', minute(modified)] satisfies Words),
  ];
}

interface ContentPlace {
  readonly nest: NestHeading;
  readonly isHidden: boolean;
}

type ListItem = Extract<ArticleBlock, { type: 'list_item' }>;

function toArticleContent(blocks: readonly ArticleBlock[], place: ContentPlace): Block[] {
  const content: Block[] = [];
  let items: ListItem[] = [];
  const endList = () => {
    const [first] = items;
    if (first !== undefined)
      content.push({ type: 'list', isOrdered: first.ordered, items: items.map(toStyled) });
    items = [];
  };
  for (const block of blocks) {
    const isItem = block.type === 'list_item';
    if (!isItem || block.ordered !== items[0]?.ordered) endList();
    if (isItem) items.push(block);
    else content.push(toBlock(block, place));
  }
  endList();
  return content;
}

function toBlock(block: Exclude<ArticleBlock, ListItem>, { nest, isHidden }: ContentPlace): Block {
  switch (block.type) {
    case 'paragraph':
      return { type: 'text', ...toStyled(block), lang: null };
    case 'heading':
      return { type: 'heading', level: block.level, nest, ...toStyled(block) };
    case 'quote': {
      const text = { type: 'text', ...toStyled(block), lang: null } as const;
      return { type: 'box', role: 'passage', label: null, blocks: [text] };
    }
    case 'code':
      return { type: 'code', text: block.text };
    case 'markdown':
      return { type: 'markdown', text: block.text, nest };
    case 'image':
      return toFigure(
        block.url,
        { ...block, alt: block.alt?.trim() || 'Picture in the article' },
        isHidden,
      );
    case 'post':
      return { type: 'line', role: 'plain', facts: [['Post: ', { type: 'url', url: block.url }]] };
    case 'divider':
      return { type: 'rule' };
  }
}

function toStyled({
  text,
  styles,
}: {
  readonly text: string;
  readonly styles: readonly StyleRange[];
}): StyledText {
  const annotations = styles.map(({ style, ...range }): Annotation => ({ type: style, ...range }));
  return { text, annotations };
}

interface FigureFacts extends Partial<Pick<Figure, 'width' | 'height'>> {
  readonly alt: string;
}

function toFigure(
  url: string,
  { alt, width = null, height = null }: FigureFacts,
  isHidden: boolean,
): Block {
  const figure = { url, target: url, label: alt, width, height };
  return { type: 'figure', role: 'article', figure, isHidden };
}
