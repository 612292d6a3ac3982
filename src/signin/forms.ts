import type { FastifyInstance } from 'fastify'
import { FORM_TYPE } from '../contract/route.ts'

const FORM_BYTES = 4 * 1024

/**
 * Lets the routes of a scope accept forms. Other routes do not, because any site can make a browser post a form without a CORS
 * preflight; so each of these routes has to check which page the form comes from.
 */
export const acceptForms = (scope: FastifyInstance): void =>
  void scope.addContentTypeParser(FORM_TYPE, { parseAs: 'string', bodyLimit: FORM_BYTES }, (_request, body, done) =>
    done(null, Object.fromEntries(new URLSearchParams(String(body)))),
  )
