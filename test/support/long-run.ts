/** Whether tests run with more inputs: `npm run test:long`. */
export const isLongRun = process.env.PERCH_TEST_LONG === '1';
