const secret = /^PERCH_(?:ADMIN_TOKEN|CURSOR_KEY|MODEL_KEY|MODEL_URL|REDIS_URL)$/;

/** Returns whether the value of a variable must never be shown. `PERCH_MODEL_URL` may contain a password. */
export const isSecretVariable = (name: string): boolean => secret.test(name);
