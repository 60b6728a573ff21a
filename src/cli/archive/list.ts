import type { Holding } from '../../archive/store/holdings.ts';
import type { StoredImport } from '../../archive/store/import-rows.ts';
import { toIsoSeconds } from '../../core/clock.ts';
import { parseCommandArgs } from '../arguments.ts';
import { type CommandOptions, exitCodes, type Run, UsageError } from '../command.ts';
import { toTable } from '../output/table.ts';
import { withArchiveStore } from './open-store.ts';

/** An account that is held, and what it was imported from. */
interface Listed extends Holding {
  readonly imports: readonly StoredImport[];
}

/** The options of `perch archive list`. */
export const listOptions = {
  json: { type: 'boolean', about: 'Prints a line of JSON for each account.' },
} as const satisfies CommandOptions;

/** `perch archive list`. */
export function planList(args: readonly string[]): Run {
  const { values, positionals } = parseCommandArgs(args, listOptions);
  if (positionals.length > 0) throw new UsageError('list takes no arguments');
  return (context) =>
    withArchiveStore(context, 'empty', async (store) => {
      const listed = store.listHoldings().map(
        (holding): Listed => ({
          ...holding,
          imports: store.importsOf(holding.platform, holding.handle),
        }),
      );
      const { stdout } = context;
      if (values.json === true) stdout.writeJson(listed.map(toLine).join(''));
      else stdout.write(toText(listed));
      return exitCodes.ok;
    });
}

const heads = [
  'PLATFORM',
  'HANDLE',
  'POSTS',
  'REPOSTS',
  'FOLLOWERS',
  'FOLLOWING',
  'OLDEST',
  'NEWEST',
  'EXPORTED',
  'FROM',
];

function toText(listed: readonly Listed[]): string {
  if (listed.length === 0) return 'The archive holds no accounts but those of the sample.\n';
  return toTable(heads, listed.map(toCells));
}

function toCells(of: Listed): readonly string[] {
  const day = (seconds: number | null) => (seconds === null ? '' : toIso(seconds).slice(0, 10));
  return [
    of.platform,
    of.isProtected ? `${of.handle} (protected)` : of.handle,
    ...[of.posts, of.reposts, of.followers, of.following].map(String),
    day(of.oldest),
    day(of.newest),
    day(of.stored),
    of.imports.map(tellImport).join(', '),
  ];
}

function tellImport({ name, isDone }: StoredImport): string {
  return isDone ? name : `${name} (not finished)`;
}

function toLine(of: Listed): string {
  return `${JSON.stringify({
    platform: of.platform,
    handle: of.handle,
    protected: of.isProtected,
    posts: of.posts,
    reposts: of.reposts,
    followers: of.followers,
    following: of.following,
    oldest: of.oldest === null ? null : toIso(of.oldest),
    newest: of.newest === null ? null : toIso(of.newest),
    exported_at: toIso(of.stored),
    imports: of.imports.map((one) => ({
      file: one.name,
      title: one.title,
      done: one.isDone,
      exported_at: toIso(one.exported),
      imported_at: toIso(one.updated),
    })),
  })}\n`;
}

function toIso(seconds: number): string {
  return toIsoSeconds(seconds * 1000);
}
