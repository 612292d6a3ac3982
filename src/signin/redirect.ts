import { isLoopback } from '../http/loopback.ts'

/** Where the code host sends people back to. */
export const CALLBACK = '/v1/auth/callback/codehost'

/** Where the page that asks sends the answer to. */
export const CONFIRM = '/v1/auth/confirm'

const MAX_LENGTH = 2_048

export type Target = { readonly is: 'page' | 'loopback'; readonly url: string }

/**
 * Where a sign-in may lead to: a page of ours, or a port of the machine that it began on. Anything else would hand the
 * code to strangers; undefined then.
 */
export const targetOf = (text: string, origin: string): Target | undefined => {
  const url = text.length <= MAX_LENGTH ? URL.parse(text) : null
  if (!url || url.username || url.password || !/^https?:$/.test(url.protocol)) return undefined
  if (url.origin === origin) return { is: 'page', url: url.href }
  return url.protocol === 'http:' && isLoopback(url.hostname) ? { is: 'loopback', url: url.href } : undefined
}

/** An address with more parameters; those of the same name are replaced. */
export const withParameters = (url: string, parameters: Readonly<Record<string, string>>): string => {
  const target = new URL(url)
  for (const [name, value] of Object.entries(parameters)) target.searchParams.set(name, value)
  return target.href
}
