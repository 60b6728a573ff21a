import { secretNames } from '../config/config.ts';
import { loadUsableConfig, type UsableConfig } from '../config/usable-config.ts';
import { systemClock } from '../core/clock.ts';
import { systemRandom } from '../core/random.ts';
import { version } from '../core/version.ts';
import { listenOptions, toListenSettings, withOptions } from './arguments.ts';
import {
  type BareBody,
  type BareContext,
  type CommandOptions,
  exitCodes,
  UsageError,
} from './command.ts';
import { openChecks } from './doctor/checks.ts';
import { type DoctorReport, doctorReport, type Finding, worstStatus } from './doctor/finding.ts';
import { runChecks } from './doctor/run-checks.ts';

const options = {
  json: { type: 'boolean', about: 'Prints a JSON document.' },
  ...listenOptions,
} as const satisfies CommandOptions;

/** Milliseconds until a forced exit, in case a failed check has left connections open. */
const exitDelayMs = 200;

export const doctorCommand: BareBody = {
  isBare: true,
  exits: 'Exit code: 0 no faults, 1 at least one fault, 2 bad usage.',
  ...withOptions(options, ({ json, ...listen }, positionals) => {
    if (positionals.length > 0) throw new UsageError('doctor takes no arguments.');
    return async ({ sources, dataFolder, stdout }: BareContext) => {
      const used = loadUsableConfig({ ...sources, options: toListenSettings(listen) }, dataFolder);
      const report = maskReport(await examine(used), used);
      if (json === true) {
        stdout.writeJson(`${JSON.stringify(doctorReport.parse(report), null, 2)}\n`);
      } else {
        stdout.write(report.findings.map(toLine).join(''));
      }
      await stdout.drained();
      const code = report.status === 'fault' ? exitCodes.faulty : exitCodes.ok;
      setTimeout(() => process.exit(code), exitDelayMs).unref();
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
