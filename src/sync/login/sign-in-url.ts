import { RequestFailed } from '../api/errors.ts'
import { isLoopback } from '../config.ts'

const unsafeUrl = (text: string) =>
  new RequestFailed(
    `the server's address to sign in at is not opened: only https://, or http:// of this machine, is, without a user name (${text})`,
  )

/**
 * The normalized URL that a server wants the browser to open, if it is safe to open: https, or http on this machine. Other
 * schemes can start programs, and other http can be read on the network. Throws RequestFailed for all others, and for a URL
 * with a user name, which can make one host look like another.
 */
export const checkedSignInUrl = (text: string): string => {
  const url = URL.parse(text)
  if (!url || url.username || url.password) throw unsafeUrl(text)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url.href
  throw unsafeUrl(text)
}
