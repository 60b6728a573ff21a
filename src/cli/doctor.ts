import { statSync } from 'node:fs';
import { loadUsableConfig, secretNames, type UsableConfig, variables } from '../config/config.ts';
import { systemClock } from '../lib/clock.ts';
import { systemRandom } from '../lib/random.ts';
import { withDeadline } from '../lib/scheduling/deadline.ts';
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
  type Check,
  type DoctorContext,
  type DoctorReport,
  doctorReport,
  type Finding,
  fault,
  ok,
  type Result,
  warning,
  worstStatus,
} from './doctor/finding.ts';
import { createProviderChecks } from './doctor/providers.ts';
import { createReachability } from './doctor/reachability.ts';
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
      const report = maskReport(await examine(used), used);
      if (values.json !== true) stdout.write(report.findings.map(toLine).join(''));
      else stdout.writeJson(`${JSON.stringify(doctorReport.parse(report), null, 2)}\n`);
      await stdout.drained();
      const code = report.status === 'fault' ? exitCodes.faulty : exitCodes.ok;
      setTimeout(exit, exitDelayMs, code).unref();
      return code;
    };
  }),
};

async function examine(used: UsableConfig): Promise<DoctorReport> {
  const context = { ...used, clock: systemClock, random: systemRandom };
  const { checks, close } = openChecks(context);
  try {
    const findings = await runChecks(checks, context);
    return { version, status: worstStatus(findings), findings };
  } finally {
    await close();
  }
}

const widths = { status: 7, check: 11 } as const;

function toLine({ status, check, message, advice }: Finding): string {
  const label = `${status.padEnd(widths.status)}  ${check.replace('_', ' ').padEnd(widths.check)}`;
  return `${label}  ${advice === null ? message : `${message} ${advice}`}\n`.replaceAll(
    /\n(?=.)/g,
    ' ',
  );
}

function maskReport(report: DoctorReport, { settings }: UsableConfig): DoctorReport {
  const values = secretNames().flatMap((name) => settings.get(name)?.value ?? []);
  const long = values.filter((value) => value.length >= 8);
  const mask = (text: string) =>
    long.reduce((masked, one) => masked.replaceAll(one, '********'), text);
  const findings = report.findings.map((finding) => ({
    ...finding,
    message: mask(finding.message),
    advice: finding.advice === null ? null : mask(finding.advice),
  }));
  return { ...report, findings };
}

/** Maximum duration of a check in milliseconds. All checks run at the same time. */
export const checkMs = 9000;

/** Runs all checks at the same time. Returns findings in the order of the checks. Never throws. */
export async function runChecks(
  checks: readonly Check[],
  { invalid }: Pick<DoctorContext, 'invalid'>,
): Promise<readonly Finding[]> {
  const results = await Promise.all(
    checks.map(async (check): Promise<readonly Finding[]> => {
      const missing = check.needs.filter((name) => invalid.has(name));
      const found = missing.length > 0 ? [leaveOut(missing)] : await runInTime(check);
      return found.map((result) => ({ check: check.name, ...result }));
    }),
  );
  return results.flat();
}

function leaveOut(missing: readonly string[]): Result {
  const verb = missing.length === 1 ? 'is' : 'are';
  const names = new Intl.ListFormat('en-GB').format(missing);
  const message = `Not checked, because ${names} ${verb} not valid.`;
  return warning(message, 'Correct the settings first.');
}

async function runInTime(check: Check): Promise<readonly Result[]> {
  try {
    return await withDeadline(checkMs, [], (signal) =>
      Promise.race([check.run(signal), expire(signal)]),
    );
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    return [fault(`The check failed: ${message}`, 'Please report this as a bug in Perch.')];
  }
}

function expire(signal: AbortSignal): Promise<readonly Result[]> {
  const late = warning(
    `The check did not finish within ${checkMs / 1000} seconds.`,
    'Run perch doctor again when the machine is less busy.',
  );
  return new Promise((resolve) => {
    // Gives the check time to return its findings so far after the abort.
    const wait = () => setImmediate(() => setImmediate(resolve, [late]));
    signal.addEventListener('abort', wait, { once: true });
  });
}

/** Returns all checks in the order of output. Callers must call `close` after the checks. */
function openChecks(context: DoctorContext) {
  const { config } = context;
  const reachability = createReachability(context);
  const providers = createProviderChecks(context);
  const upstream = [
    'PERCH_PROVIDERS',
    'PERCH_FXTWITTER_URL',
    'PERCH_SYNDICATION_URL',
    'PERCH_BLUESKY_URL',
  ] as const;
  const checks: readonly Check[] = [
    { name: 'settings', needs: [], run: async () => checkSettingsOf(context) },
    {
      name: 'data_folder',
      needs: ['PERCH_DATA_DIR'],
      run: async () => checkDataFolder(config.PERCH_DATA_DIR),
    },
    {
      name: 'databases',
      needs: ['PERCH_DATA_DIR'],
      run: (signal) => checkDatabases(config, signal),
    },
    { name: 'port', needs: ['HOST', 'PORT'], run: reachability.checkPort },
    { name: 'base_url', needs: ['PERCH_BASE_URL'], run: reachability.checkBaseUrl },
    {
      name: 'proxy',
      needs: ['PERCH_BASE_URL', 'PERCH_TRUST_PROXY', 'PERCH_ADMIN_TOKEN'],
      run: reachability.checkProxy,
    },
    { name: 'clock', needs: upstream, run: providers.checkClock },
    { name: 'providers', needs: upstream, run: providers.checkProviders },
    { name: 'engine', needs: ['PERCH_REDIS_URL'], run: () => checkEngine(context) },
    { name: 'corpus', needs: ['PERCH_CORPUS'], run: () => checkCorpus(context) },
    {
      name: 'model',
      needs: ['PERCH_MODEL_URL', 'PERCH_MODEL', 'PERCH_MODEL_KEY'],
      run: (signal) => checkModel(context, signal),
    },
  ];
  return { checks, close: reachability.close };
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
  return [...new Set(paths)]
    .filter(isOpen)
    .map((path) =>
      warning(
        `Other users can access ${path}, which contains secrets.`,
        `Run \`chmod o= ${path}\`.`,
      ),
    );
}

function isOpen(path: string): boolean {
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: 0 };
  return process.getuid !== undefined && (mode & 0o007) !== 0;
}
