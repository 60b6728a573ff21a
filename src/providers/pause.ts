/** The pause where a throttling upstream names none, in seconds. */
export const defaultPauseSeconds = 30;

/** The longest pause that an upstream's `Retry-After` is believed. */
const maxPauseSeconds = 300;

/** Gives the seconds that an upstream is left alone when it asks for so many: 1 to 300. */
export function clampPause(seconds: number): number {
  return Math.min(Math.max(seconds, 1), maxPauseSeconds);
}
