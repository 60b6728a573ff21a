/** Parts of a CycloneDX document, as `npm sbom` prints it (https://cyclonedx.org/docs/1.5/json/). */
export interface Sbom {
  readonly metadata: Readonly<{ component: Component }>;
  readonly components: readonly Component[];
  readonly dependencies: readonly Readonly<{ ref: string; dependsOn: readonly string[] }>[];
}

interface Component {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly version: string;
  readonly properties: readonly Readonly<{ name: string; value: string }>[];
}

/**
 * Returns a software bill of materials without the development packages that are not bundled. `licences`: content of
 * `dist/licences.txt`, which names each bundled package. `name`: name of the npm package, which replaces the name in
 * `sbom`.
 */
export function keepShipped(sbom: Sbom, licences: string, name: string): Sbom {
  const bundled = new Set(licences.match(/^\S+ \S+(?= \()/gm));
  const components = sbom.components.filter(
    (component) =>
      !isDevelopment(component) || bundled.has(`${component.name} ${component.version}`),
  );
  // npm uses the name of the folder.
  const root = { ...sbom.metadata.component, name };
  const kept = new Set([root, ...components].map((component) => component['bom-ref']));
  return {
    ...sbom,
    metadata: { ...sbom.metadata, component: root },
    components,
    dependencies: sbom.dependencies
      .filter(({ ref }) => kept.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((one) => kept.has(one)) })),
  };
}

const isDevelopment = ({ properties }: Component) =>
  properties.some(({ name, value }) => name === 'cdx:npm:package:development' && value === 'true');
