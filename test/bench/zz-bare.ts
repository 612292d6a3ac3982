import { fork } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { EventStoreDBClient, NO_STREAM, START } from '@eventstore/db-client'
import { randomUUID, randomUUIDv7 } from 'node:crypto'
import { messages } from '/tmp/w/es/test/bench/corpus.ts'
import { rate } from '/tmp/w/es/test/bench/http.ts'
import { asSent } from '/tmp/w/es/src/log/eventstoredb/page.ts'
const credentials = { username: 'admin', password: 'changeit' }
const enc = new TextEncoder()
const bodies = messages(200).map((m) => JSON.stringify(m))
console.log('body bytes', bodies.reduce((s, b) => s + b.length, 0) / 200)
const cpu = (pid: number) => { const f = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' '); return (Number(f[11]) + Number(f[12])) * 10 }
const double = fork(process.argv[2] ?? '/tmp/esb/double.ts')
const [{ url }] = await once(double, 'message') as [{ url: string }]
const client = EventStoreDBClient.connectionString(url)
const ev = () => Array.from({ length: 200 }, (_, index) => ({ id: randomUUIDv7(), type: 'MessageAdded', contentType: 'application/octet-stream' as const, data: enc.encode(bodies[index]!), metadata: enc.encode(JSON.stringify({ at: Date.now(), schema: 1, append: { id: 'x', index, size: 200 } })) }))
const ends = Array.from({ length: 8 }, () => ({ s: `bench-${randomUUID()}`, at: undefined as bigint | undefined }))
for (let k = 0; k < 2; k++) {
  const [c, d] = [cpu(process.pid), cpu(double.pid!)]
  const r = await rate(8, 4000, async (i) => { const e = ends[i]!; e.at = (await client.appendToStream(e.s, ev(), { expectedRevision: e.at ?? NO_STREAM, credentials })).nextExpectedRevision; return 200 })
  const n = r * 4
  console.log('append', Math.round(r), 'client us/ev', Math.round((cpu(process.pid) - c) * 1000 / n), 'double', Math.round((cpu(double.pid!) - d) * 1000 / n))
}
{ const [c, d, t] = [cpu(process.pid), cpu(double.pid!), performance.now()]
  let n = 0
  const src = client.readAll({ fromPosition: START, credentials }, asSent); src.on('data', () => n++)
  await once(src, 'end')
  console.log('read', n, Math.round(n * 1000 / (performance.now() - t)), '/s client us/ev', Math.round((cpu(process.pid) - c) * 1000 / n), 'double', Math.round((cpu(double.pid!) - d) * 1000 / n)) }
await client.dispose(); double.kill()
