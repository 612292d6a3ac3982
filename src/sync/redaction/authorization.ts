import type { Finder } from './finding.ts'

const header = /authorization/gi
const scheme = /["']?[ \t]{0,4}[:=,][ \t]{0,4}["'`]?(?:bearer|basic|token)[ \t]{1,4}/iy
const credentials = /[A-Za-z0-9+/=_.~-]{16,}/y

/** What follows the scheme in an `Authorization` header, in a request, a command or code. */
export const findAuthorization: Finder = (text) =>
  [...text.matchAll(header)].flatMap(({ 0: name, index }) => {
    scheme.lastIndex = index + name.length
    if (!scheme.test(text)) return []
    const start = (credentials.lastIndex = scheme.lastIndex)
    return credentials.test(text) ? [{ rule: 'authorization', start, end: credentials.lastIndex }] : []
  })
