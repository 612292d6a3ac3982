import { createHash } from 'node:crypto'
import type { FastifyInstance } from 'fastify'
import { command } from '../command.ts'
import { notFound } from './errors.ts'

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  main { max-width: 38rem; margin: 12vh auto; padding: 0 1.5rem }
  pre { padding: 1rem; border: 1px solid; border-radius: .5rem; overflow-x: auto }
`
const styleHash = createHash('sha256').update(style).digest('base64')
const policy = `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'`

const page = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Tracebook</title>
<style>${style}</style>
<main>
<h1>Tracebook</h1>
<p>This service stores the recorded sessions of AI coding agents. Make your machine known to it, then bring in your sessions:</p>
<pre><code>${command} login
${command} sync</code></pre>
<ul>
<li><a href="/docs">Reference of the API</a>, also as <a href="/openapi.json">OpenAPI</a></li>
<li><a href="/v1/feed">The public feed</a>, as JSON</li>
<li><a href="/health/ready">Whether the service is ready</a></li>
</ul>
</main>
</html>
`

/** For a browser that opens the address of the service; a program is told that nothing is there. */
export const homeRoute = (app: FastifyInstance): void => {
  app.get('/', { config: { auth: 'none', page: true }, schema: { hide: true } }, async ({ headers }, reply) => {
    const known = reply.getHeader('vary')
    reply.header('vary', known === undefined ? 'accept' : `${String(known)}, accept`)
    if (headers.accept?.includes('text/html') !== true) throw notFound()
    return reply.header('content-security-policy', policy).type('text/html; charset=utf-8').send(page)
  })
}
