import type { FastifyInstance } from 'fastify';

/**
 * Returns the paths of all registered routes under `/admin` and `/api/admin`, in the syntax of Fastify. Reads them from
 * the router, so that a new page is in the list without further work.
 */
export function listAdminPaths(server: FastifyInstance): readonly string[] {
  const ancestors: string[] = [];
  const paths = new Set<string>();
  for (const line of server.printRoutes({ commonPrefix: false }).split('\n')) {
    const [, indent = '', name = '', methods] =
      /^([\s│]*)[├└]── (\S*?)(?: \(([\w, -]+)\))?$/u.exec(line) ?? [];
    const depth = indent.length / 4;
    ancestors.length = depth;
    ancestors[depth] = name;
    // The router prints the last part of `/admin/*` without its slash.
    const path = ancestors.join('').replace(/\/?\*$/, '/*');
    if (methods !== undefined && /^\/(?:api\/)?admin(?:\/|$)/.test(path)) paths.add(path);
  }
  return [...paths];
}
