import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Agent } from '../agents/agent.ts'
import { digest } from '../digest.ts'
import { readJson, writePrivateFile } from '../private-files.ts'

const Digests = z.array(z.tuple([z.string(), z.string()])).transform((pairs) => new Map(pairs))

/**
 * Identifies the content of a file without reading it, and the version of the parser that read it. The time is in nanoseconds,
 * so that two writes within one millisecond differ.
 */
const Stamp = z.object({ inode: z.string(), size: z.int(), mtimeNs: z.string(), parser: z.string() })
export type Stamp = z.infer<typeof Stamp>

/**
 * What of a session file has been uploaded to one namespace. `sessionId` is the file's own id, `externalId` that of its trace,
 * `stored` whether the trace exists. `fields` and `messages` hold digests of what the server acknowledged, by field name and
 * by the message's externalId. `stamp` is that of the last complete upload; undefined after one that was interrupted.
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

export type FileStateStore = {
  readonly read: (path: string) => Promise<FileState | undefined>
  readonly write: (state: FileState) => Promise<void>
}

/** The states for one namespace of one server. One file for each session file, so that an update rewrites little. */
export const openFileStates = (config: string, server: string, namespaceId: string): FileStateStore => {
  const folder = join(config, 'synced', digest(server), digest(namespaceId))
  const fileOf = (path: string) => join(folder, `${digest(path)}.json`)
  return {
    read: async (path) => {
      const { data } = FileState.safeParse(await readJson(fileOf(path)))
      return data?.path === path ? data : undefined
    },
    write: (state) =>
      writePrivateFile(
        fileOf(state.path),
        JSON.stringify({ ...state, fields: [...state.fields], messages: [...state.messages] }),
      ),
  }
}

/** The stamp of a file as it is now. Throws what `stat` throws. */
export const readStamp = async (path: string, { id, version }: Agent): Promise<Stamp> => {
  const { ino, size, mtimeNs } = await stat(path, { bigint: true })
  return { inode: `${ino}`, size: Number(size), mtimeNs: `${mtimeNs}`, parser: `${id}/${version}` }
}

export const isSameStamp = (a: Stamp | undefined, b: Stamp): boolean =>
  a?.inode === b.inode && a.size === b.size && a.mtimeNs === b.mtimeNs && a.parser === b.parser
