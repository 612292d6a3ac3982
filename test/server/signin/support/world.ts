import * as assert from 'uvu/assert'
import type { NewSession } from '../../../../src/contract/sessions.ts'
import type { App } from '../../../support/open-app.ts'
import { type Suite, openWorld, signIn as signInByDevice } from '../../../support/world.ts'
import { follow } from './browser.ts'
import { CLIENT, startProvider } from './provider.ts'

export const ORIGIN = 'http://127.0.0.1:39999'
export const CALLBACK = `${ORIGIN}/v1/auth/callback/codehost`
/** The address at which a client on this machine waits for the redirect. */
export const LOOPBACK = 'http://127.0.0.1:45678/done'

/** The settings of a provider that works like GitHub. */
export const githubLike = (url: string) => ({
  CODEHOST_AUTHORIZE_URL: `${url}/auth`,
  CODEHOST_TOKEN_URL: `${url}/token`,
  CODEHOST_USER_URL: `${url}/api/user`,
  CODEHOST_EMAILS_URL: `${url}/api/emails`,
  CODEHOST_SCOPE: 'openid profile email',
})

/** The address of the form of a page, and its fields. */
export const formOf = (html: string): Record<string, string> => {
  const [, action] = /<form [^>]*method="post" action="([^"]*)">/.exec(html) ?? assert.unreachable(html)!
  const fields = html.matchAll(/<input type="hidden" name="(\w+)" value="([\w-]*)">/g)
  return { action: action!, ...Object.fromEntries([...fields].map(([, name, value]) => [name, value])) }
}

type Started = { readonly state: string; readonly authorizeUrl: string; readonly expiresAt: number }

/** A world of two nodes with a provider, and a user with a browser. */
export const openWithProvider = async (test: Suite, settings: (url: string) => Record<string, string>) => {
  const clock = { now: Date.UTC(2026, 0, 1) }
  const provider = await startProvider(CALLBACK)
  const client = { CODEHOST_CLIENT_ID: CLIENT.id, CODEHOST_CLIENT_SECRET: CLIENT.secret, PUBLIC_URL: ORIGIN }
  const env = { ...client, ...settings(provider.url) }
  const { database, node, openNode } = await openWorld(test, { now: () => clock.now, env })
  const other = await openNode()
  test.after(provider.close)
  const { app, call, service } = node

  const start = async (body: object = {}, at: App = node) => {
    const answer = await at.call('POST', '/v1/auth/start', { body: { deviceId: 'laptop', ...body } })
    assert.is(answer.status, 200, JSON.stringify(answer.error))
    return answer.data as Started
  }
  /** Agrees or denies at the provider. Returns the address that it redirects the browser to. */
  const consent = async ({ authorizeUrl }: Pick<Started, 'authorizeUrl'>) => {
    const { pathname, search } = await follow(authorizeUrl, CALLBACK)
    return pathname + search
  }
  const arrive = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
  /** Answers the page that asks, like the browser that shows it. */
  const answer = async (
    page: Awaited<ReturnType<typeof arrive>>,
    said: 'yes' | 'no',
    headers: Record<string, string> = {},
    at: Pick<App, 'app'> = node,
  ) => {
    assert.is(page.statusCode, 200, page.body)
    const { action, ...fields } = formOf(page.body)
    const cookie = String(page.headers['set-cookie']).split(';')[0]!
    const form = {
      'content-type': 'application/x-www-form-urlencoded',
      'sec-fetch-site': 'same-origin',
      origin: ORIGIN,
    }
    return at.app.inject({
      method: 'POST',
      url: action!,
      headers: { ...form, cookie, ...headers },
      payload: new URLSearchParams({ ...fields, answer: said }).toString(),
    })
  }
  /** Follows the redirect of the provider, and agrees if a page asks. */
  const agree = async (url: string) => {
    const page = await arrive(url)
    return page.statusCode === 200 ? answer(page, 'yes') : page
  }
  const review = (state: string, exchangeCode: string) =>
    call('POST', '/v1/auth/review', { body: { state, exchangeCode } })
  const complete = (state: string, exchangeCode: string, at: App = node) =>
    at.call('POST', '/v1/auth/complete', { body: { state, exchangeCode } })

  /** Signs in from the start to a session, as a client that waits on this machine. */
  const signIn = async (body: object = {}): Promise<NewSession> => {
    const started = await start({ redirectTo: LOOPBACK, ...body })
    const { searchParams } = new URL((await agree(await consent(started))).headers.location!)
    const done = await complete(started.state, searchParams.get('exchangeCode')!)
    assert.is(done.status, 200, JSON.stringify(done.error))
    return (done.data as { session: NewSession }).session
  }
  const device = (deviceId: string) => signInByDevice(node, deviceId)

  return {
    node,
    openNode,
    app,
    call,
    service,
    other,
    clock,
    provider,
    database,
    start,
    consent,
    arrive,
    answer,
    agree,
    review,
    complete,
    signIn,
    device,
  }
}
