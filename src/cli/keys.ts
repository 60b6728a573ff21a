import type { z } from 'zod';
import {
  type KeyChanges,
  type KeyRecord,
  keyChanges,
  newKey,
  toKeyMembers,
} from '../access/keys/key-record.ts';
import { type IssuedKey, type KeyStore, openKeyStore } from '../access/keys/key-store.ts';
import { systemClock, toIsoSeconds } from '../core/clock.ts';
import { Problem } from '../core/problem.ts';
import { systemRandom } from '../core/random.ts';
import { choosing, listing, taking } from './arguments.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  type CommandOptions,
  exitCodes,
  type Run,
  UsageError,
} from './command.ts';
import { type Columns, toJsonLines, toTable } from './output/table.ts';
import { dataFolderOf, withStore } from './with-store.ts';

const fieldOptions = {
  label: { type: 'string', value: 'TEXT', about: 'The name that people know the key by.' },
  allowance: {
    type: 'string',
    value: 'N',
    about: "Units in a window, or `default` for the server's.",
  },
  notes: { type: 'string', value: 'TEXT', about: 'What is to be remembered of it.' },
} as const satisfies CommandOptions;

/** `perch keys`: the keys of callers, beside the server or while it runs. */
export const keysCommand: CommandBody = {
  exits: 'Exit code: 0 done, 1 no such key, 2 bad usage, 3 key store unusable.',
  ...choosing('keys', {
    create: {
      usage: 'create --label TEXT [options]',
      about: 'Prints a new key, alone, on standard output; it is shown once.',
      ...taking(fieldOptions, (values, positionals) => {
        if (positionals.length > 0) throw new UsageError('create takes options only');
        if (values.label === undefined) throw new UsageError('create needs --label TEXT');
        const fields = parseFields(newKey, values);
        return withKeys(async (keys, context) => printIssued(await keys.create(fields), context));
      }),
    },
    list: listing('key', 'Prints the keys as a table.', (isJson) =>
      withKeys(async (keys, { stdout }) => {
        const records = await keys.list();
        if (isJson) stdout.writeJson(toJsonLines(records.map(toKeyMembers)));
        else
          stdout.write(records.length === 0 ? 'There are no keys.\n' : toTable(records, columns));
        return true;
      }),
    ),
    change: {
      usage: 'change ID [options]',
      about: 'Changes what is given of label, allowance and notes.',
      ...taking(fieldOptions, (values, positionals) => {
        const id = toKeyId(positionals);
        if (Object.keys(values).length === 0) {
          throw new UsageError('change needs --label, --allowance or --notes');
        }
        return changeKey(id, parseFields(keyChanges, values));
      }),
    },
    disable: {
      usage: 'disable ID',
      about: 'Refuses a key until `enable ID`.',
      ...taking({}, (_, positionals) => changeKey(toKeyId(positionals), { enabled: false })),
    },
    enable: {
      usage: 'enable ID',
      about: 'Takes a disabled key again.',
      ...taking({}, (_, positionals) => changeKey(toKeyId(positionals), { enabled: true })),
    },
    rotate: {
      usage: 'rotate ID',
      about: 'Prints a new key in the place of an old one, which is deleted.',
      ...taking({}, (_, positionals) => {
        const id = toKeyId(positionals);
        return withKeys(async (keys, context) => printIssued(await keys.rotate(id), context));
      }),
    },
    delete: {
      usage: 'delete ID',
      about: 'Deletes a key for good.',
      ...taking({}, (_, positionals) => {
        const id = toKeyId(positionals);
        return withKeys(async (keys, { stderr }) => {
          const isRemoved = await keys.remove(id);
          if (isRemoved) stderr.write(`perch: key ${id} is deleted\n`);
          return isRemoved;
        });
      }),
    },
  }),
};

function changeKey(id: string, changes: KeyChanges): Run {
  return withKeys(async (keys, { stderr }) => {
    const record = await keys.change(id, changes);
    if (record !== undefined) stderr.write(`${tell(record)}\n`);
    return record !== undefined;
  });
}

/** The key alone goes to standard output, so that `key=$(perch keys create …)` works. */
function printIssued(issued: IssuedKey | undefined, { stdout, stderr }: CommandContext): boolean {
  if (issued === undefined) return false;
  stdout.write(`${issued.key}\n`);
  stderr.write(`${tell(issued.record)}. This is shown once; only its hash is kept.\n`);
  return true;
}

function tell({ id, label, enabled }: KeyRecord): string {
  return `perch: key ${id} ${JSON.stringify(label)} is ${enabled ? 'enabled' : 'disabled'}`;
}

function toKeyId([id, ...more]: readonly string[]): string {
  if (id !== undefined && more.length === 0 && /^[0-9a-f]{12}$/.test(id)) return id;
  throw new UsageError('one ID is needed, 12 hex digits, as `perch keys list` shows it');
}

type FieldValues = Readonly<Partial<Record<keyof typeof fieldOptions, string>>>;

function parseFields<Fields>(schema: z.ZodType<Fields>, values: FieldValues): Fields {
  const { allowance, ...texts } = values;
  const parsed = schema.safeParse(
    allowance === undefined ? texts : { ...texts, allowance: toAllowance(allowance) },
  );
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `--${path.join('.')} ${message}`);
  throw new UsageError(faults.join('; '));
}

function toAllowance(text: string): number | null {
  if (text === 'default') return null;
  return /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
}

const columns: Columns<KeyRecord> = {
  ID: ({ id }) => id,
  LABEL: ({ label }) => label,
  STATE: ({ enabled }) => (enabled ? 'enabled' : 'disabled'),
  ALLOWANCE: ({ allowance }) => String(allowance ?? 'default'),
  CREATED: ({ createdMs }) => toIsoSeconds(createdMs),
  'LAST USED': ({ lastUsedMs }) => (lastUsedMs === null ? 'never' : toIsoSeconds(lastUsedMs)),
  NOTES: ({ notes }) => toOneLine(notes ?? ''),
};

/** Maximum number of characters of notes in a table; `--json` has all of them. */
const maxNotes = 40;

function toOneLine(notes: string): string {
  const characters = [...notes.replace(/\s+/g, ' ').trim()];
  if (characters.length <= maxNotes) return characters.join('');
  return `${characters.slice(0, maxNotes - 1).join('')}…`;
}

/** Runs `act` with the open keys; it returns false where there is no such key. */
function withKeys(act: (keys: KeyStore, context: CommandContext) => Promise<boolean>): Run {
  return (context) => {
    const folder = dataFolderOf(context, 'keys');
    const open = () =>
      openKeyStore({
        path: `${folder}/perch.db`,
        clock: systemClock,
        random: systemRandom,
        // A list of a store that went missing must not make an empty one: a server would believe it.
        whenMissing: 'wait',
      });
    const explain = (error: unknown) =>
      error instanceof Problem ? `${error.message}\nPERCH_DATA_DIR is ${folder}.` : null;
    return withStore(open, explain, async (keys) => {
      if (await act(keys, context)) return exitCodes.ok;
      const fault = 'there is no key with this ID; `perch keys list` shows those there are';
      throw new CommandError('notFound', fault);
    });
  };
}
