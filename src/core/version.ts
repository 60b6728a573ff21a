/** Version of Perch. `test/architecture.test.ts` checks that `package.json` has the same version. */
export const version = '0.1.0';
