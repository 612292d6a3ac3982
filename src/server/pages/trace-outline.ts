import { icon } from '../../transcript/html/icons.ts'
import type { Child } from '../../transcript/html/links.ts'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { counted } from '../../transcript/html/output.ts'

/** The sub-agents of a session, below its outline. */
export const childrenHtml = (children: readonly Child[]): Html =>
  children.length === 0
    ? none
    : markup`<hr><h2>Sub-agents <span class="faint num">${children.length}</span></h2><div class="files">${children.map(
        ({ path, title }) => markup`<a href="${path}">${icon('sub-agent')}<bdi>${title}</bdi></a>`,
      )}</div>`

/** The number of prompts that the outline leaves out. */
export const morePrompts = (count: number): Html =>
  count === 0 ? none : markup`<li><span class="faint">${counted(count, 'more prompt')}</span></li>`
