import type { ParsedUrlQuery } from 'node:querystring';
import type { Fetching } from '../../app/open/fetching.ts';
import type { BrowseItems, BrowseResult } from '../../model/results.ts';
import { reads } from '../../reads/index.ts';
import type { Read } from '../../reads/read.ts';
import { render } from '../../render/formats.ts';
import type { CommandContext } from '../command.ts';
import { toJsonLines } from '../output/table.ts';

/** Prints the post that parameters name. Throws Problem. */
export async function printPost(
  given: Readonly<ParsedUrlQuery>,
  { reader }: Fetching,
  { stdout }: CommandContext,
): Promise<void> {
  const answered = await reader.fetch(reader.parse(reads.getPost, given));
  const format = answered.parsed.format ?? 'markdown';
  const { body, mediaType } = await reader.represent(answered, format, {});
  const text = body.toString().replace(/\n?$/, '\n');
  if (mediaType.includes('json')) stdout.writeJson(text);
  else stdout.write(text);
}

/** The part of a list that is printed, and how. */
interface ListPrint {
  readonly read: Read;
  /** The read's parameters; of paging where it begins. */
  readonly given: Readonly<ParsedUrlQuery>;
  /** Maximum number of items; `Infinity` for all. */
  readonly count: number;
  /** True prints a line of JSON for each item, that of a profile after one with the profile; false a page. */
  readonly json: boolean;
}

/** Maximum number of items that one read returns. */
const pageLimit = 100;

/**
 * Walks a list page by page and prints it. JSON lines are printed as they come; the Markdown page
 * at the end, also where a page throws Problem. Warnings, and on a terminal the progress, go to standard error.
 */
export async function printList(
  print: ListPrint,
  fetching: Fetching,
  context: CommandContext,
): Promise<void> {
  const { stdout, stderr } = context;
  const pages: BrowseResult[] = [];
  let count = 0;
  try {
    for await (const page of walkPages(print, fetching)) {
      stderr.clearLine();
      if (print.json) stdout.writeJson(toLines(page, pages.length === 0));
      // What has been printed need not be kept.
      pages.push(print.json ? { ...page, items: null } : page);
      count += itemsOf(page).length;
      stderr.showLine(`${count} read…`);
      if (stdout.hasLeft) return;
    }
  } finally {
    stderr.clearLine();
    tellWhole(print, joinPages(pages), context);
  }
}

/** Prints the page of everything that was read, or what a reader of JSON lines should know. */
function tellWhole(
  { json }: ListPrint,
  whole: BrowseResult | undefined,
  { stdout, stderr }: CommandContext,
): void {
  if (whole === undefined || stdout.hasLeft) return;
  if (json) for (const warning of whole.warnings) stderr.write(`perch: ${warning}\n`);
  else stdout.write(render({ ...whole, next: null }, 'markdown').body);
  if (json && whole.degraded) stderr.write(`perch: not live, from ${whole.source}\n`);
  if (whole.next !== null) stderr.write('perch: there is more; --limit and --all read on\n');
}

async function* walkPages(
  { read, given, count }: ListPrint,
  { reader }: Fetching,
): AsyncGenerator<BrowseResult> {
  let left = count;
  let place: Readonly<ParsedUrlQuery> = {};
  let cursor: string | undefined;
  do {
    const limit = String(Math.min(left, pageLimit));
    const parsed = reader.parse(read, { ...given, ...place, limit });
    const page = reader.assemble(await reader.fetch(parsed));
    if (page.kind !== 'browse') throw new Error(`The read ${read.name} gives no list.`);
    yield page;
    left -= itemsOf(page).length;
    cursor = page.next?.cursor;
    place = { cursor, page: undefined };
  } while (cursor !== undefined && left > 0);
}

function itemsOf({ items }: BrowseResult): readonly object[] {
  if (items === null) return [];
  return 'posts' in items ? items.posts : items.users;
}

/** Returns a line of JSON for each item of a page; the first page of a profile begins with the profile. */
function toLines(page: BrowseResult, isFirst: boolean): string {
  const { profile } = page;
  return toJsonLines([...(isFirst && profile !== null ? [{ profile }] : []), ...itemsOf(page)]);
}

/** Makes one page of all: the first one's subject and profile, every item, every warning once. */
function joinPages(pages: readonly BrowseResult[]): BrowseResult | undefined {
  const [first] = pages;
  return (
    first && {
      ...first,
      items: joinItems(pages),
      next: pages.at(-1)?.next ?? null,
      warnings: [...new Set(pages.flatMap(({ warnings }) => warnings))],
      degraded: pages.some(({ degraded }) => degraded),
    }
  );
}

function joinItems(pages: readonly BrowseResult[]): BrowseItems | null {
  const items = pages.flatMap((page) => page.items ?? []);
  if (items.length === 0) return null;
  const posts = items.flatMap((one) => ('posts' in one ? one.posts : []));
  const users = items.flatMap((one) => ('users' in one ? one.users : []));
  return items.some((one) => 'posts' in one) ? { posts } : { users };
}
