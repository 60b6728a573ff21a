import { parseHandle } from '../../../model/reference.ts';
import { scanFacets } from '../../../normalize/tags.ts';
import { codePointOffsets, toCodePoints } from '../../../normalize/text.ts';
import { toXAccount } from '../../../normalize/x.ts';
import {
  createExportSource,
  type ExportFormat,
  folderOf,
  readStart,
  skipRecord,
} from '../export-source.ts';
import { readLeftOut } from '../left-out.ts';
import { type CsvRow, readCsvRows } from '../ndjson/lines.ts';
import { convertRecords, type ExportRecord, parseRecord } from '../records.ts';
import { shapePost, shapeRepost } from './normalize.ts';
import { repostStart, type TweetPayload, tweetPayload } from './wire.ts';
import { csvRules } from './x-format.ts';

/** Import format of `tweets.csv` in X exports from 2012 to 2018. It lacks the account's handle. */
export const xCsvFormat: ExportFormat = {
  name: 'x-csv',
  takesHandle: true,
  open: async (files, { handle }) => {
    const isAny = files.kind === 'file';
    const file = files.files.find(({ name }) => isAny || /(?:^|\/)tweets\.csv$/.test(name));
    const start = file && (await readStart(file.read(), headingBytes));
    if (file === undefined || !heading.test(String(start))) return null;
    return createExportSource(files, (count) => {
      const counted = count(file);
      return {
        title: 'X export (tweets.csv)',
        groups: async function* () {
          const account = toOwner(handle);
          yield [{ kind: 'account', account }];
          const parse = createParser(file.name);
          for await (const rows of readCsvRows(counted.read())) {
            yield convertRecords(rows.flatMap(parse), (row) => {
              const reposted = shapeRepost(row, account, { isTyped: true });
              return reposted ?? shapePost(row, account);
            });
          }
          const folder = folderOf(file.name);
          yield* readLeftOut(files, { folder, imported: [file], rules: csvRules });
        },
      };
    });
  },
};

const heading = /^\ufeff?"?tweet_id"?,"?in_reply_to_status_id"?,/;

const headingBytes = 256;

function toOwner(handle: string | undefined) {
  if (handle !== undefined && parseHandle(handle)?.platform === 'x') {
    return toXAccount({ screen_name: handle });
  }
  throw new Error('tweets.csv does not contain the account. Set --handle to the handle on X.');
}

function createParser(name: string) {
  let columns: readonly string[] = [];
  return ({ cells, number }: CsvRow): readonly ExportRecord<TweetPayload>[] => {
    const location = `${name}, row ${number}`;
    if (cells === null) return [skipRecord(location, 'It is too long.')];
    if (number === 1) columns = cells;
    if (number === 1) return [];
    const row = toTweet((column) => cells[columns.indexOf(column)]?.trim() || null);
    return [parseRecord(row, location, tweetPayload)];
  };
}

function toTweet(cell: (column: string) => string | null): object {
  const [text, expanded] = [cell('text') ?? '', cell('expanded_urls') ?? ''];
  return {
    id_str: cell('tweet_id'),
    full_text: text,
    created_at: cell('timestamp'),
    source: cell('source'),
    in_reply_to_status_id_str: cell('in_reply_to_status_id'),
    entities: toEntities(text, expanded),
    retweeted_status: toOriginal(cell, text, expanded),
  };
}

function toOriginal(cell: (column: string) => string | null, whole: string, expanded: string) {
  const id_str = cell('retweeted_status_id');
  if (id_str === null) return undefined;
  const [start = '', screen_name] = repostStart.exec(whole) ?? [];
  const full_text = whole.slice(start.length);
  return {
    id_str,
    full_text,
    created_at: cell('retweeted_status_timestamp'),
    entities: toEntities(full_text, expanded),
    user: { screen_name, id_str: cell('retweeted_status_user_id') },
  };
}

function toEntities(text: string, expanded: string): object {
  const points = toCodePoints(text);
  const toOffset = codePointOffsets(text);
  const links = [...text.matchAll(/https?:\/\/t\.co\/\w{1,20}/g)];
  const full = splitUrls(expanded, links.length);
  const tags = scanFacets(text).map(({ type, start, end }) => {
    const name = points.slice(start + 1, end).join('');
    return { type, screen_name: name, text: name, indices: [start, end] };
  });
  return {
    urls: links.map(({ 0: url, index }, place) => ({
      url,
      expanded_url: full[place] ?? url,
      indices: [toOffset(index), toOffset(index + url.length)],
    })),
    user_mentions: tags.filter(({ type }) => type === 'mention'),
    hashtags: tags.filter(({ type }) => type === 'hashtag'),
  };
}

function splitUrls(list: string, count: number): readonly string[] {
  const urls = list.split(/,(?=https?:\/\/)/);
  return [urls, [...new Set(urls)], [list]].find(({ length }) => length === count) ?? [];
}
