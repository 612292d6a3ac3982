import { randomUUID } from 'node:crypto'
import { messages } from './corpus.ts'
import type { World } from './world.ts'

const COUNT = 50_000
const LOOK_MS = 100

type Trace = { readonly path: string; readonly authorization: string }

const send = (world: World, { path, authorization }: Trace, mark: string) =>
  world.upload(path, authorization, COUNT, (count, first) =>
    messages(count, first).map((message) => ({ ...message, ...(mark === '' ? {} : { textContent: mark }) })),
  )

/** Reads a whole list: milliseconds to the first byte and to the last, and how much memory the service took at most. */
const read = async (world: World, { path, authorization }: Trace, query: string) => {
  const started = performance.now()
  const response = await fetch(`${world.url}${path}/messages?includeParts=true${query}`, { headers: { authorization } })
  let [first, most, looked] = [0, 0, 0]
  for await (const _ of response.body!) {
    first ||= performance.now() - started
    if (performance.now() - looked < LOOK_MS) continue
    looked = performance.now()
    most = Math.max(most, await world.memoryMb())
  }
  if (!response.ok) throw new Error(`list: ${response.status}`)
  return { first, whole: performance.now() - started, most: Math.max(most, await world.memoryMb()) }
}

const lastRevision = async (world: World, { path, authorization }: Trace): Promise<number> =>
  JSON.parse(await world.ask('GET', `${path}/messages?limit=0`, authorization)).data.revision

/**
 * The messages of a trace of 50,000 as they were: after nothing, half of them or all have changed since. Beside the list of
 * the present, in milliseconds to the first byte and to the last, and the service's memory in megabytes.
 */
export const timeTravel = async ({ world }: { world: World }) => {
  const { authorization } = await world.signIn('time-travel')
  const trace = { path: `/v1/traces/${randomUUID()}`, authorization }
  await world.call('PUT', trace.path, authorization, {})
  await send(world, trace, '')
  const revision = await lastRevision(world, trace)
  await read(world, trace, '')
  const present = await read(world, trace, '')
  const same = await read(world, trace, `&revision=${revision}`)
  await send(world, trace, 'changed')
  const half = await read(world, trace, `&revision=${Math.floor(revision / 2)}`)
  const all = await read(world, trace, `&revision=${revision}`)
  return Object.entries({ same, half, all }).flatMap(([name, past]) => [
    { name: `time-travel ${name} first`, unit: 'ms', value: past.first, yardstick: present.first },
    { name: `time-travel ${name}`, unit: 'ms', value: past.whole, yardstick: present.whole },
    { name: `time-travel ${name} memory`, unit: 'MB', value: past.most, yardstick: present.most },
  ])
}
