import type { Post, Status } from '../../model/post.ts';
import type { Words } from '../blocks/block.ts';
import { originOf, toCitation, toContent, toContext } from '../blocks/post.ts';
import type { RenderContext } from '../context.ts';
import { toThread } from '../markdown/thread.ts';
import { quote, writeBlocks, writeFacts } from './blocks.ts';
import { type HtmlView, joinParts, outwardLinks, paragraph } from './markup.ts';

interface PostOptions {
  /** Returns a picture's address for readers. If absent, media are rendered as links only. */
  readonly toPictureUrl?: RenderContext['toPictureUrl'] | undefined;
  /** Maximum width of a picture in pixels. */
  readonly pictureWidth?: number;
}

const defaultPictureWidth = 600; // pixels; most feed readers show a column of about this width

const toView = ({ toPictureUrl, pictureWidth }: PostOptions): HtmlView => ({
  links: outwardLinks,
  toPictureUrl: toPictureUrl ?? (() => null),
  pictureWidth: pictureWidth ?? defaultPictureWidth,
  isStyled: false,
});

const noThread = { thread: toThread([]), owner: null };
const postView = {
  full: false,
  fetchedAt: '',
  level: 3,
  isTitledByArticle: false,
  articles: 'preview',
} as const;

/** Renders a post for feeds, without scripts and classes, as well-formed XML. */
export function renderPostBody(post: Status, options: PostOptions = {}): string {
  const blocks = [...toContext(post, noThread), ...toContent(post, postView)];
  return writeBlocks(blocks, toView(options));
}

/** Renders a `blockquote` as well-formed XML: oEmbed 1.0 §2.3.4.4 recommends XHTML Basic. */
export function renderPostQuote(post: Post, options: PostOptions = {}): string {
  const view = toView(options);
  const { author } = post;
  const who: readonly Words[] =
    author === null ? [] : [{ type: 'account', account: author, isBold: false }];
  const origin = [...who, ...(post.type === 'status' ? originOf(post) : [])];
  const body =
    post.type === 'status'
      ? renderPostBody(post, options)
      : writeBlocks(toCitation(post).blocks, view);
  const signature = origin.length === 0 ? '' : paragraph(`— ${writeFacts(origin, view)}`);
  return quote(joinParts([body, signature]));
}
