import { createHmac, timingSafeEqual } from 'node:crypto'

/** The CSRF token that belongs to a session's token. */
export const csrfTokenOf = (token: string): string => createHmac('sha256', token).update('csrf').digest('base64url')

/** Compares in constant time. */
export const isCsrfToken = (given: unknown, token: string): boolean => {
  if (typeof given !== 'string') return false
  const [a, b] = [Buffer.from(given), Buffer.from(csrfTokenOf(token))]
  return a.length === b.length && timingSafeEqual(a, b)
}
