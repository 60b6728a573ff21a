/** Returns the JSON body of a reply. It ends with a newline, so that a shell prompt after `curl` starts on its own line. */
export const toJsonBody = (value: unknown): string => `${JSON.stringify(value)}\n`;
