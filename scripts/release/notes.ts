import { readFileSync } from 'node:fs';
import { packagePath } from '../../src/lib/files/package-path.ts';
import { version } from '../../src/lib/version.ts';
import { findNotes } from './release-faults.ts';

// Prints the section of CHANGELOG.md for the version of package.json.
const notes = findNotes(readFileSync(packagePath('CHANGELOG.md'), 'utf8'), version);
if (notes === null) throw new Error(`CHANGELOG.md has no section for ${version}.`);
process.stdout.write(notes);
