import type { FastifyInstance } from 'fastify'
import { notFound } from './http-error.ts'
import { sendHtmlPage } from './html-page.ts'
import { addVary } from './reply.ts'

const content = `
<p>This service stores the recorded sessions of AI coding agents. Make your machine known to it, then bring in your sessions:</p>
<pre><code>tracebook login
tracebook sync</code></pre>
<ul>
<li><a href="/docs">Reference of the API</a>, also as <a href="/openapi.json">OpenAPI</a></li>
<li><a href="/v1/feed">The public feed</a>, as JSON</li>
<li><a href="/health/ready">Whether the service is ready</a></li>
</ul>`

/** For a browser that opens the address of the service; a program is told that nothing is there. */
export const homeRoute = (app: FastifyInstance): void => {
  app.get('/', { config: { auth: 'none', htmlPage: true }, schema: { hide: true } }, async ({ headers }, reply) => {
    addVary(reply, 'accept')
    if (headers.accept?.includes('text/html') !== true) throw notFound()
    return sendHtmlPage(reply, { title: 'Tracebook', content })
  })
}
