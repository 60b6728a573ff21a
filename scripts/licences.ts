import { readdirSync, readFileSync } from 'node:fs';
import { packagePath } from '../src/lib/files/package-path.ts';

/** Matches the innermost package folder in the path of a file. */
const packageFolder = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/;

/**
 * Returns the names, versions and licences of the packages that contain the given files. Paths are relative to Perch's
 * package.
 *
 * @throws Error if a package declares no licence
 */
export function listLicences(files: readonly string[]): string {
  const folders = files.flatMap((file) => packageFolder.exec(file) ?? []);
  return [...new Set(folders)].sort().map(describeLicence).join('\n\n');
}

function describeLicence(folder: string): string {
  const path = (name: string) => packagePath(`${folder}/${name}`);
  const { name, version, license, homepage } = JSON.parse(
    readFileSync(path('package.json'), 'utf8'),
  );
  if (typeof license !== 'string') throw new Error(`The package ${name} states no licence.`);
  const files = readdirSync(path('')).filter((file) =>
    /^(?:licen[cs]e|copying|notice)/i.test(file),
  );
  const texts = files.map((file) => readFileSync(path(file), 'utf8').trim());
  if (files.length === 0) texts.push(`The package has no licence file. See ${homepage}.`);
  return [`${name} ${version} (${license})`, ...texts].join('\n\n');
}
