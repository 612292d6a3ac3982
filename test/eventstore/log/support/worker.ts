import { numbered } from './events.ts'
import { type Open } from './world.ts'

/** Another process on the same log. It writes to streams of its own, and prints acknowledged writes as one JSON a line. */
const [module, place, prefix, rounds] = process.argv.slice(2) as [string, string, string, string]
const { open } = (await import(module)) as { open: Open }
const log = open(place, {})

const writer = async (name: number) => {
  const stream = `${prefix}-${process.pid}-${name}`
  for (let at = 0n; at < BigInt(rounds); at++) {
    const events = numbered(2)
    const { revision, position } = await log.append(stream, at === 0n ? 'none' : at * 2n - 1n, events)
    console.log(JSON.stringify({ stream, revision: `${revision}`, position: `${position}`, id: events[1]!.id }))
  }
}

await Promise.all([0, 1, 2, 3].map(writer))
await log.close()
