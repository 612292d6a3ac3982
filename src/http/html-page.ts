import { createHash } from 'node:crypto'
import type { FastifyReply } from 'fastify'

const style = `
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  main { max-width: 36rem; margin: 12vh auto; padding: 0 1.5rem }
  dt { margin-top: .75rem; opacity: .75 }
  dd { margin: 0; font-weight: 600; overflow-wrap: anywhere }
  button { margin: 1rem 1rem 0 0; padding: .5rem 1.25rem; font: inherit }
  pre, p > code { display: block; padding: 1rem; border: 1px solid; border-radius: .5rem; overflow-wrap: anywhere; user-select: all }
`

const styleHash = createHash('sha256').update(style).digest('base64')
const policyOf = (formAction: string) =>
  `default-src 'none'; style-src 'sha256-${styleHash}'; base-uri 'none'; form-action ${formAction}; frame-ancestors 'none'`

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Escapes text for HTML. */
export const escaped = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character]!)

export type HtmlPage = {
  readonly title: string
  /** HTML. */
  readonly content: string
  /** The `form-action` of the Content-Security-Policy. Default: no forms. */
  readonly formAction?: string
}

/** Sends a small page that loads nothing and runs no scripts. The caller sets the status. */
export const sendHtmlPage = (reply: FastifyReply, { title, content, formAction = "'none'" }: HtmlPage): FastifyReply =>
  reply.header('content-security-policy', policyOf(formAction)).type('text/html; charset=utf-8').send(`<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escaped(title)}${title === 'Tracebook' ? '' : ' · Tracebook'}</title>
<style>${style}</style>
<main><h1>${escaped(title)}</h1>${content}</main>
</html>
`)
