/** The version of Perch; `test/architecture.test.ts` compares it with `package.json`. */
export const version = '0.1.0';
