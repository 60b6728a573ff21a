import { dashboardPath } from './paths.ts';

/** Path of the JSON data with which a script refreshes the page *Overview*. */
export const overviewPart = `${dashboardPath}/overview`;

export const archivePath = `${dashboardPath}/archive`;

export const answersPath = `${dashboardPath}/answers`;

export const configurationPath = `${dashboardPath}/configuration`;
