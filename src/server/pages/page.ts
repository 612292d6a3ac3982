import type { FastifyReply, FastifyRequest } from 'fastify'
import { type Html, markup, none } from '../../transcript/html/markup.ts'
import { endOfPage, startOfPage } from './document.ts'
import { documentHeaders, pagePolicy } from './headers.ts'
import { viewerOf } from './viewer.ts'

export type Page = {
  readonly title: string
  /** The name of the page, by which scripts know it. */
  readonly name?: string
  /** HTML of the heading. Default: the title. */
  readonly heading?: Html
  /** The content below the heading. */
  readonly content: Html
  /** `thin` (default): text and forms; `wide`: lists; `two`: with `aside` as a column of its own. */
  readonly layout?: 'thin' | 'wide' | 'two'
  readonly aside?: Html
  /** The sources of `form-action`. Default: this service. */
  readonly formTargets?: string
  /** How much of the address of the page a browser sends with its form. Default: nothing. */
  readonly referrer?: 'same-origin' | 'strict-origin'
}

/** Whether a client wants to show a page: a browser that a person uses, not a program. */
export const wantsPage = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers.accept?.includes('text/html') === true

const classes = { thin: 'page thin', wide: 'page', two: 'page two' } as const

const body = ({ title, heading = markup`<h1>${title}</h1>\n`, content, layout = 'thin', aside }: Page): Html =>
  markup`<div class="${classes[layout]}"><main id="main">${heading}${content}</main>${
    aside ? markup`<aside class="aside">${aside}</aside>` : none
  }</div>
`

/** A page with little content, such as a question or an error: in the middle, with its heading. */
export const blankPage = (title: string, content: Html): Page => ({
  title,
  heading: none,
  content: markup`<div class="blank"><h1>${title}</h1>\n${content}</div>\n`,
})

/** The title of the document of a page. */
export const documentTitle = (title: string): string => (title === 'Tracebook' ? title : `${title} · Tracebook`)

/** Sends a page, which caches must not store. The caller sets the status. */
export const sendPage = (reply: FastifyReply, page: Page): FastifyReply => {
  const { title, name = 'page', formTargets, referrer: referrerPolicy = 'no-referrer' } = page
  const head = { title: documentTitle(title), name, referrerPolicy, viewer: viewerOf(reply.request) }
  return reply
    .headers({
      ...documentHeaders,
      'content-security-policy': pagePolicy(formTargets),
      'referrer-policy': referrerPolicy,
      'cache-control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(markup`${startOfPage(head)}${body(page)}${endOfPage()}`.source)
}
