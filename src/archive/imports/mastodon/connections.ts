import { parseHandle } from '../../../model/reference.ts';
import type { ExportedFollow, SkippedRecord } from '../export-source.ts';
import { skip } from '../skip.ts';

/** A longer line is no handle with its settings. */
const maxLine = 4096;

/** A list of accounts and what being on it means. */
export interface AccountList {
  /** The name of the file. */
  readonly name: string;
  readonly chunks: AsyncIterable<Uint8Array>;
  /** The domain of accounts that are named without one. */
  readonly domain: string;
  toFollow(handle: string): ExportedFollow;
}

/**
 * Reads `following_accounts.csv` or `followers.csv`, as they can be had in Mastodon's preferences: a
 * line of headings, then a line for each account, which begins with its handle.
 *
 * Source: https://docs.joinmastodon.org/user/moving/#export
 */
export async function* readConnections(
  list: AccountList,
): AsyncGenerator<readonly (ExportedFollow | SkippedRecord)[], void, undefined> {
  let number = 0;
  for await (const line of readLines(list.chunks)) {
    number += 1;
    const [cell = ''] = line.replace(/^\uFEFF/, '').split(',');
    const name = cell
      .trim()
      .replace(/^"(.*)"$/, '$1')
      .replace(/^@/, '');
    if (name === '' || (number === 1 && /^account address$/i.test(name))) continue;
    const account = parseHandle(name.includes('@') ? name : `${name}@${list.domain}`);
    if (account?.platform === 'mastodon') yield [list.toFollow(account.handle)];
    else yield [skip(`${list.name}, line ${number}`, 'It does not begin with a handle.')];
  }
}

async function* readLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = '';
  for await (const chunk of chunks) {
    const lines = `${rest}${decoder.decode(chunk, { stream: true })}`.split(/\r?\n/);
    rest = (lines.pop() ?? '').slice(0, maxLine);
    yield* lines;
  }
  yield `${rest}${decoder.decode()}`;
}
