import type { LightMyRequestResponse } from 'fastify'
import * as assert from 'uvu/assert'
import { type Element, elementsOf, textOf } from '../transcript/support/elements.ts'
import type { App } from './open-app.ts'

type Node = Pick<App, 'app'>
type Headers = Readonly<Record<string, string>>
type Fields = Readonly<Record<string, string>>

const attributesOf = ({ attrs }: Element): Readonly<Record<string, string>> =>
  Object.fromEntries(attrs.map(({ name, value }) => [name, value]))

const isWithin = (form: Element, one: Element): boolean => {
  for (let at: unknown = one; at; at = (at as { parentNode?: unknown }).parentNode) if (at === form) return true
  return false
}

/** The form of a page whose button has this text, with its hidden fields. */
export const formWith = (html: string, label: string): { readonly action: string; readonly fields: Fields } => {
  const all = elementsOf(html)
  const button = all.find((one) => one.tagName === 'button' && textOf(one).includes(label))
  const form = button && all.find((one) => one.tagName === 'form' && isWithin(one, button))
  if (!form) return assert.unreachable(`no button “${label}” in: ${textOf(all[0]!)}`)!
  const hidden = all
    .filter((one) => one.tagName === 'input' && isWithin(form, one))
    .map(attributesOf)
    .filter(({ type }) => type === 'hidden')
  const { action = '' } = attributesOf(form)
  return { action, fields: Object.fromEntries(hidden.map(({ name, value }) => [name, value])) }
}

/** The headers of a form that comes from a page of another site. */
export const FOREIGN: Headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }

/** A form with a file, as a browser sends it. */
export const fileForm = async (field: string, bytes: Uint8Array<ArrayBuffer>, type = 'image/png') => {
  const form = new FormData()
  form.set(field, new File([bytes], 'a picture.png', { type }))
  const sent = new Response(form)
  return { payload: Buffer.from(await sent.arrayBuffer()), type: sent.headers.get('content-type')! }
}
type FileForm = Awaited<ReturnType<typeof fileForm>>

/**
 * A browser without scripts, for requests without a socket: it keeps cookies, says where its forms come from, and follows no redirect.
 * `origin` is that of the service.
 */
export const newFormBrowser = (node: Node, origin = 'http://127.0.0.1:3000') => {
  const cookies = new Map<string, string>()
  let [opened, shown] = ['', '']

  const keep = (answer: LightMyRequestResponse) => {
    for (const line of [answer.headers['set-cookie']].flat()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line ?? '') ?? []
      if (name === undefined) continue
      if (value === '') cookies.delete(name)
      else cookies.set(name, value!)
    }
    if (answer.body.startsWith('<!doctype')) shown = answer.body
    return answer
  }

  const headersOf = (more: Headers): Record<string, string> => ({
    accept: 'text/html',
    host: new URL(origin).host,
    ...(cookies.size > 0 ? { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') } : {}),
    ...more,
  })

  const open = async (url: string, headers: Headers = {}, at: Node = node) => {
    const answer = keep(await at.app.inject({ url, headers: headersOf(headers) }))
    opened = answer.body
    return answer
  }

  /** Sends a form with a file, as a page of the service does. */
  const upload = async (url: string, { payload, type }: FileForm, headers: Headers = {}, at: Node = node) => {
    const ofPage = { 'content-type': type, origin, 'sec-fetch-site': 'same-origin' }
    return keep(await at.app.inject({ method: 'POST', url, headers: headersOf({ ...ofPage, ...headers }), payload }))
  }

  const post = (url: string, fields: Fields, headers?: Headers, at?: Node) => {
    const payload = Buffer.from(new URLSearchParams(fields).toString())
    return upload(url, { payload, type: 'application/x-www-form-urlencoded' }, headers, at)
  }

  /** Presses a button of the page that was opened last, with these fields filled in. */
  const press = (label: string, filled: Fields = {}, headers?: Headers, at?: Node) => {
    const { action, fields } = formWith(opened, label)
    return post(action, { ...fields, ...filled }, headers, at)
  }

  /** The text of the last page. */
  const text = () => textOf(elementsOf(shown)[0]!)
  return { cookies, open, upload, post, press, text }
}

export type FormBrowser = ReturnType<typeof newFormBrowser>

/** A browser with the cookie of a session, or without. */
export const browserOf = (node: Node, token: string | undefined): FormBrowser => {
  const browser = newFormBrowser(node)
  if (token !== undefined) browser.cookies.set('tracebook', token)
  return browser
}
