import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { digest } from '../digest.ts'
import { readJson } from '../private-files.ts'
import type { SessionState, StoredMessage } from './session-states.ts'

const Digests = z.array(z.tuple([z.string(), z.string()]))

/** The stamp of a session with the version of the parser that read it. At first it was an object, for files only. */
const Stamp = z.union([
  z.string(),
  z
    .object({ inode: z.string(), size: z.int(), mtimeNs: z.string(), parser: z.string() })
    .transform(({ inode, size, mtimeNs, parser }) => `${parser} ${inode} ${size} ${mtimeNs}`),
])

/** How versions before 0.2 stored what was sent of a session: a JSON file for each, in the folder of settings. */
const OlderState = z.object({
  path: z.string(),
  stamp: Stamp.optional(),
  sessionId: z.string(),
  externalId: z.string(),
  stored: z.boolean(),
  fields: Digests,
  messages: Digests,
})

type Place = { readonly server: string; readonly namespaceId: string }
type ReadOlderState = SessionState & { readonly messages: readonly StoredMessage[] }

const folderOf = (config: string, { server, namespaceId }: Place) =>
  join(config, 'synced', digest(server), digest(namespaceId))

/** The state that older versions have stored about a place, without damaged entries. */
export async function* readOlderStates(config: string, place: Place): AsyncGenerator<ReadOlderState> {
  const folder = folderOf(config, place)
  for (const name of await readdir(folder).catch(() => [])) {
    const { data } = OlderState.safeParse(name.endsWith('.json') ? await readJson(join(folder, name)) : undefined)
    if (!data) continue
    const { path: source, fields, messages, stored, ...rest } = data
    const agentId = rest.stamp?.slice(0, rest.stamp.indexOf('/'))
    // The state of an interrupted upload does not name the agent: its session is compared with the service.
    if (!agentId) continue
    yield {
      ...rest,
      agentId,
      status: stored ? 'stored' : 'new',
      source,
      fields: new Map(fields),
      messages: messages.map(([externalId, text]) => ({ externalId, digest: Buffer.from(text, 'base64url') })),
    }
  }
}

export const removeOlderStates = (config: string, place: Place): Promise<void> =>
  rm(folderOf(config, place), { recursive: true, force: true })
