import { existsSync, readFileSync } from 'node:fs';
import { systemClock } from '../src/lib/clock.ts';
import { listBreaks } from './openapi-breaks.ts';

/** OpenAPI description of the last release. Only a release replaces the file. */
const releasedPath = 'openapi/released.json';
const currentPath = 'openapi/perch.json';

process.exitCode = check();

/** Prints the changes that would break callers of the last release, and returns the exit code. */
function check(): number {
  if (!existsSync(releasedPath)) {
    console.log(
      `openapi: ${releasedPath} does not exist. Nothing was released, so nothing can break.`,
    );
    return 0;
  }
  const documents = { before: read(releasedPath), after: read(currentPath) };
  const breaks = listBreaks(documents, systemClock.now());
  for (const line of breaks) console.log(`openapi: ${line}`);
  if (breaks.length === 0) return 0;
  const { version } = documents.before.info;
  console.log(`openapi: ${breaks.length} changes would break callers of ${version}.`);
  return 1;
}

function read(path: string) {
  return JSON.parse(readFileSync(path, 'utf8'));
}
