import { ask } from './asking.ts'
import type { Service } from './service.ts'
import { soon } from './soon.ts'

let probes = 0

/** Repeats a sign-in at a node until it is answered, which the read models must have applied. Returns the token of the new user. */
export const written = async (service: Service, when: string): Promise<string> => {
  let token = ''
  await soon(`no write is answered ${when}`, async () => {
    const came = await ask(service, 'POST', '/v1/session', { body: { deviceId: `probe-${probes++}` } })
    if (came.is === 'answered') token = (came.data as { session: { token: string } }).session.token
    return token !== ''
  })
  return token
}
