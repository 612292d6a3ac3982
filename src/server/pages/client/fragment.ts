type Policy = { createHTML(source: string): string }
type Factory = { createPolicy(name: string, rules: Policy): Policy }

/** Browsers with trusted types make HTML of texts by this policy only; the others need none. */
const policy: Policy = (globalThis as { trustedTypes?: Factory }).trustedTypes?.createPolicy('tracebook', {
  createHTML: (source) => source,
}) ?? { createHTML: (source) => source }

/** HTML that this service has rendered, as nodes that are in no document. */
const parse = (source: string): DocumentFragment => {
  const template = document.createElement('template')
  template.innerHTML = policy.createHTML(source)
  return template.content
}

/** Why a fragment was not had: the status of the answer, or 0 without one. */
export class NoFragment extends Error {
  readonly status: number
  constructor(status: number) {
    super(`no fragment: ${status}`)
    this.status = status
  }
}

export type Fragment = { readonly content: DocumentFragment; readonly headers: Headers }

type Asked = {
  readonly signal?: AbortSignal
  /** Whether no person has sent it, as while a reader types, or to keep a list up to date: without a session such a search counts less than others. */
  readonly isSentByScript?: boolean
}

/** Fetches a fragment of HTML from a path of this service. @throws NoFragment */
export const fetchFragment = async (
  path: string,
  { signal, isSentByScript = false }: Asked = {},
): Promise<Fragment> => {
  const url = new URL(path, location.origin)
  if (url.origin !== location.origin) throw new NoFragment(0)
  const answer = await fetch(url, {
    headers: { accept: 'text/html', ...(isSentByScript ? { 'x-typed': 'yes' } : {}) },
    redirect: 'error',
    signal: signal ?? null,
  }).catch(() => undefined)
  if (!answer?.ok || answer.headers.get('content-type')?.startsWith('text/html') !== true)
    throw new NoFragment(answer?.status ?? 0)
  return { content: parse(await answer.text()), headers: answer.headers }
}
