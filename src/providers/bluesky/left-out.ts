import { tellBeyond } from '../rows.ts';

/** How many rows of a list are not served, by reason. */
export interface LeftOut {
  /** Rows by or of accounts that ask not to be shown to those who are not signed in. */
  readonly private: number;
  /** Rows that moderation has hidden or taken down. */
  readonly moderated: number;
  readonly unreadable: number;
  /** Rows after the last one that a list may have. */
  readonly beyond: number;
}

/** Says which posts of a list are left out, and why; nothing where none are. */
export function tellPostsLeftOut(left: LeftOut): readonly string[] {
  return [
    ...tell(left.private, {
      one: '1 post is left out, because its author asks not to be shown to people who are not signed in.',
      many: 'posts are left out, because their authors ask not to be shown to people who are not signed in.',
    }),
    ...tell(left.moderated, {
      one: '1 post is left out, because Bluesky’s moderation hides it.',
      many: 'posts are left out, because Bluesky’s moderation hides them.',
    }),
    ...tell(left.unreadable, {
      one: '1 post is left out, because the source sent nothing readable for it.',
      many: 'posts are left out, because the source sent nothing readable for them.',
    }),
    ...tellBeyond(left.beyond, 'post'),
  ];
}

/** Says which accounts of a list are left out, and why; nothing where none are. */
export function tellAccountsLeftOut(left: LeftOut): readonly string[] {
  return [
    ...tell(left.private, {
      one: '1 account is left out, because it asks not to be shown to people who are not signed in.',
      many: 'accounts are left out, because they ask not to be shown to people who are not signed in.',
    }),
    ...tell(left.moderated, {
      one: '1 account is left out, because Bluesky’s moderation hides it.',
      many: 'accounts are left out, because Bluesky’s moderation hides them.',
    }),
    ...tell(left.unreadable, {
      one: '1 account is left out, because the source sent nothing readable for it.',
      many: 'accounts are left out, because the source sent nothing readable for them.',
    }),
    ...tellBeyond(left.beyond, 'account'),
  ];
}

function tell(count: number, sentence: { readonly one: string; readonly many: string }) {
  if (count === 0) return [];
  return [count === 1 ? sentence.one : `${count} ${sentence.many}`];
}
