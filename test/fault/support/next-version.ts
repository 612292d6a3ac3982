import { cp, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mainGroup } from '../../../projections/index.ts'

const root = join(import.meta.dirname, '..', '..', '..')

/** Makes the next version of the service in an empty folder: this one, but it builds the main read models anew. Returns its program. */
export const nextVersionIn = async (folder: string): Promise<string> => {
  for (const part of ['src', 'projections', 'migrations', 'package.json'])
    await cp(join(root, part), join(folder, part), { recursive: true })
  await symlink(join(root, 'node_modules'), join(folder, 'node_modules'))
  const list = join(folder, 'projections', 'index.ts')
  const { version } = mainGroup
  await writeFile(list, (await readFile(list, 'utf8')).replace(`version: ${version},`, `version: ${version + 1},`))
  return join(folder, 'src', 'main.ts')
}
