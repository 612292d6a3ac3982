import type { LightMyRequestResponse } from 'fastify'
import type { App } from '../../../support/open-app.ts'

type Headers = Readonly<Record<string, string>>

/** A browser that is signed in by its cookie, or not. */
export type Browser = {
  readonly open: (url: string) => Promise<LightMyRequestResponse>
  readonly upload: (
    url: string,
    form: Awaited<ReturnType<typeof fileForm>>,
    headers?: Headers,
  ) => Promise<LightMyRequestResponse>
  /** Posts a form, from a page of the service unless the headers say otherwise. */
  readonly post: (
    url: string,
    fields: Readonly<Record<string, string>>,
    headers?: Headers,
  ) => Promise<LightMyRequestResponse>
}

/** A form with a file, as a browser sends it. */
export const fileForm = async (field: string, bytes: Uint8Array<ArrayBuffer>, type = 'image/png') => {
  const form = new FormData()
  form.set(field, new File([bytes], 'a picture.png', { type }))
  const sent = new Response(form)
  return {
    payload: Buffer.from(await sent.arrayBuffer()),
    headers: { 'content-type': sent.headers.get('content-type')! },
  }
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
    upload: async (url, form, more) =>
      app.inject({
        method: 'POST',
        url,
        payload: form.payload,
        headers: {
          ...headers,
          ...{ origin: 'http://localhost:3000', 'sec-fetch-site': 'same-origin' },
          ...{ ...form.headers, ...more },
        },
      }),
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
