import type { FastifyInstance } from 'fastify'
import type { HttpConfig } from './settings.ts'

/** The origin of the service: that of `PUBLIC_URL`, else of the address that it listens on. */
export const originOf = (app: FastifyInstance, { PUBLIC_URL, HOST, PORT }: HttpConfig): string => {
  if (PUBLIC_URL) return new URL(PUBLIC_URL).origin
  const address = app.server.address()
  const port = typeof address === 'object' && address ? address.port : PORT
  return new URL(`http://${HOST.includes(':') ? `[${HOST}]` : HOST}:${port}`).origin
}
