/** Defaults of `HOST` and `PORT`. This module imports no schemas, so that the command `perch health` starts quickly. */
export const listenDefaults = { host: '127.0.0.1', port: 8080 } as const;
