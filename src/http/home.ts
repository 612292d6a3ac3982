import type { FastifyInstance } from 'fastify'
import { homePage } from '../pages/home.ts'
import { sendPage, wantsPage } from '../pages/page.ts'
import { notFound } from './http-error.ts'
import { addVary } from './reply.ts'
import type { HttpConfig } from './settings.ts'

/** `GET /`: the first page, for a browser. A program gets 404. */
export const homeRoute = (app: FastifyInstance, { PUBLIC_URL }: Pick<HttpConfig, 'PUBLIC_URL'>): void => {
  app.get('/', { config: { auth: 'none', htmlPage: true } }, async (request, reply) => {
    if (!wantsPage(request)) throw notFound()
    addVary(reply, 'accept')
    return sendPage(reply, homePage(PUBLIC_URL?.replace(/\/$/, '') ?? `${request.protocol}://${request.host}`))
  })
}
