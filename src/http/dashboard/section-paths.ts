/** Path of the figures that the script of the overview fetches. */
export const overviewPart = '/admin/overview';

export const archivePath = '/admin/archive';

export const answersPath = '/admin/answers';

export const configurationPath = '/admin/configuration';
