/** Path of the dashboard. All paths below it but the sign-in form require a session. */
export const dashboardPath = '/admin';

export const signInPath = `${dashboardPath}/sign-in`;

export const signOutPath = `${dashboardPath}/sign-out`;
