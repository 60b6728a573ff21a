/** Files and environment of a release. */
export interface Release {
  /** Content of package.json. */
  readonly manifest: Readonly<{
    version: string;
    repository?: string | Readonly<{ url: string }>;
  }>;
  readonly changelog: string;
  readonly openApi: string;
  /** Content of `openapi/released.json`; `null` if there is no such file. */
  readonly releasedOpenApi: string | null;
  /** Environment variables of the workflow, such as `GITHUB_REF`. */
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Returns a message for each reason why a version must not be released. Each message explains how to fix the problem.
 */
export function findReleaseFaults(release: Release): readonly string[] {
  const { manifest, changelog, openApi, releasedOpenApi, env } = release;
  const { version, repository } = manifest;
  const faults: string[] = [];
  if (env.GITHUB_REF === undefined) {
    return ['Versions are released only by the workflow. Push a tag; see docs/development.md.'];
  }
  if (env.GITHUB_REF !== `refs/tags/v${version}`) {
    faults.push(
      `The workflow runs for ${env.GITHUB_REF}, but the version in package.json is ${version}. Push the tag v${version}.`,
    );
  }
  const address = `${env.GITHUB_SERVER_URL}/${env.GITHUB_REPOSITORY}`;
  const declared = typeof repository === 'string' ? repository : (repository?.url ?? '');
  if (declared.replace(/^git\+/, '').replace(/\.git$/, '') !== address) {
    faults.push(
      `Set \`repository\` in package.json to ${address}. The provenance of the npm package refers to it.`,
    );
  }
  if (findNotes(changelog, version) === null) {
    faults.push(
      `CHANGELOG.md has no section with entries for ${version}. Rename the section Unreleased.`,
    );
  }
  if (releasedOpenApi !== openApi) {
    faults.push('openapi/released.json is not a copy of openapi/perch.json. Copy the file.');
  }
  return faults;
}

/** Returns the section of the changelog for a version, without its heading; `null` if it is missing or empty. */
export function findNotes(changelog: string, version: string): string | null {
  const sections = changelog.split(/^## /m).slice(1);
  const section = sections.find((text) => /^\[?([^\]\s]+)/.exec(text)?.[1] === version);
  const notes = section?.slice(section.indexOf('\n')).trim() ?? '';
  return notes === '' ? null : `${notes}\n`;
}
