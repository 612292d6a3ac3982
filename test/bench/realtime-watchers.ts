/**
 * Clients that subscribe to the public feed, in a process of their own, so that the time they take is not taken for the
 * service's. Arguments: the address, and how many. Sends its parent `ready`, then answers each `{written, at}`, the number
 * of a trace and when its write was answered, with the milliseconds from then to each client's value that shows the trace.
 */
import { WebSocket } from 'ws'

const [url = '', count = '1000'] = process.argv.slice(2)
const now = () => performance.timeOrigin + performance.now()

/** For each client, the newest trace that it was shown, and since when. */
const shown: { number: number; at: number }[] = []
const waiting: { written: number; at: number }[] = []

const tell = () => {
  for (let next = waiting[0]; next && shown.every(({ number }) => number >= next!.written); next = waiting[0]) {
    const { at } = waiting.shift()!
    process.send?.({ times: shown.map((one) => Math.max(0, one.at - at)) })
  }
}

const watch = async (i: number) => {
  const socket = new WebSocket(`${url.replace('http', 'ws')}/v1/realtime`, { perMessageDeflate: false })
  shown[i] = { number: -1, at: 0 }
  socket.on('message', (data: Buffer) => {
    // The newest trace comes first.
    const number = Number(/"title":"number (\d+)"/.exec(data.toString('latin1', 0, 1_000))?.[1] ?? -1)
    if (number > shown[i]!.number) shown[i] = { number, at: now() }
    tell()
  })
  await new Promise((resolve, reject) => socket.once('open', resolve).once('error', reject))
  socket.send(JSON.stringify({ type: 'subscribe', id: 'feed', query: 'feed:getPublicTraces', args: {} }))
}

for (let i = 0; i < Number(count); i += 50) await Promise.all(Array.from({ length: 50 }, (_, k) => watch(i + k)))
process.on('message', (written: { written: number; at: number }) => {
  waiting.push(written)
  tell()
})
process.send?.('ready')
