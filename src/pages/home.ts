import { markup } from '../transcript/html/markup.ts'
import type { Page } from './page.ts'

/** The first page of a service. `server` is its address. */
export const homePage = (server: string): Page => ({
  title: 'Tracebook',
  content: markup`<p>This service stores the recorded sessions of AI coding agents. Log in on your machine, then upload your sessions:</p>
<pre><code>tracebook login --server ${server}
tracebook sync</code></pre>
<p>The program <code>tracebook</code> comes with the source of Tracebook. In a clone of it, run <code>npm ci</code>, then
<code>npx tracebook</code> instead of <code>tracebook</code>. To install it for all folders, run
<code>npm pack &amp;&amp; npm install --global ./tracebook-*.tgz</code>.</p>
<ul>
<li><a href="/docs">Reference of the API</a>, also as <a href="/openapi.json">OpenAPI</a></li>
<li><a href="/v1/feed">The public feed</a>, as JSON</li>
<li><a href="/health/ready">Whether the service is ready</a></li>
</ul>
`,
})
