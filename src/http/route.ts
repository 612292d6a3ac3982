import type { FastifyInstance, FastifyReply, FastifyRequest, RouteShorthandOptions } from 'fastify'
import { z } from 'zod'
import { errors } from '../contract/errors.ts'
import { type BodyOf, type DataOf, FORM_TYPE, type PathOf, type QueryOf, type Route } from '../contract/route.ts'
import type { JsonText } from './json-text.ts'
import { answers, failures, ok, okText } from './reply.ts'

/** A request to a route of the contract: its parameters and its body are checked. */
export type RouteRequest<R extends Route> = FastifyRequest<{
  Params: PathOf<R>
  Querystring: QueryOf<R>
  Body: R['body'] extends { readonly is: 'bytes' } ? Buffer | undefined : BodyOf<R>
}>

/** What a handler gives: the data of the answer, its JSON text, or the reply where it has sent the answer itself. */
type Given<R extends Route> = DataOf<R> | JsonText<DataOf<R>> | FastifyReply

type Handler<R extends Route> = (request: RouteRequest<R>, reply: FastifyReply) => Promise<Given<R>> | Given<R>

/** How the service reads a request, which clients need not know: its limits and hooks, and who checks the body. */
type Reading = Pick<RouteShorthandOptions, 'bodyLimit' | 'config' | 'onRequest' | 'validatorCompiler'>

const bodyOf = ({ body }: Route) => {
  switch (body?.is) {
    case undefined:
      return {}
    case 'json':
      return { body: body.schema }
    case 'form':
      return { body: body.schema, consumes: [FORM_TYPE] }
    case 'bytes':
      return { consumes: body.types }
  }
}

const answersOf = ({ answer, errors: codes = [] }: Route) => {
  const statuses = codes.map((code) => errors[code])
  if (answer.is === 'json') return { response: answers(answer.data, ...statuses) }
  return { produces: answer.types, response: { ...answer.statuses, ...failures(statuses) } }
}

const isReply = (given: unknown, reply: FastifyReply): given is FastifyReply => given === reply

/** Serves a route of the contract. */
export const route = <Key extends string, A extends Readonly<Record<Key, Route>>>(
  app: FastifyInstance,
  api: A,
  key: Key & keyof A,
  handler: Handler<A[Key]>,
  reading: Reading = {},
): void => {
  const [method = '', path = ''] = key.split(' ')
  const given: Route = api[key]
  const { id, tag, summary, description, auth, path: params, query } = given
  const schema = {
    ...(id === undefined ? {} : { operationId: id }),
    tags: [tag],
    summary,
    description,
    ...(params ? { params: z.object(params) } : {}),
    ...(query ? { querystring: z.object(query) } : {}),
    ...bodyOf(given),
    ...answersOf(given),
  }
  app.route({
    ...reading,
    method,
    url: path.replaceAll(/\{(\w+)\}/g, ':$1'),
    config: { auth, ...reading.config },
    schema,
    handler: async (request, reply) => {
      const answer = await handler(request as unknown as RouteRequest<A[Key]>, reply)
      if (isReply(answer, reply)) return reply
      return typeof answer === 'string' ? okText(reply, answer) : ok(reply, answer as object)
    },
  })
}
