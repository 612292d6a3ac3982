import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { z } from 'zod'
import type { BodyOf, DataOf, PathOf, QueryOf, Route } from '../../contract/route.ts'
import { checkedByReadBody } from './body.ts'
import type { BodyReader } from './json-body.ts'
import type { JsonText, JsonTexts } from './json-text.ts'
import { ok, okText, okTexts } from './reply.ts'

/** The body as handlers get it: bytes are a Buffer. */
type BodyHere<R extends Route> = R['body'] extends { readonly is: 'bytes' } ? Buffer | undefined : BodyOf<R>

/** A request to a route of the contract: its parameters and its body are checked. */
export type RouteRequest<R extends Route, Body = BodyHere<R>> = FastifyRequest<{
  Params: PathOf<R>
  Querystring: QueryOf<R>
  Body: Body
}>

/** The result of a handler: the data of the answer, its JSON text (also in parts), or the reply if the handler has sent the answer. */
type Result<R extends Route> = DataOf<R> | JsonText<DataOf<R>> | JsonTexts<DataOf<R>> | FastifyReply

type Handler<R extends Route, Body> = (
  request: RouteRequest<R, Body>,
  reply: FastifyReply,
) => Promise<Result<R>> | Result<R>

/** How the service reads a request: limits and hooks of the route, and how the body is checked. Clients need not know it. */
type Reading<Body> = Pick<RouteShorthandOptions, 'bodyLimit' | 'config' | 'onRequest' | 'validatorCompiler'> & {
  /** Parses and checks the body instead of its schema; the handler gets its result. */
  readonly readBody?: BodyReader<Body>
}

/** Fastify's options of a route of the contract: who may call it, and the schemas by which a request is checked. */
export const optionsOf = ({ auth, path, query, body }: Route) => ({
  config: { auth },
  schema: {
    ...(path ? { params: z.object(path) } : {}),
    ...(query ? { querystring: z.object(query) } : {}),
    ...(body && body.is !== 'bytes' ? { body: body.schema } : {}),
  },
})

/** Answers with the result of a handler. */
const answerWith = async (reply: FastifyReply, result: unknown): Promise<FastifyReply> => {
  const answer = await result
  // A reply resolves to undefined once its answer has been sent.
  if (answer === undefined) return reply
  if (typeof answer === 'string') return okText(reply, answer)
  return Array.isArray(answer) ? okTexts(reply, answer as readonly string[]) : ok(reply, answer as object)
}

/** Serves a route of the contract. */
export const route = <Key extends string, A extends Readonly<Record<Key, Route>>, Body = BodyHere<A[Key]>>(
  app: FastifyInstance,
  api: A,
  key: Key & keyof A,
  handler: Handler<A[Key], Body>,
  { readBody, ...reading }: Reading<Body> = {},
): void => {
  const [method = '', path = ''] = key.split(' ')
  const { config, schema } = optionsOf(api[key])
  app.route({
    ...reading,
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { ...config, ...(readBody ? { readBody } : {}), ...reading.config },
    ...(readBody ? { validatorCompiler: checkedByReadBody } : {}),
    schema,
    handler: (request, reply) => {
      const answer = handler(request as unknown as RouteRequest<A[Key], Body>, reply) as unknown
      return answer === reply ? undefined : answerWith(reply, answer)
    },
  })
}
