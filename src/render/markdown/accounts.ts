import type { Account } from '../../model/account.ts';
import type { Post } from '../../model/post.ts';
import { listProfileFacts, toAccountRow } from '../blocks/account.ts';
import { writeFacts, writeWords } from './blocks.ts';
import { toLine } from './characters.ts';
import { escapeInline } from './escape.ts';
import { joinBlocks, joinLines, listItem } from './layout.ts';
import { link } from './links.ts';
import { renderText } from './text.ts';

/** Returns plain text: `Name (@handle)`, or the handle alone if there is no name. */
export function nameAccount(account: Account): string {
  const name = toLine(account.name);
  const handle = `@${toLine(account.screen_name)}`;
  return name === '' ? handle : `${name} (${handle})`;
}

/** Returns Markdown for a heading: `Name (@handle)`. */
export function titleAccount({ screen_name: handle, name, url }: Account): string {
  const shown = titleHandle(handle, url);
  return toLine(name) === '' ? shown : `${escapeInline(name)} (${shown})`;
}

/** Returns a heading; `@user@host` links to `url`, so that GitHub adds no e-mail link. */
export const titleHandle = (handle: string, url: string): string =>
  handle.includes('@') ? link(`@${handle}`, url) : escapeInline(`@${handle}`);

/** Returns `Copy from host: ` for a post from another server, otherwise an empty string. */
export function copyPrefix(post: Post, toText: (host: string) => string = toLine): string {
  const source = post.type === 'status' ? post.copied_from : undefined;
  return source === undefined ? '' : `Copy from ${toText(source.host)}: `;
}

/** Renders a section titled with `heading`, such as `## About`, and the account's name. */
export const renderAbout = (heading: string, account: Account): string =>
  joinBlocks([`${heading} ${titleAccount(account)}`, renderProfile(account, false)]);

/** Renders biography and profile fields. `full` adds pictures, more counts and the ID. */
export function renderProfile(account: Account, full: boolean): string {
  const items = listProfileFacts(account, full).map((fact) => listItem(writeWords(fact)));
  const about = renderText(account.description ?? '', account.description_facets ?? []);
  return joinBlocks([about, items.join('\n')]);
}

/** Renders a list with follower counts and cut biographies. `full` adds details. */
export function renderAccountList(accounts: readonly Account[], full: boolean): string {
  const items = accounts.map((account) => {
    const { facts, biography, details } = toAccountRow(account, full);
    const head = writeFacts([{ type: 'account', account, isBold: true }, ...facts]);
    return listItem(joinLines([head, writeWords(biography, true), writeFacts(details)]));
  });
  return items.join('\n');
}
