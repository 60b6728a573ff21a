/** Returns JSON with a final newline, so that a shell prompt starts on its own line. */
export const toJsonBody = (value: unknown): string => `${JSON.stringify(value)}\n`;
