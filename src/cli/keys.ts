import type * as z from 'zod';
import {
  type KeyChanges,
  type KeyRecord,
  keyChanges,
  newKey,
  toKeyMembers,
} from '../access/keys/key-record.ts';
import {
  type IssuedKey,
  type KeyFileStore,
  type KeyStore,
  openKeyStore,
} from '../access/keys/key-store.ts';
import type { SharedKeyStore } from '../access/keys/shared-keys.ts';
import { systemClock, toIsoSeconds } from '../lib/clock.ts';
import { NewerSchemaError } from '../lib/files/sqlite.ts';
import { Problem } from '../lib/problem.ts';
import { systemRandom } from '../lib/random.ts';
import { UnusableEngineError } from '../lib/redis/engine-error.ts';
import {
  type CommandBody,
  type CommandContext,
  CommandError,
  type CommandOptions,
  createListing,
  type Run,
  UsageError,
  withOptions,
  withoutArguments,
  withSubcommands,
} from './command.ts';
import { type Columns, toJsonLines, toTable } from './output/output.ts';
import { dataFolderOf, openCommandEngine, withStore } from './stores.ts';

const fieldOptions = {
  label: { type: 'string', value: 'TEXT', about: 'Name of the key, shown in lists.' },
  allowance: {
    type: 'string',
    value: 'N',
    about:
      'Uncached reads per window (60 seconds by default), or `default` for PERCH_KEY_ALLOWANCE.',
  },
  notes: { type: 'string', value: 'TEXT', about: 'Notes about the key, for the operator.' },
} as const satisfies CommandOptions;

export const keysCommand: CommandBody = {
  exits: 'Exit code: 0 success, 1 no such key, 2 bad usage, 3 key store unusable.',
  ...withSubcommands('keys', {
    create: {
      usage: 'create --label TEXT [options]',
      about: 'Creates a key and prints it to standard output. It is shown only once.',
      ...withOptions(fieldOptions, (values, positionals) => {
        if (positionals.length > 0) throw new UsageError('create takes only options.');
        if (values.label === undefined) throw new UsageError('create needs --label TEXT.');
        const fields = parseFields(newKey, values);
        return withKeys(async (keys, context) => printIssued(await keys.create(fields), context));
      }),
    },
    list: createListing('key', 'Lists the keys.', (isJson) =>
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
      about: 'Changes the label, allowance or notes of a key.',
      ...withOptions(fieldOptions, (values, positionals) => {
        const id = toKeyId(positionals);
        if (Object.keys(values).length === 0) {
          throw new UsageError('change needs --label, --allowance or --notes.');
        }
        return changeKey(id, parseFields(keyChanges, values));
      }),
    },
    disable: {
      usage: 'disable ID',
      about: 'Disables a key until it is enabled again.',
      ...withKeyId((id) => changeKey(id, { enabled: false })),
    },
    enable: {
      usage: 'enable ID',
      about: 'Enables a disabled key.',
      ...withKeyId((id) => changeKey(id, { enabled: true })),
    },
    rotate: {
      usage: 'rotate ID',
      about: 'Replaces a key with a new one and prints it. The old key stops working immediately.',
      ...withKeyId((id) =>
        withKeys(async (keys, context) => printIssued(await keys.rotate(id), context)),
      ),
    },
    delete: {
      usage: 'delete ID',
      about: 'Deletes a key permanently.',
      ...withKeyId((id) =>
        withKeys(async (keys, { stderr }) => {
          const isRemoved = await keys.remove(id);
          if (isRemoved) stderr.write(`perch: Deleted key ${id}.\n`);
          return isRemoved;
        }),
      ),
    },
    copy: {
      usage: 'copy',
      about: 'Copies the keys of the data directory to the engine at PERCH_REDIS_URL.',
      ...withoutArguments('copy', {}, () => copyKeys),
    },
  }),
};

function withKeyId(run: (id: string) => Run) {
  return withOptions({}, (_, positionals) => run(toKeyId(positionals)));
}

function changeKey(id: string, changes: KeyChanges): Run {
  return withKeys(async (keys, { stderr }) => {
    const record = await keys.change(id, changes);
    if (record !== undefined) stderr.write(`${describeKey(record)}.\n`);
    return record !== undefined;
  });
}

