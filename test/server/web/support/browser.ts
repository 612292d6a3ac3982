import type { LightMyRequestResponse } from 'fastify'
import type { App } from '../../../support/open-app.ts'

type Headers = Readonly<Record<string, string>>

/** A browser that is signed in by its cookie, or not. */
export type Browser = {
  readonly open: (url: string) => Promise<LightMyRequestResponse>
  /** Posts a form, from a page of the service unless the headers say otherwise. */
  readonly post: (
    url: string,
    fields: Readonly<Record<string, string>>,
    headers?: Headers,
  ) => Promise<LightMyRequestResponse>
}

/** The headers of a form that comes from a page of another site. */
export const FOREIGN: Headers = { origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }

export const browserOf = ({ app }: Pick<App, 'app'>, token: string | undefined): Browser => {
  const headers: Headers = {
    ...{ accept: 'text/html', host: 'localhost:3000' },
    ...(token === undefined ? {} : { cookie: `tracebook=${token}` }),
  }
  return {
    open: (url) => app.inject({ url, headers }),
    post: (url, fields, more) =>
      app.inject({
        method: 'POST',
        url,
        headers: {
          ...headers,
          ...{ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' },
          ...{ 'content-type': 'application/x-www-form-urlencoded', ...more },
        },
        payload: new URLSearchParams(fields).toString(),
      }),
  }
}
