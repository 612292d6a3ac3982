import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Agent } from '../agents/agent.ts'
import { digest } from '../agents/keys.ts'
import { readJson, writePrivate } from '../private-files.ts'

const Digests = z.array(z.tuple([z.string(), z.string()])).transform((pairs) => new Map(pairs))

/** What a file looked like when all of it was on the server. Nanoseconds, so that two writes within one ms differ. */
const Stamp = z.object({ inode: z.string(), size: z.int(), mtimeNs: z.string(), parser: z.string() })
export type Stamp = z.infer<typeof Stamp>

/**
 * What the server has of one session file, in one namespace. `sessionId` is the file's own id, `externalId` the one that the
 * trace got. Digests of what was acknowledged last: by field of the trace, and by message externalId. Without `stamp` the
 * file has not been uploaded to its end. `stored` says whether there is a trace at all.
 */
const FileState = z.object({
  path: z.string(),
  stamp: Stamp.optional(),
  sessionId: z.string(),
  externalId: z.string(),
  stored: z.boolean(),
  fields: Digests,
  messages: Digests,
})
export type FileState = z.infer<typeof FileState>

export type States = {
  readonly read: (path: string) => Promise<FileState | undefined>
  readonly write: (state: FileState) => Promise<void>
}

/** The states of one namespace of one server, each in a file of its own: bounded, and written whole. */
export const statesOf = (config: string, server: string, namespaceId: string): States => {
  const folder = join(config, 'synced', digest(server), digest(namespaceId))
  const fileOf = (path: string) => join(folder, `${digest(path)}.json`)
  return {
    read: async (path) => {
      const { data } = FileState.safeParse(await readJson(fileOf(path)))
      return data?.path === path ? data : undefined
    },
    write: (state) =>
      writePrivate(
        fileOf(state.path),
        JSON.stringify({ ...state, fields: [...state.fields], messages: [...state.messages] }),
      ),
  }
}

export const stampOf = async (path: string, { id, version }: Agent): Promise<Stamp> => {
  const { ino, size, mtimeNs } = await stat(path, { bigint: true })
  return { inode: `${ino}`, size: Number(size), mtimeNs: `${mtimeNs}`, parser: `${id}/${version}` }
}

export const sameStamp = (a: Stamp | undefined, b: Stamp): boolean =>
  a?.inode === b.inode && a.size === b.size && a.mtimeNs === b.mtimeNs && a.parser === b.parser
