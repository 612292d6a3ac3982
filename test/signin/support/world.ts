import * as assert from 'uvu/assert'
import type { NewSession } from '../../../src/session/views.ts'
import { freshDatabase } from '../../support/database.ts'
import { openApp } from '../../support/open-app.ts'
import { follow } from './browser.ts'
import { CLIENT, startProvider } from './provider.ts'

export const ORIGIN = 'http://127.0.0.1:39999'
export const CALLBACK = `${ORIGIN}/v1/auth/callback/codehost`
/** Where a client on this machine would wait. */
export const LOOPBACK = 'http://127.0.0.1:45678/done'

/** The addresses of a provider that is like GitHub. */
export const githubLike = (url: string) => ({
  CODEHOST_AUTHORIZE_URL: `${url}/auth`,
  CODEHOST_TOKEN_URL: `${url}/token`,
  CODEHOST_USER_URL: `${url}/api/user`,
  CODEHOST_EMAILS_URL: `${url}/api/emails`,
  CODEHOST_SCOPE: 'openid profile email',
})

type Started = { readonly state: string; readonly authorizeUrl: string; readonly expiresAt: number }

/** Two nodes, a provider, and somebody with a browser. */
export const openWorld = async (settings: (url: string) => Record<string, string>) => {
  const clock = { now: Date.UTC(2026, 0, 1) }
  const [database, provider] = await Promise.all([freshDatabase(), startProvider(CALLBACK)])
  const client = { CODEHOST_CLIENT_ID: CLIENT.id, CODEHOST_CLIENT_SECRET: CLIENT.secret, PUBLIC_URL: ORIGIN }
  const env = { ...client, ...settings(provider.url) }
  const nodes = await Promise.all([0, 1].map(() => openApp(database.url, { now: () => clock.now, env })))
  const [{ app, call, service }, other] = [nodes[0]!, nodes[1]!]

  const start = async (body: object = {}, node = nodes[0]!) => {
    const answer = await node.call('POST', '/v1/auth/start', { body: { deviceId: 'laptop', ...body } })
    assert.is(answer.status, 200, JSON.stringify(answer.error))
    return answer.data as Started
  }
  /** Says yes, or no, at the provider; the address that it sends the browser back to. */
  const consent = async ({ authorizeUrl }: Pick<Started, 'authorizeUrl'>) => {
    const { pathname, search } = await follow(authorizeUrl, CALLBACK)
    return pathname + search
  }
  const arrive = (url: string, headers: Record<string, string> = {}) => app.inject({ url, headers })
  const complete = (state: string, exchangeCode: string, node = nodes[0]!) =>
    node.call('POST', '/v1/auth/complete', { body: { state, exchangeCode } })

  /** From the start to a session, for a client that waits on this machine. */
  const signIn = async (body: object = {}): Promise<NewSession> => {
    const started = await start({ redirectTo: LOOPBACK, ...body })
    const { searchParams } = new URL((await arrive(await consent(started))).headers.location!)
    const done = await complete(started.state, searchParams.get('exchangeCode')!)
    assert.is(done.status, 200, JSON.stringify(done.error))
    return (done.data as { session: NewSession }).session
  }
  const device = async (deviceId: string) =>
    ((await call('POST', '/v1/session', { body: { deviceId } })).data as { session: NewSession }).session

  const close = async () => {
    for (const node of nodes) await node.close()
    await provider.close()
    await database.drop()
  }
  return {
    env,
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
    complete,
    signIn,
    device,
    close,
  }
}
