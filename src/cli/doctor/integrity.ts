import { errorCodeOf, findDamage, readSchemaVersion } from '../../core/files/sqlite.ts';

// Entry point of a process of its own, because a check of SQLite cannot be interrupted. Its arguments are paths.
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
