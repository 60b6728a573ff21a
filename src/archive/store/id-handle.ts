/** No handle of X has a colon in it, but many have digits alone. */
const mark = 'id:';

/** Gives what stands in the place of the handle of an account of X of which only the id is known. */
export function toIdHandle(id: string): string {
  return `${mark}${id}`;
}

/** Gives the id that stands in the place of a handle; null where it is a handle. */
export function idOfHandle(handle: string): string | null {
  return handle.startsWith(mark) ? handle.slice(mark.length) : null;
}
