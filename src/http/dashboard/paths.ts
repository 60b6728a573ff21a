/** Path of the dashboard. All paths below it require a session, except the path of the sign-in form. */
export const dashboardPath = '/admin';

export const signInPath = `${dashboardPath}/sign-in`;

export const signOutPath = `${dashboardPath}/sign-out`;
