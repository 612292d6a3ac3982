import { userInfo } from 'node:os'
import { SHORT_TEXT, truncateText } from '../../base/texts.ts'
import { escapeControls } from '../../base/escape.ts'
import { askLine } from '../../cli/ask.ts'
import { io } from '../../cli/io.ts'
import type { SignInReview } from '../api/client.ts'

/** What a new user wants to be called: the name that others see, and the slug of the user's own namespace. */
export type NewPerson = { readonly displayName?: string; readonly slug?: string }

/** What is proposed to a new user. */
export type Proposal = {
  readonly name?: string | undefined
  readonly slug?: string | undefined
  /** Whether the service takes this name if the user gives none. */
  readonly isTaken?: boolean
}

const MAX_SLUG = 64

/** The slug that is like a name; undefined if the name has no Latin letter and no digit. */
export const slugLike = (name: string): string | undefined => {
  const words = name
    .normalize('NFKD')
    .replaceAll(/\p{M}/gu, '')
    .toLowerCase()
    .split(/[^a-z0-9]+/)
  const slug = words.filter((word) => word !== '').join('-')
  return slug.slice(0, MAX_SLUG).replace(/-$/, '') || undefined
}

const nameOfSystem = (): string | undefined => {
  try {
    return userInfo().username
  } catch {
    return undefined // as in a container whose user has no name
  }
}

/** The proposal for a device: the name of the system's user, if it is that of a person. */
export const proposalOfSystem = (): Proposal => {
  const name = io().env['USER'] ?? nameOfSystem()
  return name === undefined || name === '' || name === 'root' ? {} : { name, slug: slugLike(name) }
}

/** The proposal for an account at a code host. Of an account whose name is an e-mail address only the part before the `@`. */
export const proposalOf = ({ login, name }: SignInReview['account']): Proposal => {
  const word = login.split('@')[0]!
  return { name: name ?? (word || undefined), slug: slugLike(word), isTaken: true }
}

const NONE = '-'

const choicesOf = (proposal: string | undefined, none: string | undefined): string => {
  if (proposal === undefined) return `Enter: ${none ?? 'none'}`
  return none === undefined ? `Enter: ${proposal}` : `Enter: ${proposal}, ${NONE}: ${none}`
}

/**
 * Asks for a text. Enter takes the proposal; a hyphen means none, which is shown where there is such a choice.
 * @throws UsageError if the input ends first
 */
const ask = async (
  what: string,
  proposal: string | undefined,
  none: string | undefined,
): Promise<string | undefined> => {
  const choices = choicesOf(proposal, none)
  const question = `${what} (${escapeControls(choices)}): `
  const answer = (await askLine(question, 'Not logged in: nothing was made.', new AbortController().signal)).trim()
  if (answer === NONE) return undefined
  return answer === '' ? proposal : answer
}

/** Whether a new user can be asked: on a terminal, and not in a continuous integration that has one. */
export const canAsk = (): boolean => {
  const { stdin, stdout, stderr, env } = io()
  return [stdin, stdout, stderr].every(({ isTTY }) => isTTY) && !env['CI']
}

/** Asks a new user for the name and the slug that are not given. @throws UsageError if the input ends first */
export const askForPerson = async (given: NewPerson, proposal: Proposal): Promise<NewPerson> => {
  const none = proposal.isTaken ? undefined : 'none'
  const displayName = given.displayName ?? (await ask('Your name, as others see it', proposal.name, none))
  const slug = given.slug ?? (await ask('Your slug, as in the address /@slug', proposal.slug, 'a generated one'))
  return {
    ...(displayName === undefined ? {} : { displayName: truncateText(displayName, SHORT_TEXT) }),
    ...(slug === undefined ? {} : { slug: slug.replace(/^@/, '') }),
  }
}
