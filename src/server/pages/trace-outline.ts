import { type IconName, icon } from '../../transcript/html/icons.ts'
import type { Child } from '../../transcript/html/links.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { counted } from '../../transcript/html/output.ts'

const sessionsHtml = (heading: string, name: IconName, sessions: readonly Child[]): Html =>
  sessions.length === 0
    ? none
    : markup`<hr><h2>${heading} <span class="faint num">${sessions.length}</span></h2><div class="files">${sessions.map(
        ({ path, title }) => markup`<a href="${path}">${icon(name)}<bdi>${title}</bdi></a>`,
      )}</div>`

/** The sub-agents of a session, and the sessions in which it goes on, below its outline. */
export const relatedHtml = (children: readonly Child[], continuations: readonly Child[]): Html =>
  markup`${sessionsHtml('Sub-agents', 'sub-agent', children)}${sessionsHtml('Continued in', 'branch', continuations)}`

/** The number of prompts that the outline leaves out. */
export const morePrompts = (count: number): Html =>
  count === 0 ? none : markup`<li><span class="faint">${counted(count, 'more prompt')}</span></li>`
