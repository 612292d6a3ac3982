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
  await world.upload(api, authorization, count, webMessages)
  const trace = { path: `/@${slug}/${id}`, api, authorization }
  filled.set(key, trace)
  return trace
}
