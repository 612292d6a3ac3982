import { randomUUID } from 'node:crypto'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { syncFolder } from '../../base/replace-file.ts'
import { nameOfServer } from '../login/credentials.ts'
import { readJson, writePrivateFile } from '../private-files.ts'

/**
 * The past of a trace has secrets that were, or are about to be, taken out of it, and is to be erased. `namespace` is the slug of its namespace.
 * `source` is where they were found, such as a session's file. `hashes` are those of the secrets, as
 * far as they are known. `isRefused`: the user may not erase it any more, and was told so.
 */
const Duty = z.object({
  server: z.string(),
  namespace: z.string(),
  externalId: z.string(),
  source: z.string(),
  hashes: z.array(z.string()),
  isRefused: z.literal(true).optional(),
})
export type Duty = Readonly<z.infer<typeof Duty>> & { readonly id: string }

/** The duties at one service. */
export type Duties = {
  /** Resolves once the duty is on the disk: only then may be sent what it follows from. */
  readonly add: (duty: Omit<Duty, 'id' | 'server' | 'isRefused'>) => Promise<void>
  readonly all: () => Promise<readonly Duty[]>
  /** Called once these duties were done. */
  readonly remove: (duties: readonly Duty[]) => Promise<void>
  /** Called once the user was told that these duties are refused. They stay. */
  readonly noteRefused: (duties: readonly Duty[]) => Promise<void>
}

const ENDING = '.json'

/**
 * The duties in the configuration folder, a file for each. They do not belong to the record of what was uploaded, because that may be
 * thrown away, and nothing else tells what is left to do. Each has a name of its own, so that no process removes the duty of another one.
 */
export const openDuties = (config: string, server: string): Duties => {
  const folder = join(config, 'duties')
  const name = nameOfServer(config, server)
  const pathOf = (id: string) => join(folder, `${id}${ENDING}`)
  const isMissing = (error: NodeJS.ErrnoException): [] => {
    if (error.code === 'ENOENT') return []
    throw error
  }

  const read = async (file: string): Promise<readonly Duty[]> => {
    const { data } = Duty.safeParse(await readJson(join(folder, file)))
    return data && data.server === name ? [{ ...data, id: file.slice(0, -ENDING.length) }] : []
  }

  const all = async () => {
    const files = (await readdir(folder).catch(isMissing)).filter((file) => file.endsWith(ENDING))
    return (await Promise.all(files.map(read))).flat()
  }

  const write = (id: string, duty: Omit<Duty, 'id'>) => writePrivateFile(pathOf(id), `${JSON.stringify(duty)}\n`)

  return {
    add: async (duty) => {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await write(randomUUID(), { server: name, ...duty })
      await syncFolder(folder)
    },
    all,
    remove: async (duties) => {
      for (const { id } of duties) await rm(pathOf(id), { force: true })
    },
    noteRefused: async (duties) => {
      const left = new Set((await all()).map(({ id }) => id))
      for (const { id, ...duty } of duties) if (left.has(id)) await write(id, { ...duty, isRefused: true })
    },
  }
}
