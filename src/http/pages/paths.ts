/** Where the documentation begins. */
export const docsPath = '/docs';

/** Where it is searched. `/docs/search` is the page about searching posts. */
export const findPath = `${docsPath}/find`;

/** Where it is asked, on a server with sessions. */
export const askPath = `${docsPath}/ask`;

/** Where assets are; their file names follow. */
export const assetPath = `${docsPath}/assets/`;

/** The most characters of a search text and of a question, as for every `q`. */
export const maxQueryLength = 512;
