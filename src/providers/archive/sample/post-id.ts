/** The first post of the heron thread, which the README reads: its id is promised. */
const anchor = { id: 1900000000000000001n, at: Date.parse('2026-04-18T06:31:00Z') };

/** As in a snowflake, the time stands above 22 low bits; one second moves the id by this much. */
const step = 1000n << 22n;

/**
 * Gives the id of what happened at a moment. Ids rise with time, and moments a second or more apart
 * have different ones.
 *
 * @param at ISO 8601, UTC, whole seconds.
 */
export function toId(at: string): string {
  const seconds = BigInt((Date.parse(at) - anchor.at) / 1000);
  // Low digits that differ from post to post, as in real ids, and stay below one step.
  const low = BigInt.asUintN(22, seconds * 2654435761n);
  return String(anchor.id + seconds * step + low);
}
