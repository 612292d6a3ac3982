import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Api, Body, Call, Entry, ProviderAnswer, Tool } from './apis/api.ts'
import { chat } from './apis/chat.ts'
import { gemini } from './apis/gemini.ts'
import { responses } from './apis/responses.ts'
import { scenes, type Turn } from './scenes.ts'
import { callFor } from './tools.ts'

/** A provider of models on loopback, whose answers are scripted: it speaks the APIs by which the agents' programs ask theirs. */

const APIS = [chat, responses, gemini]

type Place = { readonly scene: string; readonly turn: number }

/** The scene of the newest prompt that names one, and how many answers have followed it. */
const placeIn = (history: readonly Entry[]): Place | undefined => {
  for (const [i, { from, text }] of [...history.entries()].reverse()) {
    const scene = from === 'user' && [...text.matchAll(/\[\[(\w+)\]\]/g)].at(-1)?.[1]
    if (!scene || !scenes[scene]) continue
    const after = history.slice(i + 1)
    // An answer of several items is one answer.
    const turn = after.filter(({ from: sender }, at) => sender === 'model' && after[at - 1]?.from !== 'model').length
    return { scene, turn }
  }
  return undefined
}

type Planned = { readonly turn: Turn; readonly calls: readonly Omit<Call, 'id'>[] }

const plan = (turns: readonly Turn[], tools: readonly Tool[], folder: string): readonly Planned[] =>
  turns.flatMap((turn) => {
    const { text, actions = [] } = turn
    const calls = actions.flatMap((action) => {
      const call = callFor(action, tools, folder)
      return call ? [{ action, ...call }] : []
    })
    return text || calls.length > 0 ? [{ turn, calls }] : []
  })

/** What agents ask for beside a conversation, such as a title or what to do next, is answered by this. */
const BESIDE: Planned = { turn: { text: 'A title of the provider' }, calls: [] }

const send = (response: ServerResponse, status: number, body: object) => {
  response.writeHead(status, { 'content-type': 'application/json' })
  response.end(JSON.stringify(body))
}

/**
 * Starts it for an agent that works in `folder`. `answers`: what it has answered in scenes. `refused`: how many prompts it has refused.
 */
export const startProvider = async (folder: string) => {
  const answers: ProviderAnswer[] = []
  const asked: Body[] = []
  let [number, refused] = [0, 0]

  const answerTo = (api: Api, body: Body, path: string): ProviderAnswer | undefined => {
    const tools = api.toolsOf(body)
    const place = tools.length === 0 ? undefined : placeIn(api.historyOf(body))
    const turns = place && scenes[place.scene]!
    if (turns?.length === 0) return void refused++
    number++
    const planned = turns && plan(turns, tools, folder)[place.turn]
    const { turn, calls } = planned ?? BESIDE
    const answer = {
      number,
      model: api.modelOf(body, path),
      ...(turn.text && { text: turn.text }),
      ...(turn.thinking && { thinking: turn.thinking }),
      calls: calls.map((call, i) => ({ ...call, id: `call_${number}_${i}` })),
      tokens: { input: 1_000 + number, cached: 2_000 + number, output: 50 + number, thinking: 10 + number },
    }
    if (planned) answers.push(answer)
    return answer
  }

  const handle = async (request: IncomingMessage, response: ServerResponse) => {
    const { pathname } = new URL(request.url ?? '', 'http://provider')
    const api = request.method === 'POST' && APIS.find(({ path }) => path.test(pathname))
    if (pathname.endsWith(':countTokens')) return send(response, 200, { totalTokens: 1_234 })
    if (!api) return send(response, 404, { error: { message: 'The provider has no such path.' } })
    const body = (await json(request)) as Body
    asked.push(body)
    const answer = answerTo(api, body, pathname)
    if (!answer) {
      const error = { type: 'invalid_request_error', code: 400, message: 'The provider refuses this prompt.' }
      return send(response, 400, { error })
    }
    const { whole, events } = api.write(answer)
    if (!api.isStream(body, pathname)) return send(response, 200, whole)
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (const { event, data } of events) {
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      response.write(`${event ? `event: ${event}\n` : ''}data: ${text}\n\n`)
    }
    response.end()
  }

  const server = createServer((request, response) => {
    handle(request, response).catch((error: Error) => send(response, 500, { error: { message: error.message } }))
  })
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    answers,
    /** The bodies of all requests. */
    asked,
    refused: () => refused,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

export type Provider = Awaited<ReturnType<typeof startProvider>>
