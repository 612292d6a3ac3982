import type { FastifyRequest } from 'fastify'

/** Who views a page, as its bar shows them: the name of the user, and the slugs of their namespaces, those of persons first, in the order of joining. */
export type Person = { readonly displayName: string | undefined; readonly slugs: readonly string[] }

declare module 'fastify' {
  interface FastifyRequest {
    /** Undefined without a session, and where no page is expected. */
    person: Person | undefined
  }
}

/** The viewer of a page, with the settings of the browser. */
export type Viewer = {
  /** Undefined without a session. */
  readonly user: Person | undefined
  /** Whether the request was authenticated; some errors come before, such as that of an address that is not valid. */
  readonly isKnown: boolean
  /** Undefined for the theme of the system. */
  readonly theme: 'light' | 'dark' | undefined
  /** Whether keys without Ctrl or Command are shortcuts. */
  readonly hasKeys: boolean
  /** The path and query of the page. */
  readonly path: string
}

/** The cookies of the settings page: choices of a browser, not of a user. */
export const THEME_COOKIE = 'theme'
export const KEYS_COOKIE = 'keys'

const isSet = (cookies: string | undefined, name: string, value: string): boolean =>
  cookies?.split('; ').includes(`${name}=${value}`) === true

const themeOf = (cookies: string | undefined): Viewer['theme'] => {
  if (isSet(cookies, THEME_COOKIE, 'dark')) return 'dark'
  return isSet(cookies, THEME_COOKIE, 'light') ? 'light' : undefined
}

/** The viewer of the page that is asked for. */
export const viewerOf = ({ caller, person, authenticatedAt, headers: { cookie }, url }: FastifyRequest): Viewer => ({
  user: caller && (person ?? { displayName: undefined, slugs: caller.namespace ? [caller.namespace.slug] : [] }),
  isKnown: authenticatedAt > 0,
  theme: themeOf(cookie),
  hasKeys: !isSet(cookie, KEYS_COOKIE, 'off'),
  path: url,
})
