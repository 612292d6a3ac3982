import type { FastifyInstance } from 'fastify'
import { search as api } from '../../contract/search.ts'
import { route } from '../http/route.ts'
import { type SearchServices, search } from './search.ts'

/** The route of the search. The limit for callers without a session is counted by address. */
export const searchRoutes = (app: FastifyInstance, services: SearchServices): void => {
  route(app, api, 'GET /v1/search', ({ query, caller }) => search(services, query, caller), {
    config: { anonymousLimit: 'search' },
  })
}
