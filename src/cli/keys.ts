import type { z } from 'zod';
import {
  type KeyChanges,
  type KeyRecord,
  keyChanges,
  newKey,
  toKeyMembers,
} from '../access/keys/key-record.ts';
import { type IssuedKey, type KeyStore, openKeyStore } from '../access/keys/key-store.ts';
import { systemClock } from '../core/clock.ts';
import { Problem } from '../core/problem.ts';
import { systemRandom } from '../core/random.ts';
import { chooseByName, parseCommandArgs } from './arguments.ts';
import {
  type Action,
  type CommandBody,
  type CommandContext,
  type CommandOptions,
  exitCodes,
  type Run,
  UsageError,
} from './command.ts';
import { toKeyTable } from './output/key-table.ts';

/** What is done with the open keys; `undefined` where there is no such key. */
type Act = (keys: KeyStore, context: CommandContext) => Promise<unknown>;

const fieldOptions = {
  label: { type: 'string', value: 'TEXT', about: 'The name that people know the key by.' },
  allowance: {
    type: 'string',
    value: 'N',
    about: "Units in a window, or `default` for the server's.",
  },
  notes: { type: 'string', value: 'TEXT', about: 'What is to be remembered of it.' },
} as const satisfies CommandOptions;

const listOptions = {
  json: { type: 'boolean', about: 'Prints a line of JSON for each key.' },
} as const satisfies CommandOptions;

const subcommands: Readonly<Record<string, Action>> = {
  create: {
    usage: 'create --label TEXT [options]',
    about: 'Prints a new key, alone, on standard output; it is shown once.',
    options: fieldOptions,
    plan: (args) => withKeys(planCreate(args)),
  },
  list: {
    usage: 'list [--json]',
    about: 'Prints the keys as a table.',
    options: listOptions,
    plan: (args) => withKeys(planList(args)),
  },
  change: {
    usage: 'change ID [options]',
    about: 'Changes what is given of label, allowance and notes.',
    options: fieldOptions,
    plan: (args) => withKeys(planChange(args)),
  },
  disable: {
    usage: 'disable ID',
    about: 'Refuses a key until `enable ID`.',
    plan: (args) => withKeys(planChangeTo(args, { enabled: false })),
  },
  enable: {
    usage: 'enable ID',
    about: 'Takes a disabled key again.',
    plan: (args) => withKeys(planChangeTo(args, { enabled: true })),
  },
  rotate: {
    usage: 'rotate ID',
    about: 'Prints a new key in the place of an old one, which is deleted.',
    plan: (args) => withKeys(planRotate(args)),
  },
  delete: {
    usage: 'delete ID',
    about: 'Deletes a key for good.',
    plan: (args) => withKeys(planDelete(args)),
  },
};

/** `perch keys`: the keys of callers, beside the server or while it runs. */
export const keysCommand: CommandBody = {
  exits: 'Exit code: 0 done, 1 no such key, 2 bad usage, 3 key store unusable.',
  subcommands,
  plan: ([name = '', ...args]) =>
    chooseByName(subcommands, name, 'keys does one of these').plan(args),
};

function planCreate(args: readonly string[]): Act {
  const { values, positionals } = parseCommandArgs(args, fieldOptions);
  if (positionals.length > 0) throw new UsageError('create takes options only');
  if (values.label === undefined) throw new UsageError('create needs --label TEXT');
  const fields = parseFields(newKey, values);
  return async (keys, context) => printIssued(await keys.create(fields), context);
}

function planList(args: readonly string[]): Act {
  const { values, positionals } = parseCommandArgs(args, listOptions);
  if (positionals.length > 0) throw new UsageError('list takes no arguments');
  return async (keys, { stdout }) => {
    const records = await keys.list();
    if (values.json === true) stdout.writeJson(toLines(records));
    else stdout.write(toKeyTable(records));
    return records;
  };
}

function planChange(args: readonly string[]): Act {
  const { values, positionals } = parseCommandArgs(args, fieldOptions);
  const id = toKeyId(positionals);
  if (Object.keys(values).length === 0) {
    throw new UsageError('change needs --label, --allowance or --notes');
  }
  return actOfChange(id, parseFields(keyChanges, values));
}

function planChangeTo(args: readonly string[], changes: KeyChanges): Act {
  return actOfChange(parseId(args), changes);
}

function actOfChange(id: string, changes: KeyChanges): Act {
  return async (keys, { stderr }) => {
    const record = await keys.change(id, changes);
    if (record !== undefined) stderr.write(`${tell(record)}\n`);
    return record;
  };
}

function planRotate(args: readonly string[]): Act {
  const id = parseId(args);
  return async (keys, context) => {
    const issued = await keys.rotate(id);
    if (issued !== undefined) printIssued(issued, context);
    return issued;
  };
}

function planDelete(args: readonly string[]): Act {
  const id = parseId(args);
  return async (keys, { stderr }) => {
    if (!(await keys.remove(id))) return undefined;
    stderr.write(`perch: key ${id} is deleted\n`);
    return id;
  };
}

/** The key alone goes to standard output, so that `key=$(perch keys create …)` works. */
function printIssued({ key, record }: IssuedKey, { stdout, stderr }: CommandContext): KeyRecord {
  stdout.write(`${key}\n`);
  stderr.write(`${tell(record)}. This is shown once; only its hash is kept.\n`);
  return record;
}

function tell({ id, label, enabled }: KeyRecord): string {
  return `perch: key ${id} ${JSON.stringify(label)} is ${enabled ? 'enabled' : 'disabled'}`;
}

function toLines(records: readonly KeyRecord[]): string {
  return records.map((record) => `${JSON.stringify(toKeyMembers(record))}\n`).join('');
}

function parseId(args: readonly string[]): string {
  return toKeyId(parseCommandArgs(args, {}).positionals);
}

function toKeyId(positionals: readonly string[]): string {
  const [id, ...more] = positionals;
  if (id !== undefined && more.length === 0 && /^[0-9a-f]{12}$/.test(id)) return id;
  throw new UsageError('one ID is needed, 12 hex digits, as `perch keys list` shows it');
}

interface FieldValues {
  readonly label?: string;
  readonly allowance?: string;
  readonly notes?: string;
}

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

function withKeys(act: Act): Run {
  return async (context) => {
    const { config, stderr } = context;
    const folder = config.PERCH_DATA_DIR;
    if (folder === ':memory:') {
      throw new UsageError(
        'PERCH_DATA_DIR is :memory:, so keys would be lost at once; name a folder',
      );
    }
    const keys = openKeyStore({
      path: `${folder}/perch.db`,
      clock: systemClock,
      random: systemRandom,
      // A list of a store that went missing must not make an empty one: a server would believe it.
      whenMissing: 'wait',
    });
    try {
      if ((await act(keys, context)) !== undefined) return exitCodes.ok;
      stderr.write(
        'perch: there is no key with this ID; `perch keys list` shows those there are\n',
      );
      return exitCodes.notFound;
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      stderr.write(`perch: ${error.message}\nPERCH_DATA_DIR is ${folder}.\n`);
      return exitCodes.upstream;
    } finally {
      keys.close();
    }
  };
}
