/** Path of the dashboard. All paths below it but the sign-in form require a session. */
export const dashboardPath = '/admin';

export const signInPath = `${dashboardPath}/sign-in`;

export const signOutPath = `${dashboardPath}/sign-out`;

/** Path of the JSON data with which a script refreshes the page *Overview*. */
export const overviewPart = `${dashboardPath}/overview`;

export const archivePath = `${dashboardPath}/archive`;

export const answersPath = `${dashboardPath}/answers`;

export const configurationPath = `${dashboardPath}/configuration`;
