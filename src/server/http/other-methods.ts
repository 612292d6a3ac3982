import type { FastifyInstance } from 'fastify'
import { HttpError } from './http-error.ts'

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

/** Whether a path of one route may be one of another route, too: a message may have the id `batch`. */
const isAlso = (url: string, other: string): boolean => {
  const [own, others] = [url.split('/'), other.split('/')]
  return own.length === others.length && own.every((part, i) => part === others[i] || others[i]!.startsWith(':'))
}

/**
 * Notes all routes that are registered later. The returned function makes their paths answer other methods with 405 and an
 * `Allow` header, before authentication. `OPTIONS` is answered for every path.
 */
export const refuseOtherMethods = (app: FastifyInstance): (() => void) => {
  const known: { readonly url: string; readonly method: string | string[] }[] = []
  app.addHook('onRoute', ({ url, method }) => void known.push({ url, method }))

  const allowedAt = (url: string) => {
    const methods = new Set(known.filter((one) => isAlso(url, one.url)).flatMap(({ method }) => method))
    return METHODS.filter((method) => methods.has(method))
  }

  return () => {
    const paths = new Map([...new Set(known.map(({ url }) => url))].map((url) => [url, allowedAt(url)]))
    for (const [url, allowed] of paths) {
      const others = METHODS.filter((method) => !allowed.includes(method))
      if (url.includes('*') || others.length === 0) continue
      const allow = [...allowed, 'OPTIONS'].join(', ')
      app.route({
        url,
        method: others,
        config: { auth: 'none' },
        onRequest: async ({ method }, reply) => {
          reply.header('allow', allow)
          throw new HttpError('method_not_allowed', `This path takes ${allow}, not ${method}`)
        },
        handler: async () => {},
      })
    }
  }
}
