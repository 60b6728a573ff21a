/** Defaults of `HOST` and `PORT`, without imports of schemas: `perch health` starts quickly. */
export const listenDefaults = { host: '127.0.0.1', port: 8080 } as const;
