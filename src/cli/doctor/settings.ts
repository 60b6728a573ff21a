import { statSync } from 'node:fs';
import { secretNames, variables } from '../../config/config.ts';
import { ok, type Result, warning } from './finding.ts';
import type { DoctorContext } from './run-checks.ts';

/** Reports invalid and unknown settings and exposed secret files; otherwise one success. */
export function checkSettingsOf(context: DoctorContext): readonly Result[] {
  const faults = context.faults.map(
    (message): Result => ({ status: 'fault', message, advice: null }),
  );
  const warnings = context.warnings.map(
    (message): Result => ({ status: 'warning', message, advice: null }),
  );
  const found = [...faults, ...warnings, ...findOpenFiles(context)];
  if (found.length > 0) return found;
  const count = Object.keys(variables.shape).filter((name) => context.settings.has(name)).length;
  if (count === 0) return [ok('No settings are set, so all have their defaults.')];
  return [
    ok(
      count === 1
        ? 'The only setting that is set is valid.'
        : `All ${count} settings that are set are valid.`,
    ),
  ];
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
