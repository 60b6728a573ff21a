/** Path of the dashboard. All paths below require a session, except signing in. */
export const dashboardPath = '/admin';

export const signInPath = `${dashboardPath}/sign-in`;

export const signOutPath = `${dashboardPath}/sign-out`;
