import type { ExportFile, ExportFiles } from '../files/export-files.ts';
import { type ManifestPayload, manifestPayload } from './payload.ts';

/** The most bytes of a manifest; one is some 100 KB. */
const maxBytes = 4 * 2 ** 20;

/** Reads what the export tells of itself; null where there is no manifest or none that can be read. */
export async function readManifest(
  [file]: readonly ExportFile[],
  files: ExportFiles,
): Promise<ManifestPayload | null> {
  if (file === undefined || file.bytes > maxBytes) return null;
  const chunks: Uint8Array[] = [];
  for await (const chunk of files.read(file)) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString('utf8');
  try {
    const json = text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1);
    return manifestPayload.safeParse(JSON.parse(json)).data ?? null;
  } catch {
    return null; // nothing in it is needed
  }
}
