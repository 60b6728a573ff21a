import { statSync } from 'node:fs';
import { loadUsableConfig, secretNames, type UsableConfig, variables } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import { untilAborted, withDeadline } from '../lib/scheduling/deadline.ts';
import { version } from '../lib/version.ts';
import {
  type BareBody,
  type BareContext,
  exitCodes,
  listenOptions,
  withoutArguments,
} from './command.ts';
import { checkDatabases, checkDataFolder } from './doctor/data-folder.ts';
import {
  type CheckGroup,
  type DoctorContext,
  type Finding,
  fault,
  ok,
  type Result,
  warning,
} from './doctor/finding.ts';
import { checkNetwork } from './doctor/network.ts';
import { checkProviders } from './doctor/providers.ts';
import { checkCorpus, checkEngine, checkModel } from './doctor/services.ts';

const json = { type: 'boolean', about: 'Prints a JSON document.' } as const;

/** Milliseconds until a forced exit, in case a failed check has left connections open. */
const exitDelayMs = 200;

export const doctorCommand: BareBody = {
  isBare: true,
  exits: 'Exit code: 0 no faults, 1 at least one fault, 2 bad usage.',
  ...withoutArguments('doctor', { json, ...listenOptions }, (values) => {
    return async ({ sources, dataFolder, stdout, exit }: BareContext) => {
      const used = loadUsableConfig(sources, dataFolder);
      const context = { ...used, clock: systemClock, random: systemRandom };
      const findings = maskSecrets(await runChecks(listChecks(context), context), used);
      const status =
        (['fault', 'warning'] as const).find((one) => findings.some((f) => f.status === one)) ??
        'ok';
      if (values.json !== true) stdout.write(findings.map(toLine).join(''));
      else stdout.writeJson(`${JSON.stringify({ version, status, findings }, null, 2)}\n`);
      await stdout.drained();
      const code = status === 'fault' ? exitCodes.faulty : exitCodes.ok;
      setTimeout(exit, exitDelayMs, code).unref();
      return code;
    };
  }),
};

const widths = { status: 7, check: 11 } as const;

function toLine({ status, check, message, advice }: Finding): string {
  const label = `${status.padEnd(widths.status)}  ${check.replace('_', ' ').padEnd(widths.check)}`;
  const text = advice === null ? message : `${message} ${advice}`;
  return `${label}  ${text.replaceAll('\n', ' ')}\n`;
}

function maskSecrets(findings: readonly Finding[], { settings }: UsableConfig) {
  const values = secretNames().flatMap((name) => settings.get(name)?.value ?? []);
  const long = values.filter((value) => value.length >= 8);
  const mask = (text: string) =>
    long.reduce((masked, one) => masked.replaceAll(one, '********'), text);
  return findings.map(({ message, advice, ...finding }): Finding => {
    return { ...finding, message: mask(message), advice: advice === null ? null : mask(advice) };
  });
}

/** Returns all checks in the order of output. */
function listChecks(context: DoctorContext): readonly CheckGroup[] {
  const { config } = context;
  return [
    { names: ['settings'], needs: [], run: async () => [checkSettingsOf(context)] },
    {
      names: ['data_folder'],
      needs: ['PERCH_DATA_DIR'],
      run: async () => [checkDataFolder(config)],
    },
    {
      names: ['databases'],
      needs: ['PERCH_DATA_DIR'],
      run: async () => [await checkDatabases(config)],
    },
    {
      names: ['port', 'base_url', 'proxy'],
      needs: ['HOST', 'PORT', 'PERCH_BASE_URL', 'PERCH_TRUST_PROXY', 'PERCH_ADMIN_TOKEN'],
      run: (signal) => checkNetwork(context, signal),
    },
    {
      names: ['clock', 'providers'],
      needs: [
        'PERCH_PROVIDERS',
        'PERCH_FXTWITTER_URL',
        'PERCH_SYNDICATION_URL',
        'PERCH_BLUESKY_URL',
      ],
      run: (signal) => checkProviders(context, signal),
    },
    {
      names: ['engine'],
      needs: ['PERCH_REDIS_URL'],
      run: async () => [await checkEngine(context)],
    },
    { names: ['corpus'], needs: ['PERCH_CORPUS'], run: async () => [checkCorpus(context)] },
    {
      names: ['model'],
      needs: ['PERCH_MODEL_URL', 'PERCH_MODEL', 'PERCH_MODEL_KEY'],
      run: async (signal) => [[await checkModel(context, signal)]],
    },
  ];
}

/** Maximum duration of the checks in milliseconds. All run at the same time. */
export const checkMs = 9000;

/** Runs all checks at the same time. Returns findings in the order of the checks. Never throws. */
export async function runChecks(
  groups: readonly CheckGroup[],
  { invalid }: Pick<DoctorContext, 'invalid'>,
): Promise<readonly Finding[]> {
  const findings = groups.map(async (group): Promise<readonly Finding[]> => {
    const missing = group.needs.filter((name) => invalid.has(name));
    const found = missing.length > 0 ? leaveOut(missing) : await runInTime(group);
    return group.names.flatMap((check, at) => {
      const results = 'status' in found ? [found] : (found[at] ?? []);
      return results.map((result) => ({ check, ...result }));
    });
  });
  return (await Promise.all(findings)).flat();
}

function leaveOut(missing: readonly string[]): Result {
  const verb = missing.length === 1 ? 'is' : 'are';
  const names = new Intl.ListFormat('en-GB').format(missing);
  const message = `Not checked, because ${names} ${verb} not valid.`;
  return warning(message, 'Correct the settings first.');
}

/** Returns the results of each check of a group, or one result that applies to all of them. */
async function runInTime(group: CheckGroup) {
  try {
    return await withDeadline(checkMs, [], (signal) => untilAborted(group.run(signal), signal));
  } catch (error) {
    if (error instanceof Error && error.name === 'AbortError') {
      return warning(
        `The check did not finish within ${checkMs / 1000} seconds.`,
        'Run perch doctor again when the machine is less busy.',
      );
    }
    const message = error instanceof Error ? error.message : String(error);
    return fault(`The check failed: ${message}`, 'Please report this as a bug in Perch.');
  }
}

function checkSettingsOf(context: DoctorContext): readonly Result[] {
  const found = [
    ...context.faults.map((message) => fault(message)),
    ...context.warnings.map((message) => warning(message)),
    ...findOpenFiles(context),
  ];
  if (found.length > 0) return found;
  const count = Object.keys(variables.shape).filter((name) => context.settings.has(name)).length;
  if (count === 0) return [ok('No settings are set, so all have their defaults.')];
  if (count === 1) return [ok('The only setting that is set is valid.')];
  return [ok(`All ${count} settings that are set are valid.`)];
}

function findOpenFiles({ settings }: DoctorContext): readonly Result[] {
  const secrets = secretNames();
  const paths = [...settings].flatMap(([name, { origin }]) =>
    secrets.includes(name) && origin.kind === 'file' ? [origin.path] : [],
  );
  const isOpen = (path: string) =>
    process.getuid !== undefined &&
    ((statSync(path, { throwIfNoEntry: false })?.mode ?? 0) & 0o007) !== 0;
  return [...new Set(paths.filter(isOpen))].map((path) =>
    warning(`Other users can access ${path}, which contains secrets.`, `Run \`chmod o= ${path}\`.`),
  );
}
