import type { McpHttpHandler } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mcp } from '../../contract/mcp.ts'
import { requireCaller } from '../http/caller.ts'
import { unauthorized } from '../http/http-error.ts'
import { clientOf } from '../http/node-permits.ts'
import { addressFor } from '../http/origin.ts'
import { route } from '../http/route.ts'
import { meantMessage } from './meant.ts'
import { type McpServices, sessionsOfCaller } from './sessions-of-caller.ts'
import type { Sessions } from './sessions.ts'

type Services = McpServices & { readonly config: { readonly PUBLIC_URL?: string | undefined } }

/** Loads the library of the protocol, which takes a quarter of a second, with the first request. */
const newHandler = async (sessionsOf: (request: Request) => Sessions): Promise<McpHttpHandler> => {
  const [{ createMcpHandler }, { newMcpServer }] = await Promise.all([
    import('@modelcontextprotocol/server'),
    import('./server.ts'),
  ])
  // No subscriptions: nothing changes that a client could wait for.
  return createMcpHandler(({ requestInfo }) => newMcpServer(sessionsOf(requestInfo!)), { maxSubscriptions: 0 })
}

/** A request as the library takes it; its body is passed separately. The library wants both types to be named; many clients name one of them, or any. */
const webRequest = ({ protocol, host, headers }: FastifyRequest): Request => {
  const all = Object.entries({ ...headers, accept: 'application/json, text/event-stream' })
  const given = all.flatMap(([name, value]) => (typeof value === 'string' ? [[name, value]] : []))
  return new Request(`${protocol}://${host}/mcp`, { method: 'POST', headers: given as [string, string][] })
}

/**
 * The body of an answer. To clients of the previous revision the library sends an event stream, with one event: those that do not name this type get the
 * JSON in it.
 */
const bodyOf = async (answer: Response, accept = '') => {
  const [type, text] = [answer.headers.get('content-type'), await answer.text()]
  const isUnnamed = type?.startsWith('text/event-stream') && !accept.includes('text/event-stream')
  const event = isUnnamed ? /^data: (.*)$/m.exec(text)?.[1] : undefined
  return event === undefined ? { type, text } : { type: 'application/json', text: event }
}

/** People write the address with a slash at its end, too. */
const paths = { ...mcp, 'POST /mcp/': mcp['POST /mcp'] }

/** `POST /mcp`: sessions for agents, by the Model Context Protocol. Nothing is kept between requests. */
export const mcpRoute = (app: FastifyInstance, services: Services): void => {
  const { config } = services
  const sessionsByRequest = new WeakMap<Request, Sessions>()
  let opened: Promise<McpHttpHandler> | undefined

  const sessionsFor = (request: FastifyRequest, reply: FastifyReply): Sessions =>
    sessionsOfCaller(services, {
      caller: requireCaller(request),
      client: clientOf(request),
      origin: addressFor(config, request),
      reserve: (bytes) => reply.reserveMemory(bytes),
      hasLeft: () => reply.raw.destroyed,
      onFault: (err) => request.log.error({ err }, 'a tool failed'),
    })

  const answer = async (request: FastifyRequest, reply: FastifyReply) => {
    if (requireCaller(request).via !== 'bearer') throw unauthorized()
    opened ??= newHandler((asked) => sessionsByRequest.get(asked)!)
    const { fetch } = await opened
    const asked = webRequest(request)
    sessionsByRequest.set(asked, sessionsFor(request, reply))
    const answer = await fetch(asked, { parsedBody: meantMessage(request.body) })
    const { type, text } = await bodyOf(answer, request.headers.accept)
    reply.code(answer.status).header('cache-control', 'no-store')
    if (type !== null) reply.type(type)
    return reply.send(text)
  }
  for (const key of ['POST /mcp', 'POST /mcp/'] as const) route(app, paths, key, answer, { config: { reads: true } })
}
