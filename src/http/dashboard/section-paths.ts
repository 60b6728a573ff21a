import { dashboardPath } from './paths.ts';

/** Path of the figures that the script of the overview fetches. */
export const overviewPart = `${dashboardPath}/overview`;

export const archivePath = `${dashboardPath}/archive`;

export const answersPath = `${dashboardPath}/answers`;

export const configurationPath = `${dashboardPath}/configuration`;
