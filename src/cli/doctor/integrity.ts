import { errorCodeOf, findDamage } from '../../core/files/sqlite.ts';

// Entry point of a separate process, because SQLite's check cannot be interrupted. Its arguments are paths of databases.
for (const path of process.argv.slice(2)) {
  process.stdout.write(`${JSON.stringify(check(path))}\n`);
}

function check(path: string): { path: string; damage: string | null; code: string | null } {
  try {
    return { path, damage: findDamage(path), code: null };
  } catch (error) {
    return { path, damage: null, code: errorCodeOf(error) ?? String(error) };
  }
}
