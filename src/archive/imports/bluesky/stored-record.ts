import { CID } from 'multiformats/cid';
import type { z } from 'zod';
import type { Blocks } from './blocks.ts';
import { timeOfKey } from './records.ts';

/** A record's place, with its path taken apart. */
export interface KeyedRecord {
  readonly collection: string;
  readonly key: string;
  readonly cid: CID;
}

/** A record that was read. */
export interface Found<Record> {
  readonly key: string;
  readonly record: Record;
  /** What the record says, else what its key was made from. */
  readonly createdMs: number;
}

/** Where a record is read from and what it must be. */
export interface RecordReading<Record> {
  readonly blocks: Blocks;
  readonly schema: z.ZodType<Record>;
}

type Dated = { readonly createdAt: number | null };

/** Reads a record that has a time, or says in a sentence why it cannot be read. */
export function readRecord<Record extends Dated>(
  { key, cid }: KeyedRecord,
  { blocks, schema }: RecordReading<Record>,
): Found<Record> | string {
  const block = blocks.read(cid);
  if (block.state === 'fault') return block.why;
  const parsed = schema.safeParse(block.value);
  if (!parsed.success) return 'It is no record of its collection.';
  const createdMs = parsed.data.createdAt ?? timeOfKey(key);
  if (createdMs === null) return 'It has no time.';
  return { key, record: parsed.data, createdMs };
}

/** Reads a record by a CID that another record names in text. */
export function findRecord<Record extends Dated>(
  of: Omit<KeyedRecord, 'cid'> & { readonly cid: string },
  reading: RecordReading<Record>,
): Found<Record> | string {
  try {
    return readRecord({ ...of, cid: CID.parse(of.cid) }, reading);
  } catch {
    return 'It is named by no CID.';
  }
}
