/** Version of Perch, as in `package.json` (checked by `test/architecture.test.ts`). */
export const version = '0.1.0';
