import { isResumable } from '../../base/resumable.ts'
import { shellWord } from '../../base/escape.ts'
import { agentName } from '../../transcript/agent-names.ts'
import { icon } from '../../transcript/html/icons.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { clientHtml } from './commands.ts'
import { namespacePath, tracePath } from './links.ts'
import type { Page } from './page.ts'
import { crumbTitle } from './trace-actions.ts'

/** A trace that may be continued. */
export type ContinuedTrace = { readonly slug: string; readonly externalId: string; readonly agentId: string }

/** Whether `tracebook resume` can write the session anew. */
export const canGoOn = ({ agentId }: Pick<ContinuedTrace, 'agentId'>): boolean => isResumable(agentId)

/** Where the service is: its address as commands may fetch the client from it, and that by which the viewer has reached it. */
export type Addresses = { readonly service: string | undefined; readonly address: string }

/** The words of the command that writes a session anew, up to a message if one is given. */
const resumeWords = (address: string, { slug, externalId }: ContinuedTrace, at?: string): string =>
  `resume ${shellWord(`${address}${tracePath(slug, externalId)}`)}${at === undefined ? '' : ` --at ${shellWord(at)}`}`

const howTo = (agentId: string): Html =>
  markup`<p>Run it in the folder to work in. It writes the conversation as a new session of ${agentName(agentId)!}, and prints the command that goes on with it.</p>\n`

/** The button in the head of a session's page, with the command that continues the session. Scripts add the message to it. */
export const continueMenu = ({ service, address, ...trace }: ContinuedTrace & Addresses): Html =>
  canGoOn(trace)
    ? markup`<button class="btn" type="button" popovertarget="continue">${icon('terminal')}Continue</button><div class="menu" id="continue" popover aria-label="Continue"><h2>Continue this session</h2>${clientHtml(service, resumeWords(address, trace))}${howTo(trace.agentId)}</div>`
    : none

type ContinueView = ContinuedTrace &
  Addresses & {
    readonly title: string
    /** The message up to which the session is continued, and the beginning of its text. */
    readonly message: { readonly id: string; readonly text: string } | undefined
    readonly isPublic: boolean
  }

/** `/@{slug}/{externalId}/-/continue`: the command that continues a session, for a browser without scripts also from a message. */
export const continuePage = ({ service, address, title, message, isPublic, ...trace }: ContinueView): Page => {
  const { slug, externalId, agentId } = trace
  const words = resumeWords(address, trace, message?.id)
  const other = agentId === 'codex' ? 'claude-code' : 'codex'
  const quote =
    message && message.text !== ''
      ? markup`<div class="prose"><blockquote dir="auto">${message.text}</blockquote></div>\n`
      : none
  const cut = message ? markup`<p>What came after this message is left out.</p>\n` : none
  const login = isPublic
    ? none
    : markup`<section><h2 class="day">On a machine without a login</h2>
${clientHtml(service, `login --server ${address}`)}</section>\n`
  return {
    title: `Continue ${crumbTitle(title)}`,
    name: 'trace-continue',
    heading: markup`<nav class="crumbs" aria-label="Where this is"><a href="${namespacePath(slug)}"><bdi>@${slug}</bdi></a><span>/</span><a href="${tracePath(slug, externalId, message?.id)}" dir="auto">${crumbTitle(title)}</a></nav>
<h1>${message ? 'Continue from here' : 'Continue this session'}</h1>
`,
    content: markup`${quote}${clientHtml(service, words)}<div class="prose">${howTo(agentId)}${cut}</div>
<section><h2 class="day">To go on in ${agentName(other)!}</h2>
${clientHtml(service, `${words} --in ${other}`)}</section>
${login}`,
  }
}
