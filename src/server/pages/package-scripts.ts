import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleScripts } from './scripts.ts'

/** Writes the scripts of the pages into a folder, for the package: `node package-scripts.ts FOLDER`. */
const folder = process.argv[2]!
await mkdir(folder, { recursive: true })
for (const { name, content } of await bundleScripts()) await writeFile(join(folder, name), content)
