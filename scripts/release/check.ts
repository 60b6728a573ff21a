import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/lib/files/package-path.ts';
import { findReleaseFaults } from './release-faults.ts';

const read = (name: string) => readFileSync(packagePath(name), 'utf8');
const faults = findReleaseFaults({
  manifest: JSON.parse(read('package.json')),
  changelog: read('CHANGELOG.md'),
  openApi: read('openapi/perch.json'),
  releasedOpenApi: tryRead('openapi/released.json'),
  env: process.env,
});

function tryRead(name: string): string | null {
  try {
    return read(name);
  } catch {
    return null;
  }
}

for (const fault of faults) console.error(`release: ${fault}`);
if (faults.length > 0) process.exit(1);
console.log('release: ok');
