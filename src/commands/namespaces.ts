import { io } from '../cli/io.ts'
import { commandName } from '../cli/command-name.ts'
import { UsageError, exitCodes } from '../cli/exit.ts'
import { printDocument, printLines, say } from '../cli/output.ts'
import { printTable } from '../cli/table.ts'
import { hasStatus } from '../client/api/errors.ts'
import type { NamespaceInfo } from '../client/api/namespaces.ts'
import { type Access, explainNamespaceRefusal, openNamespace } from './support/access.ts'
import type { ClientOptions } from './support/access.ts'

type ListOptions = ClientOptions & { readonly all?: boolean }

type CreateOptions = ClientOptions & { readonly name?: string; readonly description?: string }

export const list = async (access: Access, options: ListOptions): Promise<number> => {
  if (options.all) return (await import('./all-namespaces.ts')).listAll(options)
  const { client, slug } = await openNamespace(access)
  const namespaces = await client.namespaces()
  if (options.json) for (const namespace of namespaces) await printDocument({ type: 'namespace', namespace })
  else {
    const columns = [
      { head: '', cell: (namespace: NamespaceInfo) => (namespace.slug === slug ? '*' : '') },
      { head: 'slug', cell: (namespace: NamespaceInfo) => namespace.slug },
      { head: 'name', cell: ({ displayName }: NamespaceInfo) => displayName, min: 8 },
      { head: 'type', cell: ({ type }: NamespaceInfo) => type, drop: 1 },
      { head: 'role', cell: ({ role }: NamespaceInfo) => role },
    ]
    await printTable(columns, namespaces)
    if (io().stdout.isTTY) say('*: the namespace of your login')
  }
  return exitCodes.ok
}

export const create = async (access: Access, options: CreateOptions, slug: string): Promise<number> => {
  const { client } = await openNamespace(access)
  const { name: displayName = slug, description } = options
  const body = { slug, displayName, ...(description === undefined ? {} : { description }) }
  const namespace = await client.create(body).catch((error: unknown) => {
    if (hasStatus(error, 400)) throw new UsageError(`"${slug}" is not a valid slug: ${error.message}`)
    throw error
  })
  if (options.json) await printDocument({ type: 'namespace', namespace })
  else {
    await printLines([`Created the namespace "${namespace.slug}"; you are its admin.`])
    say(`To invite others, run: ${commandName} invite --namespace ${namespace.slug}`)
  }
  return exitCodes.ok
}

export const rename = async (
  access: Access,
  options: ClientOptions,
  slug: string,
  displayName: string,
): Promise<number> => {
  const { server, client } = await openNamespace(access)
  const namespace = await client
    .update(slug, { displayName })
    .catch(explainNamespaceRefusal({ server, slug }, 'change the name'))
  if (options.json) await printDocument({ type: 'namespace', namespace })
  else await printLines([`Renamed the namespace "${namespace.slug}" to ${namespace.displayName}.`])
  return exitCodes.ok
}
