import type { ClientOptions } from './access.ts'

export type Format = 'md' | 'html' | 'json'

export type Options = ClientOptions & {
  readonly format?: Format
  readonly output?: string
  /** A folder for all traces. */
  readonly all?: string
  readonly revision?: string
  readonly at?: string
}

/** The path to download a trace from; `namespace` is a slug. */
export const pathOf = (
  externalId: string,
  namespace: string,
  { format, revision, at }: Pick<Options, 'revision' | 'at'> & { readonly format: Format },
): string => {
  const query = new URLSearchParams({ format })
  for (const [name, value] of Object.entries({ namespace, revision, at }))
    if (value !== undefined) query.set(name, value)
  return `/v1/traces/${encodeURIComponent(externalId)}/export?${query}`
}
