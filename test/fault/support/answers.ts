import { until } from '../../support/until.ts'

/** A service in this process or in another one. */
type Asked = {
  call(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    path: string,
    asking?: { readonly token?: string; readonly body?: unknown },
  ): Promise<{ readonly status: number; readonly data: never }>
}
type Method = Parameters<Asked['call']>[0]

/** Repeats a write until the answer is 200. */
export const insist = (service: Asked, method: Method, path: string, token: string, body?: unknown): Promise<true> =>
  until(async () => (await service.call(method, path, { token, body }).catch(() => undefined))?.status === 200)

/** The names of the traces in the public feed, in their order, once the node answers: one that is opened again refuses meanwhile. */
export const feedOf = async (service: Asked): Promise<string[]> => {
  const data = await until(async () => {
    const answer = await service.call('GET', '/v1/feed?limit=1000').catch(() => undefined)
    return answer?.status === 200 && answer.data
  })
  return (data as { traces: { externalId: string }[] }).traces.map(({ externalId }) => externalId).sort()
}
