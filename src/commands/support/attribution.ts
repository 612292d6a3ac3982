import { escapeControls } from '../../base/escape.ts'
import { newHashLine } from '../../base/line-hashes.ts'
import { io } from '../../cli/io.ts'
import { say } from '../../cli/output.ts'
import { MOST_HUNKS, MOST_LINES, MOST_REPOSITORIES } from '../../contract/attribution.ts'
import { type AttributionClient, newAttributionClient } from '../../client/api/attribution.ts'
import { newHistoryClient } from '../../client/api/history.ts'
import { type AskHunks, newAsk } from '../../client/attribution/ask.ts'
import type { ReadAround } from '../../client/attribution/conversation.ts'
import { type LineHash, lineHasher } from '../../client/attribution/hunks.ts'
import { type OpenRepository, openRepository } from '../../client/git/open-repository.ts'
import { remotesOf } from '../../client/git/remotes.ts'
import { namespaceOfProject } from '../../client/rules/namespace-of-project.ts'
import { newProjectRules } from '../../client/rules/project-rules.ts'
import { openTrust } from '../../client/rules/trust.ts'
import { type Access, type ClientOptions, connectLogin, explainNamespaceRefusal, noticedTiming } from './access.ts'

export type AttributionOptions = ClientOptions & { readonly remote?: string }

/** A repository, and the namespace whose sessions are asked for its lines. */
export type Attribution = {
  readonly repository: OpenRepository
  readonly server: string
  readonly slug: string
  readonly token: string
  readonly client: AttributionClient
  /** What is sent with every question: the id of the key, and the addresses of the repository. */
  readonly asked: { readonly key: string; readonly repositories?: string[] }
  /** The name by which commits are recorded: the address of a remote, else the name of the project. */
  readonly recordedAs: string
  readonly lineOf: (text: Buffer) => LineHash
  readonly ask: AskHunks
}

export const limits = { hunks: MOST_HUNKS, lines: MOST_LINES }

/** The namespace that is asked: that of --namespace, else of the rules of the repository, else of the login. */
const namespaceOf = async (access: Access, { root }: OpenRepository) => {
  const { config, server, namespace } = access
  const { env, home } = io()
  const rules = newProjectRules({ env, home, config, remembers: false })
  const place = (await rules.of(root)).place
  if (namespace !== undefined) return { slug: namespace.trim().toLowerCase(), place }
  const { namespace: slug, untrusted } = await namespaceOfProject(rules, openTrust(config, server), root)
  if (untrusted)
    say(
      `${escapeControls(untrusted.place)} names the namespace ${untrusted.rule.namespace}, to which you have not agreed: it is not asked. To ask it: --namespace ${untrusted.rule.namespace}`,
    )
  return { slug, place }
}

/**
 * Opens the repository of a folder, and the namespace that is asked for its lines. Only keyed hashes of lines, paths and dates are sent.
 * @throws UsageError, RequestFailed
 */
export const openAttribution = async (
  access: Access,
  { remote }: AttributionOptions,
  folder: string,
): Promise<Attribution> => {
  const repository = await openRepository(folder, io().env)
  const repositories = remotesOf(repository.settings, remote, MOST_REPOSITORIES)
  const { slug: named, place } = await namespaceOf(access, repository)
  const { token, namespaceSlug } = await connectLogin({ ...access, namespace: named })
  const slug = named ?? namespaceSlug
  const { server } = access
  const client = newAttributionClient(server, token, slug, noticedTiming)
  const { id, secret } = await client
    .key()
    .catch(explainNamespaceRefusal({ server, slug }, 'ask which sessions wrote lines'))
  const asked = { key: id, ...(repositories.length > 0 ? { repositories: [...repositories] } : {}) }
  return {
    repository,
    server,
    slug,
    token,
    client,
    asked,
    recordedAs: repositories[0] ?? place?.project ?? 'repository',
    lineOf: lineHasher(newHashLine(Buffer.from(secret, 'base64'))),
    ask: newAsk(client, asked, limits),
  }
}

/** Said where less may be found, because lines seem to be later than they are. */
export const sayIfShallow = ({ repository }: Attribution): void => {
  if (repository.isShallow)
    say(
      'The history of this clone is cut off: older lines seem to be of its first commit, so fewer sessions are found.',
    )
}

const PAGE = 100

/** Reads a session of the namespace around a message. @throws RequestFailed */
export const readAroundIn = ({ server, token, slug }: Attribution, externalId: string): ReadAround => {
  const history = newHistoryClient(server, token, noticedTiming)
  return async (around) => {
    const query = { namespace: slug, includeParts: true, around, limit: PAGE }
    return (await history.messages(externalId, query)).messages
  }
}
