import { statSync } from 'node:fs';
import { secretNames, variables } from '../../config/config.ts';
import { isAccessibleByOthers } from '../../core/files/private-files.ts';
import { ok, type Result, warning } from './finding.ts';
import type { DoctorContext } from './run-checks.ts';

/** Reports invalid and unknown settings, and settings files with secrets that other users can read. */
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
  return [
    ok(
      count === 0
        ? 'No settings are set, so all have their defaults.'
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
        `Run \`chmod 600 ${path}\`.`,
      ),
    );
}

function isOpen(path: string): boolean {
  const stats = statSync(path, { throwIfNoEntry: false });
  return stats !== undefined && isAccessibleByOthers(stats);
}
