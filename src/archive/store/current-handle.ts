/**
 * Gives SQL for the handle that an account's rows have, where a row of another table names the account
 * by handle or, as a repository of Bluesky does, by DID. An account that is not held keeps its name.
 *
 * @param table A table, or an alias, with a column `platform`.
 * @param column The column of the table that names the account.
 */
export function currentHandle(table: string, column: string): string {
  const name = `${table}.${column}`;
  return `ifnull((SELECT handle FROM accounts AS named WHERE ${table}.platform = 'bluesky'
    AND named.platform = 'bluesky' AND named.id = ${name}), ${name})`;
}
