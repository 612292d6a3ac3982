import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { bundleClientPackage } from './client-package.ts'
import { bundleScripts } from './scripts.ts'

/** Writes what pages offer into the folder of their module in the package, their scripts and the client: `node package-scripts.ts FOLDER`. */
const folder = process.argv[2]!
const scripts = join(folder, 'scripts')
await mkdir(scripts, { recursive: true })
for (const { name, content } of await bundleScripts()) await writeFile(join(scripts, name), content)
await writeFile(join(folder, 'client.tgz'), await bundleClientPackage())
