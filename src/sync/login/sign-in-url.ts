import { isLoopback } from '../config.ts'
import { RequestFailed } from '../api/errors.ts'

const refused = (said: string) =>
  new RequestFailed(
    `the server's address to sign in at is not opened: only https://, or http:// of this machine, is, without a user name (${said})`,
  )

/**
 * The address that a server sends a browser to, spelt as a browser spells it, in ASCII. A browser is sent to https and to http
 * of this machine only: any other scheme may start a program, any other http is read on the way. Throws RequestFailed, also
 * for a user name in it, which would make one host look like another.
 */
export const signInAddress = (said: string): string => {
  const url = URL.parse(said)
  if (!url || url.username || url.password) throw refused(said)
  if (url.protocol === 'https:' || (url.protocol === 'http:' && isLoopback(url.hostname))) return url.href
  throw refused(said)
}
