import type { FastifyInstance } from 'fastify'
import { notFound } from './http-error.ts'
import { escaped, sendHtmlPage } from './html-page.ts'
import { addVary } from './reply.ts'
import type { HttpConfig } from './settings.ts'

const contentFor = (server: string) => `
<p>This service stores the recorded sessions of AI coding agents. Make your machine known to it, then bring in your sessions:</p>
<pre><code>tracebook login --server ${escaped(server)}
tracebook sync</code></pre>
<p>The program <code>tracebook</code> comes with the source of Tracebook. In a clone of it, run <code>npm ci</code>, then <code>npx tracebook</code>
in the place of <code>tracebook</code>; or have it everywhere by <code>npm pack &amp;&amp; npm install --global ./tracebook-*.tgz</code>.</p>
<ul>
<li><a href="/docs">Reference of the API</a>, also as <a href="/openapi.json">OpenAPI</a></li>
<li><a href="/v1/feed">The public feed</a>, as JSON</li>
<li><a href="/health/ready">Whether the service is ready</a></li>
</ul>`

/** For a browser that opens the address of the service; a program is told that nothing is there. */
export const homeRoute = (app: FastifyInstance, { PUBLIC_URL }: Pick<HttpConfig, 'PUBLIC_URL'>): void => {
  app.get('/', { config: { auth: 'none', htmlPage: true } }, async (request, reply) => {
    const { headers, protocol, host } = request
    addVary(reply, 'accept')
    if (headers.accept?.includes('text/html') !== true) throw notFound()
    const server = PUBLIC_URL?.replace(/\/$/, '') ?? `${protocol}://${host}`
    return sendHtmlPage(reply, { title: 'Tracebook', content: contentFor(server) })
  })
}
