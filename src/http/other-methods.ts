import type { FastifyInstance } from 'fastify'
import { HttpError } from './http-error.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/**
 * Takes note of all routes from here on. What it returns has the paths of these answer other methods with 405 and an `Allow` header, before
 * anything else is asked; `OPTIONS` is answered for every path.
 */
export const refuseOtherMethods = (app: FastifyInstance): (() => void) => {
  const known = new Map<string, Set<string>>()
  app.addHook('onRoute', ({ url, method }) => {
    const methods = known.get(url) ?? new Set()
    for (const one of [method].flat()) methods.add(one)
    known.set(url, methods)
  })

  return () => {
    for (const [url, methods] of [...known]) {
      const others = METHODS.filter((method) => !methods.has(method))
      if (url.includes('*') || others.length === 0) continue
      const allow = [...METHODS.filter((method) => methods.has(method)), 'OPTIONS'].join(', ')
      app.route({
        url,
        method: others,
        config: { auth: 'none' },
        schema: { hide: true },
        onRequest: async ({ method }, reply) => {
          reply.header('allow', allow)
          throw new HttpError('method_not_allowed', `This address takes ${allow}, and not ${method}`)
        },
        handler: async () => {},
      })
    }
  }
}
