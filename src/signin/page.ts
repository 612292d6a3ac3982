import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  main { max-width: 34rem; margin: 15vh auto; padding: 0 1.5rem }
  code { display: block; padding: 1rem; border: 1px solid; border-radius: .5rem; overflow-wrap: anywhere; user-select: all }
`

const styleHash = createHash('sha256').update(style).digest('base64')
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Text as it may stand in a page. */
const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!)

const page = (title: string, content: string) => `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)} · Tracebook</title>
<style>${style}</style>
<main><h1>${escaped(title)}</h1>${content}</main>
</html>
`

const send = (reply: FastifyReply, html: string) =>
  reply
    .headers({ 'content-security-policy': policy, 'cache-control': 'no-store' })
    .type('text/html; charset=utf-8')
    .send(html)

/** Shows the code that completes a sign-in, for who cannot be sent back with it. */
export const sendCodePage = (reply: FastifyReply, code: string, deviceName: string | undefined): FastifyReply => {
  const place = deviceName === undefined ? 'where you began to sign in' : `on ${escaped(deviceName)}`
  const warning = 'Did somebody else send you here? Close this page: with this code they would act in your name.'
  return send(
    reply,
    page('Almost signed in', `<p>Enter this code ${place}:</p><code>${escaped(code)}</code><p>${warning}</p>`),
  )
}

/** Says to a person what went wrong. The status is set already. */
export const sendProblemPage = (reply: FastifyReply, message: string): FastifyReply =>
  send(reply, page('Not signed in', `<p>${escaped(message)}</p>`))
