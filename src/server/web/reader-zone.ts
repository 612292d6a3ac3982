import type { FastifyRequest } from 'fastify'
import { isTimeZone } from '../../contract/time-zone.ts'
import { cookieOf } from '../http/auth.ts'

/** A cookie of one page, in which its script writes the time zone of the browser (`../pages/client/zone.ts`). */
const ZONE_COOKIE = 'tz'

/** The time zone of the reader; undefined if it is not known. */
export const readerZone = ({ headers: { cookie } }: FastifyRequest): string | undefined => {
  const encoded = cookie && cookieOf(cookie, ZONE_COOKIE)
  try {
    const zone = encoded && decodeURIComponent(encoded)
    return zone && isTimeZone(zone) ? zone : undefined
  } catch {
    return undefined
  }
}
