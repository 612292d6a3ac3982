/**
 * Clients of one net that subscribe to much, a hundred times over, on a thread of their own: it is not the service's time that they take.
 * Tells how many values they have got when asked.
 */
import { parentPort, workerData } from 'node:worker_threads'
import { WebSocket } from 'ws'

const { address, tokens, sockets } = workerData as { address: string; tokens: readonly string[]; sockets: number }
const NET = '127.0.0.2'
let got = 0

const open = (i: number) => {
  const headers = { authorization: `Bearer ${tokens[i % tokens.length]}` }
  const socket = new WebSocket(address, { headers, localAddress: NET, perMessageDeflate: false })
  const say = (id: string, query: string, args: object) =>
    socket.send(JSON.stringify({ type: 'subscribe', id, query, args }))
  socket.on('error', () => {}).on('message', () => (got += 1))
  socket.on('open', () => {
    for (let j = 0; j < 60; j++) say(`${j} ${i}`.padEnd(200), 'feed:getPublicTraces', { limit: 1_000 - (j % 3) })
    for (let j = 0; j < 40; j++) say(`m${j} ${i}`, 'traces:getMessages', { externalId: 'shown', includeParts: true })
  })
  socket.on('close', () => setTimeout(() => open(i), 500).unref())
}

for (let i = 0; i < sockets; i++) open(i)
parentPort!.on('message', () => parentPort!.postMessage(got))
