import type { FastifyReply, FastifyRequest } from 'fastify'
import { endOfDocument } from '../transcript/html/document.ts'
import { type Html, markup } from '../transcript/html/markup.ts'
import { startOfPage } from './document.ts'
import { pageHeaders, pagePolicy } from './headers.ts'

export type Page = {
  readonly title: string
  /** What stands below the title. */
  readonly content: Html
  /** The sources of `form-action`, for a page with a form. */
  readonly formTargets?: string
  /** How much of the address of the page a browser sends with its form. Default: nothing. */
  readonly referrer?: 'same-origin' | 'strict-origin'
}

/** Whether a client wants to show a page: a browser that a person uses, not a program. */
export const wantsPage = ({ headers }: Pick<FastifyRequest, 'headers'>): boolean =>
  headers.accept?.includes('text/html') === true

/** Sends a page. No cache keeps it. The caller sets the status. */
export const sendPage = (reply: FastifyReply, { title, content, formTargets, referrer }: Page): FastifyReply => {
  const referrerPolicy = referrer ?? 'no-referrer'
  const name = title === 'Tracebook' ? title : `${title} · Tracebook`
  return reply
    .headers({
      ...pageHeaders,
      'content-security-policy': pagePolicy(formTargets),
      'referrer-policy': referrerPolicy,
      'cache-control': 'no-store',
    })
    .type('text/html; charset=utf-8')
    .send(
      markup`${startOfPage(name, referrerPolicy)}<main class="page">
<h1>${title}</h1>
${content}</main>
${endOfDocument}`.source,
    )
}
