import { type Html, markup } from '../../transcript/html/markup.ts'
import { clientPackageAt } from '../../base/client-line.ts'
import { clientHtml, commandHtml } from './commands.ts'
import { NEW_NAMESPACE } from './links.ts'
import type { Page } from './page.ts'

/** How to get the program itself, beside the commands that fetch it each time. */
const programHtml = (service: string | undefined): Html => {
  const fetched = clientPackageAt(service)
  return fetched === undefined
    ? markup`<span>These commands work in a clone of Tracebook, after <code>npm ci</code>. To have <code>tracebook</code> in all folders:</span>
${commandHtml('npm pack && npm install --global ./tracebook-*.tgz')}`
    : markup`<span>These commands need Node.js 22.15 or later. To have <code>tracebook</code> for good, for shorter ones, and for
<code>tracebook watch install</code>, with which the system uploads for you:</span>
${commandHtml(`npm install --global ${fetched}`)}`
}

/** `/help`. `service` is the address of the service as commands may name it, `origin` the one that the viewer has reached. */
export const helpPage = (service: string | undefined, origin: string): Page => ({
  title: 'Help',
  name: 'help',
  content: markup`<section><h2 class="day">Begin</h2>
<ol class="steps"><li><span>Log in to this service.</span>${clientHtml(service, `login --server ${service ?? origin}`)}</li>
<li><span>Upload what your agents have recorded, without secrets. <code>--watch</code> goes on while they work.</span>${clientHtml(service, 'sync')}</li>
<li><span>Sign in your browser.</span>${clientHtml(service, 'open')}</li>
<li>${programHtml(service)}</li></ol></section>
<section class="prose"><h2 class="day">Who reads what</h2>
<p>A new session is private: the members of its namespace read it. <code>tracebook share ID</code>, or its own page, makes it public: then everybody
who has the link reads it, without an account. <code>tracebook unshare ID</code> takes that back at once, also from pages that are open.
<code>tracebook rm ID</code> erases a session, <code>tracebook redact ID</code> takes a secret out of it.</p></section>
<section class="prose"><h2 class="day">Teams</h2>
<p>A <a href="${NEW_NAMESPACE}">new namespace</a> holds the sessions of a team. Its admins invite people by a link, on the page of its members: whoever opens the link needs a
browser only. There they also change roles and remove members; its settings say how long sessions are kept, and its timeline who did what.</p></section>
<section class="prose"><h2 class="day">Reading</h2>
<p>The line of ticks beside a session is the session itself: a tall tick is a prompt, a grey one a call of a tool, a green one a change of
a file, a red one a call that failed. On the page of a session, the outline leads to each prompt; the time beside a message is its link.
<b>Continue</b> in its head has the command by which your own agent goes on with it, and each prompt that from there. <b>Evidence</b>, below <b>Export</b>, is a
file by which others can check what was recorded, without this service.
<a href="/search">Search</a> finds words in all sessions that you may read.
Press <kbd>?</kbd> on any page for its keys. In <a href="/settings">your settings</a> you can turn single keys off.</p></section>
<section class="prose"><h2 class="day">Programs</h2>
<p>All of this is an <a href="/docs">API</a>, also as <a href="/openapi.json">OpenAPI</a>. <code>tracebook token</code> prints a token for it.
<a href="/health/ready">Whether the service is ready</a></p></section>
`,
})
