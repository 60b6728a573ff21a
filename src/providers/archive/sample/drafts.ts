import type { Media } from '../../../model/media.ts';
import type { Tombstone } from '../../../model/post.ts';
import type { AuthorName } from './cast.ts';

/** The styles that a draft can give to a run of text. */
export type TextStyle = 'bold' | 'italic' | 'strikethrough' | 'code';

/** A style and the run that wears it; the run is the first place where the text says it. */
export type StyleDraft = readonly [style: TextStyle, run: string];

/** One item of media: its kind, the name that its address is made from, and what is known of it. */
export interface MediaDraft {
  readonly kind: Media['type'];
  readonly name: string;
  /** Width and height in pixels; left out for sounds. */
  readonly size?: readonly [width: number, height: number];
  readonly alt?: string;
  readonly seconds?: number;
}

/** A poll: its choices with their votes, or null while the votes are hidden. */
export interface PollDraft {
  readonly choices: readonly (readonly [label: string, votes: number | null])[];
  readonly endsAt: string;
}

/** A run of an article's text with its style; a link says where it leads. */
export type ArticleStyleDraft = StyleDraft | readonly [style: 'link', run: string, url: string];

/** A block of an article. Short names: `h` heading, `p` paragraph, `ol` and `ul` list items. */
export type BlockDraft =
  | { readonly h: 2 | 3; readonly text: string }
  | {
      readonly tag: 'p' | 'ol' | 'ul' | 'quote';
      readonly text: string;
      readonly styles?: readonly ArticleStyleDraft[];
    }
  | { readonly tag: 'code' | 'markdown'; readonly text: string }
  | { readonly tag: 'image'; readonly media: MediaDraft }
  | { readonly tag: 'post'; readonly key: string }
  | { readonly tag: 'divider' };

/** A long-form article; it was written when its post was. */
export interface ArticleDraft {
  readonly title: string;
  readonly preview: string;
  readonly cover: string;
  readonly modifiedAt: string;
  readonly blocks: readonly BlockDraft[];
}

/** A post of the sample as its author wrote it. The rest is computed. */
export interface StatusDraft {
  /** The name that replies and quotes use; it never reaches the wire. */
  readonly key: string;
  readonly by: AuthorName;
  /** ISO 8601, UTC, whole seconds, unlike any other post's: the id is made from it. */
  readonly at: string;
  readonly text: string;
  readonly likes: number;
  /** Left out where it is the author's usual language. */
  readonly lang?: string;
  /** The key of the post that this one answers. */
  readonly to?: string;
  /** The key of the post that this one quotes. */
  readonly quote?: string;
  /** Replies that the sample does not hold. */
  readonly moreReplies?: number;
  readonly styles?: readonly StyleDraft[];
  readonly media?: readonly MediaDraft[];
  readonly poll?: PollDraft;
  readonly article?: ArticleDraft;
  readonly note?: string;
  readonly sensitive?: true;
}

/** A post that is gone, with the reason. */
export interface TombstoneDraft {
  readonly key: string;
  readonly gone: Tombstone['reason'];
  /** Null where the account is not shown either. */
  readonly by: AuthorName | null;
  readonly at: string;
  readonly text: string;
  /** The key of the post that it answered: what is left of a thread goes on over it. */
  readonly to?: string;
}

/** A post of the sample, or what stands in its place. */
export type PostDraft = StatusDraft | TombstoneDraft;
