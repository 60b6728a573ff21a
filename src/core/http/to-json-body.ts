/** Returns the JSON body of a response. A newline at the end separates the body from the next shell prompt. */
export const toJsonBody = (value: unknown): string => `${JSON.stringify(value)}\n`;
