import { randomUUID } from 'node:crypto'
import { webMessages } from './web-corpus.ts'
import type { World } from './world.ts'

export type PublicTrace = { readonly path: string; readonly api: string; readonly authorization: string }

const filled = new Map<string, PublicTrace>()

/** The page of a public trace of so many messages, as a user uploads it; in each service one. */
export const publicTrace = async (world: World, count: number): Promise<PublicTrace> => {
  const key = `${world.url} ${count}`
  const found = filled.get(key)
  if (found) return found
  const { authorization, slug } = await world.signIn(`web-${count}`)
  const id = randomUUID()
  const api = `/v1/traces/${id}`
  await world.call('PUT', api, authorization, { title: 'Repair the parser', visibility: 'public' })
  for (let from = 0; from < count; from += 200) {
    const messages = webMessages(Math.min(200, count - from), from)
    const { status, text } = await world.call('POST', `${api}/messages/batch`, authorization, { messages })
    if (status !== 200) throw new Error(`batch: ${status} ${text}`)
  }
  const trace = { path: `/@${slug}/${id}`, api, authorization }
  filled.set(key, trace)
  return trace
}
