import { errorCodeOf, inspectSqlite } from '../../lib/files/sqlite.ts';

// Entry point of a separate process, because SQLite's check cannot be interrupted. Its argument is
// the path of a database.
process.stdout.write(JSON.stringify(inspect(process.argv[2] ?? '')));

function inspect(path: string) {
  try {
    return { ...inspectSqlite(path), code: null };
  } catch (error) {
    return { damage: null, schema: 0, code: errorCodeOf(error) ?? String(error) };
  }
}
