/** Maximum bytes of a request's URL; longer ones are 414. */
export const maxUrlBytes = 8192;
