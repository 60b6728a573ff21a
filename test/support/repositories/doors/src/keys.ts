/** Reads the teeth of a key. */
export const readKey = (key: string) => {
  const [teeth] = key.split(':');
  return teeth;
};
