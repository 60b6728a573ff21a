import { errorCodeOf, findDamage, readSchemaVersion } from '../../lib/files/sqlite.ts';

// Entry point of a separate process, because SQLite's check cannot be interrupted. Its arguments
// are paths of databases.
for (const path of process.argv.slice(2)) {
  process.stdout.write(`${JSON.stringify(check(path))}\n`);
}

function check(path: string) {
  try {
    return { path, damage: findDamage(path), schema: readSchemaVersion(path), code: null };
  } catch (error) {
    return { path, damage: null, schema: 0, code: errorCodeOf(error) ?? String(error) };
  }
}
