/** Returns `value` as JSON with a final newline, so that a shell prompt after the response starts on its own line. */
export const toJsonBody = (value: unknown): string => `${JSON.stringify(value)}\n`;