function printIssued(issued: IssuedKey | undefined, { stdout, stderr }: CommandContext): boolean {
  if (issued === undefined) return false;
  stdout.write(`${issued.key}\n`);
  const advice = 'Store the key now: Perch keeps only its hash and cannot show it again.';
  stderr.write(`${describeKey(issued.record)}. ${advice}\n`);
  return true;
}

function describeKey({ id, label, enabled }: KeyRecord): string {
  return `perch: Key ${id} ${JSON.stringify(label)} is ${enabled ? 'enabled' : 'disabled'}`;
}

function toKeyId([id, ...more]: readonly string[]): string {
  if (id !== undefined && more.length === 0 && /^[0-9a-f]{12}$/.test(id)) return id;
  throw new UsageError('Give one key ID of 12 hex digits. `perch keys list` shows the IDs.');
}

type FieldValues = Readonly<Partial<Record<keyof typeof fieldOptions, string>>>;

function parseFields<Fields>(schema: z.ZodType<Fields>, values: FieldValues): Fields {
  const { allowance, ...texts } = values;
  const parsed = schema.safeParse(
    allowance === undefined ? texts : { ...texts, allowance: toAllowance(allowance) },
  );
  if (parsed.success) return parsed.data;
  const faults = parsed.error.issues.map(({ path, message }) => `--${path.join('.')} ${message}`);
  throw new UsageError(`${faults.join('; ')}.`);
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

const maxNotes = 40;

function toOneLine(notes: string): string {
  const characters = [...notes.replace(/\s+/g, ' ').trim()];
  if (characters.length <= maxNotes) return characters.join('');
  return `${characters.slice(0, maxNotes - 1).join('')}…`;
}

function withKeys(act: (keys: KeyStore, context: CommandContext) => Promise<boolean>): Run {
  return (context) =>
    withStore(
      async (): Promise<KeyStore> => (await openShared(context)) ?? openFile(context),
      explainIn(context),
      async (keys) => {
        if (await act(keys, context)) return;
        const fault = 'There is no key with this ID. `perch keys list` lists the keys.';
        throw new CommandError('notFound', fault);
      },
    );
}

async function openShared({ config }: CommandContext): Promise<SharedKeyStore | null> {
  const engine = await openCommandEngine(config);
  if (engine === null) return null;
  const { openSharedKeys } = await import('../access/keys/shared-keys.ts');
  const keys = openSharedKeys({ clock: systemClock, random: systemRandom, engine });
  return { ...keys, close: engine.close };
}

function openFile(context: CommandContext): KeyFileStore {
  return openKeyStore({
    path: `${dataFolderOf(context, 'the keys')}/perch.db`,
    clock: systemClock,
    random: systemRandom,
    // A missing store must not be replaced by an empty one, which a running server would trust.
    whenMissing: 'wait',
  });
}

const explainIn =
  ({ config }: CommandContext) =>
  (error: unknown): string | null => {
    if (error instanceof UnusableEngineError || error instanceof NewerSchemaError) {
      return error.message;
    }
    if (!(error instanceof Problem)) return null;
    if (config.PERCH_REDIS_URL !== undefined) return error.message;
    return `${error.message}\nPERCH_DATA_DIR is ${config.PERCH_DATA_DIR}.`;
  };

const copyKeys: Run = (context) =>
  withStore(
    () => openFile(context),
    explainIn({ ...context, config: { ...context.config, PERCH_REDIS_URL: undefined } }),
    async (file) => {
      const keys = await file.dump();
      return withStore(
        async () => {
          const shared = await openShared(context);
          if (shared !== null) return shared;
          throw new UsageError('copy needs PERCH_REDIS_URL, the URL of the shared engine.');
        },
        explainIn(context),
        async (shared) => {
          const added = await shared.copy(keys);
          const rest = keys.length - added;
          const already = rest === 0 ? '' : ` Already there: ${rest}.`;
          context.stderr.write(`perch: Copied ${added} of ${keys.length} keys.${already}\n`);
        },
      );
    },
  );
