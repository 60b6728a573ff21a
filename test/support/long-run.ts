/** Whether the tests take the time that they need to be thorough: `npm run test:long`. */
export const isLongRun = process.env.PERCH_TEST_LONG === '1';
