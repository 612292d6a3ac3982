import { isLoopback } from '../http/address.ts'

/** The path that the code host redirects browsers to. */
export const CALLBACK = '/v1/auth/callback/codehost'

/** The path that the confirmation page posts the answer to. */
export const CONFIRM = '/v1/auth/confirm'

/** The path of the page where a browser signs in with a one-time code. */
export const BROWSER = '/v1/auth/browser'

const MAX_LENGTH = 2_048

type RedirectTarget = { readonly is: 'page' | 'loopback'; readonly url: string }

/** The origin of a `blob:` address is that of the page that has made it. */
const isHttp = ({ protocol }: URL) => /^https?:$/.test(protocol)

/**
 * The target of the redirect after a sign-in: a page of the service, or a port on loopback. Undefined for any other, because it
 * would send the exchange code to another site.
 */
export const parseRedirectTarget = (text: string, origin: string): RedirectTarget | undefined => {
  const url = text.length <= MAX_LENGTH ? URL.parse(text) : null
  if (!url || url.username || url.password || !isHttp(url)) return undefined
  if (url.origin === origin) return { is: 'page', url: url.href }
  return url.protocol === 'http:' && isLoopback(url.hostname) ? { is: 'loopback', url: url.href } : undefined
}

/** The URL of a page of the service, given as a path or as a URL; undefined for another site. */
export const ownPageUrl = (text: string, origin: string): string | undefined => {
  const url = text.length <= MAX_LENGTH ? URL.parse(text, origin) : null
  return url && url.origin === origin && isHttp(url) && !url.username && !url.password ? url.href : undefined
}

/** The path of a page of the service, with its query; `/` for a text that is none, such as the URL of another site. */
export const ownPathOf = (text: string | undefined, origin: string): string =>
  // With one slash at the beginning: two would lead to another host.
  (ownPageUrl(text ?? '/', origin) ?? `${origin}/`).slice(origin.length).replace(/^\/+/, '/')

/** The URL with these query parameters, which replace parameters of the same name. */
export const withParameters = (url: string, parameters: Readonly<Record<string, string>>): string => {
  const target = new URL(url)
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value)
  return target.href
}
