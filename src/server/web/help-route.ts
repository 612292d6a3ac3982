import type { FastifyInstance } from 'fastify'
import type { HttpConfig } from '../http/settings.ts'
import { helpPage } from '../pages/help.ts'
import { sendPage } from '../pages/page.ts'
import { addressFor } from '../http/origin.ts'

/** `GET /help` */
export const helpPageRoute = (app: FastifyInstance, { config }: { readonly config: HttpConfig }): void => {
  app.get('/help', { config: { auth: 'optional', htmlPage: true } }, async (request, reply) =>
    sendPage(reply, helpPage(app.printedAddress(), addressFor(config, request))),
  )
}
