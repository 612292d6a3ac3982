import { join } from 'node:path'
import { z } from 'zod'
import type { Agent, StoredSession } from '../agents/agent.ts'
import { digest } from '../digest.ts'
import { readJson, writePrivateFile } from '../private-files.ts'
import type { RedactionOptions } from '../redaction/session.ts'

const Digests = z.array(z.tuple([z.string(), z.string()])).transform((pairs) => new Map(pairs))

/** The stamp of a session with the version of the parser that read it. Before version 0.2 it was an object, for files only. */
const Stamp = z.union([
  z.string(),
  z
    .object({ inode: z.string(), size: z.int(), mtimeNs: z.string(), parser: z.string() })
    .transform(({ inode, size, mtimeNs, parser }) => `${parser} ${inode} ${size} ${mtimeNs}`),
])

/**
 * What of a session has been uploaded to one namespace. `sessionId` is the session's own id, `externalId` that of its trace,
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

/** The states for one namespace of one server. One file for each session, so that an update rewrites little. */
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

/** The stamp of a session as its agent reads it now, and as secrets are taken out of it. */
export const stampOf = (
  { id, version }: Agent,
  { stamp }: StoredSession,
  redaction: Pick<RedactionOptions, 'version'> | undefined,
): string => `${id}/${version} ${stamp}${redaction?.version ?? ''}`
