import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/lib/files/package-path.ts';
import { keepShipped } from './shipped-components.ts';

// Prints the software bill of materials (SBOM) of the npm package in the format CycloneDX. Needs a finished build.
// The TypeScript client, a workspace, is part of Perch's own code.
const text = execFileSync('npm', ['sbom', '--sbom-format', 'cyclonedx', '--workspaces=false'], {
  cwd: packagePath(),
  encoding: 'utf8',
  maxBuffer: 2 ** 26,
});
const { name } = JSON.parse(readFileSync(packagePath('package.json'), 'utf8'));
const licences = readFileSync(packagePath('dist/licences.txt'), 'utf8');
console.log(JSON.stringify(keepShipped(JSON.parse(text), licences, name), null, 2));
