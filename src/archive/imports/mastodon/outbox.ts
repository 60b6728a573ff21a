import { type ExportItem, skipRecord } from '../export-source.ts';
import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { readRecords, readRows } from '../records.ts';
import type { Owner } from './actor.ts';
import { type ActivityPayload, activity, isPublic, namesRecipients } from './payload.ts';
import { WaitingQuotes } from './quotes.ts';
import { shapePost, shapeRepost } from './shape.ts';

interface OutboxOptions {
  readonly read: ExportFiles['read'];
  /** Reads the file for the second pass, which only outboxes with quotes of own posts need. */
  readonly readAgain: ExportFiles['read'];
  readonly owner: Owner;
}

const start = /"orderedItems"\s*:\s*\[/;

/** Yields the posts and boosts of an outbox in its order; quotes of its own posts come last. */
export async function* readOutbox(
  outbox: ExportFile,
  { read, readAgain, owner }: OutboxOptions,
): AsyncGenerator<readonly ExportItem[], void, undefined> {
  const quotes = new WaitingQuotes(owner);
  let number = 0;
  for await (const records of readRecords([outbox], { schema: activity, start, read })) {
    yield records.flatMap((record) => {
      number += 1;
      if (record.kind === 'skipped') return [record];
      const item = shape(record.row, owner, `${outbox.name}, record ${number}`);
      const isPost = item.kind === 'post' && record.row.type === 'Create';
      return isPost && quotes.add(record.row) ? [] : [item];
    });
  }
  if (quotes.isEmpty) return;
  for await (const row of readRows([outbox], { schema: activity, start, read: readAgain })) {
    if (row.type === 'Create' && !isHidden(row)) quotes.keep(row);
  }
  yield* quotes.shapeAll();
}

function shape(row: ActivityPayload, owner: Owner, location: string): ExportItem {
  if (isHidden(row)) return { ...skipRecord(location, 'It is not public.'), cause: 'private' };
  const shaped = row.type === 'Announce' ? shapeRepost(row, owner) : shapePost(row, owner);
  return typeof shaped === 'string' ? skipRecord(location, shaped) : shaped;
}

function isHidden(row: ActivityPayload): boolean {
  const naming = (row.type === 'Create' ? [row, row.object] : [row]).filter(namesRecipients);
  return naming.length === 0 || !naming.every(isPublic);
}
