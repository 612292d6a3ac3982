import { BlockList, isIP } from 'node:net'
import { z } from 'zod'
import { wholeNumber } from '../../base/whole-number.ts'
import { bareHostOf } from './address.ts'

const perMinute = (fallback: number) => wholeNumber(1, 1_000_000_000).default(fallback)

const RANGES = new Set(['loopback', 'linklocal', 'uniquelocal'])

const isRange = (text: string): boolean => {
  if (RANGES.has(text) || isIP(text)) return true
  const [address = '', bits = ''] = text.split('/')
  if (!/^\d{1,3}$/.test(bits) || !isIP(address)) return false
  try {
    new BlockList().addSubnet(address, Number(bits), isIP(address) === 6 ? 'ipv6' : 'ipv4')
    return true
  } catch {
    return false
  }
}

const list = (text: string) => text.split(',').map((item) => item.trim())

/**
 * The addresses of proxies whose `X-Forwarded-*` headers are trusted. A number of hops is not accepted, because clients could
 * forge it.
 */
const trustProxy = z
  .string()
  .default('off')
  .refine((text) => text === 'off' || list(text).every(isRange), {
    error: 'must be off, or addresses of proxies, such as 10.0.0.0/8, ::1, loopback, linklocal or uniquelocal',
  })
  .transform((text) => (text === 'off' ? false : list(text)))

const isOrigin = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '') && new URL(text).origin === text

/** The origins of pages that may send the cookie. Pages of any origin may call with a bearer token. */
const corsOrigins = z
  .string()
  .default('')
  .transform((text) => (text === '' ? [] : list(text)))
  .refine((origins) => origins.every(isOrigin), {
    error: 'must be origins, such as https://app.example.org, separated by commas',
  })

/**
 * Hosts that the service answers to besides those of this machine and of `PUBLIC_URL`: names or addresses without ports.
 */
const allowedHosts = z
  .string()
  .default('')
  .transform((text) => (text === '' ? [] : list(text).map(bareHostOf)))
  .refine((hosts): hosts is string[] => hosts.every((host) => host !== undefined), {
    error: 'must be names or addresses without ports, such as traces.example.org,192.0.2.7,[2001:db8::7]',
  })

const isWebUrl = (text: string) => /^https?:$/.test(URL.parse(text)?.protocol ?? '')
const isOnlyOrigin = (text: string) => new URL(text).href === `${new URL(text).origin}/`

/** Links and cookies of the service are at the root of its host, so it cannot be served below a path. */
const publicUrl = z
  .string()
  .refine(isWebUrl, { error: 'must be a URL that starts with http:// or https://', abort: true })
  .refine(isOnlyOrigin, {
    error:
      'must have no path and nothing behind it: give the service a host name of its own, such as https://traces.example.org',
  })
  .optional()

/** As it can be sent in a header `Authorization: Bearer` (RFC 6750). */
const metricsToken = z
  .string()
  .regex(/^[\w.~+/-]+=*$/, {
    error: 'must have only letters, digits and - . _ ~ + /, such as the output of: openssl rand -hex 32',
  })
  .optional()

/** The environment variables of HTTP; the README and `../../commands/README.md` list them with their defaults. */
export const httpSettings = {
  HOST: z.string().min(1).default('127.0.0.1'),
  PORT: wholeNumber(0, 65_535).default(3000),
  PUBLIC_URL: publicUrl,
  TRUST_PROXY: trustProxy,
  CORS_ORIGINS: corsOrigins,
  ALLOWED_HOSTS: allowedHosts,
  METRICS_TOKEN: metricsToken,
  RATE_LIMITS: z.enum(['on', 'off']).default('on'),
  RATE_LIMIT_SIGN_INS: perMinute(60),
  RATE_LIMIT_DEVICE_SESSIONS: perMinute(120),
  RATE_LIMIT_INVITE_LOOKUPS: perMinute(60),
  RATE_LIMIT_SEARCHES: perMinute(60),
  RATE_LIMIT_WRITES: perMinute(60_000),
  RATE_LIMIT_READS: perMinute(120_000),
  RATE_LIMIT_ANONYMOUS_READS: perMinute(3_000),
  RATE_LIMIT_UNAUTHORIZED: perMinute(3_000),
}

export type HttpConfig = z.output<z.ZodObject<typeof httpSettings>>
